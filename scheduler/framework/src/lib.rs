//! How plugins are asked: configuration, extension points and their combine rules, session and statement. Every plugin
//! trait lives here; no plugin and no action does.

pub mod close;
pub mod combine;
pub mod conf;
mod dispatch;
pub mod events;
pub mod figures;
pub mod fit;
pub mod heap;
pub mod outside;
pub mod plugin;
pub mod points;
pub mod reason;
pub mod session;
pub mod statement;
mod table;
pub mod tie;
pub mod view;

pub use plugin::{OpenContext, PluginError, PluginFactory, SessionPlugin};
pub use points::*;
pub use reason::{Measured, Reason, Refusal, Severity};
pub use session::{Plugins, Session, SessionParameters};
pub use statement::Statement;
pub use tie::TieBreak;
pub use view::View;

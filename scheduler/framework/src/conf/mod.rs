//! The scheduler's configuration file: reading `volcano-scheduler.conf` as Volcano 1.9.0 does, and what it says.
//!
//! No file is opened here; the caller brings the content.

mod arguments;
mod decode;
mod error;
mod model;
mod read;
mod records;
mod resolve;
mod store;
mod summary;
mod switches;
#[cfg(test)]
mod tests;
mod value;
mod yaml;

pub use arguments::{ArgumentReader, ArgumentWarning, Arguments, Wanted};
pub use error::{ConfError, Mismatch, Place, Problem};
pub use model::{ACTION_NAMES, Configuration, PluginOption, SchedulerConf, Tier};
pub use read::{read, read_with_actions};
pub use store::{Change, ConfStore};
pub use switches::{Switch, Switches};
pub use value::{Value, float_text};

//! Faults between a client and the API server. [`TcpProxy`] breaks connections, [`HttpProxy`] single requests.

mod http;
mod tcp;

pub use self::http::{Fault, HttpProxy, is_binding};
pub use self::tcp::TcpProxy;

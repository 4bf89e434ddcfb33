//! How plugins are asked: configuration, extension points, session and statement.

pub mod conf;

//! Volcano's plugins, one folder each.

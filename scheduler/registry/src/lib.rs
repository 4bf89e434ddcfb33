//! The one list of plugins and actions, and the cycle function.

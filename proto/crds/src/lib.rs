//! The custom resources of this project, as plain types.

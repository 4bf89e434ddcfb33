//! The interference-aware plugin: report freshness, filter and score.

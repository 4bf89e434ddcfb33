//! Senses interference on one node and streams it to the analyzer.

//! Turns node samples into interference levels and reports.

//! The rules' values: those of the custom resource, which are plain figures with the guide's defaults.

pub use mco_crds::rules::{
    DegradedMemory, DetectionRuleConfigSpec as Rules, Penalties, Saturation, Thresholds, Weights,
};

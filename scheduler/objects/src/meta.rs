//! The part of `metadata` that the scheduler reads.

use mco_model::spec::Text;
use mco_model::time::Time;
use serde::Deserialize;

use crate::annotation::Annotations;
use crate::field::{Dict, Moment, Objects, Str, object};

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Meta<'a> {
    #[serde(borrow)]
    pub(crate) name: Str<'a>,
    #[serde(borrow)]
    pub(crate) namespace: Str<'a>,
    #[serde(borrow)]
    pub(crate) uid: Str<'a>,
    creation_timestamp: Option<Moment>,
    deletion_timestamp: Option<Moment>,
    #[serde(borrow)]
    pub(crate) labels: Dict<'a, Str<'a>>,
    #[serde(borrow, deserialize_with = "object")]
    annotations: Option<Annotations<'a>>,
    #[serde(borrow)]
    pub(crate) owner_references: Objects<Owner<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Owner<'a> {
    #[serde(borrow)]
    pub(crate) kind: Str<'a>,
    #[serde(borrow)]
    pub(crate) name: Str<'a>,
    pub(crate) controller: Option<bool>,
}

impl<'a> Meta<'a> {
    /// The namespace, or the one that objects without any belong to.
    pub(crate) fn namespace_or(&self, default: &Text) -> Text {
        if self.namespace.is_empty() {
            default.clone()
        } else {
            self.namespace.text()
        }
    }

    pub(crate) fn created(&self) -> Option<Time> {
        self.creation_timestamp.map(|moment| moment.0)
    }

    pub(crate) fn deleting(&self) -> bool {
        self.deletion_timestamp.is_some()
    }

    pub(crate) fn take_annotations(&mut self) -> Annotations<'a> {
        self.annotations.take().unwrap_or_default()
    }
}

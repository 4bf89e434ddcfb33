//! What the definitions say beyond their types: names, scope, columns, subresources, and where they are kept.

use anyhow::Context;
use mco_crds::volcano::{Numatopology, PodGroup, Queue};
use mco_crds::{DetectionRuleConfig, NodeInterferenceReport, report, rules, volcano};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use crate::Definition;
use crate::structural::{Defaults, structural};

/// Installed by Helm before the objects of the release.
const OURS: &str = "helm/many-core-orchestrator/crds";
/// Installed with Volcano's part of the chart only.
const VOLCANOS: &str = "helm/many-core-orchestrator/charts/volcano/crds";

/// Every definition, in the order of their files.
///
/// # Errors
/// A type whose schema has no structural form.
pub fn all() -> anyhow::Result<Vec<Definition>> {
    RESOURCES.iter().map(Resource::definition).collect()
}

struct Resource {
    folder: &'static str,
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    plural: &'static str,
    short: &'static [&'static str],
    scope: &'static str,
    status: Status,
    columns: &'static [Column],
    /// Of the spec.
    defaults: Defaults,
    schema: fn() -> Value,
}

enum Status {
    /// Written through `/status` alone.
    Subresource,
    /// Written with the object.
    Plain,
}

struct Column {
    name: &'static str,
    kind: &'static str,
    path: &'static str,
    /// Shown with `-o wide` only.
    wide: bool,
}

impl Column {
    const fn new(name: &'static str, kind: &'static str, path: &'static str) -> Self {
        Self {
            name,
            kind,
            path,
            wide: false,
        }
    }
}

const RESOURCES: &[Resource] = &[
    Resource {
        folder: OURS,
        group: mco_crds::GROUP,
        version: mco_crds::VERSION,
        kind: rules::KIND,
        plural: rules::PLURAL,
        short: &[rules::SHORT_NAME],
        scope: "Namespaced",
        status: Status::Subresource,
        columns: &[
            Column::new(
                "Accepted",
                "string",
                r#".status.conditions[?(@.type=="Accepted")].status"#,
            ),
            Column::new("Age", "date", ".metadata.creationTimestamp"),
        ],
        defaults: Defaults::Filled,
        schema: schema_of::<DetectionRuleConfig>,
    },
    Resource {
        folder: OURS,
        group: mco_crds::GROUP,
        version: mco_crds::VERSION,
        kind: report::KIND,
        plural: report::PLURAL,
        short: &[report::SHORT_NAME],
        scope: "Cluster",
        status: Status::Subresource,
        columns: &[
            Column::new("Nodes", "integer", ".status.summary.nodes"),
            Column::new("Max", "number", ".status.summary.maxLevel"),
            Column::new("Hot", "integer", ".status.summary.hot"),
            Column::new("Stale", "integer", ".status.summary.stale"),
            Column::new("Updated", "date", ".status.lastUpdateTime"),
        ],
        defaults: Defaults::Left,
        schema: schema_of::<NodeInterferenceReport>,
    },
    // Names, columns and subresources as in Volcano 1.9.0.
    Resource {
        folder: VOLCANOS,
        group: volcano::NODEINFO_GROUP,
        version: volcano::NODEINFO_VERSION,
        kind: "Numatopology",
        plural: "numatopologies",
        short: &["numatopo"],
        scope: "Cluster",
        status: Status::Plain,
        columns: &[],
        defaults: Defaults::Left,
        schema: schema_of::<Numatopology>,
    },
    Resource {
        folder: VOLCANOS,
        group: volcano::SCHEDULING_GROUP,
        version: volcano::SCHEDULING_VERSION,
        kind: "PodGroup",
        plural: "podgroups",
        short: &["pg", "podgroup-v1beta1"],
        scope: "Namespaced",
        status: Status::Plain,
        columns: &[
            Column::new("STATUS", "string", ".status.phase"),
            Column::new("minMember", "integer", ".spec.minMember"),
            Column::new("RUNNINGS", "integer", ".status.running"),
            Column::new("AGE", "date", ".metadata.creationTimestamp"),
            Column {
                wide: true,
                ..Column::new("QUEUE", "string", ".spec.queue")
            },
        ],
        defaults: Defaults::Left,
        schema: schema_of::<PodGroup>,
    },
    Resource {
        folder: VOLCANOS,
        group: volcano::SCHEDULING_GROUP,
        version: volcano::SCHEDULING_VERSION,
        kind: "Queue",
        plural: "queues",
        short: &["q", "queue-v1beta1"],
        scope: "Cluster",
        status: Status::Subresource,
        columns: &[],
        defaults: Defaults::Left,
        schema: schema_of::<Queue>,
    },
];

impl Resource {
    fn definition(&self) -> anyhow::Result<Definition> {
        let name = format!("{}.{}", self.plural, self.group);
        let mut version = json!({
            "name": self.version,
            "served": true,
            "storage": true,
            "schema": {"openAPIV3Schema": self.root_schema().with_context(|| format!("the schema of {name}"))?},
            "subresources": match self.status {
                Status::Subresource => json!({"status": {}}),
                Status::Plain => json!({}),
            },
        });
        if !self.columns.is_empty() {
            let columns = self.columns.iter().map(|column| {
                let mut made = json!({"name": column.name, "type": column.kind, "jsonPath": column.path});
                if column.wide {
                    made["priority"] = json!(1);
                }
                made
            });
            version["additionalPrinterColumns"] = columns.collect();
        }
        let object = json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": name},
            "spec": {
                "group": self.group,
                "names": {
                    "kind": self.kind,
                    "listKind": format!("{}List", self.kind),
                    "plural": self.plural,
                    "singular": self.kind.to_lowercase(),
                    "shortNames": self.short,
                },
                "scope": self.scope,
                "versions": [version],
            },
        });
        Ok(Definition {
            name,
            folder: self.folder,
            object,
        })
    }

    fn root_schema(&self) -> anyhow::Result<Value> {
        let types = (self.schema)();
        let mut schema = structural(&types, Defaults::Left)?;
        // Only what people write is filled in.
        schema["properties"]["spec"] = structural(&types["properties"]["spec"], self.defaults)?;
        let root = schema.as_object_mut().context("no object")?;
        // What every object has anyway.
        root.remove("required");
        // The API server has its own and refuses so much as a description here.
        schema["properties"]["metadata"] = json!({"type": "object"});
        Ok(schema)
    }
}

fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

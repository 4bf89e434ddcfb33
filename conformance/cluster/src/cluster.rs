//! A cluster as tests use it: objects go in, placements come out, and all is gone before the next test.

use crate::audit::{Call, Mark};
use crate::kinds::{self, Kind};
use crate::objects::Object;
use crate::server::Server;
use crate::tools::project_root;
use crate::users::{ADMIN, SCHEDULER, User};
use crate::wait::{SOON, until};
use crate::yaml::{yaml_files, yaml_objects};
use anyhow::Context;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use kube::Client;
use kube::api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use tokio::sync::{Mutex, MutexGuard, OnceCell};

/// Namespaces that every cluster has. `t` is for tests.
pub(crate) const NAMESPACES: [&str; 3] = ["t", "volcano-system", "mco-system"];

/// How many requests of a helper are under way at once.
pub(crate) const AT_ONCE: usize = 32;

/// A server, and an administrator's hands in it.
pub struct Cluster<'s> {
    /// The server.
    pub server: &'s Server,
    /// A client of the administrator.
    pub client: Client,
    /// The end of the audit log when this test began.
    start: Mark,
    /// Tests take turns.
    _turn: Option<MutexGuard<'static, ()>>,
}

impl Cluster<'static> {
    /// The server that all tests of this program share, empty but for CRDs, roles and the namespaces `t`,
    /// `volcano-system` and `mco-system`. Others wait until it is dropped.
    ///
    /// # Panics
    /// When the server does not start or cannot be emptied.
    pub async fn shared() -> Self {
        static TURN: Mutex<()> = Mutex::const_new(());
        static PREPARED: OnceCell<()> = OnceCell::const_new();
        let turn = TURN.lock().await;
        let server = Server::shared().await;
        let mut cluster = Self::on(server).await;
        cluster._turn = Some(turn);
        PREPARED.get_or_init(|| cluster.prepare()).await;
        cluster.reset().await;
        cluster.start = server.audit().mark();
        cluster
    }
}

impl<'s> Cluster<'s> {
    /// One's own server, as it is. Call [`Cluster::prepare`] for CRDs and roles.
    ///
    /// # Panics
    /// When there is no client for it.
    pub async fn on(server: &'s Server) -> Self {
        Self {
            client: must("make a client", server.client(&ADMIN).await),
            start: server.audit().mark(),
            server,
            _turn: None,
        }
    }

    /// Installs namespaces, roles and all CRDs.
    ///
    /// # Panics
    /// When one is refused.
    pub async fn prepare(&self) {
        self.prepare_without_crds().await;
        self.install_crds().await;
    }

    /// Installs namespaces and roles only.
    ///
    /// # Panics
    /// When one is refused.
    pub async fn prepare_without_crds(&self) {
        for name in NAMESPACES {
            let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
            self.create(&Object(namespace)).await;
        }
        self.create_yaml(include_str!("../data/volcano-scheduler-1.9.0.yaml"))
            .await;
        self.create_yaml(include_str!("../data/mco-analyzer.yaml")).await;
    }

    /// Installs the CRDs of Volcano and ours, from the chart, and waits until they are served.
    ///
    /// # Panics
    /// When one is refused, for example since its schema is not structural.
    pub async fn install_crds(&self) {
        let mut objects = Vec::new();
        for dir in ["crds", "charts/volcano/crds"] {
            let dir = project_root().join("helm/many-core-orchestrator").join(dir);
            objects.extend(must("read CRDs", yaml_files(&dir)));
        }
        self.create_crds(objects).await;
    }

    /// Creates CRDs and waits until they are served.
    ///
    /// # Panics
    /// When one is refused.
    pub async fn create_crds(&self, objects: Vec<Object>) {
        self.create_all(&objects).await;
        until("CRDs are served", SOON, async || {
            for object in &objects {
                let crd = self.get(kinds::CRD, "", object.name()).await;
                let conditions = crd
                    .as_ref()
                    .and_then(|crd| crd["status"]["conditions"].as_array());
                let is_established =
                    |condition: &Value| condition["type"] == "Established" && condition["status"] == "True";
                if !conditions.is_some_and(|all| all.iter().any(is_established)) {
                    return Err(format!("{}: {conditions:?}", object.name()));
                }
            }
            Ok(())
        })
        .await;
    }

    /// Lets the scheduler read reports, which the stock role does not.
    ///
    /// # Panics
    /// When it is refused.
    pub async fn let_scheduler_read_reports(&self) {
        self.create_yaml(include_str!("../data/nodeinterferencereport-reader.yaml"))
            .await;
    }

    /// Creates an object; one that is there already stays as it is.
    ///
    /// # Panics
    /// When it is refused for another reason.
    pub async fn create(&self, object: &Object) {
        must(object.name(), self.try_create(object).await);
    }

    /// Creates an object.
    ///
    /// # Errors
    /// What the API server says against it, or that its kind is none we know.
    pub async fn try_create(&self, object: &Object) -> anyhow::Result<()> {
        let kind =
            Kind::of(&object.0).with_context(|| format!("a kind that kinds.rs has not: {}", object.0))?;
        let namespace = object.0["metadata"]["namespace"].as_str().unwrap_or_default();
        let dynamic: DynamicObject = serde_json::from_value(object.0.clone())?;
        match kind
            .api(&self.client, namespace)
            .create(&PostParams::default(), &dynamic)
            .await
        {
            Err(kube::Error::Api(status)) if status.reason == "AlreadyExists" => Ok(()),
            result => Ok(result.map(drop)?),
        }
    }

    /// Creates objects, many at once. Those of the same kind follow each other in no order.
    ///
    /// # Panics
    /// When one is refused.
    pub async fn create_all<'o>(&self, objects: impl IntoIterator<Item = &'o Object>) {
        let requests = stream::iter(objects).map(|object| self.try_create(object));
        let result: anyhow::Result<Vec<()>> = requests.buffer_unordered(AT_ONCE).try_collect().await;
        must("create objects", result);
    }

    /// Creates objects one after the other, as they stand.
    ///
    /// # Panics
    /// When one is refused.
    pub async fn create_in_order<'o>(&self, objects: impl IntoIterator<Item = &'o Object>) {
        for object in objects {
            self.create(object).await;
        }
    }

    /// Creates all objects of a YAML text, in order.
    ///
    /// # Panics
    /// When it cannot be read or one is refused.
    pub async fn create_yaml(&self, text: &str) {
        let objects = must("read YAML", yaml_objects(text));
        self.create_in_order(&objects).await;
    }

    /// An object, if it is there.
    ///
    /// # Panics
    /// When the API server cannot say.
    pub async fn get(&self, kind: Kind, namespace: &str, name: &str) -> Option<Value> {
        let object = must(name, kind.api(&self.client, namespace).get_opt(name).await);
        object.map(|object| must(name, serde_json::to_value(object)))
    }

    /// All objects of a kind, in `namespace` or, with an empty one, in all.
    ///
    /// # Panics
    /// When the API server cannot say, for example since it has no such kind.
    pub async fn list(&self, kind: Kind, namespace: &str) -> Vec<Value> {
        let list = kind
            .api(&self.client, namespace)
            .list(&ListParams::default())
            .await;
        let objects = must(kind.plural, list).items;
        objects
            .into_iter()
            .map(|object| must(kind.plural, serde_json::to_value(object)))
            .collect()
    }

    /// Changes fields of an object, as a merge patch does.
    ///
    /// # Panics
    /// When it is refused.
    pub async fn patch(&self, kind: Kind, namespace: &str, name: &str, change: Value) {
        let api = kind.api(&self.client, namespace);
        must(
            name,
            api.patch(name, &PatchParams::default(), &Patch::Merge(change))
                .await,
        );
    }

    /// Changes fields of an object's status.
    ///
    /// # Panics
    /// When it is refused.
    pub async fn patch_status(&self, kind: Kind, namespace: &str, name: &str, change: Value) {
        let api = kind.api(&self.client, namespace);
        must(
            name,
            api.patch_status(name, &PatchParams::default(), &Patch::Merge(change))
                .await,
        );
    }

    /// Deletes an object at once, whether it is there or not.
    ///
    /// # Panics
    /// When it is refused.
    pub async fn delete(&self, kind: Kind, namespace: &str, name: &str) {
        let now = DeleteParams::default().grace_period(0);
        match kind.api(&self.client, namespace).delete(name, &now).await {
            Err(kube::Error::Api(status)) if status.code == 404 => {}
            result => drop(must(name, result)),
        }
    }

    /// Where each pod of a namespace is; `None` while it is nowhere.
    pub async fn placements(&self, namespace: &str) -> BTreeMap<String, Option<String>> {
        let pods = self.list(kinds::POD, namespace).await;
        let text = |value: &Value| value.as_str().map(str::to_owned);
        pods.iter()
            .filter_map(|pod| Some((text(&pod["metadata"]["name"])?, text(&pod["spec"]["nodeName"]))))
            .collect()
    }

    /// Waits until `done` accepts the placements of namespace `t`, and returns them.
    ///
    /// # Panics
    /// With the placements, when it does not soon.
    pub async fn until_placed(
        &self,
        what: &str,
        done: impl Fn(&BTreeMap<String, Option<String>>) -> bool,
    ) -> BTreeMap<String, Option<String>> {
        until(what, SOON, async || {
            let placements = self.placements("t").await;
            if done(&placements) {
                Ok(placements)
            } else {
                Err(format!("{placements:?}"))
            }
        })
        .await
    }

    /// Waits until all pods of namespace `t` have a node, and returns where they are.
    ///
    /// # Panics
    /// With the placements, when some have not soon.
    pub async fn until_all_bound(&self) -> BTreeMap<String, String> {
        let placements = self
            .until_placed("all pods are bound", |all| all.values().all(Option::is_some))
            .await;
        placements
            .into_iter()
            .filter_map(|(pod, node)| Some((pod, node?)))
            .collect()
    }

    /// What the scheduler has asked of the API server in this test.
    pub fn scheduler_calls(&self) -> Vec<Call> {
        self.calls(&SCHEDULER)
    }

    /// What `user` has asked of the API server in this test.
    pub fn calls(&self, user: &User) -> Vec<Call> {
        self.server.audit().calls_since(self.start, user)
    }

    /// The end of the audit log when this test began.
    pub fn start(&self) -> Mark {
        self.start
    }
}

/// The value, or the end of the test.
pub(crate) fn must<T, E: Into<anyhow::Error>>(what: &str, result: Result<T, E>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("{what}: {:#}", error.into()),
    }
}

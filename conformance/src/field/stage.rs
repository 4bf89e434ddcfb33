//! A daemon played in memory: objects as a server hands them out, a file of configuration that changes, binds that may
//! fail, a report that ages, and everything that was said along the way.

use crate::setup::{self, NOW, items};
use mco_framework::conf::ConfStore;
use mco_framework::tie::TieBreak;
use mco_model::event::Event;
use mco_model::time::Time;
use mco_objects::Kind;
use mco_registry::{CycleParameters, Decided, PodName, Registry, World, run_cycle};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// In which order objects of one kind come, and when they were made.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Order {
    /// Each one second after the one before; otherwise all at the same moment.
    pub(super) created_apart: bool,
    /// Shuffled inside each kind by this seed.
    pub(super) shuffled_by: Option<u64>,
}

/// The play so far.
pub(super) struct Stage<'r> {
    registry: &'r Registry,
    world: World,
    store: ConfStore,
    tie_break: TieBreak,
    now: Time,
    cycles: usize,
    objects_made: i64,
    order: Order,
    /// Binds that will still fail.
    failing: u64,
    /// The report was there before the first cycle and has not changed since.
    report_age: f64,
    report: Option<Event>,
    /// Node of each pod that was ever bound.
    bound: BTreeMap<PodName, String>,
    evicted: Vec<PodName>,
    /// What was said, by `Kind/name` or `log`.
    said: BTreeMap<String, BTreeSet<String>>,
    /// Groups that had bound pods at the same time.
    pub(super) groups_bound: BTreeSet<String>,
}

impl<'r> Stage<'r> {
    /// The start of a case.
    pub(super) fn set(
        case: &Value,
        registry: &'r Registry,
        order: Order,
        tie_break: TieBreak,
    ) -> Result<Self, String> {
        let mut stage = Self {
            registry,
            world: World::new("default"),
            store: ConfStore::default(),
            tie_break,
            now: NOW,
            cycles: 0,
            objects_made: 0,
            order,
            failing: 0,
            // The first step may say how old the report is when the scheduler starts.
            report_age: case["steps"][0]["report"]["age_seconds"].as_f64().unwrap_or(1.0),
            report: None,
            bound: BTreeMap::new(),
            evicted: Vec::new(),
            said: BTreeMap::new(),
            groups_bound: BTreeSet::new(),
        };
        stage.load(case["conf"].as_str().unwrap_or_default());
        let mut objects: Vec<&Value> = items(&case["objects"]).collect();
        if let Some(seed) = order.shuffled_by {
            shuffle_inside_kinds(&mut objects, seed);
        }
        let default_queue = json!({"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue",
            "metadata": {"name": "default"}, "spec": {"weight": 1}});
        let made = !objects
            .iter()
            .any(|object| object["kind"] == "Queue" && object["metadata"]["name"] == "default");
        for object in made.then_some(&default_queue).into_iter().chain(objects) {
            stage.put(object)?;
        }
        Ok(stage)
    }

    /// Makes the changes of a step and lets its own cycles pass.
    pub(super) fn step(&mut self, step: &Value) -> Result<(), String> {
        for deleted in items(&step["delete"]) {
            self.delete(deleted);
        }
        if let Some(age) = step["report"]["age_seconds"].as_f64() {
            self.report_age = age;
        }
        for object in items(&step["apply"]) {
            self.put(object)?;
        }
        if step.get("report").is_some() && self.cycles > 0 {
            self.show_report();
        }
        if let Some(text) = step["conf"].as_str() {
            self.load(text);
        }
        self.failing = step["failBind"]["times"].as_u64().unwrap_or(0);
        for _ in 0..step["cycles"].as_u64().unwrap_or(0) {
            self.cycle();
        }
        Ok(())
    }

    fn load(&mut self, text: &str) {
        if let Err(error) = self.store.load(text.as_bytes()) {
            self.say("log", error.to_string());
        }
    }

    /// Hands out an object as a server would, with an identity and a time of creation.
    fn put(&mut self, object: &Value) -> Result<(), String> {
        let mut object = object.clone();
        let seconds = if self.order.created_apart {
            self.objects_made
        } else {
            0
        };
        self.objects_made += 1;
        let name = format!(
            "{}/{}",
            object["metadata"]["namespace"], object["metadata"]["name"]
        );
        let uid = format!("{:016x}", mix(self.order.shuffled_by.unwrap_or(0), &name));
        if let Some(metadata) = object["metadata"].as_object_mut() {
            metadata.insert("uid".to_owned(), uid.into());
            metadata.insert(
                "creationTimestamp".to_owned(),
                format!("2026-05-31T10:{:02}:{:02}Z", seconds / 60, seconds % 60).into(),
            );
        }
        if object["kind"] == "Pod" && object.get("status").is_none() {
            object["status"] = json!({"phase": "Pending"});
        }
        let (event, problems) = setup::event(&object).map_err(|error| error.to_string())?;
        for problem in problems {
            self.say("log", problem.to_string());
        }
        match event {
            Some(event @ Event::ReportSet(_)) => {
                self.report = Some(event);
                self.show_report();
            }
            Some(event) => self.world.apply(event),
            None => {}
        }
        Ok(())
    }

    /// The report arrives, so many seconds ago by the scheduler's clock; the one found at the start is judged by its own.
    fn show_report(&mut self) {
        let Some(Event::ReportSet(report)) = &self.report else {
            return;
        };
        let mut report = report.clone();
        let seen = Some(Time(self.now.0 - (self.report_age * 1000.0) as i64));
        if self.cycles == 0 {
            report.last_update = seen;
        } else {
            report.changed_at = seen;
        }
        self.world.apply(Event::ReportSet(report));
    }

    fn delete(&mut self, object: &Value) {
        let kind = object["kind"].as_str().unwrap_or_default();
        let groups = [
            "v1",
            "scheduling.volcano.sh/v1beta1",
            "mco.many-core.io/v1alpha1",
            "scheduling.k8s.io/v1",
        ];
        if let Some(kind) = groups.iter().find_map(|group| Kind::of(group, kind)) {
            let text = |key: &str| object[key].as_str().unwrap_or_default();
            if kind == Kind::NodeInterferenceReport {
                self.report = None;
            }
            self.world
                .apply(mco_objects::removal(kind, text("namespace"), text("name")));
        }
    }

    /// One cycle and its consequences; a second passes.
    pub(super) fn cycle(&mut self) {
        self.cycles += 1;
        let conf = self.store.active();
        let parameters = CycleParameters {
            uid: format!("session-{}", self.cycles).as_str().into(),
            now: self.now,
            tie_break: self.tie_break,
            threads: 1,
        };
        let outcome = run_cycle(self.world.cluster_mut(), &conf, self.registry, parameters);
        let decided = self.world.decided(&outcome);
        for warning in &outcome.warnings {
            self.say("log", warning.clone());
        }
        for waiting in &outcome.waiting {
            let pod = format!("Pod/{}", self.world.cluster().task(waiting.task).name);
            self.say(&pod, waiting.message.clone());
            let counts = waiting
                .errors
                .iter()
                .flat_map(|errors| &errors.counts)
                .map(|(reason, _)| reason);
            for reason in counts.chain(&waiting.note) {
                self.say(&pod, reason.text.to_string());
            }
        }
        for job in &outcome.jobs {
            let group = format!("PodGroup/{}", self.world.cluster().job(job.job).name);
            for condition in &job.status.conditions {
                self.say(&group, condition.message.to_string());
            }
            for reason in &job.notes {
                self.say(&group, reason.text.to_string());
            }
        }
        for warning in self.world.cluster_mut().take_warnings() {
            self.say("log", warning);
        }
        self.answer(decided);
        self.now = Time(self.now.0 + 1000);
    }

    /// The server's answers: some binds fail, the others take effect.
    fn answer(&mut self, mut decided: Decided) {
        let mut failed = Vec::new();
        let failing = (self.failing as usize).min(decided.binds.len());
        failed.extend(decided.binds.drain(..failing));
        self.failing -= failing as u64;
        for (pod, _) in failed {
            let cluster = self.world.cluster();
            let Some(task) = cluster.find_task(&pod.namespace, &pod.name) else {
                continue;
            };
            let uid = cluster.task(task).uid.clone();
            self.world.apply(Event::BindFailed {
                uid,
                message: "the server said 500".into(),
            });
        }
        for (pod, node) in &decided.binds {
            self.bound.insert(pod.clone(), node.to_string());
            let cluster = self.world.cluster();
            let job = cluster
                .find_task(&pod.namespace, &pod.name)
                .and_then(|task| cluster.task(task).job);
            if let Some(job) = job {
                self.groups_bound.insert(cluster.job(job).name.to_string());
            }
        }
        self.evicted
            .extend(decided.evicts.iter().map(|(pod, _)| pod.clone()));
        self.world.settle(&decided);
    }

    fn say(&mut self, subject: &str, text: String) {
        self.said.entry(subject.to_owned()).or_default().insert(text);
    }

    /// Where a pod of namespace `t` was bound; `None` as long as it was not.
    pub(super) fn node_of(&self, pod: &str) -> Option<&str> {
        self.bound
            .get(&PodName {
                namespace: "t".into(),
                name: pod.into(),
            })
            .map(String::as_str)
    }

    /// How many pods of a PodGroup of namespace `t` were bound.
    pub(super) fn bound_of(&self, group: &str) -> usize {
        let cluster = self.world.cluster();
        let Some(job) = cluster.find_job(&format!("t/{group}")) else {
            return 0;
        };
        let names = cluster.job(job).all_tasks().map(|task| self.world.pod_name(task));
        names.filter(|name| self.bound.contains_key(name)).count()
    }

    /// Names of the pods evicted so far.
    pub(super) fn evicted(&self) -> Vec<&str> {
        self.evicted.iter().map(|pod| &*pod.name).collect()
    }

    /// Phase of a PodGroup of namespace `t`.
    pub(super) fn phase_of(&self, group: &str) -> &'static str {
        let cluster = self.world.cluster();
        cluster
            .find_job(&format!("t/{group}"))
            .map_or("absent", |job| cluster.job(job).phase().as_str())
    }

    /// What was said about a subject so far. Metrics are made from what is logged here.
    pub(super) fn said(&self, subject: &str) -> impl Iterator<Item = &str> {
        self.said.get(subject).into_iter().flatten().map(String::as_str)
    }
}

/// Places of a kind are given to its objects in another order.
fn shuffle_inside_kinds(objects: &mut [&Value], seed: u64) {
    let mut places: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (index, object) in objects.iter().enumerate() {
        places.entry(object["kind"].to_string()).or_default().push(index);
    }
    for places in places.values() {
        let mut order: Vec<(u64, &Value)> = places
            .iter()
            .map(|place| (mix(seed, &objects[*place].to_string()), objects[*place]))
            .collect();
        order.sort_by_key(|(key, _)| *key);
        for (place, (_, object)) in places.iter().zip(order) {
            objects[*place] = object;
        }
    }
}

/// A number that looks random and is the same each time.
fn mix(seed: u64, text: &str) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325 ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let hash = text.bytes().fold(start, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (hash ^ (hash >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

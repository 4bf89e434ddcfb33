//! What a pod asks for: the one function for it, by the rules of Kubernetes 1.34.
//!
//! Volcano 1.9 takes the maximum with each init container by itself, adds overhead before it, and knows neither
//! sidecars nor pod-level resources nor resizing; there Kubernetes is followed, since the kubelet admits by its rules.

use mco_model::event::Amounts;
use smallvec::SmallVec;

use crate::decode::{DecodeError, Kind, Options};
use crate::field::{Dict, Quant};
use crate::pod::{Container, ContainerStatus, PodObject, PodSpecField, PodStatusField, Resources};

/// CPU in billionths of a core that Kubernetes' scores count for a container that asks for none.
const USUAL_CPU: i128 = 100_000_000;

/// Memory in billionths of a byte that Kubernetes' scores count for a container that asks for none.
const USUAL_MEMORY: i128 = 200 * 1024 * 1024 * 1_000_000_000;

/// What a pod asks for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// In the units of the scheduler, with the one pod that it is itself.
    pub amounts: Amounts,
    /// It asks for nothing but `pods`.
    pub best_effort: bool,
    /// CPU in milli, with 100 for each container that asks for none.
    pub non_zero_milli_cpu: i64,
    /// Memory in bytes, with 200 MiB for each container that asks for none.
    pub non_zero_memory: i64,
}

/// What a pod given as JSON asks for.
///
/// # Errors
/// When the pod cannot be read.
pub fn request_of_pod(json: &[u8]) -> Result<Request, DecodeError> {
    crate::decode::read(Kind::Pod, json, &Options::default(), |pod: PodObject<'_>, _| {
        pod.request()
    })
}

impl PodObject<'_> {
    pub(crate) fn request(&self) -> Request {
        let spec = self.spec.as_ref();
        let status = self.status.as_ref();
        let Some(spec) = spec else {
            return Request::of(&Sum::default(), &Sum::default());
        };
        let asked = total(spec, status, &[]);
        let complete = spec
            .containers
            .iter()
            .chain(spec.init_containers.iter())
            .all(Container::asks_for_cpu_and_memory);
        if complete {
            return Request::of(&asked, &asked);
        }
        Request::of(
            &asked,
            &total(spec, status, &[("cpu", USUAL_CPU), ("memory", USUAL_MEMORY)]),
        )
    }
}

impl PodObject<'_> {
    /// The first amount below zero that a container asks for: its field and what stands there. Kubernetes has no such pods, and
    /// one that got in would lend others room that is not there.
    pub(crate) fn negative_request(&self) -> Option<(String, String)> {
        let spec = self.spec.as_ref()?;
        let kinds = [
            ("containers", &spec.containers),
            ("initContainers", &spec.init_containers),
        ];
        for (kind, containers) in kinds {
            for (index, container) in containers.iter().enumerate() {
                for (name, quantity) in container
                    .requests()
                    .into_iter()
                    .flat_map(|list| list.quantities())
                {
                    if quantity.sign() < 0 {
                        let field = format!("spec.{kind}[{index}].resources.requests.{name}");
                        return Some((field, quantity.to_string()));
                    }
                }
            }
        }
        None
    }
}

impl Request {
    fn of(asked: &Sum<'_>, non_zero: &Sum<'_>) -> Self {
        let mut amounts = Amounts::from_nanos(asked.0.iter().copied());
        match amounts.scalars.binary_search_by(|(name, _)| (**name).cmp("pods")) {
            Ok(at) => amounts.scalars[at].1 += 1.0,
            Err(at) => amounts.scalars.insert(at, ("pods".into(), 1.0)),
        }
        amounts.given = true;
        let whole = |name: &str, unit: i128| {
            let nanos = non_zero.get(name).unwrap_or(0);
            let amount = nanos / unit + if nanos % unit == 0 { 0 } else { nanos.signum() };
            amount.clamp(i64::MIN.into(), i64::MAX.into()) as i64
        };
        Self {
            best_effort: amounts.is_empty(),
            amounts,
            non_zero_milli_cpu: whole("cpu", 1_000_000),
            non_zero_memory: whole("memory", 1_000_000_000),
        }
    }
}

/// The sum of all containers, raised to what the init containers need on their way, replaced by what the pod asks for
/// as a whole, plus overhead. `usual` is taken for each container that asks for none of a kind.
fn total<'a>(
    spec: &'a PodSpecField<'a>,
    status: Option<&'a PodStatusField<'a>>,
    usual: &[(&'a str, i128)],
) -> Sum<'a> {
    let mut all = Sum::default();
    for container in spec.containers.iter() {
        all.add(&in_force(container, status).or_usual(usual));
    }
    let mut sidecars = Sum::default();
    let mut starting = Sum::default();
    for container in spec.init_containers.iter() {
        if container.is_sidecar() {
            let asked = in_force(container, status).or_usual(usual);
            all.add(&asked);
            sidecars.add(&asked);
            starting.raise(&sidecars);
        } else {
            let mut asked = Sum::of(container.requests()).or_usual(usual);
            asked.add(&sidecars);
            starting.raise(&asked);
        }
    }
    all.raise(&starting);
    for (name, quantity) in spec
        .resources
        .iter()
        .flat_map(|resources| resources.requests.quantities())
    {
        if matches!(name, "cpu" | "memory") || name.starts_with("hugepages-") {
            *all.entry(name) = quantity.nanos();
        }
    }
    all.add(&Sum::of(Some(&spec.overhead)));
    all
}

/// What a container that runs asks for. While it is being resized, that is the most of what is wanted, granted and in
/// use; where the node cannot grant it, what is wanted does not count.
fn in_force<'a>(container: &'a Container<'a>, status: Option<&'a PodStatusField<'a>>) -> Sum<'a> {
    let wanted = Sum::of(container.requests());
    let Some(pod_status) = status else { return wanted };
    let Some(running) = pod_status.of_container(&container.name) else {
        return wanted;
    };
    let Some(resources) = &running.resources else {
        return wanted;
    };
    let mut most = if pod_status.resize_is_infeasible() {
        Sum::default()
    } else {
        wanted
    };
    most.raise(&Sum::of(Some(&resources.requests)));
    most.raise(&Sum::of(Some(&running.allocated_resources)));
    most
}

impl Container<'_> {
    pub(crate) fn limits(&self) -> Option<&Dict<'_, Quant>> {
        self.resources
            .as_ref()
            .map(|resources: &Resources<'_>| &resources.limits)
    }

    pub(crate) fn requests(&self) -> Option<&Dict<'_, Quant>> {
        self.resources
            .as_ref()
            .map(|resources: &Resources<'_>| &resources.requests)
    }

    fn asks_for_cpu_and_memory(&self) -> bool {
        self.requests()
            .is_some_and(|list| list.value("cpu").is_some() && list.value("memory").is_some())
    }
}

impl PodStatusField<'_> {
    /// The status of a container. Init containers are looked at first, as the later of two entries wins in Kubernetes.
    fn of_container(&self, name: &str) -> Option<&ContainerStatus<'_>> {
        let init = self.init_container_statuses.iter().rev();
        init.chain(self.container_statuses.iter().rev())
            .find(|status| &*status.name == name)
    }

    fn resize_is_infeasible(&self) -> bool {
        let pending = self
            .conditions
            .iter()
            .find(|condition| &*condition.kind == "PodResizePending");
        pending.is_some_and(|condition| &*condition.reason == "Infeasible")
    }
}

/// Amounts in billionths by name. Names are few, so a list does.
#[derive(Clone, Debug, Default)]
struct Sum<'a>(SmallVec<[(&'a str, i128); 4]>);

impl<'a> Sum<'a> {
    fn of(list: Option<&'a Dict<'a, Quant>>) -> Self {
        let quantities = list.into_iter().flat_map(|list| list.quantities());
        Self(
            quantities
                .map(|(name, quantity)| (name, quantity.nanos()))
                .collect(),
        )
    }

    fn get(&self, name: &str) -> Option<i128> {
        self.0.iter().find(|entry| entry.0 == name).map(|entry| entry.1)
    }

    fn entry(&mut self, name: &'a str) -> &mut i128 {
        let at = self
            .0
            .iter()
            .position(|entry| entry.0 == name)
            .unwrap_or_else(|| {
                self.0.push((name, 0));
                self.0.len() - 1
            });
        &mut self.0[at].1
    }

    fn add(&mut self, other: &Sum<'a>) {
        for &(name, amount) in &other.0 {
            let place = self.entry(name);
            *place = place.saturating_add(amount);
        }
    }

    /// The greater of both, name by name; a name only the other has is taken as it is.
    fn raise(&mut self, other: &Sum<'a>) {
        for &(name, amount) in &other.0 {
            match self.get(name) {
                Some(mine) if mine >= amount => {}
                _ => *self.entry(name) = amount,
            }
        }
    }

    fn or_usual(mut self, usual: &[(&'a str, i128)]) -> Self {
        for &(name, amount) in usual {
            if self.get(name).is_none() {
                *self.entry(name) = amount;
            }
        }
        self
    }
}

//! From lists of quantities by Kubernetes name to amounts: which names count, and in which unit.

use std::collections::BTreeMap;

use super::{Resource, ScalarNames, TooManyNames};
use crate::event::Amounts;
use crate::quantity::Quantity;

/// Prefix of the names that quotas use for requests.
const REQUESTS_PREFIX: &str = "requests.";

/// Devices that their own plugin accounts for, card by card.
const IGNORED_DEVICES: [&str; 3] = [
    "volcano.sh/vgpu-memory",
    "volcano.sh/vgpu-memory-percentage",
    "volcano.sh/vgpu-cores",
];

/// The unit in which the scheduler counts a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// As written: bytes of memory, pods.
    Whole,
    /// Thousandths: cpu and every other kind, so that one GPU is 1000.
    Milli,
}

impl Unit {
    /// A quantity in this unit, rounded away from zero to a whole number of it.
    pub fn of(self, quantity: &Quantity) -> f64 {
        match self {
            Unit::Whole => quantity.value() as f64,
            Unit::Milli => quantity.milli_value() as f64,
        }
    }

    /// An amount in billionths in this unit, rounded away from zero to a whole number of it.
    pub fn of_nanos(self, nanos: i128) -> f64 {
        let unit = match self {
            Unit::Whole => 1_000_000_000,
            Unit::Milli => 1_000_000,
        };
        let whole = nanos / unit + if nanos % unit == 0 { 0 } else { nanos.signum() };
        whole.clamp(i64::MIN.into(), i64::MAX.into()) as i64 as f64
    }
}

/// The unit in which a resource is counted. `None` for names that are no resource to the scheduler: `storage`, object
/// counts, quota names, unknown bare names, malformed names, and devices that a plugin accounts for.
pub fn unit_of(name: &str) -> Option<Unit> {
    match name {
        "memory" | "pods" => Some(Unit::Whole),
        "cpu" | "ephemeral-storage" => Some(Unit::Milli),
        _ if name.starts_with("count/") => None,
        _ if is_scalar(name) && !IGNORED_DEVICES.contains(&name) => Some(Unit::Milli),
        _ => None,
    }
}

impl Amounts {
    /// The amounts of a resource list. Names that are no resource to the scheduler are left out.
    pub fn from_list<'a>(list: impl IntoIterator<Item = (&'a str, &'a Quantity)>) -> Self {
        Self::collect(list, Unit::of)
    }

    /// The amounts of a resource list in billionths. Names that are no resource to the scheduler are left out.
    pub fn from_nanos<'a>(list: impl IntoIterator<Item = (&'a str, i128)>) -> Self {
        Self::collect(list, Unit::of_nanos)
    }

    fn collect<'a, Q>(list: impl IntoIterator<Item = (&'a str, Q)>, to_unit: fn(Unit, Q) -> f64) -> Self {
        let mut amounts = Self::default();
        let mut scalars = BTreeMap::new();
        for (name, quantity) in list {
            amounts.given = true;
            let Some(unit) = unit_of(name) else { continue };
            let amount = to_unit(unit, quantity);
            match name {
                "cpu" => amounts.milli_cpu += amount,
                "memory" => amounts.memory += amount,
                _ => *scalars.entry(name).or_default() += amount,
            }
        }
        amounts.scalars = scalars
            .into_iter()
            .map(|(name, amount): (&str, f64)| (name.into(), amount))
            .collect();
        amounts
    }

    /// Whether nothing but `pods` is asked for, see [`Resource::is_empty`].
    pub fn is_empty(&self) -> bool {
        self.milli_cpu < super::MIN_RESOURCE
            && self.memory < super::MIN_RESOURCE
            && !self
                .scalars
                .iter()
                .any(|(name, amount)| &**name != "pods" && *amount >= super::MIN_RESOURCE)
    }
}

impl Resource {
    /// Amounts by name as a resource. Without any scalar there is no scalar map either, as in Volcano.
    ///
    /// # Errors
    /// When there are too many resource names; `names` keeps those met before.
    pub fn from_amounts(amounts: &Amounts, names: &mut ScalarNames) -> Result<Self, TooManyNames> {
        let mut resource = Resource::new(amounts.milli_cpu, amounts.memory);
        for (name, amount) in &amounts.scalars {
            resource.set_scalar(names.intern(name)?, *amount);
        }
        Ok(resource)
    }

    /// The resource of a list of quantities by Kubernetes name, see [`unit_of`]. The pod limit of a node is its scalar
    /// `pods`.
    ///
    /// # Errors
    /// When there are too many resource names; `names` keeps those met before.
    pub fn from_list<'a>(
        list: impl IntoIterator<Item = (&'a str, &'a Quantity)>,
        names: &mut ScalarNames,
    ) -> Result<Self, TooManyNames> {
        Self::from_amounts(&Amounts::from_list(list), names)
    }
}

/// Whether Kubernetes lets a container ask for this name besides the built-in ones.
fn is_scalar(name: &str) -> bool {
    name.starts_with("hugepages-")
        || name.starts_with("attachable-volumes-")
        || name.contains("kubernetes.io/")
        || is_extended(name)
}

/// Whether this is a device name, `domain/name`, short enough to be put in a quota with its prefix.
fn is_extended(name: &str) -> bool {
    let Some((domain, rest)) = name.split_once('/') else {
        return false;
    };
    !name.starts_with(REQUESTS_PREFIX)
        && REQUESTS_PREFIX.len() + domain.len() <= 253
        && domain
            .split('.')
            .all(|label| is_label(label, |byte| byte == b'-', u8::is_ascii_uppercase))
        && rest.len() <= 63
        && is_label(rest, |byte| matches!(byte, b'-' | b'_' | b'.'), |_| false)
}

/// Whether a text begins and ends with a letter or digit and has only these and `inner` between.
fn is_label(text: &str, inner: fn(u8) -> bool, forbidden: fn(&u8) -> bool) -> bool {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() && !forbidden(byte);
    let bytes = text.as_bytes();
    bytes.first().is_some_and(plain)
        && bytes.last().is_some_and(plain)
        && bytes.iter().all(|byte| plain(byte) || inner(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_count_in_the_unit_of_volcano_or_not_at_all() {
        let long_name = format!("example.com/{}", "x".repeat(63));
        let too_long_name = format!("example.com/{}", "x".repeat(64));
        let long_domain = format!("{}/x", ["x".repeat(60).as_str(); 4].join("."));
        let too_long_domain = format!("{}xx/x", ["x".repeat(60).as_str(); 4].join("."));
        for (name, unit) in [
            ("cpu", Some(Unit::Milli)),
            ("memory", Some(Unit::Whole)),
            ("pods", Some(Unit::Whole)),
            ("ephemeral-storage", Some(Unit::Milli)),
            ("nvidia.com/gpu", Some(Unit::Milli)),
            ("volcano.sh/vgpu-number", Some(Unit::Milli)),
            ("volcano.sh/vgpu-memory", None),
            ("volcano.sh/vgpu-memory-percentage", None),
            ("volcano.sh/vgpu-cores", None),
            ("hugepages-2Mi", Some(Unit::Milli)),
            ("attachable-volumes-csi-x", Some(Unit::Milli)),
            ("kubernetes.io/anything", Some(Unit::Milli)),
            ("x.kubernetes.io/a/b", Some(Unit::Milli)),
            ("count/pods", None),
            ("count/deployments.apps", None),
            ("storage", None),
            ("gpu", None),
            ("", None),
            ("/", None),
            ("a/b/c", None),
            ("requests.nvidia.com/gpu", None),
            ("requests.cpu", None),
            ("Example.com/foo", None),
            ("-a.com/foo", None),
            ("a..com/foo", None),
            ("example.com/Foo_bar.baz", Some(Unit::Milli)),
            ("example.com/-foo", None),
            ("example.com/", None),
            (&long_name, Some(Unit::Milli)),
            (&too_long_name, None),
            (&long_domain, Some(Unit::Milli)),
            (&too_long_domain, None),
        ] {
            assert_eq!(unit_of(name), unit, "{name}");
        }
    }

    #[test]
    fn a_list_with_ignored_names_alone_is_given_and_empty() {
        let one = Quantity::from_value(1, Default::default());
        let amounts = Amounts::from_list([("storage", &one)]);
        assert!(amounts.given && amounts.is_empty() && amounts.scalars.is_empty());
        let mut names = ScalarNames::new();
        let resource = Resource::from_amounts(&amounts, &mut names).unwrap();
        assert!(!resource.has_scalar_map());
        assert_eq!(names.len(), 1);
    }

    #[test]
    fn billionths_round_away_from_zero_and_saturate() {
        for (nanos, whole, milli) in [
            (0, 0.0, 0.0),
            (1, 1.0, 1.0),
            (-1, -1.0, -1.0),
            (1_000_000, 1.0, 1.0),
            (1_000_001, 1.0, 2.0),
            (1_500_000_000, 2.0, 1500.0),
            (i128::MAX, i64::MAX as f64, i64::MAX as f64),
            (i128::MIN, i64::MIN as f64, i64::MIN as f64),
        ] {
            assert_eq!(
                (Unit::Whole.of_nanos(nanos), Unit::Milli.of_nanos(nanos)),
                (whole, milli),
                "{nanos}"
            );
        }
    }
}

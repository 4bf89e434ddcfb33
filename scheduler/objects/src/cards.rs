//! Cards that pods share: what nodes have, what pods ask for and have, as annotations and resource lists say.

use mco_crds::decode::parse_time_micros;
use mco_model::extra::{
    CardNeeds, CardShare, Handshake, HeldCards, HeldShare, NodeCards, PlainCards, RegisteredCard,
};
use mco_model::quantity::Quantity;
use mco_model::time::Time;

use crate::annotation::{Annotations, annotated};
use crate::field::{Dict, Quant, Str};
use crate::pod::{Container, PodSpecField};
use crate::problem::Problems;

const GPU_MEMORY: &str = "volcano.sh/gpu-memory";
const GPU_NUMBER: &str = "volcano.sh/gpu-number";
const GPU_INDEX: &str = "volcano.sh/gpu-index";
const UNHEALTHY: &str = "volcano.sh/gpu-unhealthy-ids";
const VGPU_NUMBER: &str = "volcano.sh/vgpu-number";
const VGPU_MEMORY: &str = "volcano.sh/vgpu-memory";
const VGPU_PERCENT: &str = "volcano.sh/vgpu-memory-percentage";
const VGPU_CORES: &str = "volcano.sh/vgpu-cores";
const VGPU_IDS: &str = "volcano.sh/vgpu-ids-new";
const REGISTER: &str = "volcano.sh/node-vgpu-register";
const HANDSHAKE: &str = "volcano.sh/node-vgpu-handshake";

/// No node has more cards; a number beyond it is a mistake.
const MOST_CARDS: i64 = 4096;

/// A percentage that stands for none at all.
const NO_PERCENT: i64 = 101;

/// The cards of a node; `None` when it has none.
pub(crate) fn of_node(
    capacity: &Dict<'_, Quant>,
    annotations: &Annotations<'_>,
    problems: &mut Problems,
) -> Option<Box<NodeCards>> {
    let cards = NodeCards {
        plain: plain(capacity, &annotations.unhealthy_cards, problems),
        registered: registered(annotations.vgpu_register.as_ref(), problems),
        handshake: handshake(annotations.vgpu_handshake.as_ref(), problems),
    };
    (cards.plain.is_some() || !cards.registered.is_empty()).then(|| Box::new(cards))
}

fn plain(capacity: &Dict<'_, Quant>, unhealthy: &Str<'_>, problems: &mut Problems) -> Option<PlainCards> {
    let amount = |name| capacity.value(name).map(|quantity| quantity.0.value());
    let (memory, number) = (amount(GPU_MEMORY)?, amount(GPU_NUMBER)?);
    if !(1..=MOST_CARDS).contains(&number) {
        if number != 0 {
            let problem = format!("{number} is no number of cards; the node has none");
            problems.add(format!("status.capacity[{GPU_NUMBER}]"), problem);
        }
        return None;
    }
    let mut numbers: Vec<u32> = (0..number as u32).collect();
    let named = unhealthy.non_empty().into_iter().flat_map(|list| list.split(','));
    for text in named {
        match text.parse::<i64>() {
            Ok(id) => numbers.retain(|number| i64::from(*number) != id),
            Err(_) => problems.add(
                annotated(UNHEALTHY),
                format!("{text:?} is no number of a card; it is passed over"),
            ),
        }
    }
    Some(PlainCards {
        memory: (memory / number).max(0) as u64,
        numbers,
    })
}

/// `uuid,shares,memory,kind,health:` for each card.
fn registered(text: Option<&Str<'_>>, problems: &mut Problems) -> Vec<RegisteredCard> {
    let Some(text) = text else { return Vec::new() };
    if !text.contains(':') {
        problems.add(
            annotated(REGISTER),
            "there is no card in it; write uuid,shares,memory,kind,health:",
        );
        return Vec::new();
    }
    let mut cards = Vec::new();
    for entry in text.split(':').filter(|entry| entry.contains(',')) {
        let parts: Vec<&str> = entry.split(',').collect();
        let [uuid, shares, memory, kind, _health, ..] = parts[..] else {
            let problem = format!("{entry:?} is no card; write uuid,shares,memory,kind,health");
            problems.add(annotated(REGISTER), problem);
            continue;
        };
        let mut number = |text: &str| {
            text.parse::<u64>().unwrap_or_else(|_| {
                problems.add(
                    annotated(REGISTER),
                    format!("{text:?} of card {uuid} is no number; it counts as 0"),
                );
                0
            })
        };
        cards.push(RegisteredCard {
            uuid: uuid.into(),
            shares: number(shares),
            memory: number(memory),
            kind: kind.into(),
        });
    }
    cards
}

/// What the agent of the node and a scheduler said last.
fn handshake(text: Option<&Str<'_>>, problems: &mut Problems) -> Handshake {
    let Some(text) = text else {
        return Handshake::Absent;
    };
    if text.contains("Requesting") {
        let time = text.split('_').nth(1).and_then(moment);
        if time.is_none() {
            let problem = format!("{:?} names no time; the cards do not count", &**text);
            problems.add(annotated(HANDSHAKE), problem);
        }
        Handshake::Requested(time)
    } else if text.contains("Deleted") {
        Handshake::Deleted
    } else {
        Handshake::Reported
    }
}

/// `2024.01.31 15:04:05`, in UTC.
fn moment(text: &str) -> Option<Time> {
    let (date, time) = text.split_once(' ')?;
    let micros = parse_time_micros(&format!("{}T{time}Z", date.replace('.', "-")))?;
    Some(Time(micros.div_euclid(1000)))
}

/// What a pod asks for of cards; `None` for nothing.
pub(crate) fn wanted(spec: &PodSpecField<'_>, annotations: &Annotations<'_>) -> Option<Box<CardNeeds>> {
    let most = |name: &str| {
        let of = |container: &Container<'_>| limit(container, name).map_or(0, Quantity::value).max(0);
        let all = spec.containers.iter().map(of).fold(0, i64::saturating_add);
        spec.init_containers.iter().map(of).fold(all, i64::max)
    };
    let needs = CardNeeds {
        memory: most(GPU_MEMORY) as u64,
        number: most(GPU_NUMBER),
        shares: spec.containers.iter().filter_map(share).collect(),
        use_kinds: None,
        avoid_kinds: None,
    };
    let wants_some = needs.memory > 0 || needs.number > 0 || !needs.shares.is_empty();
    wants_some.then(|| {
        Box::new(CardNeeds {
            use_kinds: annotations.use_card_kinds.as_ref().map(Str::text),
            avoid_kinds: annotations.avoid_card_kinds.as_ref().map(Str::text),
            ..needs
        })
    })
}

/// A container asks for shares of cards by its limits alone; how large they are may stand in its requests.
fn share(container: &Container<'_>) -> Option<CardShare> {
    let number = limit(container, VGPU_NUMBER);
    if number.is_none() && limit(container, VGPU_MEMORY).is_none() {
        return None;
    }
    let detail = |name: &str| {
        let asked = || {
            container
                .requests()
                .and_then(|list| list.value(name))
                .map(|quantity| &quantity.0)
        };
        limit(container, name).or_else(asked).and_then(whole)
    };
    let memory = detail(VGPU_MEMORY).unwrap_or(0);
    let percent = detail(VGPU_PERCENT).filter(|percent| *percent != NO_PERCENT);
    Some(CardShare {
        number: number.map_or(1, |number| whole(number).unwrap_or(0)),
        memory,
        percent: percent.or_else(|| (memory == 0).then_some(100)),
        cores: detail(VGPU_CORES).unwrap_or(0),
    })
}

fn limit<'a>(container: &'a Container<'_>, name: &str) -> Option<&'a Quantity> {
    Some(&container.limits()?.value(name)?.0)
}

/// A quantity that is a whole number within 32 bits, as cards are counted.
fn whole(quantity: &Quantity) -> Option<i64> {
    let nanos = quantity.nanos();
    (nanos % 1_000_000_000 == 0).then(|| quantity.value().clamp(i32::MIN.into(), i32::MAX.into()))
}

/// The cards that a pod has; `None` when it has none.
pub(crate) fn held(annotations: &Annotations<'_>, problems: &mut Problems) -> Option<Box<HeldCards>> {
    let held = HeldCards {
        numbers: indices(&annotations.gpu_index, problems),
        shares: held_shares(&annotations.vgpu_ids, problems),
    };
    (!held.is_empty()).then(|| Box::new(held))
}

fn indices(text: &Str<'_>, problems: &mut Problems) -> Vec<u32> {
    let Some(text) = text.non_empty() else {
        return Vec::new();
    };
    let numbers: Option<Vec<u32>> = text.split(',').map(|part| part.parse().ok()).collect();
    numbers.unwrap_or_else(|| {
        problems.add(
            annotated(GPU_INDEX),
            format!("{text:?} is no list of card numbers; the pod has no card"),
        );
        Vec::new()
    })
}

/// `uuid,kind,memory,cores:` for each share, containers parted by `;`.
fn held_shares(text: &Str<'_>, problems: &mut Problems) -> Vec<HeldShare> {
    let mut shares = Vec::new();
    for entry in text.split([';', ':']).filter(|entry| entry.contains(',')) {
        let parts: Vec<&str> = entry.split(',').collect();
        let figures = match parts[..] {
            [_, _, memory, cores, ..] => memory.parse::<i32>().ok().zip(cores.parse::<i32>().ok()),
            _ => None,
        };
        match figures {
            Some((memory, cores)) => shares.push(HeldShare {
                uuid: parts[0].into(),
                memory: memory.into(),
                cores: cores.into(),
            }),
            None => problems.add(
                annotated(VGPU_IDS),
                format!("{entry:?} is no share of a card; write uuid,kind,memory,cores; it is passed over"),
            ),
        }
    }
    shares
}

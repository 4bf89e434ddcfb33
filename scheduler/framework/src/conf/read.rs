//! Reading a whole file: trimming, decoding, the check on tiers, the look-up of actions.

use super::decode::decode;
use super::error::{ConfError, Place, Problem};
use super::model::{ACTION_NAMES, SchedulerConf, Tier};
use super::records::RawConf;
use super::yaml;

/// Reads a configuration file as Volcano 1.9.0 does, with the actions of [`ACTION_NAMES`].
///
/// # Errors
///
/// A [`ConfError`] that names place and fault if the file as a whole is refused. Unknown plugins and unknown keys are
/// no fault of the file.
pub fn read(bytes: &[u8]) -> Result<SchedulerConf, ConfError> {
    read_with_actions(bytes, &ACTION_NAMES)
}

/// Like [`read`], but with the names of actions that are known to the caller.
///
/// # Errors
///
/// As for [`read`].
pub fn read_with_actions(bytes: &[u8], known: &[&str]) -> Result<SchedulerConf, ConfError> {
    let (text, start) = trim(bytes);
    read_trimmed(text, known).map_err(|error| error.moved(start))
}

fn read_trimmed(text: &[u8], known: &[&str]) -> Result<SchedulerConf, ConfError> {
    let raw = match yaml::parse(text)? {
        Some(tree) => decode(&tree)?,
        None => RawConf::default(),
    };
    // Tiers come before actions: of two faults this one is told.
    for (at, tier) in raw.tiers.iter().enumerate() {
        if has_hierarchy_beside_proportion(tier) {
            let problem = Problem::HierarchyBesideProportion { tier: at + 1 };
            return Err(ConfError::new(raw.tiers_at.get(at).copied(), problem));
        }
    }
    let actions = raw.actions.split(',').map(|name| {
        let name = name.trim();
        if known.contains(&name) {
            return Ok(name.to_owned());
        }
        let known = known.iter().copied().map(String::from).collect();
        Err(ConfError::new(
            raw.actions_at,
            Problem::UnknownAction {
                name: name.to_owned(),
                known,
            },
        ))
    });
    let actions = actions.collect::<Result<_, _>>()?;
    Ok(SchedulerConf {
        actions,
        tiers: raw.tiers,
        configurations: raw.configurations,
        metrics: raw.metrics,
    })
}

fn has_hierarchy_beside_proportion(tier: &Tier) -> bool {
    let hierarchical = tier
        .plugins
        .iter()
        .any(|plugin| plugin.name == "drf" && plugin.enabled.hierarchy());
    hierarchical && tier.plugins.iter().any(|plugin| plugin.name == "proportion")
}

/// Cuts blanks in Unicode's sense off both ends, whatever the bytes between them are, and tells where the rest begins.
fn trim(mut bytes: &[u8]) -> (&[u8], Place) {
    let mut start = Place { line: 1, column: 1 };
    // No blank is longer than three bytes.
    while let Some(width) = (1..=3.min(bytes.len())).find(|width| is_blank(&bytes[..*width])) {
        start.column += 1;
        if bytes[0] == b'\n' {
            start = Place {
                line: start.line + 1,
                column: 1,
            };
        }
        bytes = &bytes[width..];
    }
    while let Some(width) = (1..=3.min(bytes.len())).find(|width| is_blank(&bytes[bytes.len() - width..])) {
        bytes = &bytes[..bytes.len() - width];
    }
    (bytes, start)
}

fn is_blank(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| text.chars().all(char::is_whitespace))
}

//! Configuration files: what is refused, and what is read from the others.

use crate::setup::items;
use crate::verdict::Verdict;
use mco_framework::conf::{ACTION_NAMES, ConfError, ConfStore, SchedulerConf, read};
use serde_json::Value;

/// Runs a case of one file, or of several read one after another.
#[must_use]
pub fn judge(case: &Value) -> Verdict {
    if case.get("steps").is_some() {
        return Verdict::of(differences_of_steps(case));
    }
    let bytes = match (case["conf"].as_str(), case["confBase64"].as_str()) {
        (Some(text), _) => text.as_bytes().to_vec(),
        (None, Some(text)) => match base64(text) {
            Some(bytes) => bytes,
            None => return Verdict::Failed("confBase64 is no base64".to_owned()),
        },
        (None, None) => return Verdict::Failed("no conf in it".to_owned()),
    };
    Verdict::of(differences(&read(&bytes), &case["expect"]))
}

fn differences(read: &Result<SchedulerConf, ConfError>, expect: &Value) -> Vec<String> {
    match (read, expect.get("error")) {
        (Ok(conf), None) => differences_of_conf(conf, expect),
        (Err(error), Some(expected)) if expected["kind"] == error.kind() => Vec::new(),
        (Err(error), Some(expected)) => {
            vec![format!(
                "refused as {:?} ({error}), not as {}",
                error.kind(),
                expected["kind"]
            )]
        }
        (Ok(_), Some(expected)) => vec![format!("read, but is to be refused as {}", expected["kind"])],
        (Err(error), None) => vec![format!("refused: {error}")],
    }
}

/// What plugins make of their arguments (`effective`) is held to other cases: those of the plugins.
fn differences_of_conf(conf: &SchedulerConf, expect: &Value) -> Vec<String> {
    let ours: Value = match serde_json::from_str(&conf.summary()) {
        Ok(ours) => ours,
        Err(error) => return vec![format!("the summary is no JSON: {error}")],
    };
    let differs = |key: &&str| ours[*key] != expect[*key];
    let keys = ["actions", "tiers", "configurations", "metrics"]
        .into_iter()
        .filter(differs);
    keys.map(|key| format!("{key} {}, not {}", ours[key], expect[key]))
        .collect()
}

/// Files read one after another: one that is refused leaves the one before in force.
fn differences_of_steps(case: &Value) -> Vec<String> {
    let mut store = ConfStore::with_actions(ACTION_NAMES);
    let mut differences = Vec::new();
    for (index, step) in items(&case["steps"]).enumerate() {
        let text = step["conf"].as_str().unwrap_or_default();
        let before = store.active();
        let loaded = store.load(text.as_bytes());
        let read = loaded.map(|_| (*store.active()).clone());
        let mut found = self::differences(&read, &step["expect"]);
        if read.is_err() && store.active() != before {
            found.push("the refused file changed what is in force".to_owned());
        }
        differences.extend(
            found
                .into_iter()
                .map(|difference| format!("step {}: {difference}", index + 1)),
        );
    }
    differences
}

/// Bytes of a base64 text; `None` when it is none.
fn base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut held) = (0_u32, 0_u32);
    for byte in text.bytes().filter(|byte| !matches!(byte, b'=' | b'\n')) {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(six);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held & 0xff) as u8);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    #[test]
    fn base64_gives_the_bytes_back() {
        assert_eq!(
            super::base64("AP/+YQ==").as_deref(),
            Some(&[0, 255, 254, b'a'][..])
        );
        assert_eq!(super::base64("a b"), None);
    }
}

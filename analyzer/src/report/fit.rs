//! What to leave out of a report that is too large.

use mco_crds::{Condition, NodeEntry, NodeInterferenceReportStatus};

/// Leaves out the calmest nodes until the entries take at most `max_bytes` of JSON, and says so in a condition. The
/// summary still counts all nodes.
pub fn fit(mut status: NodeInterferenceReportStatus, max_bytes: usize) -> NodeInterferenceReportStatus {
    let size = |name: &str, entry: &NodeEntry| {
        // The key, its quotes, colon and comma.
        name.len() + 4 + serde_json::to_vec(entry).map_or(0, |text| text.len())
    };
    let mut sizes: Vec<_> = status
        .nodes
        .iter()
        .map(|(name, entry)| (name.clone(), size(name, entry)))
        .collect();
    let all = sizes.len();
    if sizes.iter().map(|(_, size)| size).sum::<usize>() <= max_bytes {
        return status;
    }
    let level = |name: &String| status.nodes[name].interference_level.unwrap_or(-1.0);
    sizes.sort_by(|(one, _), (other, _)| level(other).total_cmp(&level(one)).then_with(|| one.cmp(other)));
    let mut used = 0;
    let kept: Vec<_> = sizes
        .into_iter()
        .take_while(|(_, size)| {
            used += size;
            used <= max_bytes
        })
        .map(|(name, _)| name)
        .collect();
    let mut nodes = std::mem::take(&mut status.nodes);
    status.nodes = kept
        .into_iter()
        .filter_map(|name| nodes.remove_entry(&name))
        .collect();
    status.conditions.push(Condition {
        kind: "Truncated".to_owned(),
        status: "True".to_owned(),
        reason: "TooLarge".to_owned(),
        message: format!(
            "{} of {all} nodes are shown, the most interfered first",
            status.nodes.len()
        ),
        ..Condition::default()
    });
    status
}

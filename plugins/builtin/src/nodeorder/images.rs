//! Image locality: nodes that have the pod's images already are better, the more so the bigger the images and the more
//! widely they are spread.

use super::MOST;
use mco_framework::View;
use mco_model::NodeId;
use mco_model::spec::Text;

const MEBIBYTE: i64 = 1024 * 1024;

/// Images below this do not count.
const LEAST_SIZE: i64 = 23 * MEBIBYTE;

/// Above this, for each container, size makes no difference.
const MOST_SIZE: i64 = 1000 * MEBIBYTE;

/// The images of a pod.
pub(super) struct Images {
    names: Vec<Text>,
    /// Nodes of the session.
    nodes: usize,
}

impl Images {
    pub(super) fn of(view: View<'_>, images: &[Text]) -> Self {
        Self {
            names: images.iter().map(full_name).collect(),
            nodes: view.nodes.ready().len(),
        }
    }

    /// The node's score, up to 100.
    pub(super) fn score(&self, view: View<'_>, node: NodeId) -> i64 {
        let there = &view.nodes.row(node).images;
        let states = self.names.iter().filter_map(|name| there.get(name));
        let sum = states
            .map(|image| spread_size(image.size, image.nodes, self.nodes))
            .sum();
        scale(sum, self.names.len())
    }
}

/// The image's name with a tag.
fn full_name(image: &Text) -> Text {
    if image.rfind(':') > image.rfind('/') {
        image.clone()
    } else {
        format!("{image}:latest").into()
    }
}

fn spread_size(size: i64, nodes: i64, all: usize) -> i64 {
    (size as f64 * (nodes as f64 / all as f64)) as i64
}

fn scale(size: i64, containers: usize) -> i64 {
    let most = MOST_SIZE * containers as i64;
    let size = if size < LEAST_SIZE {
        LEAST_SIZE
    } else {
        size.min(most)
    };
    MOST * (size - LEAST_SIZE) / (most - LEAST_SIZE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_without_tag_gets_the_usual_one() {
        for (image, expected) in [
            ("nginx", "nginx:latest"),
            ("nginx:1", "nginx:1"),
            ("host:5000/nginx", "host:5000/nginx:latest"),
            ("host:5000/nginx:1", "host:5000/nginx:1"),
        ] {
            assert_eq!(&*full_name(&image.into()), expected);
        }
    }

    #[test]
    fn sizes_are_scaled_between_the_limits() {
        assert_eq!(scale(0, 1), 0);
        assert_eq!(scale(23 * MEBIBYTE, 1), 0);
        assert_eq!(scale(1000 * MEBIBYTE, 1), 100);
        assert_eq!(scale(9000 * MEBIBYTE, 2), 100);
        assert_eq!(scale(500 * MEBIBYTE, 1), 48);
        assert_eq!(scale(0, 0), 0);
        assert_eq!(spread_size(100, 1, 3), 33);
    }
}

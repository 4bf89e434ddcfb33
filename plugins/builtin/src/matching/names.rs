//! Which texts Kubernetes takes as label keys and label values. A selector with any other never matches.

/// Longest label value, longest name part of a label key, in bytes.
const NAME_LENGTH: usize = 63;

/// Longest prefix of a label key, in bytes.
const PREFIX_LENGTH: usize = 253;

/// `text` is a label key: a name, with or without a domain and a slash before it.
pub(super) fn is_label_key(text: &str) -> bool {
    match text.split_once('/') {
        None => is_name(text),
        Some((prefix, name)) => is_domain(prefix) && is_name(name),
    }
}

/// `text` is a label value: empty or a name.
pub(super) fn is_label_value(text: &str) -> bool {
    text.is_empty() || is_name(text)
}

fn is_name(text: &str) -> bool {
    let bytes = text.as_bytes();
    let inner = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    bytes.len() <= NAME_LENGTH
        && bytes.first().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.iter().all(inner)
}

fn is_domain(text: &str) -> bool {
    let edge = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_part = |part: &str| {
        let bytes = part.as_bytes();
        bytes.first().is_some_and(edge)
            && bytes.last().is_some_and(edge)
            && bytes.iter().all(|byte| edge(byte) || *byte == b'-')
    };
    text.len() <= PREFIX_LENGTH && text.split('.').all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_names_with_an_optional_domain() {
        let long = "a".repeat(63);
        for key in ["a", "A.b-c_d", "example.com/zone", "0/0", long.as_str()] {
            assert!(is_label_key(key), "{key}");
        }
        let too_long = "a".repeat(64);
        let bad = [
            "",
            "/",
            "a/",
            "/a",
            "a/b/c",
            "-a",
            "a-",
            "a b",
            "Example.com/a",
            "a..b/c",
            "é",
            too_long.as_str(),
        ];
        for key in bad {
            assert!(!is_label_key(key), "{key}");
        }
    }

    #[test]
    fn values_are_empty_or_names() {
        for value in ["", "a", "4", "a.b"] {
            assert!(is_label_value(value), "{value}");
        }
        for value in [" a", "a b", "-1", "+4", "a/b", "-x-"] {
            assert!(!is_label_value(value), "{value}");
        }
    }
}

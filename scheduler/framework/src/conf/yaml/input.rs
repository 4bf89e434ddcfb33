//! From bytes to characters: byte order marks, UTF-8 and UTF-16, and the characters that YAML allows.

use super::super::error::{ConfError, Place, Problem};

/// Decoded text. A fault in the bytes lies behind the characters and counts only when reading gets there.
#[derive(Debug)]
pub(super) struct Input {
    chars: Vec<char>,
    fault: Option<Fault>,
}

#[derive(Debug)]
struct Fault {
    /// The first character whose reading brings the fault to light.
    from: usize,
    error: ConfError,
}

/// Bytes are decoded in blocks of this size; a fault anywhere in a block spoils the whole block.
const BLOCK: usize = 512;

const BYTE_ORDER_MARK: char = '\u{feff}';

impl Input {
    /// Decodes as far as the bytes are sound.
    pub(super) fn new(bytes: &[u8]) -> Self {
        match bytes {
            [0xff, 0xfe, rest @ ..] => Self::collect("UTF-16", 2, utf16(rest, u16::from_le_bytes)),
            [0xfe, 0xff, rest @ ..] => Self::collect("UTF-16", 2, utf16(rest, u16::from_be_bytes)),
            [0xef, 0xbb, 0xbf, rest @ ..] => Self::collect("UTF-8", 3, utf8(rest)),
            _ => Self::collect("UTF-8", 0, utf8(bytes)),
        }
    }

    /// The character at `at`, or NUL behind the end. NUL itself never is part of the text.
    pub(super) fn at(&self, at: usize) -> char {
        self.chars.get(at).copied().unwrap_or('\0')
    }

    /// The fault of the bytes, if reading has got to it at `at`.
    pub(super) fn fault_at(&self, at: usize) -> Option<&ConfError> {
        self.fault
            .as_ref()
            .filter(|fault| at >= fault.from)
            .map(|fault| &fault.error)
    }

    /// Whether a second byte order mark follows the first. Upstream then swallows the first character of every line.
    pub(super) fn has_second_mark(&self) -> bool {
        self.chars.first() == Some(&BYTE_ORDER_MARK)
    }

    /// How many characters there are.
    pub(super) fn len(&self) -> usize {
        self.chars.len()
    }

    fn collect(encoding: &'static str, skipped: usize, decoded: impl Iterator<Item = Decoded>) -> Self {
        let mut chars = Vec::new();
        let (mut place, mut offset, mut block, mut block_start) =
            (Place { line: 1, column: 1 }, skipped, 0, 0);
        for item in decoded {
            if offset / BLOCK > block {
                (block, block_start) = (offset / BLOCK, chars.len());
            }
            let (problem, from) = match item {
                Decoded::Char(char, width) if is_allowed(char) => {
                    offset += width;
                    chars.push(char);
                    place.column += 1;
                    if char == '\n' {
                        place = Place {
                            line: place.line + 1,
                            column: 1,
                        };
                    }
                    continue;
                }
                Decoded::Char(char, _) => (Problem::ForbiddenCharacter { code: char.into() }, block_start),
                Decoded::Broken => (Problem::Encoding { encoding }, block_start),
                Decoded::NoCharacter => {
                    let detail =
                        "the bytes stand for half of a surrogate pair, or for a number beyond all characters";
                    (
                        Problem::Syntax {
                            detail: detail.into(),
                        },
                        block_start,
                    )
                }
                Decoded::CutOff => (Problem::Encoding { encoding }, chars.len()),
            };
            return Input {
                chars,
                fault: Some(Fault {
                    from,
                    error: ConfError::new(place, problem),
                }),
            };
        }
        Input { chars, fault: None }
    }
}

enum Decoded {
    /// A character and its width in bytes.
    Char(char, usize),
    /// Bytes that are no character.
    Broken,
    /// Bytes that follow the rules of the encoding but stand for no character.
    NoCharacter,
    /// The text ends amid a character.
    CutOff,
}

fn is_allowed(char: char) -> bool {
    matches!(char, '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{a0}'..='\u{fffd}' | '\u{10000}'..)
}

/// The characters up to and with the first that is broken.
fn utf8(bytes: &[u8]) -> impl Iterator<Item = Decoded> {
    let mut chunks = bytes.utf8_chunks();
    let (valid, invalid) = chunks
        .next()
        .map_or(("", &[][..]), |chunk| (chunk.valid(), chunk.invalid()));
    let left = bytes.len() - valid.len();
    let broken = invalid.first().map(|lead| {
        let width = match lead {
            0xc0..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf7 => 4,
            _ => 1,
        };
        if width > left {
            return Decoded::CutOff;
        }
        let sequence = &bytes[valid.len()..valid.len() + width];
        let well_formed = width > 2 && sequence[1..].iter().all(|byte| matches!(byte, 0x80..=0xbf));
        match sequence {
            [0xed, 0xa0..=0xbf, ..] | [0xf4, 0x90..=0xbf, ..] | [0xf5..=0xf7, ..] if well_formed => {
                Decoded::NoCharacter
            }
            _ => Decoded::Broken,
        }
    });
    valid
        .chars()
        .map(|char| Decoded::Char(char, char.len_utf8()))
        .chain(broken)
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> impl Iterator<Item = Decoded> {
    let pairs = bytes.chunks_exact(2);
    let odd = (!pairs.remainder().is_empty()).then_some(Decoded::CutOff);
    let units = pairs.map(move |pair| unit([pair[0], pair[1]]));
    let decoded = char::decode_utf16(units).map(|item| match item {
        Ok(char) => Decoded::Char(char, 2 * char.len_utf16()),
        Err(_) => Decoded::NoCharacter,
    });
    decoded.chain(odd)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> (String, Option<String>) {
        let input = Input::new(bytes);
        (
            input.chars.iter().collect(),
            input.fault.map(|fault| fault.error.to_string()),
        )
    }

    #[test]
    fn byte_order_marks_choose_the_encoding_and_vanish() {
        for bytes in [
            &b"ab"[..],
            b"\xef\xbb\xbfab",
            b"\xff\xfea\0b\0",
            b"\xfe\xff\0a\0b",
        ] {
            assert_eq!(text(bytes), ("ab".into(), None), "{bytes:?}");
        }
        assert_eq!(text(b"\xff\xfe\x3d\xd8\x00\xde"), ("\u{1f600}".into(), None));
    }

    #[test]
    fn faults_name_their_place() {
        let utf8 = "the bytes are no valid UTF-8; save the file as UTF-8";
        let utf16 = "the bytes are no valid UTF-16; save the file as UTF-8";
        for (bytes, fault) in [
            (&b"a\nb\xe9"[..], format!("line 2, column 2: {utf8}")),
            (b"\xc0\xaf", format!("line 1, column 1: {utf8}")),
            (b"\xe2\x82a", format!("line 1, column 1: {utf8}")),
            (b"\xff\xfea\0b", format!("line 1, column 2: {utf16}")),
        ] {
            assert_eq!(text(bytes).1, Some(fault), "{bytes:?}");
        }
        for lone_surrogate in [&b"\xed\xa0\x80"[..], b"\xff\xfe\x3d\xd8a\0", b"\xff\xfe\x00\xdc"] {
            let fault = text(lone_surrogate).1.expect("half of a pair is no text");
            assert!(fault.contains("surrogate"), "{fault}");
        }
        let control = text(b"a\x07").1.expect("a bell is no text");
        assert!(
            control.starts_with("line 1, column 2: control character U+0007"),
            "{control}"
        );
    }

    #[test]
    fn a_fault_counts_from_its_block_on() {
        let mut bytes = vec![b'a'; 3 * BLOCK];
        bytes[2 * BLOCK + 7] = 0;
        let input = Input::new(&bytes);
        assert!(input.fault_at(2 * BLOCK - 1).is_none());
        assert!(input.fault_at(2 * BLOCK).is_some());
    }
}

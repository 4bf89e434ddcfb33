//! Whatever the bytes, reading a configuration ends soon, with a configuration or a fault.

use std::time::{Duration, Instant};

use mco_framework::conf::{ConfStore, read};
use proptest::prelude::*;

/// Pieces that matter to YAML or to this file.
const PIECES: [&str; 64] = [
    "actions: allocate\n",
    "tiers:\n",
    "- plugins:\n",
    "  - name: gang\n",
    "    enableJobOrder: no\n",
    "    arguments:\n",
    "      a: 1\n",
    "metrics: {a: b}\n",
    "configurations:\n",
    "- ",
    "-",
    "? ",
    "?",
    ": ",
    ":",
    "[",
    "]",
    "{",
    "}",
    ",",
    "#",
    " #",
    "&a ",
    "*a",
    "<<: *a\n",
    "<<: [*a, {}]\n",
    "!!int ",
    "!!binary ",
    "!x ",
    "! ",
    "!<y> ",
    "!e!t ",
    "%YAML 1.1\n",
    "%TAG !e! tag:x,1:\n",
    "---\n",
    "...\n",
    "|\n",
    ">-\n",
    "|+2\n",
    "\"",
    "'",
    "\\",
    "\\x41",
    "\\\n",
    "\n",
    "\r\n",
    "\r",
    "\t",
    " ",
    "  ",
    "    ",
    "\u{85}",
    "\u{2028}",
    "\u{feff}",
    "~",
    "null",
    "0x1F",
    "-.inf",
    "1e400",
    "2001-12-14",
    "\0",
    "é",
    "😀",
    "x",
];

/// Twice the length of any case, and far more than reading takes even on a busy machine.
const SOON: Duration = Duration::from_secs(10);

fn reads_soon(bytes: &[u8]) -> Result<(), TestCaseError> {
    let start = Instant::now();
    if let Ok(conf) = read(bytes) {
        prop_assert!(!conf.actions.is_empty(), "a file without actions is refused");
        prop_assert!(!conf.summary().is_empty());
    }
    prop_assert!(start.elapsed() < SOON);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn any_bytes_end_in_a_configuration_or_a_fault(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        reads_soon(&bytes)?;
    }

    #[test]
    fn any_pieces_of_yaml_end_in_a_configuration_or_a_fault(
        pieces in proptest::collection::vec(proptest::sample::select(PIECES.as_slice()), 0..60),
    ) {
        reads_soon(pieces.concat().as_bytes())?;
    }

    #[test]
    fn a_fault_lies_within_the_file(
        pieces in proptest::collection::vec(proptest::sample::select(PIECES.as_slice()), 0..30),
    ) {
        let text = pieces.concat();
        let breaks = text.matches(['\n', '\r', '\u{85}', '\u{2028}']).count();
        if let Err(error) = read(text.as_bytes()) {
            prop_assert!(error.at.is_none_or(|at| at.line >= 1 && at.line <= breaks + 2 && at.column >= 1), "{error}");
        }
    }

    #[test]
    fn a_store_holds_what_reading_gives(
        pieces in proptest::collection::vec(proptest::sample::select(PIECES.as_slice()), 0..20),
    ) {
        let text = format!("actions: allocate\ntiers: []\n{}", pieces.concat());
        let mut store = ConfStore::default();
        let before = store.active();
        match (store.load(text.as_bytes()), read(text.as_bytes())) {
            (Ok(_), Ok(conf)) => prop_assert_eq!(store.active().summary(), conf.summary()),
            (Err(told), Err(error)) => {
                prop_assert_eq!(told, error);
                prop_assert_eq!(store.active(), before);
            }
            (loaded, read) => prop_assert!(false, "{:?} but {:?}", loaded, read),
        }
    }
}

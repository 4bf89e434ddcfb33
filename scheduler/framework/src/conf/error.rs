//! Why a configuration file is refused, where in it, and what to do about it.

use std::fmt;

use thiserror::Error;

/// A place in the file; lines and columns count from 1, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// A configuration file that is refused as a whole. The configuration in force stays.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}{problem}; {}", Prefix(*.at), problem.advice())]
pub struct ConfError {
    /// Where the fault is; `None` if it lies in no single place.
    pub at: Option<Place>,
    /// What is wrong.
    pub problem: Problem,
}

struct Prefix(Option<Place>);

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(place) => write!(f, "{place}: "),
            None => Ok(()),
        }
    }
}

impl ConfError {
    pub(super) fn new(at: impl Into<Option<Place>>, problem: Problem) -> Self {
        ConfError {
            at: at.into(),
            problem,
        }
    }

    /// Moves all places as far as `by` stands from the start of a text, for a text that itself begins there.
    pub(super) fn moved(mut self, by: Place) -> Self {
        let move_place = |place: &mut Place| {
            if place.line == 1 {
                place.column += by.column - 1;
            }
            place.line += by.line - 1;
        };
        self.at.iter_mut().for_each(move_place);
        if let Problem::WrongType(mismatches) = &mut self.problem {
            mismatches
                .iter_mut()
                .for_each(|mismatch| move_place(&mut mismatch.at));
        }
        self
    }

    /// The kind in plain words, one per sort of fault.
    pub fn kind(&self) -> &'static str {
        self.problem.kind()
    }
}

/// The sorts of fault for which a file is refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Problem {
    /// Bytes that are no text in the file's encoding.
    #[error("the bytes are no valid {encoding}")]
    Encoding {
        /// The encoding, told by the byte order mark or UTF-8.
        encoding: &'static str,
    },
    /// A character that no YAML text may contain.
    #[error("control character U+{code:04X} in the text")]
    ForbiddenCharacter {
        /// The character's number.
        code: u32,
    },
    /// The text is not YAML.
    #[error("this is not YAML: {detail}")]
    Syntax {
        /// What the parser met.
        detail: String,
    },
    /// Lists and mappings nested too deeply.
    #[error("nested more than {limit} levels deep")]
    TooDeep {
        /// The deepest nesting that is read.
        limit: usize,
    },
    /// An alias to an anchor that does not stand before it.
    #[error("alias `*{name}` has no anchor `&{name}` before it")]
    UnknownAnchor {
        /// The anchor's name.
        name: String,
    },
    /// An alias within the very value it stands for.
    #[error("the value of anchor `&{name}` contains itself")]
    RecursiveAnchor {
        /// The anchor's name.
        name: String,
    },
    /// Aliases multiply the text beyond reason.
    #[error("the aliases blow the text up out of all proportion")]
    TooMuchAliasing,
    /// A merge key whose value is neither a mapping nor a list of mappings.
    #[error("merge key `<<` without a mapping to merge")]
    MergeWithoutMap,
    /// A tag that does not fit the value it stands before.
    #[error("the tag {tag} does not fit `{text}`, which is {found}")]
    TagMismatch {
        /// The tag, such as `!!int`.
        tag: String,
        /// The value as in the file.
        text: String,
        /// The tag that fits the value.
        found: &'static str,
    },
    /// A list or mapping as a key.
    #[error("a {what} cannot be a key")]
    KeyNotScalar {
        /// Either `list` or `mapping`.
        what: &'static str,
    },
    /// One or more values of the wrong type.
    #[error("{}", mismatches(.0))]
    WrongType(Vec<Mismatch>),
    /// Hierarchical drf and proportion in one tier.
    #[error("tier {tier} holds both drf with enableHierarchy and proportion")]
    HierarchyBesideProportion {
        /// The tier, from 1.
        tier: usize,
    },
    /// An action that does not exist; the empty name comes of an empty file or a stray comma.
    #[error("unknown action `{name}`")]
    UnknownAction {
        /// The name, blanks trimmed.
        name: String,
        /// The names that are known.
        known: Vec<String>,
    },
}

impl Problem {
    /// The kind in plain words, one per sort of fault.
    pub fn kind(&self) -> &'static str {
        match self {
            Problem::Encoding { .. } => "invalid encoding",
            Problem::ForbiddenCharacter { .. } => "forbidden character",
            Problem::Syntax { .. } => "YAML syntax",
            Problem::TooDeep { .. } => "nested too deeply",
            Problem::UnknownAnchor { .. } => "alias to an unknown anchor",
            Problem::RecursiveAnchor { .. } => "anchor that contains itself",
            Problem::TooMuchAliasing => "too much aliasing",
            Problem::MergeWithoutMap => "merge key without a mapping",
            Problem::TagMismatch { .. } => "tag does not fit the value",
            Problem::KeyNotScalar { .. } => "a mapping or list as key",
            Problem::WrongType(_) => "a value of the wrong type",
            Problem::HierarchyBesideProportion { .. } => "drf with hierarchy beside proportion in one tier",
            Problem::UnknownAction { .. } => "unknown action",
        }
    }

    /// What to do about it.
    pub fn advice(&self) -> String {
        match self {
            Problem::Encoding { .. } => "save the file as UTF-8".into(),
            Problem::ForbiddenCharacter { .. } => {
                "remove it, or write it as an escape in double quotes".into()
            }
            Problem::Syntax { .. } => "check indentation, colons and quotes there".into(),
            Problem::TooDeep { .. } => "flatten it".into(),
            Problem::UnknownAnchor { .. } => {
                "define the anchor first, or quote a text that begins with `*`".into()
            }
            Problem::RecursiveAnchor { .. } | Problem::TooMuchAliasing => {
                "write the values out instead".into()
            }
            Problem::MergeWithoutMap => "give it a mapping, or a list of mappings".into(),
            Problem::TagMismatch { .. } => "drop the tag or correct the value".into(),
            Problem::KeyNotScalar { .. } => "use a text as key".into(),
            Problem::WrongType(_) => "give values of the types wanted".into(),
            Problem::HierarchyBesideProportion { .. } => {
                "switch one of them off there or move it to another tier".into()
            }
            Problem::UnknownAction { name, known } if name.is_empty() => {
                format!(
                    "give `actions` a list of names without stray commas, out of {}",
                    known.join(", ")
                )
            }
            Problem::UnknownAction { known, .. } => format!("known are {}", known.join(", ")),
        }
    }
}

/// One value of the wrong type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// Where the value stands.
    pub at: Place,
    /// The way to the value, such as `tiers[0].plugins[1].enableJobOrder`.
    pub path: String,
    /// What stands there.
    pub found: String,
    /// What is wanted.
    pub wanted: &'static str,
}

fn mismatches(all: &[Mismatch]) -> String {
    let texts = all.iter().enumerate().map(
        |(
            place,
            Mismatch {
                at,
                path,
                found,
                wanted,
            },
        )| {
            // The first one's place stands before the whole message already.
            let at = if place == 0 {
                String::new()
            } else {
                format!("{at}: ")
            };
            format!("{at}`{path}` must be {wanted}, not {found}")
        },
    );
    texts.collect::<Vec<_>>().join("; ")
}

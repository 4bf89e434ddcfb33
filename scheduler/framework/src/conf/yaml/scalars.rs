//! Scanning of scalars: plain, quoted and block ones, with folding of lines.

use super::scanner::{Scanner, TokenKind, is_blank, is_blank_or_end, is_break, is_break_or_end};
use super::{Result, syntax};

/// Blanks and line breaks between two stretches of a scalar, and what becomes of them.
#[derive(Default)]
struct Gap {
    blanks: String,
    first_break: Option<char>,
    more_breaks: String,
    /// Whether the gap spans lines; then blanks do not count.
    spans_lines: bool,
}

impl Gap {
    /// Goes past one blank or line break.
    fn swallow(&mut self, scanner: &mut Scanner) {
        if is_blank(scanner.now()) {
            if !self.spans_lines {
                self.blanks.push(scanner.now());
            }
            scanner.skip();
        } else if let Some(line_break) = scanner.skip_break() {
            if self.spans_lines {
                self.more_breaks.push(line_break);
            } else {
                self.blanks.clear();
                self.first_break = Some(line_break);
                self.spans_lines = true;
            }
        }
    }

    /// Adds what the gap stands for and empties it: one line break folds to a blank, more of them to one less.
    fn join(&mut self, text: &mut String) {
        if !self.spans_lines {
            text.push_str(&self.blanks);
        } else if self.first_break == Some('\n') {
            text.push_str(if self.more_breaks.is_empty() {
                " "
            } else {
                &self.more_breaks
            });
        } else {
            text.extend(self.first_break);
            text.push_str(&self.more_breaks);
        }
        *self = Gap::default();
    }
}

impl Scanner {
    pub(super) fn scan_plain(&mut self) -> Result<TokenKind> {
        let (mut text, mut gap) = (String::new(), Gap::default());
        let indent = self.indent + 1;
        loop {
            if self.at_document_mark().is_some() || self.now() == '#' {
                break;
            }
            while !is_blank_or_end(self.now()) && !self.ends_plain() {
                gap.join(&mut text);
                text.push(self.now());
                self.skip();
            }
            if !(is_blank(self.now()) || is_break(self.now())) {
                break;
            }
            while is_blank(self.now()) || is_break(self.now()) {
                if gap.spans_lines && self.column() < indent && self.now() == '\t' {
                    return Err(syntax(self.place, "found a tab where only blanks may indent"));
                }
                gap.swallow(self);
            }
            if !self.in_flow() && self.column() < indent {
                break;
            }
        }
        if gap.spans_lines {
            self.key_allowed = true;
        }
        Ok(TokenKind::Scalar { text, plain: true })
    }

    fn ends_plain(&self) -> bool {
        match self.now() {
            ':' => is_blank_or_end(self.ahead(1)),
            ',' | '?' | '[' | ']' | '{' | '}' => self.in_flow(),
            _ => false,
        }
    }

    pub(super) fn scan_quoted(&mut self, quote: char) -> Result<TokenKind> {
        let start = self.place;
        let (mut text, mut gap) = (String::new(), Gap::default());
        self.skip();
        loop {
            if self.at_document_mark().is_some() {
                return Err(syntax(self.place, "found a document mark within quotes"));
            }
            if self.now() == '\0' {
                self.check_input(0)?;
                return Err(syntax(start, "did not find the closing quote"));
            }
            while !is_blank_or_end(self.now()) {
                if self.now() == quote {
                    if quote == '"' || self.ahead(1) != '\'' {
                        break;
                    }
                    text.push('\'');
                    self.skip();
                    self.skip();
                } else if quote == '"' && self.now() == '\\' {
                    self.skip();
                    if self.skip_break().is_some() {
                        // The gap goes on, but this break stands for nothing.
                        gap.spans_lines = true;
                        break;
                    }
                    self.read_escape(&mut text)?;
                } else {
                    text.push(self.now());
                    self.skip();
                }
            }
            if self.now() == quote {
                break;
            }
            while is_blank(self.now()) || is_break(self.now()) {
                gap.swallow(self);
            }
            gap.join(&mut text);
        }
        self.skip();
        Ok(TokenKind::Scalar { text, plain: false })
    }

    /// Reads what follows a backslash.
    fn read_escape(&mut self, text: &mut String) -> Result<()> {
        let letter = self.now();
        let single = match letter {
            '0' => '\0',
            'a' => '\x07',
            'b' => '\x08',
            't' | '\t' => '\t',
            'n' => '\n',
            'v' => '\x0b',
            'f' => '\x0c',
            'r' => '\r',
            'e' => '\x1b',
            ' ' | '"' | '\'' | '\\' => letter,
            'N' => '\u{85}',
            '_' => '\u{a0}',
            'L' => '\u{2028}',
            'P' => '\u{2029}',
            'x' => return self.read_code(2, text),
            'u' => return self.read_code(4, text),
            'U' => return self.read_code(8, text),
            _ => return Err(syntax(self.place, "found an unknown escape in double quotes")),
        };
        text.push(single);
        self.skip();
        Ok(())
    }

    fn read_code(&mut self, digits: usize, text: &mut String) -> Result<()> {
        self.skip();
        let mut code = 0u32;
        for _ in 0..digits {
            let Some(digit) = self.now().to_digit(16) else {
                return Err(syntax(
                    self.place,
                    "did not find a hexadecimal digit of an escape",
                ));
            };
            // Eight digits fit; anything beyond the last character is refused below.
            code = code.wrapping_mul(16).wrapping_add(digit);
            self.skip();
        }
        let Some(char) = char::from_u32(code) else {
            return Err(syntax(self.place, "the escape stands for no character"));
        };
        text.push(char);
        Ok(())
    }

    pub(super) fn scan_block_scalar(&mut self, literal: bool) -> Result<TokenKind> {
        self.skip();
        let (chomping, increment) = self.read_block_header()?;
        let mut indent = increment.map(|increment| self.indent.max(0) + increment);
        let (mut text, mut breaks) = (String::new(), String::new());
        let mut last_break: Option<char> = None;
        let mut after_blank = false;
        self.skip_block_breaks(&mut indent, &mut breaks)?;
        while indent == Some(self.column()) && self.now() != '\0' {
            let begins_blank = is_blank(self.now());
            let folds = !literal && !after_blank && !begins_blank && last_break == Some('\n');
            if !folds {
                text.extend(last_break);
            } else if breaks.is_empty() {
                text.push(' ');
            }
            text.push_str(&breaks);
            breaks.clear();
            after_blank = begins_blank;
            while !is_break_or_end(self.now()) {
                text.push(self.now());
                self.skip();
            }
            last_break = self.skip_break();
            self.skip_block_breaks(&mut indent, &mut breaks)?;
        }
        if chomping != Chomping::Strip {
            text.extend(last_break);
        }
        if chomping == Chomping::Keep {
            text.push_str(&breaks);
        }
        Ok(TokenKind::Scalar { text, plain: false })
    }

    /// The marks behind `|` or `>`, up to and with the end of the line.
    fn read_block_header(&mut self) -> Result<(Chomping, Option<isize>)> {
        let mut chomping = self.read_chomping();
        let increment = match self.now().to_digit(10) {
            Some(0) => return Err(syntax(self.place, "found an indentation of 0 for a block text")),
            Some(digit) => {
                self.skip();
                Some(digit as isize)
            }
            None => None,
        };
        if increment.is_some() && chomping.is_none() {
            chomping = self.read_chomping();
        }
        self.skip_blanks();
        self.skip_comment();
        if !is_break_or_end(self.now()) {
            return Err(syntax(
                self.place,
                "did not find a comment or line break after `|` or `>`",
            ));
        }
        self.skip_break();
        Ok((chomping.unwrap_or(Chomping::Clip), increment))
    }

    fn read_chomping(&mut self) -> Option<Chomping> {
        let chomping = match self.now() {
            '+' => Chomping::Keep,
            '-' => Chomping::Strip,
            _ => return None,
        };
        self.skip();
        Some(chomping)
    }

    /// Goes past empty lines and the indentation of the next one that is not; sets `indent` if it was not given.
    fn skip_block_breaks(&mut self, indent: &mut Option<isize>, breaks: &mut String) -> Result<()> {
        let mut widest = 0;
        loop {
            while indent.is_none_or(|indent| self.column() < indent) && self.now() == ' ' {
                self.skip();
            }
            widest = widest.max(self.column());
            if indent.is_none_or(|indent| self.column() < indent) && self.now() == '\t' {
                return Err(syntax(self.place, "found a tab where only blanks may indent"));
            }
            match self.skip_break() {
                Some(line_break) => breaks.push(line_break),
                None => break,
            }
        }
        indent.get_or_insert_with(|| widest.max(self.indent + 1).max(1));
        Ok(())
    }
}

/// What becomes of the line breaks at the end of a block scalar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Chomping {
    Strip,
    Clip,
    Keep,
}

//! Scanning of tags, and of the directives that stand before a document.

use super::scanner::{Scanner, TokenKind, is_blank, is_blank_or_end, is_break_or_end, is_word};
use super::{Result, syntax};

impl Scanner {
    pub(super) fn scan_tag(&mut self) -> Result<TokenKind> {
        if self.ahead(1) == '<' {
            self.skip();
            self.skip();
            let suffix = self.read_uri("", false)?;
            if self.now() != '>' {
                return Err(syntax(self.place, "did not find the `>` that ends a tag"));
            }
            self.skip();
            return Ok(TokenKind::Tag {
                handle: String::new(),
                suffix,
            });
        }
        let handle = self.read_handle(false)?;
        if handle.len() > 1 && handle.ends_with('!') {
            let suffix = self.read_uri("", false)?;
            return Ok(TokenKind::Tag { handle, suffix });
        }
        let suffix = self.read_uri(&handle[1..], true)?;
        if suffix.is_empty() {
            return Ok(TokenKind::Tag {
                handle: String::new(),
                suffix: "!".into(),
            });
        }
        Ok(TokenKind::Tag {
            handle: "!".into(),
            suffix,
        })
    }

    fn read_handle(&mut self, in_directive: bool) -> Result<String> {
        if self.now() != '!' {
            return Err(syntax(self.place, "did not find the `!` that begins a tag"));
        }
        self.skip();
        let word = self.read_word();
        if self.now() == '!' {
            self.skip();
            return Ok(format!("!{word}!"));
        }
        if in_directive && !word.is_empty() {
            return Err(syntax(self.place, "did not find the `!` that ends a tag handle"));
        }
        Ok(format!("!{word}"))
    }

    fn read_uri(&mut self, head: &str, may_be_empty: bool) -> Result<String> {
        let start = self.index;
        let mut bytes = head.as_bytes().to_vec();
        loop {
            let now = self.now();
            if now == '%' {
                self.read_uri_escape(&mut bytes)?;
            } else if is_word(now) || ";/?:@&=+$,.!~*'()[]".contains(now) {
                bytes.push(now as u8);
                self.skip();
            } else {
                break;
            }
        }
        if self.index == start && !may_be_empty {
            return Err(syntax(self.place, "did not find a tag"));
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// One character as `%` escapes, one for each of its bytes.
    fn read_uri_escape(&mut self, bytes: &mut Vec<u8>) -> Result<()> {
        let mut left = 0;
        loop {
            let (high, low) = (self.ahead(1).to_digit(16), self.ahead(2).to_digit(16));
            let (Some(high), Some(low), '%') = (high, low, self.now()) else {
                return Err(syntax(
                    self.place,
                    "did not find two hexadecimal digits after `%` in a tag",
                ));
            };
            let byte = (high * 16 + low) as u8;
            left = match (left, byte) {
                (0, 0x00..=0x7f) => 1,
                (0, 0xc0..=0xdf) => 2,
                (0, 0xe0..=0xef) => 3,
                (0, 0xf0..=0xf7) => 4,
                (1.., 0x80..=0xbf) => left,
                _ => return Err(syntax(self.place, "the `%` escapes in a tag are no valid UTF-8")),
            };
            bytes.push(byte);
            self.index += 3;
            self.place.column += 3;
            left -= 1;
            if left == 0 {
                return Ok(());
            }
        }
    }

    /// A directive with the rest of its line.
    pub(super) fn scan_directive(&mut self) -> Result<TokenKind> {
        self.skip();
        let name = self.read_word();
        if !is_blank_or_end(self.now()) {
            return Err(syntax(
                self.place,
                "found an unexpected character in the name of a directive",
            ));
        }
        let kind = match name.as_str() {
            "YAML" => self.scan_version()?,
            "TAG" => self.scan_tag_directive()?,
            _ => return Err(syntax(self.place, "found an unknown directive")),
        };
        self.skip_blanks();
        self.skip_comment();
        if !is_break_or_end(self.now()) {
            return Err(syntax(
                self.place,
                "did not find a comment or line break after a directive",
            ));
        }
        self.skip_break();
        Ok(kind)
    }

    fn scan_version(&mut self) -> Result<TokenKind> {
        self.skip_blanks();
        let major = self.read_version_number()?;
        if self.now() != '.' {
            return Err(syntax(self.place, "did not find the point in the YAML version"));
        }
        self.skip();
        Ok(TokenKind::Version(major, self.read_version_number()?))
    }

    fn read_version_number(&mut self) -> Result<u32> {
        let (start, mut number) = (self.index, 0);
        while let Some(digit) = self.now().to_digit(10) {
            number = number * 10 + digit;
            self.skip();
            if self.index - start > 2 {
                return Err(syntax(self.place, "the YAML version is too long"));
            }
        }
        if self.index == start {
            return Err(syntax(self.place, "did not find a number in the YAML version"));
        }
        Ok(number)
    }

    fn scan_tag_directive(&mut self) -> Result<TokenKind> {
        self.skip_blanks();
        let handle = self.read_handle(true)?;
        if !is_blank(self.now()) {
            return Err(syntax(
                self.place,
                "did not find a blank after the handle of a tag directive",
            ));
        }
        self.skip_blanks();
        let prefix = self.read_uri("", false)?;
        if !is_blank_or_end(self.now()) {
            return Err(syntax(
                self.place,
                "did not find a line break after a tag directive",
            ));
        }
        Ok(TokenKind::TagDirective { handle, prefix })
    }
}

//! What is printed while the demo runs: tables redrawn in place on a terminal, plain lines elsewhere.

use super::table::paint;
use std::io::{IsTerminal, Write};
use std::time::Duration;

/// Messages shown below the tables.
const RECENT: usize = 8;
/// Width of output that goes to no terminal.
const PLAIN_WIDTH: u16 = 160;

/// Where to print and how.
pub struct Screen {
    mode: Mode,
    colour: bool,
    /// Messages of a live screen so far.
    said: Vec<String>,
    /// Lines that the last drawing took.
    drawn: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Tables in place, on standard output.
    Live,
    /// A line for each thing that happens, on standard output.
    Lines,
    /// The same on standard error: standard output is for a program.
    Aside,
}

impl Screen {
    /// A screen on standard output; with `aside`, that is left alone.
    pub fn new(aside: bool) -> Self {
        let terminal = std::io::stdout().is_terminal();
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let mode = match (aside, terminal && !dumb) {
            (true, _) => Mode::Aside,
            (false, true) => Mode::Live,
            (false, false) => Mode::Lines,
        };
        Self {
            mode,
            colour: terminal && !no_color && !dumb && !aside,
            said: Vec::new(),
            drawn: 0,
        }
    }

    /// Columns there are.
    pub fn width(&self) -> u16 {
        size().map_or(PLAIN_WIDTH, |(columns, _)| columns)
    }

    /// Tells what happened.
    pub fn say(&mut self, at: Duration, message: &str) {
        let line = format!("[{:5.1} s] {message}", at.as_secs_f64());
        match self.mode {
            Mode::Live => self.said.push(line),
            Mode::Lines => print(&line),
            Mode::Aside => eprintln!("{line}"),
        }
    }

    /// Shows these lines and the last messages in place of what was shown before; on a terminal only.
    pub fn draw(&mut self, lines: Vec<String>) {
        if self.mode != Mode::Live {
            return;
        }
        let (columns, rows) = size().unwrap_or((PLAIN_WIDTH, u16::MAX));
        // A line too long or too many would break the way back up; the tables come first.
        let rows = usize::from(rows.saturating_sub(1)).max(1);
        let recent = RECENT.min(rows.saturating_sub(lines.len() + 1));
        let mut all = lines;
        all.push(String::new());
        all.extend(
            self.said
                .iter()
                .skip(self.said.len().saturating_sub(recent))
                .cloned(),
        );
        all.truncate(rows);
        let mut text = self.erase();
        for line in &all {
            let cut: String = line.chars().take(usize::from(columns)).collect();
            text.push_str(&self.painted(&cut));
            text.push('\n');
        }
        self.drawn = all.len();
        put(&text);
    }

    /// What takes the last drawing away.
    fn erase(&mut self) -> String {
        match std::mem::take(&mut self.drawn) {
            0 => String::new(),
            drawn => format!("\x1b[{drawn}A\r\x1b[J"),
        }
    }

    /// Prints lines that stay, in place of the last drawing and after all that was said.
    pub fn keep(&mut self, lines: &[String]) {
        if self.mode == Mode::Aside {
            return;
        }
        put(&self.erase());
        let said = std::mem::take(&mut self.said);
        for line in said.iter().chain(lines) {
            print(&self.painted(line));
        }
    }

    fn painted(&self, line: &str) -> String {
        if self.colour { paint(line) } else { line.to_owned() }
    }
}

fn print(line: &str) {
    put(&format!("{line}\n"));
}

/// Writes to standard output; a reader that has seen enough is no error.
fn put(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Columns and rows of the terminal.
fn size() -> Option<(u16, u16)> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    (size.ws_col > 0 && size.ws_row > 0).then_some((size.ws_col, size.ws_row))
}

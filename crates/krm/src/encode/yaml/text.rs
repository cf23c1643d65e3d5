//! The lines of a YAML document as they grow.

use super::style::{self, Style};

/// Where a text is broken at its next blank.
const WIDTH: usize = 80;

/// What has been written, and how far the last line goes.
#[derive(Default)]
pub(super) struct Text {
    text: String,
    column: usize,
    /// Whether the next line's beginning is there already, behind a dash.
    is_indented: bool,
    /// Whether the text so far ends in the line break of a block.
    is_at_line_start: bool,
}

impl Text {
    pub(super) fn finish(mut self) -> String {
        if !self.is_at_line_start {
            self.text.push('\n');
        }
        self.text
    }

    /// Goes to where the next entry begins.
    pub(super) fn begin_line(&mut self, indent: usize) {
        if std::mem::take(&mut self.is_indented) {
            return;
        }
        if !self.text.is_empty() && !self.is_at_line_start {
            self.text.push('\n');
        }
        self.indent(indent);
    }

    pub(super) fn indent_is_written(&mut self) {
        self.is_indented = true;
    }

    pub(super) fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.column += text.chars().count();
        self.is_at_line_start = false;
    }

    pub(super) fn space_unless_first(&mut self) {
        if !self.text.is_empty() {
            self.push(" ");
        }
    }

    /// A key, on one line.
    pub(super) fn write_key(&mut self, key: &str) {
        match style::style_of(key, true) {
            Style::Plain | Style::Literal => self.push(key),
            Style::Single => self.single(key, None),
            Style::Double => self.double(key, None),
        }
    }

    /// A value; `indent` is where further lines of it begin.
    pub(super) fn write_string(&mut self, content: &str, indent: usize) {
        match style::style_of(content, false) {
            Style::Plain => self.plain(content, indent),
            Style::Single => self.single(content, Some(indent)),
            Style::Double => self.double(content, Some(indent)),
            Style::Literal => self.literal(content, indent),
        }
    }

    fn plain(&mut self, content: &str, indent: usize) {
        let mut was_space = false;
        for (at, c) in content.char_indices() {
            let is_space = c == ' ';
            if is_space && !was_space && self.column > WIDTH && !content[at + 1..].starts_with(' ') {
                self.new_line(indent);
            } else {
                self.put(c);
            }
            was_space = is_space;
        }
    }

    fn single(&mut self, content: &str, indent: Option<usize>) {
        self.push("'");
        let mut was_space = false;
        for (at, c) in content.char_indices() {
            let is_space = c == ' ';
            let is_inner = at > 0 && at + 1 < content.len();
            match indent {
                Some(indent)
                    if is_space
                        && !was_space
                        && self.column > WIDTH
                        && is_inner
                        && !content[at + 1..].starts_with(' ') =>
                {
                    self.new_line(indent);
                }
                _ => self.put(c),
            }
            if c == '\'' {
                self.put('\'');
            }
            was_space = is_space;
        }
        self.push("'");
    }

    fn double(&mut self, content: &str, indent: Option<usize>) {
        self.push("\"");
        let mut was_space = false;
        for (at, c) in content.char_indices() {
            if !style::is_printable(c) || style::is_break(c) || matches!(c, '"' | '\\') {
                self.push(&escaped(c));
                was_space = false;
                continue;
            }
            let is_space = c == ' ';
            let is_inner = at > 0 && at + 1 < content.len();
            match indent {
                Some(indent) if is_space && !was_space && self.column > WIDTH && is_inner => {
                    self.new_line(indent);
                    if content[at + 1..].starts_with(' ') {
                        self.put('\\');
                    }
                }
                _ => self.put(c),
            }
            was_space = is_space;
        }
        self.push("\"");
    }

    fn literal(&mut self, content: &str, indent: usize) {
        self.push("|");
        if content.starts_with(|c| c == ' ' || style::is_break(c)) {
            self.push("2");
        }
        let mut from_end = content.chars().rev();
        let (last, before) = (from_end.next(), from_end.next());
        match last.is_some_and(style::is_break) {
            false => self.push("-"),
            true if before.is_none_or(style::is_break) => self.push("+"),
            true => {}
        }
        self.text.push('\n');
        let mut is_line_start = true;
        for c in content.chars() {
            if style::is_break(c) {
                self.text.push(c);
                is_line_start = true;
                continue;
            }
            if std::mem::take(&mut is_line_start) {
                self.indent(indent);
            }
            self.put(c);
        }
        self.is_at_line_start = is_line_start;
    }

    fn put(&mut self, c: char) {
        self.text.push(c);
        self.column += 1;
        self.is_at_line_start = false;
    }

    fn new_line(&mut self, indent: usize) {
        self.text.push('\n');
        self.indent(indent);
    }

    fn indent(&mut self, indent: usize) {
        self.text.extend(std::iter::repeat_n(' ', indent));
        self.column = indent;
        self.is_at_line_start = false;
    }
}

/// A character behind a backslash.
fn escaped(c: char) -> String {
    let short = match c {
        '\0' => '0',
        '\u{7}' => 'a',
        '\u{8}' => 'b',
        '\t' => 't',
        '\n' => 'n',
        '\u{b}' => 'v',
        '\u{c}' => 'f',
        '\r' => 'r',
        '\u{1b}' => 'e',
        '"' => '"',
        '\\' => '\\',
        '\u{85}' => 'N',
        '\u{2028}' => 'L',
        '\u{2029}' => 'P',
        _ => {
            let number = u32::from(c);
            return match number {
                0..=0xff => format!("\\x{number:02X}"),
                0x100..=0xffff => format!("\\u{number:04X}"),
                _ => format!("\\U{number:08X}"),
            };
        }
    };
    format!("\\{short}")
}

//! Lines of a log as they arrive.

/// A line of the log of an instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// When it was written, to the nanosecond and in UTC: times are ordered as texts.
    pub at: String,
    /// Name of the instance.
    pub instance: String,
    /// The line.
    pub text: String,
}

/// Puts lines together from pieces.
#[derive(Default)]
pub struct Lines(Vec<u8>);

impl Lines {
    /// The lines that are whole after a further piece, of an instance.
    pub fn push(&mut self, bytes: &[u8], instance: &str) -> Vec<Line> {
        self.0.extend_from_slice(bytes);
        let mut lines = Vec::new();
        while let Some(end) = self.0.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.0.drain(..=end).collect();
            let text = String::from_utf8_lossy(&line[..end]);
            let (at, text) = text.split_once(' ').unwrap_or((&text, ""));
            lines.push(Line { at: at.to_owned(), instance: instance.to_owned(), text: printable(text) });
        }
        lines
    }
}

/// A line without characters that steer a terminal: an instance is somebody else's program. Colours stay.
fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        if character == '\u{1b}' && rest.peek() == Some(&'[') {
            let sequence: String =
                rest.clone().skip(1).take_while(|next| next.is_ascii_digit() || *next == ';').collect();
            if rest.clone().nth(1 + sequence.len()) == Some('m') {
                shown.push('\u{1b}');
                shown.extend(rest.by_ref().take(sequence.len() + 2));
                continue;
            }
        }
        match character {
            '\t' => shown.push('\t'),
            character if character.is_control() => shown.push('\u{fffd}'),
            character => shown.push(character),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_put_together_from_pieces() {
        let mut lines = Lines::default();
        assert_eq!(lines.push(b"2026-01-01T00:00:00.000000000Z hel", "web-0"), []);
        let whole = lines.push(b"lo\n2026-01-01T00:00:00.000000001Z \n", "web-0");
        let texts: Vec<&str> = whole.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(texts, ["hello", ""]);
        assert!(whole[0].at < whole[1].at);
    }

    #[test]
    fn a_log_can_colour_a_terminal_and_do_nothing_else_to_it() {
        assert_eq!(printable("\u{1b}[1;31mred\u{1b}[0m\tplain"), "\u{1b}[1;31mred\u{1b}[0m\tplain");
        assert_eq!(printable("\u{1b}[2Jgone\u{1b}]0;title\u{7}"), "\u{fffd}[2Jgone\u{fffd}]0;title\u{fffd}");
    }
}

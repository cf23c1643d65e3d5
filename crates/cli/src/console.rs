//! The streams of a command: data goes to stdout, messages to stderr.

use std::io::{self, BufWriter, IsTerminal, Read, Write};

use crate::failure::Failure;

/// The streams of a command, and what is known of them.
pub struct Console {
    /// For data.
    pub out: Box<dyn Write>,
    /// For messages.
    pub err: Box<dyn Write>,
    /// For `-f -`.
    pub input: Box<dyn Read>,
    /// Whether stdout is a terminal.
    pub out_is_terminal: bool,
    /// Whether stderr is a terminal.
    pub err_is_terminal: bool,
    /// Whether a question can be asked.
    pub can_ask: bool,
    /// How many columns the terminal has, if stdout is one.
    pub width: Option<usize>,
    /// Whether colours are wanted on a terminal.
    pub colours: bool,
}

impl Console {
    /// Those of the process.
    pub fn of_process() -> Console {
        let (out, err, input) = (io::stdout(), io::stderr(), io::stdin());
        let width = rustix::termios::tcgetwinsize(&out).ok().map(|size| usize::from(size.ws_col));
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        Console {
            out_is_terminal: out.is_terminal(),
            err_is_terminal: err.is_terminal(),
            can_ask: input.is_terminal() && err.is_terminal(),
            width: width.filter(|width| *width > 0),
            colours: set("NO_COLOR").is_none() && set("TERM").is_none_or(|term| term != "dumb"),
            out: Box::new(BufWriter::new(out)),
            err: Box::new(err),
            input: Box::new(input),
        }
    }

    /// Writes a message.
    pub fn say(&mut self, line: &str) {
        // What was printed before comes before it where both go to one place.
        let _ = self.out.flush();
        let _ = writeln!(self.err, "{line}");
    }

    /// Writes a warning as kubectl does.
    pub fn warn(&mut self, text: &str) {
        let head = self.painted_err("\u{1b}[33;1m", "Warning:");
        self.say(&format!("{head} {text}"));
    }

    /// Everything that was written reaches the other side.
    pub fn flush(&mut self) -> Result<(), Failure> {
        Ok(self.out.flush()?)
    }

    /// A text in a colour, if stdout shows colours.
    pub fn painted(&self, colour: &str, text: &str) -> String {
        painted(self.colours && self.out_is_terminal, colour, text)
    }

    fn painted_err(&self, colour: &str, text: &str) -> String {
        painted(self.colours && self.err_is_terminal, colour, text)
    }

    /// The width of a terminal that tables are printed to.
    pub fn table_width(&self) -> Option<usize> {
        self.width.filter(|_| self.out_is_terminal)
    }

    /// Asks for confirmation. Without a terminal the answer is no.
    pub fn confirm(&mut self, question: &str) -> bool {
        if !self.can_ask {
            return false;
        }
        let _ = self.out.flush();
        let _ = write!(self.err, "{question} (y/n): ");
        let _ = self.err.flush();
        let mut answer = String::new();
        let _ = io::stdin().read_line(&mut answer);
        matches!(answer.trim(), "y" | "Y" | "yes")
    }
}

fn painted(colours: bool, colour: &str, text: &str) -> String {
    match colours {
        true => format!("{colour}{text}\u{1b}[0m"),
        false => text.to_owned(),
    }
}

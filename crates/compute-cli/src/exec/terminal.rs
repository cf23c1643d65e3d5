//! The terminal while a remote command has it: every key goes there.

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};

/// A terminal whose keys are not read here, until this is dropped.
pub struct Raw(Termios);

impl Raw {
    /// Hands the keys over; none if standard input is no terminal.
    pub fn enter() -> Option<Raw> {
        let before = tcgetattr(std::io::stdin()).ok()?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(std::io::stdin(), OptionalActions::Now, &raw).ok()?;
        Some(Raw(before))
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &self.0);
    }
}

/// Lines and columns of the terminal.
pub fn size() -> Option<(u16, u16)> {
    let size = tcgetwinsize(std::io::stdin()).ok()?;
    (size.ws_row > 0 && size.ws_col > 0).then_some((size.ws_row, size.ws_col))
}

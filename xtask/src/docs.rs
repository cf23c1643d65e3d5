//! `cargo xtask docs`: the reference of the command line, out of the commands themselves.

use crate::step::{self, Failure};

/// Writes docs/cli.md, and the man pages into target/man.
pub fn run() -> Result<(), Failure> {
    let words = ["run", "--quiet", "--package", "groundplane", "--", "__docs"];
    step::run(&mut step::cargo(words.into_iter().chain(["--markdown", "docs/cli.md", "--man", "target/man"])))
}

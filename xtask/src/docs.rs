//! `cargo xtask docs`: the references of the command line and of the kinds, out of what they declare.

use crate::step::{self, Failure};

/// Writes docs/cli.md, docs/inventory/reference.md, the tables in docs/serve.md, and the man pages into target/man.
pub fn run() -> Result<(), Failure> {
    let words = ["run", "--quiet", "--package", "groundplane", "--", "__docs"];
    step::run(&mut step::cargo(words.into_iter().chain([
        "--markdown",
        "docs/cli.md",
        "--man",
        "target/man",
    ])))?;
    step::run(&mut step::cargo(["run", "--quiet", "--package", "groundplane", "--", "__reference", "docs"]))
}

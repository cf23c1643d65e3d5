//! The shim as a program of its own, for the tests of this crate. The binary of the project has it as a hidden subcommand.

use std::process::ExitCode;

fn main() -> ExitCode {
    containers::shim::main(std::env::args_os().skip(1))
}

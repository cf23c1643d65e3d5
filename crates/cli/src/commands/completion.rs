//! `groundplane completion`: words that a shell offers while one types.

mod candidates;
mod scripts;

use std::io::Write;

use crate::failure::Failure;
use crate::session::Session;

/// Print a shell completion script for bash, zsh or fish.
///
/// The script completes commands, flags, resource types and names. Types and names are read from the server.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The shell.
    #[arg(value_name = "SHELL", value_parser = ["bash", "zsh", "fish"])]
    shell: String,
}

const EXAMPLES: &str = "\
Examples:
  source <(groundplane completion bash)                                    in this shell
  groundplane completion bash > /etc/bash_completion.d/groundplane         in every shell
  groundplane completion zsh > \"${fpath[1]}/_groundplane\"
  groundplane completion fish > ~/.config/fish/completions/groundplane.fish";

/// What a shell asks while one types.
#[derive(clap::Args, Debug)]
pub struct Complete {
    /// The words so far; the last one is being typed.
    #[arg(value_name = "WORD", trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

/// Prints a script.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    session.console.out.write_all(scripts::of(&arguments.shell).as_bytes())?;
    Ok(())
}

/// Prints what could come next, one on a line.
pub async fn complete(arguments: Complete, session: &mut Session) -> Result<(), Failure> {
    for candidate in candidates::of(&arguments.words, session).await {
        writeln!(session.console.out, "{candidate}")?;
    }
    Ok(())
}

//! Which bench target stands behind each name of `cargo xtask bench`.

use clap::Subcommand;

use crate::step::{self, Failure};

/// What can be measured.
#[derive(Subcommand)]
pub enum What {
    /// Writes, reads, lists, watch fan-out, memory and reopening of the store.
    // Its own `--help` says more.
    #[command(disable_help_flag = true)]
    Store {
        /// Handed on to the bench as they are.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
}

pub fn run(what: &What) -> Result<(), Failure> {
    match what {
        What::Store { args } => {
            step::run(step::cargo(["bench", "--package", "store", "--bench", "store", "--"]).args(args))
        }
    }
}

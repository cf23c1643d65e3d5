//! `cargo xtask attack`: random requests of several principals against a model of what each may see and do.

use clap::Args;

use crate::setup;
use crate::step::{self, Failure};

/// How long, and with which luck.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Minutes that requests are made for.
    #[arg(long, value_name = "MINUTES", default_value_t = 30)]
    minutes: u32,

    /// Seed of the first sequence, to see one again that a failure has named.
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
}

const EXAMPLES: &str = "\
Examples:
  cargo xtask attack                  half an hour
  cargo xtask attack --minutes 1 --seed 7
                                      the sequence that a failure has named";

pub fn run(options: &Options) -> Result<(), Failure> {
    setup::everything()?;
    let mut command =
        step::cargo(["test", "--package", "groundplane", "--test", "attack", "--", "--nocapture"]);
    command.env("GROUNDPLANE_ATTACK_SECONDS", (options.minutes * 60).to_string());
    if let Some(seed) = options.seed {
        command.env("GROUNDPLANE_ATTACK_SEED", seed.to_string());
    }
    step::run(&mut command)
}

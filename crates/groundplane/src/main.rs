//! Groundplane: one control plane from the rack to the workload, in one binary.

mod failure;
mod keys;
mod log;
mod serve;

use std::{
    io::{self, BufWriter, Write as _},
    process::{ExitCode, Termination as _},
};

use clap::{Parser, Subcommand};

/// One control plane from the rack to the workload.
#[derive(Parser)]
#[command(name = "groundplane", version, about, propagate_version = true)]
#[command(
    after_help = "Start here:\n  groundplane serve\n\nthen, in another terminal, the line it prints:\n  \
    export KUBECONFIG=…\n  kubectl get namespaces"
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the control plane.
    Serve(Box<serve::Arguments>),
    /// Make the keys and certificates of a server on etcd, without starting it.
    Keys(keys::Arguments),
    /// Compile, validate and compare the design of a site, from files and without a server.
    Design(design_cli::Arguments),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let outcome = match arguments.command {
        Command::Serve(arguments) => serve::run(*arguments),
        Command::Keys(arguments) => keys::run(&arguments),
        Command::Design(arguments) => return design(&arguments),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("groundplane: {failure}");
            ExitCode::FAILURE
        }
    }
}

/// The commands of a design write much and are done: what they write is gathered, and flushed at the end.
fn design(arguments: &design_cli::Arguments) -> ExitCode {
    let (mut out, mut err) = (BufWriter::new(io::stdout().lock()), io::stderr().lock());
    let ended = design_cli::run(arguments, &mut design_cli::Streams { out: &mut out, err: &mut err });
    // Whoever does not listen any more has seen enough.
    let _ = out.flush();
    ended.report()
}

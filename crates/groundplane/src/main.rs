//! Groundplane: one control plane from the rack to the workload, in one binary.

mod failure;
mod keys;
mod log;
mod serve;

use std::process::ExitCode;

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
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let outcome = match arguments.command {
        Command::Serve(arguments) => serve::run(*arguments),
        Command::Keys(arguments) => keys::run(&arguments),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("groundplane: {failure}");
            ExitCode::FAILURE
        }
    }
}

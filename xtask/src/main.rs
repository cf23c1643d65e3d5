//! The developer's commands: `cargo xtask <command>`.
#![allow(clippy::print_stdout, reason = "a command for people: what it prints is what it is for")]

mod attack;
mod bench;
mod binaries;
mod dist;
mod docs;
mod fuzz;
mod parts;
mod setup;
mod soak;
mod step;
mod test;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Builds, tests and measures Groundplane.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  cargo xtask test                        everything, as the CI runs it
  cargo xtask test --quick                format, lints and the short tests
  cargo xtask test --crash-rounds 1000    a longer crash loop
  cargo xtask dist --check                packages: .deb, image, archive; each is installed and tried
  cargo xtask docs                        docs/cli.md and the man pages, out of the commands themselves
  cargo xtask fuzz cel --seconds 3600     an hour of input for one target
  cargo xtask bench store                 the store's speed beside bare redb and bare etcd
  cargo xtask bench api                   the server's speed beside kube-apiserver's";

#[derive(Subcommand)]
enum Command {
    /// Check format, lints, dependencies and run all tests.
    Test(test::Options),
    /// Write the reference of the command line: docs/cli.md, and the man pages into target/man.
    Docs,
    /// Build the packages that people install: static binary, .deb, OCI image, archive, checksums, SBOM.
    Dist(dist::Options),
    /// Look for input that does harm, guided by coverage.
    Fuzz(fuzz::Options),
    /// Make random requests as several principals, and compare the answers with what each may see and do.
    Attack(attack::Options),
    /// Run crash loops and concurrency tests for a long time.
    Soak(soak::Options),
    /// Measure one part.
    #[command(subcommand)]
    Bench(bench::What),
}

fn main() -> ExitCode {
    let ended = match Cli::parse().command {
        Command::Test(options) => test::run(&options),
        Command::Dist(options) => dist::run(&options),
        Command::Docs => docs::run(),
        Command::Fuzz(options) => fuzz::run(&options),
        Command::Attack(options) => attack::run(&options),
        Command::Soak(options) => soak::run(&options),
        Command::Bench(what) => bench::run(&what),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("cargo xtask: {failure}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_bench_gets_its_own_flags_untouched() {
        let cli = Cli::try_parse_from(["xtask", "bench", "store", "--objects", "50000"]).unwrap();
        let Command::Bench(bench::What::Store { args }) = cli.command else { panic!("not the bench") };
        assert_eq!(args, ["--objects", "50000"]);
        let cli = Cli::try_parse_from(["xtask", "bench", "api", "--", "--kubeconfig", "f"]).unwrap();
        let Command::Bench(bench::What::Api { args }) = cli.command else { panic!("not the bench") };
        assert_eq!(args, ["--kubeconfig", "f"]);
    }

    #[test]
    fn the_quick_test_has_no_long_tests_to_size() {
        assert!(Cli::try_parse_from(["xtask", "test", "--quick", "--soak", "5"]).is_err());
        assert!(Cli::try_parse_from(["xtask", "test", "--quick"]).is_ok());
    }
}

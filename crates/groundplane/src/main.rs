//! Groundplane: one control plane from the rack to the workload, in one binary.

mod commands;
mod controllers;
mod crds;
mod demo;
mod failure;
mod key_files;
mod keys;
mod log;
mod modules;
mod reference;
mod restore_backup;
mod serve;
mod shell;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// One control plane from the rack to the workload.
#[derive(Parser)]
#[command(name = "groundplane", version, about, propagate_version = true)]
#[command(
    after_help = "Start a server with \"groundplane serve\", then run \"groundplane get namespaces\" in another terminal.\n\
    Use \"groundplane COMMAND --help\" for more about a command, and \"groundplane options\" for global options."
)]
struct Arguments {
    #[command(flatten)]
    global: cli::Global,

    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the control plane.
    Serve(Box<serve::Arguments>),
    Keys(keys::Arguments),
    RestoreBackup(Box<restore_backup::Arguments>),
    #[command(flatten)]
    Client(Box<cli::Command>),
    Controllers(controllers::Arguments),
    #[command(flatten)]
    Subject(commands::Typed),
    Demo(demo::Arguments),
    /// Print the inventory types as CustomResourceDefinitions.
    Crds(crds::Arguments),
    #[command(name = "__reference", hide = true)]
    Reference(reference::Arguments),
}

fn main() -> ExitCode {
    let words: Vec<std::ffi::OsString> = std::env::args_os().collect();
    if words.get(1).is_some_and(|word| word == serve::local::SHIM) {
        return containers::shim::main(words.into_iter().skip(2));
    }
    if let Some(code) = commands::run_as_plugin(&words) {
        return ExitCode::from(code);
    }
    let command_line = command_line();
    let words = cli::plain_booleans(&command_line, words);
    let matches = command_line.clone().try_get_matches_from(words.clone()).unwrap_or_else(|error| {
        if log::usage(&words, &error) {
            std::process::exit(2);
        }
        if let Some(told) = cli::explain_mistyped(&error, &command_line) {
            eprintln!("{told}");
            std::process::exit(2);
        }
        error.exit()
    });
    let arguments = Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let is_client = match &arguments.command {
        Command::Client(_) | Command::Subject(_) => true,
        Command::Demo(demo) => demo.action.is_some(),
        Command::Controllers(controllers) => controllers.connects(),
        _ => false,
    };
    if let Some(option) = arguments.global.given().first().filter(|_| !is_client) {
        eprintln!("groundplane: {option} is for client commands; this command does not connect to a server");
        return ExitCode::from(2);
    }
    let outcome = match arguments.command {
        Command::Serve(arguments) => serve::run(*arguments),
        Command::Keys(arguments) => keys::run(&arguments),
        Command::Subject(typed) => return ExitCode::from(typed.run(arguments.global, command_line)),
        Command::RestoreBackup(arguments) => restore_backup::run(&arguments),
        Command::Client(command) => {
            let code = cli::run(*command, arguments.global, cli::Console::of_process(), command_line);
            return ExitCode::from(code);
        }
        Command::Demo(demo::Arguments { action: Some(demo::Action::Remove(remove)), .. }) => {
            let mut global = arguments.global;
            if let Some(data) = remove.data {
                global.kubeconfig = Some(data.join(apiserver::first_start::KUBECONFIG_FILE));
            }
            let console = cli::Console::of_process();
            return ExitCode::from(cli::run_with(global, console, command_line, demo::remove));
        }
        Command::Controllers(controllers) => match controllers.split() {
            controllers::Asked::Client(asked) => {
                let console = cli::Console::of_process();
                let act = async move |session: &mut cli::Session| asked.run(session).await;
                return ExitCode::from(cli::run_with(arguments.global, console, command_line, act));
            }
            controllers::Asked::Role(role) => controllers::role(&role),
        },
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Crds(arguments) => crds::run(&arguments),
        Command::Reference(arguments) => reference::run(&arguments),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if !failure.is_reported() {
                eprintln!("groundplane: {failure}");
            }
            ExitCode::FAILURE
        }
    }
}

/// The command line, with its commands under headings and its help as wide as the terminal, up to 100 columns.
fn command_line() -> clap::Command {
    cli::grouped(Arguments::command().max_term_width(100))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        command_line().debug_assert();
    }

    #[test]
    fn every_command_is_under_a_heading() {
        let help = command_line().term_width(80).render_help().to_string();
        assert!(!help.contains("Other commands:"), "{help}");
        for line in help.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }

    #[test]
    fn help_fits_a_terminal_of_80_columns() {
        let mut open = vec![command_line().term_width(80)];
        while let Some(mut command) = open.pop() {
            let name = command.get_name().to_owned();
            for help in [command.render_help(), command.render_long_help()] {
                let help = help.to_string();
                // A word that is longer than a line, such as a path, is left whole.
                let long = help.lines().find(|line| line.chars().count() > 80 && line.trim().contains(' '));
                assert!(long.is_none(), "{name}: {long:?}");
            }
            open.extend(command.get_subcommands().cloned().map(|command| command.term_width(80)));
        }
    }
}

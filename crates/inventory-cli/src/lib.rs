//! The commands under `groundplane inventory`: lists, queries, import and export, as a client of the public API.
//!
//! Lists, flags, columns and messages follow `datumctl inventory`. Called as `datumctl-inventory`, the program acts as that
//! plugin.

mod apply;
mod as_if;
mod bulk;
mod change;
mod decommission;
mod demo;
mod find_space;
mod impact;
mod list;
mod locally;
mod module;
mod output;
mod plugin;
mod rack;
mod relocate;
mod summary;
mod trace;
mod tree;

pub use demo::DemoFleet;
pub use module::Commands;

use clap::{ArgMatches, Args, FromArgMatches, Subcommand};
use cli::{Failure, Session};

/// List and query the physical inventory: racks, devices, cables, circuits, power and space.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  groundplane inventory summary
  groundplane inventory rack show fra1-a01
  groundplane inventory trace fra1-a01-node01-eth0
  groundplane inventory impact networkdevice/fra1-spine1
  groundplane inventory find-space --units 2 --watts 500";

/// A subcommand: one of the lists, or another one.
#[derive(Debug)]
enum Command {
    List(list::Arguments),
    Other(Box<Other>),
}

#[derive(Subcommand, Debug)]
enum Other {
    Get(list::get::Arguments),
    Kinds(list::kinds::Arguments),
    Rack(rack::Arguments),
    Trace(trace::Arguments),
    Impact(impact::Arguments),
    FindSpace(find_space::Arguments),
    Tree(tree::Arguments),
    Summary(summary::Arguments),
    Apply(apply::Arguments),
    Export(bulk::export::Arguments),
    Import(bulk::import::Arguments),
    Decommission(decommission::Arguments),
    Move(relocate::Arguments),
}

/// Runs a subcommand.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let other = match arguments.command {
        Command::List(arguments) => return list::run(arguments, session).await,
        Command::Other(other) => *other,
    };
    match other {
        Other::Get(arguments) => list::get::run(arguments, session).await,
        Other::Kinds(arguments) => list::kinds::run(&arguments, session),
        Other::Rack(arguments) => rack::run(arguments, session).await,
        Other::Trace(arguments) => trace::run(arguments, session).await,
        Other::Impact(arguments) => impact::run(arguments, session).await,
        Other::FindSpace(arguments) => find_space::run(arguments, session).await,
        Other::Tree(arguments) => tree::run(arguments, session).await,
        Other::Summary(arguments) => summary::run(arguments, session).await,
        Other::Apply(arguments) => apply::run(arguments, session).await,
        Other::Export(arguments) => bulk::export::run(arguments, session).await,
        Other::Import(arguments) => bulk::import::run(arguments, session).await,
        Other::Decommission(arguments) => decommission::run(arguments, session).await,
        Other::Move(arguments) => relocate::run(arguments, session).await,
    }
}

impl FromArgMatches for Command {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Command, clap::Error> {
        match matches.subcommand().and_then(|(name, inner)| list::Arguments::of_command(name, inner)) {
            Some(list) => Ok(Command::List(list)),
            None => Other::from_arg_matches(matches).map(|other| Command::Other(Box::new(other))),
        }
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Command::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Subcommand for Command {
    fn augment_subcommands(command: clap::Command) -> clap::Command {
        Other::augment_subcommands(command.subcommands(list::commands()))
    }

    fn augment_subcommands_for_update(command: clap::Command) -> clap::Command {
        Command::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        list::is_command(name) || Other::has_subcommand(name)
    }
}

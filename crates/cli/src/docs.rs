//! The reference of the command line, out of its own declarations: a page in Markdown, and pages for man.

mod man;
mod markdown;

use std::path::Path;

use clap::{Arg, ArgAction, Command};

use crate::failure::Failure;

/// The options that every command takes, and what they mean.
pub fn global_options(root: &Command) -> Vec<(String, String)> {
    let global = root.get_arguments().filter(|argument| argument.is_global_set());
    global.map(|argument| (flag(argument), help(argument))).collect()
}

/// Writes both.
pub fn write(root: &Command, markdown: &Path, man: &Path) -> Result<(), Failure> {
    let failed =
        |path: &Path, error: std::io::Error| Failure::other(format!("writing {}: {error}", path.display()));
    std::fs::write(markdown, markdown::page(root)).map_err(|error| failed(markdown, error))?;
    std::fs::create_dir_all(man).map_err(|error| failed(man, error))?;
    for (name, text) in man::pages(root) {
        let path = man.join(name);
        std::fs::write(&path, text).map_err(|error| failed(&path, error))?;
    }
    Ok(())
}

/// All commands and subcommands with their full names, those nobody types left out.
fn commands(root: &Command) -> Vec<(String, &Command)> {
    let mut all = Vec::new();
    let mut open: Vec<(String, &Command)> = vec![(root.get_name().to_owned(), root)];
    while let Some((name, command)) = open.pop() {
        let subcommands = command
            .get_subcommands()
            .filter(|command| !command.is_hide_set() && command.get_name() != "help");
        let mut subcommands: Vec<_> =
            subcommands.map(|command| (format!("{name} {}", command.get_name()), command)).collect();
        subcommands.reverse();
        all.push((name, command));
        open.extend(subcommands);
    }
    all
}

/// `-o, --output <FORM>`.
fn flag(argument: &Arg) -> String {
    let mut text = match (argument.get_short(), argument.get_long()) {
        (Some(short), Some(long)) => format!("-{short}, --{long}"),
        (None, Some(long)) => format!("--{long}"),
        (Some(short), None) => format!("-{short}"),
        (None, None) => String::new(),
    };
    if matches!(argument.get_action(), ArgAction::Set | ArgAction::Append) {
        let names = argument.get_value_names().map(|names| names.join(" ")).unwrap_or_default();
        let is_optional = argument.get_num_args().is_some_and(|range| range.min_values() == 0);
        text += &if is_optional { format!("[=<{names}>]") } else { format!(" <{names}>") };
    }
    text
}

/// What an option means, with what it is unless said and what it may be.
fn help(argument: &Arg) -> String {
    let mut text =
        argument.get_long_help().or(argument.get_help()).map(ToString::to_string).unwrap_or_default();
    let defaults: Vec<String> =
        argument.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
    let takes_value = matches!(argument.get_action(), ArgAction::Set | ArgAction::Append);
    let mut notes = Vec::new();
    if takes_value && !defaults.is_empty() && !argument.is_hide_default_value_set() {
        notes.push(format!("default: {}", defaults.join(",")));
    }
    let values: Vec<String> =
        argument.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
    if takes_value && !values.is_empty() && !argument.is_hide_possible_values_set() {
        notes.push(format!("possible values: {}", values.join(", ")));
    }
    if let Some(variable) = argument.get_env() {
        notes.push(format!("env: {}", variable.to_string_lossy()));
    }
    for note in notes {
        text += &format!(" [{note}]");
    }
    text
}

/// The options of a command that are its own and not hidden.
fn own_options(command: &Command) -> impl Iterator<Item = &Arg> {
    command
        .get_arguments()
        .filter(|argument| !argument.is_positional() && !argument.is_hide_set() && !argument.is_global_set())
}

/// `groundplane get [OPTIONS] [TYPE [NAME…] | TYPE/NAME]...`.
fn usage(name: &str, command: &Command) -> String {
    let mut usage = command.clone().bin_name(name).render_usage().to_string();
    if let Some(rest) = usage.strip_prefix("Usage: ") {
        usage = rest.to_owned();
    }
    usage.lines().map(str::trim).collect::<Vec<_>>().join("\n")
}

/// What is said about a command, in full.
fn about(command: &Command) -> String {
    command.get_long_about().or(command.get_about()).map(ToString::to_string).unwrap_or_default()
}

/// What stands below the help of a command: what is to be known besides, and examples.
fn below(command: &Command) -> (String, Option<String>) {
    let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let parted = text.split_once("Examples:\n").or_else(|| text.split_once("Example:\n"));
    let Some((notes, examples)) = parted else { return (text, None) };
    let examples = examples.lines().map(|line| line.strip_prefix("  ").unwrap_or(line));
    (notes.trim().to_owned(), Some(examples.collect::<Vec<_>>().join("\n")))
}

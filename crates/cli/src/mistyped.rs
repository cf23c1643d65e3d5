//! Commands that do not exist: what was probably meant, and where kubectl's commands are to be had.

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::discovery::distance;

/// kubectl's commands that we don't have and that work with our servers.
const OF_KUBECTL: [&str; 6] = ["cluster-info", "kuberc", "kustomize", "plugin", "proxy", "scale"];

/// kubectl's commands for workloads, which our servers don't run.
const OF_WORKLOADS: [&str; 17] = [
    "attach",
    "autoscale",
    "certificate",
    "cordon",
    "cp",
    "debug",
    "drain",
    "exec",
    "expose",
    "logs",
    "port-forward",
    "rollout",
    "run",
    "set",
    "taint",
    "top",
    "uncordon",
];

/// Commands whose names other tools have for the same.
const OTHER_WORDS: [(&str, &str); 7] = [
    ("list", "get"),
    ("ls", "get"),
    ("show", "describe"),
    ("rm", "delete"),
    ("remove", "delete"),
    ("revert", "undo"),
    ("whoami", "auth whoami"),
];

/// What to tell somebody who typed a command that does not exist.
pub fn explain(error: &clap::Error, root: &Command) -> Option<String> {
    let (ErrorKind::InvalidSubcommand, Some(ContextValue::String(word))) =
        (error.kind(), error.get(ContextKind::InvalidSubcommand))
    else {
        return None;
    };
    let parent = parent(error, root);
    let name = parent.map_or("groundplane".to_owned(), |parent| format!("groundplane {}", parent.get_name()));
    let is_top = parent.is_none();
    let head = format!("error: unknown command \"{word}\" for \"{name}\"");
    let known = |words: &[&str]| is_top && words.contains(&word.as_str());
    if known(&OF_KUBECTL) {
        return Some(format!(
            "{head}\nhint: kubectl has it, and works with this server: kubectl {word} --help"
        ));
    }
    if known(&OF_WORKLOADS) {
        return Some(format!(
            "{head}\nhint: kubectl has it for workloads; a Groundplane server runs none, so it does not work here, either"
        ));
    }
    let hint = match nearest(word, parent.unwrap_or(root), is_top) {
        Some(near) => format!("did you mean \"{near}\"? \"{name} --help\" lists all commands"),
        None => format!("\"{name} --help\" lists all commands"),
    };
    Some(format!("{head}\nhint: {hint}"))
}

/// The command whose subcommand is unknown, where it is not the whole program.
fn parent<'c>(error: &clap::Error, root: &'c Command) -> Option<&'c Command> {
    let Some(ContextValue::StyledStr(usage)) = error.get(ContextKind::Usage) else { return None };
    let usage = usage.to_string();
    let name = usage.split_whitespace().skip_while(|word| *word != root.get_name()).nth(1)?;
    root.find_subcommand(name)
}

fn nearest(word: &str, command: &Command, is_top: bool) -> Option<String> {
    let other = OTHER_WORDS.iter().find(|(other, _)| is_top && *other == word);
    if let Some((_, ours)) = other {
        return Some((*ours).to_owned());
    }
    let commands = command.get_subcommands().filter(|command| !command.is_hide_set());
    let names: Vec<&str> = commands.map(Command::get_name).collect();
    let begins = |name: &&str| word.len() >= 3 && name.starts_with(word);
    let near = names.iter().map(|name| (distance(word, name), *name)).min_by_key(|(far, _)| *far);
    let near = near.filter(|(far, name)| *far <= 2 && *far < name.len().max(2) - 1).map(|(_, name)| name);
    names.iter().copied().find(begins).or(near).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(words: &[&str]) -> String {
        let auth = Command::new("auth").subcommand(Command::new("whoami")).subcommand_required(true);
        let root = Command::new("groundplane").subcommand_required(true).subcommands([
            Command::new("get"),
            Command::new("delete"),
            Command::new("describe"),
            auth,
        ]);
        let error = root.clone().try_get_matches_from(words).unwrap_err();
        explain(&error, &root).unwrap()
    }

    #[test]
    fn a_mistyped_command_is_corrected() {
        for (typed, meant) in [("gte", "get"), ("delte", "delete"), ("desc", "describe"), ("rm", "delete")] {
            let told = told(&["groundplane", typed]);
            assert!(told.contains(&format!("did you mean \"{meant}\"?")), "{typed}: {told}");
        }
        assert!(!told(&["groundplane", "frobnicate"]).contains("did you mean"));
        let told = told(&["groundplane", "auth", "whoam"]);
        assert!(told.contains("for \"groundplane auth\"") && told.contains("\"whoami\""), "{told}");
    }

    #[test]
    fn kubectls_commands_are_told_apart() {
        assert!(told(&["groundplane", "proxy"]).contains("kubectl proxy --help"));
        let logs = told(&["groundplane", "logs"]);
        assert!(logs.contains("does not work here") && !logs.contains("kubectl logs"), "{logs}");
    }
}

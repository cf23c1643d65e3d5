//! The list of commands under headings, as `groundplane --help` shows it.

use std::fmt::Write as _;

use clap::Command;

use crate::wrap::wrapped;

/// Headings, and the commands under each in the order in which they are shown.
const GROUPS: [(&str, &[&str]); 10] = [
    (
        "Basic commands",
        &[
            "get", "describe", "create", "apply", "edit", "patch", "label", "annotate", "replace", "delete",
            "wait",
        ],
    ),
    ("Inventory and design", &["inventory", "design", "search", "portal", "referrers", "crds"]),
    ("Hosts and clusters", &["cluster", "host", "hub", "dns", "source", "sync"]),
    ("Deploying machines", &["task", "node", "why"]),
    ("Plans, history and recovery", &["plan", "diff", "history", "undo", "restore", "activity", "events"]),
    ("Projects: workloads, services and quota", &["compute", "services", "access", "quota", "locations"]),
    ("Access and audit", &["auth", "login", "logout", "audit"]),
    (
        "Server administration",
        &[
            "serve",
            "demo",
            "keys",
            "rotate-keys",
            "backup",
            "restore-backup",
            "controllers",
            "doctor",
            "support-bundle",
        ],
    ),
    ("Types and their fields", &["api-resources", "api-versions", "explain"]),
    ("Settings and help", &["config", "credential", "completion", "options", "version", "help"]),
];

/// The list is as wide as the narrowest usual terminal: clap wraps no template.
const WIDTH: usize = 80;

/// The command line with its commands under headings. What is under no heading is listed last.
pub fn grouped(root: Command) -> Command {
    // A built copy has what clap adds: `help`.
    let mut built = root.clone();
    built.build();
    let mut known: Vec<&Command> = built.get_subcommands().filter(|command| !command.is_hide_set()).collect();
    let longest = known.iter().map(|command| command.get_name().len()).max().unwrap_or(0);
    let mut text = String::new();
    let line = |text: &mut String, command: &Command| {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let head = format!("  {:longest$}  ", command.get_name());
        text.push_str(&wrapped(&head, about.trim_end_matches('.'), longest + 4, WIDTH));
    };
    for (heading, names) in GROUPS {
        // Writing to a string can't fail.
        let _ = writeln!(text, "{heading}:");
        for name in names {
            if let Some(at) = known.iter().position(|command| command.get_name() == *name) {
                line(&mut text, known.remove(at));
            }
        }
        text.push('\n');
    }
    if !known.is_empty() {
        let _ = writeln!(text, "Other commands:");
        known.iter().for_each(|command| line(&mut text, command));
        text.push('\n');
    }
    let options = "Options:\n{options}";
    root.help_template(format!("{{about}}\n\n{{usage-heading}} {{usage}}\n\n{text}{options}{{after-help}}"))
}

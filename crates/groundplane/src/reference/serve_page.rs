//! The generated tables of docs/serve.md: the flags of `groundplane serve` and the controllers that it runs.

use std::fmt::Write as _;

use apiserver::server_module::Environment;
use clap::{Arg, Args as _};

use crate::{modules, serve};

/// The page with its tables as they should be, or the marker that it lacks.
pub fn refreshed(page: &str) -> Result<String, String> {
    let page = replaced(page, "flags", &flags())?;
    replaced(&page, "controllers", &controllers()?)
}

/// Replaces what is between `<!-- name: … -->` and `<!-- end of name -->`.
fn replaced(page: &str, name: &str, text: &str) -> Result<String, String> {
    let (start, end) = (format!("<!-- {name}: "), format!("<!-- end of {name} -->"));
    let lacks = |marker: &str| format!("it has no line {marker:?}");
    let (before, rest) = page.split_once(&start).ok_or_else(|| lacks(&start))?;
    let (head, rest) = rest.split_once('\n').ok_or_else(|| lacks(&start))?;
    let (_, after) = rest.split_once(&end).ok_or_else(|| lacks(&end))?;
    Ok(format!("{before}{start}{head}\n\n{text}\n{end}{after}"))
}

fn flags() -> String {
    let command = serve::Arguments::augment_args(clap::Command::new("serve"));
    let mut table = "| flag | meaning | default |\n| --- | --- | --- |\n".to_owned();
    for flag in command.get_arguments() {
        // Writing to a string can't fail.
        let _ = writeln!(table, "| {} | {} | {} |", spelled(flag), meaning(flag), default(flag));
    }
    table
}

/// How the flag is given, and by which variable.
fn spelled(flag: &Arg) -> String {
    let takes_value = flag.get_action().takes_values();
    let value = flag.get_value_names().filter(|_| takes_value).and_then(|names| names.first());
    let value = value.map(|name| format!(" {name}")).unwrap_or_default();
    let variable = flag.get_env().map(|name| format!(" (`{}`)", name.to_string_lossy())).unwrap_or_default();
    format!("`--{}{value}`{variable}", flag.get_long().unwrap_or_default())
}

fn meaning(flag: &Arg) -> String {
    let help = flag.get_long_help().or(flag.get_help()).map(ToString::to_string).unwrap_or_default();
    let mut help = help.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|");
    if !help.is_empty() && !help.ends_with('.') {
        help.push('.');
    }
    let choices: Vec<String> = flag
        .get_possible_values()
        .iter()
        .filter(|_| flag.get_action().takes_values())
        .map(|choice| format!("`{}`", choice.get_name()))
        .collect();
    if choices.is_empty() { help } else { format!("{help} One of {}.", choices.join(", ")) }
}

fn default(flag: &Arg) -> String {
    let values = flag.get_default_values().iter().map(|value| format!("`{}`", value.to_string_lossy()));
    // A switch is off by default, which goes without saying.
    if flag.get_action().takes_values() { values.collect::<Vec<_>>().join(", ") } else { String::new() }
}

fn controllers() -> Result<String, String> {
    let mut table = "| name | what it does |\n| --- | --- |\n".to_owned();
    let gates = modules::feature_gates();
    let nowhere = Environment {
        kinds: modules::kinds(&gates).map_err(|mistakes| mistakes.to_string())?,
        gates: gates.clone(),
        audience: String::new(),
        audit_log: None,
        is_one_of_several: false,
    };
    for controller in modules::controllers(&nowhere.kinds, &modules::parts(&nowhere), &gates, "") {
        let _ = writeln!(table, "| `{}` | {} |", controller.name(), controller.description());
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_have_their_value_variable_and_default() {
        let flags = flags();
        assert!(flags.contains("| `--data DIR` (`GROUNDPLANE_DATA`) | "), "{flags}");
        assert!(flags.contains("| `--demo` | "), "{flags}");
        assert!(flags.contains("`text`, `json`"), "{flags}");
        assert!(!flags.contains("|  |  |"), "{flags}");
    }

    #[test]
    fn a_page_without_markers_is_not_written_over() {
        assert!(refreshed("# Serve\n").unwrap_err().contains("<!-- flags: "));
    }
}

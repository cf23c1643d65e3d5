//! `groundplane inventory kinds`: the inventory kinds and their aliases.

use cli::{Failure, Session};
use serde_json::json;

use super::{Listed, all};
use crate::output::{self, Form};

/// List the inventory kinds and their aliases.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  groundplane inventory kinds\n  groundplane inventory kinds -o json")]
pub struct Arguments {
    /// Output format: table, json, yaml, name.
    #[arg(long, short, value_name = "FORMAT")]
    output: Option<String>,
}

/// Prints the kinds.
pub fn run(arguments: &Arguments, session: &mut Session) -> Result<(), Failure> {
    match Form::parse(arguments.output.as_deref(), &[Form::Table, Form::Json, Form::Yaml, Form::Name])? {
        Form::Name => {
            let lines: String = all().iter().map(|listed| format!("{}\n", listed.plural)).collect();
            output::text(&lines, session)
        }
        form @ (Form::Json | Form::Yaml) => {
            let kinds = all().iter().map(|listed| {
                json!({"kind": listed.kind, "plural": listed.plural, "aliases": listed.aliases,
                    "supported": true, "apply": true})
            });
            output::value(form, &json!({"kinds": kinds.collect::<Vec<_>>()}), session)
        }
        _ => {
            let head = ["KIND", "PLURAL", "ALIASES", "SUPPORTED", "APPLY"];
            let mut rows = vec![head.map(str::to_owned).to_vec()];
            rows.extend(all().iter().map(|listed| {
                let aliases = listed.aliases.join(",");
                vec![listed.kind.into(), listed.plural.into(), aliases, "yes".into(), "yes".into()]
            }));
            output::table(&rows, session)
        }
    }
}

/// The kind with this name: singular, plural or alias, ignoring case.
pub fn named(word: &str) -> Result<&'static Listed, Failure> {
    let lower = word.trim().to_lowercase();
    let means = |listed: &&Listed| {
        listed.plural == lower
            || listed.kind.to_lowercase() == lower
            || listed.aliases.contains(&lower.as_str())
    };
    all().iter().find(means).ok_or_else(|| {
        let mut plurals: Vec<&str> = all().iter().map(|listed| listed.plural).collect();
        plurals.sort_unstable();
        Failure::usage(format!(
            "unknown inventory kind {}; one of: {}",
            krm::field::quote(word.trim()),
            plurals.join(", ")
        ))
    })
}

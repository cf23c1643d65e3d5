//! `groundplane config`: the kubeconfig that is used.

use std::io::Write;

use serde_json::{Map, Value, json};

use crate::failure::Failure;
use crate::kubeconfig::{self, Entry, Kubeconfig};
use crate::print::{self, Output};
use crate::session::Session;

/// Show the kubeconfig, and select a context.
#[derive(clap::Args, Debug)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    View(View),
    /// Print the current context.
    #[command(after_help = "Examples:\n  groundplane config current-context")]
    CurrentContext,
    UseContext(UseContext),
    GetContexts(GetContexts),
    /// List the clusters of the kubeconfig.
    #[command(after_help = "Examples:\n  groundplane config get-clusters")]
    GetClusters,
    /// List the users of the kubeconfig.
    #[command(after_help = "Examples:\n  groundplane config get-users")]
    GetUsers,
}

/// Show the merged kubeconfig, without secrets.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  groundplane config view\n  groundplane config view --minify -o jsonpath='{.clusters[0].cluster.server}'"
)]
struct View {
    /// Show the entries of the current context only.
    #[arg(long)]
    minify: bool,

    /// Include secrets.
    #[arg(long)]
    raw: bool,

    /// Output format: yaml, json, jsonpath=TEMPLATE.
    #[arg(long, short, value_name = "FORMAT", default_value = "yaml")]
    output: String,
}

/// Set the current context.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  groundplane config use-context lab")]
struct UseContext {
    /// Name of the context.
    #[arg(value_name = "NAME")]
    name: String,
}

/// List the contexts of the kubeconfig.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  groundplane config get-contexts\n  groundplane config get-contexts -o name"
)]
struct GetContexts {
    /// Names of contexts to list.
    #[arg(value_name = "NAME")]
    names: Vec<String>,

    /// Output format: name.
    #[arg(long, short, value_name = "FORMAT", value_parser = ["name"])]
    output: Option<String>,

    /// Print no headers.
    #[arg(long)]
    no_headers: bool,
}

/// Shows or changes the kubeconfig.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let kubeconfig = kubeconfig::load(&session.global)?;
    match arguments.command {
        Command::View(view) => self::view(&view, &kubeconfig, session),
        Command::CurrentContext => {
            let name = session.global.context.clone().unwrap_or_else(|| kubeconfig.current_context.clone());
            if name.is_empty() {
                return Err(Failure::other("current-context is not set"));
            }
            writeln!(session.console.out, "{name}")?;
            Ok(())
        }
        Command::UseContext(asked) => use_context(&asked.name, &kubeconfig, session),
        Command::GetContexts(asked) => get_contexts(&asked, &kubeconfig, session),
        Command::GetClusters => names(&kubeconfig.clusters, session),
        Command::GetUsers => names(&kubeconfig.users, session),
    }
}

fn names(entries: &[Entry], session: &mut Session) -> Result<(), Failure> {
    let mut names: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
    names.sort_unstable();
    writeln!(session.console.out, "NAME")?;
    for name in names {
        writeln!(session.console.out, "{name}")?;
    }
    Ok(())
}

fn view(view: &View, kubeconfig: &Kubeconfig, session: &mut Session) -> Result<(), Failure> {
    let context = kubeconfig.context(session.global.context.as_deref())?;
    if view.minify && context.is_none() {
        return Err(Failure::other("current-context must exist in order to minify"));
    }
    let used = |entries: &[Entry], inner: &str| -> Vec<Value> {
        let wanted = |entry: &&Entry| match (view.minify, context) {
            (true, Some(context)) if inner == "context" => entry.name == context.name,
            (true, Some(context)) => context.value[inner].as_str() == Some(entry.name.as_str()),
            _ => true,
        };
        let mut found: Vec<&Entry> = entries.iter().filter(wanted).collect();
        found.sort_by(|a, b| a.name.cmp(&b.name));
        let shown = |entry: &&Entry| {
            let value = if view.raw { entry.value.clone() } else { without_secrets(&entry.value) };
            json!({"name": entry.name, inner: value})
        };
        found.iter().map(shown).collect()
    };
    let list = |entries: Vec<Value>| if entries.is_empty() { Value::Null } else { Value::Array(entries) };
    let document = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": list(used(&kubeconfig.clusters, "cluster")),
        "contexts": list(used(&kubeconfig.contexts, "context")),
        "users": list(used(&kubeconfig.users, "user")),
        "current-context": session.global.context.as_deref().unwrap_or(&kubeconfig.current_context),
    });
    Output::parse(Some(&view.output), false)?.print(&mut session.console.out, &document)
}

fn without_secrets(value: &Value) -> Value {
    let Some(fields) = value.as_object() else { return value.clone() };
    let shown = fields.iter().map(|(field, value)| {
        let value = match field.as_str() {
            field if field.ends_with("-data") => json!("DATA+OMITTED"),
            "token" | "password" => json!("REDACTED"),
            _ => value.clone(),
        };
        (field.clone(), value)
    });
    Value::Object(shown.collect::<Map<String, Value>>())
}

fn use_context(name: &str, kubeconfig: &Kubeconfig, session: &mut Session) -> Result<(), Failure> {
    if !kubeconfig.contexts.iter().any(|context| context.name == name) {
        return Err(Failure::other(format!("no context exists with the name: {}", krm::field::quote(name)))
            .hint("\"groundplane config get-contexts\" lists them"));
    }
    let file = kubeconfig.files.first().ok_or_else(|| Failure::other("no kubeconfig file to change"))?;
    let failed = |error: std::io::Error| Failure::other(format!("changing {}: {error}", file.display()));
    let text = match std::fs::read_to_string(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            "apiVersion: v1\nkind: Config\n".to_owned()
        }
        read => read.map_err(failed)?,
    };
    let text = with_current(&text, name);
    // Nobody else may read it, and nobody sees half of it.
    let beside = file.with_extension(format!("{}.new", std::process::id()));
    let written = (|| {
        use std::os::unix::fs::OpenOptionsExt;
        let mut new = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside)?;
        new.write_all(text.as_bytes())?;
        new.sync_all()?;
        std::fs::rename(&beside, file)
    })();
    written.map_err(failed)?;
    writeln!(session.console.out, "Switched to context {}.", krm::field::quote(name))?;
    Ok(())
}

/// The text with another current context; everything else stays as it was written.
fn with_current(text: &str, name: &str) -> String {
    let line = format!("current-context: {}\n", Value::from(name));
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    match lines.iter_mut().find(|line| line.starts_with("current-context:")) {
        Some(found) => *found = line,
        None => {
            let at = lines.iter().position(|line| line.starts_with("kind:")).map_or(0, |at| at + 1);
            lines.insert(at, line);
        }
    }
    lines.concat()
}

fn get_contexts(asked: &GetContexts, kubeconfig: &Kubeconfig, session: &mut Session) -> Result<(), Failure> {
    let missing =
        asked.names.iter().filter(|name| !kubeconfig.contexts.iter().any(|known| known.name == **name));
    let failures: Vec<Failure> =
        missing.map(|name| Failure::other(format!("context {name} not found"))).collect();
    let mut found: Vec<&Entry> = kubeconfig
        .contexts
        .iter()
        .filter(|context| asked.names.is_empty() || asked.names.contains(&context.name))
        .collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    let mut text = String::new();
    if asked.output.is_none() && !asked.no_headers {
        text += "CURRENT\tNAME\tCLUSTER\tAUTHINFO\tNAMESPACE\n";
    }
    for context in found {
        let part = |field: &str| context.value[field].as_str().unwrap_or("");
        let current = if context.name == kubeconfig.current_context { "*" } else { " " };
        text += &match asked.output {
            Some(_) => format!("{}\n", context.name),
            None => format!(
                "{current}\t{}\t{}\t{}\t{}\n",
                context.name,
                part("cluster"),
                part("user"),
                part("namespace")
            ),
        };
    }
    let text = print::fitted(&text, session.console.table_width());
    session.console.out.write_all(text.as_bytes())?;
    Failure::all(failures)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_current_context_changes() {
        let text = "apiVersion: v1 # mine\nkind: Config\ncurrent-context: a\nusers: []\n";
        assert_eq!(with_current(text, "b"), text.replace("current-context: a", "current-context: \"b\""));
        assert_eq!(
            with_current("kind: Config\nusers: []\n", "b"),
            "kind: Config\ncurrent-context: \"b\"\nusers: []\n"
        );
    }

    #[test]
    fn secrets_are_not_shown() {
        let shown = without_secrets(&json!({"token": "t", "client-key-data": "k", "username": "u"}));
        assert_eq!(shown, json!({"token": "REDACTED", "client-key-data": "DATA+OMITTED", "username": "u"}));
    }
}

//! What could come next on a command line.

use clap::{ArgAction, Command, Subcommand as _};

use crate::commands::selection::{self, Selection};
use crate::discovery::Resource;
use crate::failure::Failure;
use crate::kubeconfig;
use crate::session::Session;

/// The answer that leaves it to the shell: names of files.
const FILES: &str = ":files";

/// Commands whose words are a type and names of objects.
const ABOUT_OBJECTS: [&str; 14] = [
    "get",
    "describe",
    "delete",
    "edit",
    "patch",
    "label",
    "annotate",
    "wait",
    "history",
    "undo",
    "restore",
    "referrers",
    "explain",
    "diff",
];

/// What could come next; the last word is being typed. Never a failure: then nothing is offered.
pub async fn of(words: &[String], session: &mut Session) -> Vec<String> {
    // Shells that part words at "=" hand it over as a word.
    let words: Vec<String> = words.iter().filter(|word| *word != "=").cloned().collect();
    let root = session.root.clone();
    let (current, before) =
        words.split_last().map_or((String::new(), &[][..]), |(last, before)| (last.clone(), before));
    let mut line = Line::read(&root, before);
    if let Some(flag) = line.open_flag.take() {
        return value_of(&flag, &current, &line, session).await;
    }
    if let Some((flag, value)) = current.split_once('=').filter(|(flag, _)| flag.starts_with("--")) {
        let name = flag.trim_start_matches("--").to_owned();
        let found = value_of(&name, value, &line, session).await;
        return found
            .into_iter()
            .map(|value| if value == FILES { value } else { format!("{flag}={value}") })
            .collect();
    }
    if current.starts_with('-') {
        return line.flags(&root, &current);
    }
    let subcommands: Vec<&Command> =
        line.command.get_subcommands().filter(|command| !command.is_hide_set()).collect();
    if !subcommands.is_empty() && line.words.is_empty() {
        let about = |command: &Command| {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            format!("{}\t{about}", command.get_name())
        };
        return subcommands
            .iter()
            .filter(|command| command.get_name().starts_with(&current))
            .map(|command| about(command))
            .collect();
    }
    // What is allowed for a word of its own, such as the shell of a completion.
    let positional = line.command.get_positionals().nth(line.words.len());
    let positional = positional.or_else(|| line.command.get_positionals().last());
    let values: Vec<String> = positional.map(possible).unwrap_or_default();
    if !values.is_empty() {
        return values.into_iter().filter(|value| value.starts_with(&current)).collect();
    }
    line.take_over(session);
    if let Some(kind) = kind_of_value(positional, &line, session).await {
        return names_of(&kind, &current, session).await.unwrap_or_default();
    }
    match line.names.last().map(String::as_str) {
        Some(name) if ABOUT_OBJECTS.contains(&name) => {
            objects(&line.words, &current, session).await.unwrap_or_default()
        }
        Some("use-context" | "get-contexts") => contexts(&current, session),
        Some("backup" | "restore-backup" | "support-bundle") => vec![FILES.to_owned()],
        Some(question) if positional.is_some() => {
            let found = objects_with(question, &line, &current, session).await;
            found.unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

/// A command line as far as it was read.
struct Line<'a> {
    command: &'a Command,
    names: Vec<String>,
    words: Vec<String>,
    /// Options of all commands that were given, by name.
    given: Vec<(String, String)>,
    /// The option whose value comes next.
    open_flag: Option<String>,
}

impl<'a> Line<'a> {
    fn read(root: &'a Command, words: &[String]) -> Line<'a> {
        let mut line =
            Line { command: root, names: Vec::new(), words: Vec::new(), given: Vec::new(), open_flag: None };
        for word in words {
            if let Some(flag) = line.open_flag.take() {
                line.given.push((flag, word.clone()));
            } else if let Some(flag) = word.strip_prefix("--") {
                match flag.split_once('=') {
                    Some((flag, value)) => line.given.push((flag.to_owned(), value.to_owned())),
                    None if line.takes_value(root, |argument| argument.get_long() == Some(flag)) => {
                        line.open_flag = Some(flag.to_owned());
                    }
                    None => line.given.push((flag.to_owned(), "true".to_owned())),
                }
            } else if let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) {
                let letter = letters.chars().next();
                let argument = line.arguments(root).find(|argument| argument.get_short() == letter);
                let name = argument.and_then(|argument| argument.get_long()).unwrap_or(letters).to_owned();
                let takes = argument.is_some_and(takes_value);
                match (takes, letters.len()) {
                    (true, 1) => line.open_flag = Some(name),
                    (true, _) => line.given.push((name, letters[1..].trim_start_matches('=').to_owned())),
                    (false, _) => line.given.push((name, "true".to_owned())),
                }
            } else if let Some(command) = line.command.find_subcommand(word).filter(|_| line.words.is_empty())
            {
                line.command = command;
                line.names.push(command.get_name().to_owned());
            } else {
                line.words.push(word.clone());
            }
        }
        line
    }

    fn arguments<'r>(&'r self, root: &'r Command) -> impl Iterator<Item = &'r clap::Arg> {
        let global = root.get_arguments().filter(|argument| argument.is_global_set());
        self.command.get_arguments().chain(global)
    }

    fn takes_value(&self, root: &Command, is_it: impl Fn(&clap::Arg) -> bool) -> bool {
        self.arguments(root).any(|argument| is_it(argument) && takes_value(argument))
    }

    fn flags(&self, root: &Command, current: &str) -> Vec<String> {
        let mut found: Vec<String> = self
            .arguments(root)
            .filter(|argument| !argument.is_hide_set() || argument.is_global_set())
            .filter_map(|argument| {
                let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
                Some(format!("--{}\t{}", argument.get_long()?, help.lines().next().unwrap_or("")))
            })
            .chain(std::iter::once("--help\tShow help".to_owned()))
            .filter(|flag| flag.starts_with(current))
            .collect();
        found.sort();
        found.dedup();
        found
    }

    /// Uses the options of the line for what is asked of the server.
    fn take_over(&self, session: &mut Session) {
        for (flag, value) in &self.given {
            let global = &mut session.global;
            match flag.as_str() {
                "kubeconfig" => global.kubeconfig = Some(value.into()),
                "context" => global.context = Some(value.clone()),
                "cluster" => global.cluster = Some(value.clone()),
                "server" => global.server = Some(value.clone()),
                "token" => global.token = Some(value.clone()),
                "as" => global.as_user = Some(value.clone()),
                "namespace" => global.namespace = Some(value.clone()),
                "project" => global.project = Some(value.clone()),
                _ => {}
            }
        }
        // Who types does not wait for a server that does not answer.
        session.global.request_timeout = "3s".to_owned();
    }
}

fn takes_value(argument: &clap::Arg) -> bool {
    matches!(argument.get_action(), ArgAction::Set | ArgAction::Append)
        && argument.get_num_args().is_none_or(|range| range.min_values() != 0)
}

fn possible(argument: &clap::Arg) -> Vec<String> {
    let values = argument.get_possible_values().into_iter();
    values.filter(|value| !value.is_hide_set()).map(|value| value.get_name().to_owned()).collect()
}

async fn value_of(flag: &str, current: &str, line: &Line<'_>, session: &mut Session) -> Vec<String> {
    line.take_over(session);
    let starting =
        |values: Vec<String>| values.into_iter().filter(|value| value.starts_with(current)).collect();
    match flag {
        "namespace" => names_of("namespaces", current, session).await.unwrap_or_default(),
        "context" => contexts(current, session),
        "project" => {
            names_of("projects.resourcemanager.miloapis.com", current, session).await.unwrap_or_default()
        }
        "plan" => names_of("plans.groundplane.dev", current, session).await.unwrap_or_default(),
        "output" => {
            let forms = [
                "json",
                "yaml",
                "name",
                "wide",
                "jsonpath=",
                "jsonpath-file=",
                "jsonpath-as-json=",
                "go-template=",
                "go-template-file=",
                "custom-columns=",
            ];
            starting(forms.map(str::to_owned).to_vec())
        }
        "resource" | "type" => types(current, session).await.unwrap_or_default(),
        _ => {
            let argument = line.command.get_arguments().find(|argument| argument.get_long() == Some(flag));
            if let Some(kind) = kind_of_value(argument, line, session).await {
                return names_of(&kind, current, session).await.unwrap_or_default();
            }
            let values = argument.map(possible).unwrap_or_default();
            let called =
                argument.and_then(|argument| argument.get_value_names()?.first()).map(|name| name.as_str());
            if called == Some("KIND/NAME=STATE") {
                return assumed(current, values, line, session).await.unwrap_or_default();
            }
            if values.is_empty() { vec![FILES.to_owned()] } else { starting(values) }
        }
    }
}

/// The kinds of the subject whose command is typed: of the group whose first word is that of the command.
async fn kinds_of_subject(line: &Line<'_>, session: &mut Session) -> Result<Vec<Resource>, Failure> {
    // Other commands don't ask the server for it: they may be typed where there is none.
    let [subject, _, ..] = &line.names[..] else { return Ok(Vec::new()) };
    if crate::Command::has_subcommand(subject) {
        return Ok(Vec::new());
    }
    let discovery = session.discovery().await?;
    let is_of_subject = |resource: &&Resource| resource.group.split('.').next() == Some(subject);
    Ok(discovery.resources.iter().filter(is_of_subject).cloned().collect())
}

/// The kind whose names are offered where a value is called after it, as in `--site <SITE>`.
async fn kind_of_value(
    argument: Option<&clap::Arg>,
    line: &Line<'_>,
    session: &mut Session,
) -> Option<String> {
    let called = argument?.get_value_names()?.first()?.to_lowercase();
    let kinds = kinds_of_subject(line, session).await.ok()?;
    kinds.iter().find(|kind| kind.singular == called).map(Resource::full_name)
}

/// `KIND/NAME` or `KIND NAME` of the kinds of the subject that answer a question.
async fn objects_with(
    question: &str,
    line: &Line<'_>,
    current: &str,
    session: &mut Session,
) -> Result<Vec<String>, Failure> {
    let mut kinds = kinds_of_subject(line, session).await?;
    kinds.retain(|kind| kind.subresources.iter().any(|name| name == question));
    let full = |typed: &str| {
        let found = kinds.iter().find(|kind| kind.singular == typed || kind.plural == typed);
        found.map(Resource::full_name)
    };
    if let Some((kind, name)) = current.split_once('/') {
        let Some(full) = full(kind) else { return Ok(Vec::new()) };
        let found = names_of(&full, name, session).await?;
        return Ok(found.into_iter().map(|name| format!("{kind}/{name}")).collect());
    }
    match line.words.first().map(|kind| full(kind)) {
        Some(Some(full)) => names_of(&full, current, session).await,
        Some(None) => Ok(Vec::new()),
        None => {
            let mut offered: Vec<String> = kinds.iter().map(|kind| format!("{}/", kind.singular)).collect();
            offered.retain(|kind| kind.starts_with(current));
            offered.sort();
            Ok(offered)
        }
    }
}

/// `KIND/NAME=STATE` of the kinds of the subject that may fail.
async fn assumed(
    current: &str,
    states: Vec<String>,
    line: &Line<'_>,
    session: &mut Session,
) -> Result<Vec<String>, Failure> {
    if let Some((object, state)) = current.split_once('=') {
        let states = states.into_iter().filter(|known| known.starts_with(state));
        return Ok(states.map(|known| format!("{object}={known}")).collect());
    }
    let line =
        Line { words: Vec::new(), given: Vec::new(), names: line.names.clone(), open_flag: None, ..*line };
    let found = objects_with("impact", &line, current, session).await?;
    Ok(found.into_iter().map(|name| if name.ends_with('/') { name } else { format!("{name}=") }).collect())
}

fn contexts(current: &str, session: &Session) -> Vec<String> {
    let contexts =
        kubeconfig::load(&session.global).map(|kubeconfig| kubeconfig.contexts).unwrap_or_default();
    contexts.into_iter().map(|context| context.name).filter(|name| name.starts_with(current)).collect()
}

async fn objects(words: &[String], current: &str, session: &mut Session) -> Result<Vec<String>, Failure> {
    if let Some((kind, name)) = current.split_once('/') {
        let found = names_of(kind, name, session).await?;
        return Ok(found.into_iter().map(|name| format!("{kind}/{name}")).collect());
    }
    match words.first() {
        Some(kind) if !kind.contains('/') => names_of(kind, current, session).await,
        _ => types(current, session).await,
    }
}

async fn types(current: &str, session: &mut Session) -> Result<Vec<String>, Failure> {
    // Of several types that are parted by commas, the last one is being typed.
    let (before, last) = current.rsplit_once(',').map_or(("", current), |(before, last)| (before, last));
    let discovery = session.discovery().await?;
    let mut found: Vec<String> = Vec::new();
    for resource in
        discovery.resources.iter().filter(|resource| resource.can("list") && discovery.is_preferred(resource))
    {
        let is_alone = discovery
            .resources
            .iter()
            .filter(|other| other.plural == resource.plural && other.group != resource.group)
            .count()
            == 0;
        let name = if is_alone || resource.group.is_empty() {
            resource.plural.clone()
        } else {
            resource.full_name()
        };
        if name.starts_with(last) {
            found.push(if before.is_empty() {
                format!("{name}\t{}", resource.kind)
            } else {
                format!("{before},{name}\t{}", resource.kind)
            });
        }
    }
    found.sort();
    Ok(found)
}

async fn names_of(kind: &str, current: &str, session: &mut Session) -> Result<Vec<String>, Failure> {
    let discovery = session.discovery().await?;
    let resource = discovery.resource(kind)?;
    let namespace = session.namespace().await?;
    let client = session.client().await?;
    let objects = selection::list(&client, resource, Some(&namespace), &Selection::default()).await?;
    let names = objects.iter().filter_map(|object| object["metadata"]["name"].as_str());
    Ok(names.filter(|name| name.starts_with(current)).map(str::to_owned).collect())
}

//! `groundplane why`: what keeps an object from being ready, one sentence for each layer.

use cli::{Ask, Failure, Session};
use serde_json::{Value, json};

use crate::output::{self, Form, items, text};

/// Parts of an object that are looked at, at most.
const PARTS: usize = 5;
/// Layers above and below an object.
const DEPTH: usize = 4;

/// Explain why an object is not ready: its own conditions, what it waits for, what it is part of, and its parts.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  groundplane why host/node001\n  groundplane why task/deploy-nodes-7f3a -n site\n  \
    groundplane why workload/web --project shop\n  groundplane why host/node001 -o json"
)]
pub struct Arguments {
    /// The object, as KIND/NAME or KIND NAME.
    #[arg(value_name = "KIND/NAME", required = true, num_args = 1..=2)]
    object: Vec<String>,

    /// Output format.
    #[arg(long, short, value_name = "FORMAT", value_enum, default_value_t = Form::Table)]
    output: Form,
}

/// A sentence about an object.
struct Said {
    object: String,
    sentence: String,
    is_trouble: bool,
}

/// Explains the object.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let discovery = session.discovery().await?;
    let namespace = session.namespace().await?;
    let targets = cli::located(&discovery, &arguments.object)?;
    let [target] = targets.as_slice() else {
        return Err(Failure::usage("name one object, as KIND/NAME"));
    };
    let Some(name) = &target.name else {
        return Err(Failure::usage(format!("name the {} too, as KIND/NAME", target.resource.kind)));
    };
    let path = target.resource.object(Some(&namespace), name);
    let client = session.client().await?;
    let object = client.value(&Ask::get(path)).await?;
    let mut said = Vec::new();
    tell(&object, &mut said);
    holders(&object, &namespace, session, &mut said).await?;
    above(&object, session, &mut said).await?;
    below(&object, &target.resource.group, session, &mut said).await?;
    let is_well = !said.iter().any(|one| one.is_trouble);
    if is_well {
        let sentence = "nothing keeps it from being ready".to_owned();
        said.insert(0, Said { object: named(&object), sentence, is_trouble: false });
    }
    match arguments.output {
        Form::Json | Form::Yaml => {
            let all: Vec<Value> = said
                .iter()
                .map(|one| json!({"object": one.object, "reason": one.sentence, "isTrouble": one.is_trouble}))
                .collect();
            output::value(
                arguments.output,
                &json!({"object": named(&object), "ready": is_well, "reasons": all}),
                session,
            )
        }
        _ => said
            .iter()
            .try_for_each(|one| output::line(&format!("{}: {}", one.object, one.sentence), session)),
    }
}

fn named(object: &Value) -> String {
    format!("{}/{}", text(object, "/kind"), text(object, "/metadata/name"))
}

/// What the object says of itself.
fn tell(object: &Value, said: &mut Vec<Said>) {
    let mut say =
        |sentence: String, is_trouble: bool| said.push(Said { object: named(object), sentence, is_trouble });
    if !text(object, "/metadata/deletionTimestamp").is_empty() {
        let left: Vec<&str> = items(object, "/metadata/finalizers").filter_map(Value::as_str).collect();
        say(format!("it is being deleted, and waits for {}", left.join(", ")), true);
    }
    for condition in items(object, "/status/conditions") {
        let is_bad = match text(condition, "/type") {
            "DeletionBlocked" | "Degraded" | "Suspended" | "Failed" => text(condition, "/status") == "True",
            _ => text(condition, "/status") != "True",
        };
        if is_bad {
            let message = match text(condition, "/message") {
                "" => text(condition, "/reason"),
                message => message,
            };
            say(format!("{} is {}: {message}", text(condition, "/type"), text(condition, "/status")), true);
        }
    }
    match text(object, "/status/waitingFor") {
        "" => {}
        waits => say(format!("it waits: {waits}"), true),
    }
    let has_failed = matches!(text(object, "/status/result"), "Failure" | "PartialSuccess");
    match text(object, "/status/message") {
        "" => {}
        message if has_failed => say(message.to_owned(), true),
        message if !matches!(text(object, "/status/phase"), "Complete" | "") => {
            say(message.to_owned(), false)
        }
        _ => {}
    }
    for step in items(object, "/status/steps").filter(|step| text(step, "/state") == "Failed") {
        say(format!("the step {} failed: {}", text(step, "/name"), text(step, "/message")), true);
    }
}

/// Who holds a host, and what they do.
async fn holders(
    object: &Value,
    namespace: &str,
    session: &mut Session,
    said: &mut Vec<Said>,
) -> Result<(), Failure> {
    let holder = text(object, "/status/claim/holder");
    if text(object, "/kind") != "Host" || holder.is_empty() {
        return Ok(());
    }
    said.push(Said {
        object: named(object),
        sentence: format!("{holder} holds it; others wait for its release"),
        is_trouble: true,
    });
    let Some(("Task", task)) = holder.split_once('/') else { return Ok(()) };
    let (namespace, name) = task.split_once('/').unwrap_or((namespace, task));
    let path = format!("{}/{}", crate::task_path(namespace), cli::path_segment(name));
    if let Some(task) = maybe(path, session).await? {
        tell(&task, said);
    }
    Ok(())
}

/// What the object is a part of.
async fn above(object: &Value, session: &mut Session, said: &mut Vec<Said>) -> Result<(), Failure> {
    let discovery = session.discovery().await?;
    let mut current = object.clone();
    for _ in 0..DEPTH {
        let Some(owner) = items(&current, "/metadata/ownerReferences").next().cloned() else { return Ok(()) };
        let word = format!("{}/{}", qualified(&owner), text(&owner, "/name"));
        let Ok(targets) = cli::located(&discovery, &[word]) else { return Ok(()) };
        let Some(target) = targets.first() else { return Ok(()) };
        let namespace = text(&current, "/metadata/namespace").to_owned();
        let path = target
            .resource
            .object(Some(&namespace).filter(|it| !it.is_empty()).map(String::as_str), text(&owner, "/name"));
        let Some(found) = maybe(path, session).await? else { return Ok(()) };
        said.push(Said {
            object: named(object),
            sentence: format!("it is a part of {}", named(&found)),
            is_trouble: false,
        });
        tell(&found, said);
        current = found;
    }
    Ok(())
}

fn qualified(owner: &Value) -> String {
    let kind = text(owner, "/kind").to_lowercase();
    match text(owner, "/apiVersion").split_once('/') {
        Some((group, _)) => format!("{kind}.{group}"),
        None => kind,
    }
}

/// The parts of the object that are not well.
async fn below(
    object: &Value,
    group: &str,
    session: &mut Session,
    said: &mut Vec<Said>,
) -> Result<(), Failure> {
    let discovery = session.discovery().await?;
    let client = session.client().await?;
    let uid = text(object, "/metadata/uid");
    let namespace = text(object, "/metadata/namespace");
    for resource in discovery.resources.iter().filter(|one| one.group == group && one.can("list")) {
        if resource.is_namespaced == namespace.is_empty() {
            continue;
        }
        let path = resource.collection(Some(namespace).filter(|it| !it.is_empty()));
        let list = match client.value(&Ask::get(path)).await {
            Ok(list) => list,
            Err(failure) if failure.refusal().is_some() => continue,
            Err(failure) => return Err(failure),
        };
        let is_owned =
            |one: &&Value| items(one, "/metadata/ownerReferences").any(|owner| text(owner, "/uid") == uid);
        let mut found = Vec::new();
        for part in items(&list, "/items").filter(is_owned) {
            let mut part = part.clone();
            part["kind"] = resource.kind.as_str().into();
            let mut told = Vec::new();
            tell(&part, &mut told);
            if told.iter().any(|one| one.is_trouble) {
                found.push(told);
            }
        }
        let more = found.len().saturating_sub(PARTS);
        said.extend(found.into_iter().take(PARTS).flatten());
        if more > 0 {
            let sentence = format!("{more} more of its {} are not well", resource.plural);
            said.push(Said { object: named(object), sentence, is_trouble: true });
        }
    }
    Ok(())
}

async fn maybe(path: String, session: &mut Session) -> Result<Option<Value>, Failure> {
    match session.client().await?.value(&Ask::get(path)).await {
        Ok(found) => Ok(Some(found)),
        Err(failure) if failure.refusal().is_some() => Ok(None),
        Err(failure) => Err(failure),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_layer_says_one_sentence() {
        let object = json!({"kind": "Task", "metadata": {"name": "t"}, "status": {
            "phase": "Running", "waitingFor": "host n1 is held by User/alice",
            "conditions": [{"type": "Progressing", "status": "False", "reason": "DeadlineExceeded", "message": "too long"}]}});
        let mut said = Vec::new();
        tell(&object, &mut said);
        let sentences: Vec<&str> = said.iter().map(|one| one.sentence.as_str()).collect();
        assert_eq!(sentences, ["Progressing is False: too long", "it waits: host n1 is held by User/alice"]);
        assert!(said.iter().all(|one| one.is_trouble && one.object == "Task/t"));
    }
}

//! Imports the documents of a design into a server in one commit, and reports the affected nodes before.

use std::collections::{BTreeMap, HashSet};

use clap::Args;
use design::{
    compile::{Compiled, LshwInputs, compile},
    document::{Document, native},
    object::{GROUP, ITEMS, KINDS, VERSION, Written, item_of, object_of},
    reach::reach,
};
use serde_json::{Value, json};

use crate::{
    compile::refused,
    outcome::{Ended, Streams, Trouble},
    server::{Secrecy, ServerDesign, commit},
};

#[derive(Args)]
pub(super) struct Options {
    /// Name of the design. Defaults to the only one of the namespace, or to the name of the namespace if there is none.
    #[arg(long, value_name = "NAME", conflicts_with = "to")]
    design: Option<String>,
    /// Name of the source (field manager). Each source owns the fields that it imports; several sources can share a design.
    #[arg(long, value_name = "NAME", default_value = "design-import", conflicts_with = "to")]
    source: String,
    /// Show the changes and the affected nodes without importing.
    #[arg(long, conflicts_with = "to")]
    dry_run: bool,
    /// Delete documents that this source imported earlier and that are no longer among the files.
    #[arg(long, conflicts_with = "to")]
    prune: bool,
    /// Take over fields that another source owns.
    #[arg(long, conflicts_with = "to")]
    force_conflicts: bool,
    /// Import documents of other kinds too, as ConfigurationItems.
    #[arg(long, conflicts_with = "to")]
    items: bool,
    /// Create the namespace if it does not exist.
    #[arg(long, conflicts_with = "to")]
    create_namespace: bool,
    /// Message recorded in the change history.
    #[arg(short, long, value_name = "TEXT", conflicts_with = "to")]
    message: Option<String>,
}

pub(super) fn bring(
    documents: Vec<Document>,
    options: &Options,
    streams: &mut Streams<'_>,
) -> Result<Ended, Trouble> {
    let read = compile(&documents, &LshwInputs::new());
    if !read.design.is_whole() {
        refused(&read, streams);
        streams.note("nothing was imported: fix the documents above");
        return Ok(Ended::NotWell);
    }
    let (objects, left) = written(&documents, options.items)?;
    let place = ServerDesign::look(options.design.as_deref(), streams)?;
    let now = place.objects(streams)?;
    let items = planned(&place, &objects, &now, options, streams)?;
    let force = ("force", options.force_conflicts.to_string());
    let rehearsal = [("dryRun", "All".to_owned()), ("object", "true".to_owned()), force.clone()];
    let message = options.message.as_deref();
    let status = commit(items.clone(), &options.source, &rehearsal, message, streams)?;
    if status["refused"] == true {
        return Ok(not_taken(&status, options, streams));
    }
    let later = after(&now, &status);
    tell_reach(&place, &now, &later, options.dry_run, streams)?;
    let status = match options.dry_run {
        true => status,
        false => commit(items, &options.source, &[force], message, streams)?,
    };
    let number = |what: &str| status["summary"][what].as_u64().unwrap_or(0);
    let parts: Vec<String> = ["created", "configured", "unchanged", "deleted"]
        .into_iter()
        .filter(|what| number(what) > 0)
        .map(|what| format!("{} {what}", number(what)))
        .collect();
    let (done, name) = (if options.dry_run { "would be imported" } else { "imported" }, &place.name);
    writeln!(streams.out, "{} documents {done} into design {name}: {}", objects.len(), parts.join(", "))?;
    if left > 0 {
        streams
            .note(format_args!("{left} documents of other kinds were skipped; pass --items to import them"));
    }
    Ok(Ended::Well)
}

/// Documents as objects, and the number of skipped ones. Names must be unique.
fn written(documents: &[Document], with_items: bool) -> Result<(Vec<Written>, usize), Trouble> {
    let (mut objects, mut left) = (Vec::new(), 0);
    for document in documents {
        match object_of(document).filter(|_| native::is_of_a_design(document)) {
            Some(object) => objects.push(object),
            None if with_items => objects.push(item_of(document)),
            None => left += 1,
        }
    }
    if objects.is_empty() {
        return Err(Trouble::Asked("the sources contain no design documents".to_owned()));
    }
    let mut known = HashSet::new();
    for one in &objects {
        let (kind, name) = named(&one.object);
        if !known.insert((kind, name)) {
            let why = format!("duplicate document {kind}/{name}; rename or remove one of them");
            return Err(Trouble::Asked(why));
        }
    }
    Ok((objects, left))
}

/// The transaction items: documents, their Secrets, the Design, and pruned documents.
fn planned(
    place: &ServerDesign,
    objects: &[Written],
    now: &[Value],
    options: &Options,
    streams: &mut Streams<'_>,
) -> Result<Vec<Value>, Trouble> {
    let namespace = &place.namespace;
    let mut items = Vec::new();
    if options.create_namespace {
        let path = format!("/api/v1/namespaces/{}", cli::path_segment(namespace));
        match streams.server()?.get(&path, &[]) {
            Ok(_) => {}
            Err(refused) if refused.code == 404 => {
                let object =
                    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
                items.push(json!({"operation": "apply", "object": object}));
            }
            Err(refused) => return Err(refused.into()),
        }
    }
    if place.object.is_null() {
        let object = json!({
            "apiVersion": format!("{GROUP}/{VERSION}"), "kind": "Design",
            "metadata": {"name": place.name, "namespace": namespace}, "spec": {},
        });
        items.push(json!({"operation": "apply", "object": object}));
    }
    let mut secrets: BTreeMap<&str, BTreeMap<&str, String>> = BTreeMap::new();
    for one in objects {
        let mut object = one.object.clone();
        object["metadata"]["namespace"] = json!(namespace);
        items.push(json!({"operation": "apply", "object": object}));
        for secret in &one.secrets {
            let keys = secrets.entry(secret.secret.as_str()).or_default();
            keys.insert(&secret.key, krm::base64::encode(secret.value.as_bytes()));
        }
    }
    for (name, data) in secrets {
        let object = json!({
            "apiVersion": "v1", "kind": "Secret", "type": "Opaque",
            "metadata": {"name": name, "namespace": namespace, "labels": {"design.groundplane.dev/secrets": "true"}},
            "data": data,
        });
        items.push(json!({"operation": "apply", "object": object}));
    }
    items.extend(no_more(place, objects, now, options, streams));
    Ok(items)
}

/// Documents that this source no longer has: deleted if it is the only owner, released if there are others.
fn no_more(
    place: &ServerDesign,
    objects: &[Written],
    now: &[Value],
    options: &Options,
    streams: &mut Streams<'_>,
) -> Vec<Value> {
    let brought: HashSet<(&str, &str)> = objects.iter().map(|one| named(&one.object)).collect();
    let mut items = Vec::new();
    let mut count = 0;
    for object in now {
        let managers: Vec<&Value> =
            object["metadata"]["managedFields"].as_array().into_iter().flatten().collect();
        let is_ours =
            |entry: &&&Value| entry["manager"] == options.source.as_str() && entry["operation"] == "Apply";
        if brought.contains(&named(object)) || !managers.iter().any(|entry| is_ours(&entry)) {
            continue;
        }
        count += 1;
        if !options.prune {
            continue;
        }
        let (kind, name) = named(object);
        let target = json!({
            "apiVersion": format!("{GROUP}/{VERSION}"), "kind": kind, "namespace": place.namespace, "name": name,
        });
        let others = managers.iter().any(|entry| !is_ours(&entry) && entry["subresource"].is_null());
        items.push(match others {
            false => json!({"operation": "delete", "target": target}),
            true => json!({"operation": "apply", "object": {
                "apiVersion": format!("{GROUP}/{VERSION}"), "kind": kind,
                "metadata": {"name": name, "namespace": place.namespace},
            }}),
        });
    }
    if count > 0 && !options.prune {
        streams.note(format_args!(
            "{count} documents that {} imported earlier are no longer among the files; pass --prune to delete them",
            options.source
        ));
    }
    items
}

fn named(object: &Value) -> (&str, &str) {
    (object["kind"].as_str().unwrap_or_default(), object["metadata"]["name"].as_str().unwrap_or_default())
}

/// The objects after the import.
fn after(now: &[Value], status: &Value) -> Vec<Value> {
    let results = status["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_document = |item: &&Value| {
        let kind = item["kind"].as_str().unwrap_or_default();
        KINDS.iter().any(|(known, _)| *known == kind) || kind == ITEMS.0
    };
    let touched: HashSet<(&str, &str)> = results
        .iter()
        .filter(is_document)
        .map(|item| (item["kind"].as_str().unwrap_or_default(), item["name"].as_str().unwrap_or_default()))
        .collect();
    let mut later: Vec<Value> =
        now.iter().filter(|object| !touched.contains(&named(object))).cloned().collect();
    later.extend(
        results
            .iter()
            .filter(is_document)
            .filter(|item| item["result"] != "deleted" && !item["object"].is_null())
            .map(|item| item["object"].clone()),
    );
    later
}

/// Prints the affected nodes, with all values if `in_full`.
fn tell_reach(
    place: &ServerDesign,
    now: &[Value],
    later: &[Value],
    in_full: bool,
    streams: &mut Streams<'_>,
) -> Result<(), Trouble> {
    let others = place.user_objects(streams)?;
    let mut state = |objects: &[Value]| -> Result<Compiled, Trouble> {
        let objects = [objects, &others].concat();
        let documents = place.documents(&objects, Secrecy::Hidden, streams)?.documents;
        Ok(compile(&documents, &LshwInputs::new()))
    };
    let (before, after) = (state(now)?, state(later)?);
    let Some(new) = after.site() else {
        refused(&after, streams);
        streams.note("warning: the design will not compile after the import");
        return Ok(());
    };
    let nothing = compile(&[], &LshwInputs::new());
    let Some(old) = before.site().or(nothing.site()) else { return Ok(()) };
    let changes = reach(old, new);
    if in_full {
        changes.iter().try_for_each(|one| writeln!(streams.out, "{one}"))?;
    }
    writeln!(streams.out, "{} of {} nodes differ", changes.len(), new.nodes.len())?;
    Ok(())
}

fn not_taken(status: &Value, options: &Options, streams: &mut Streams<'_>) -> Ended {
    let items = status["items"].as_array().into_iter().flatten();
    let mut conflicts = false;
    for item in items.filter(|item| item["result"] == "failed") {
        let (kind, name) = (item["kind"].as_str().unwrap_or("?"), item["name"].as_str().unwrap_or("?"));
        conflicts |= item["error"]["code"] == 409;
        streams
            .note(format_args!("{kind}/{name}: {}", item["error"]["message"].as_str().unwrap_or("refused")));
    }
    if conflicts && !options.force_conflicts {
        streams.note(
            "hint: another source owns these fields; remove them from the files, or pass --force-conflicts",
        );
    }
    streams.note("nothing was imported");
    Ended::NotWell
}

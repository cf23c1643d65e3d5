//! Imports the documents of a design into a server in one commit, and reports the affected nodes before.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use clap::Args;
use design::{
    compile::{Compiled, LshwInputs, compile},
    deckhand::{LAYERING_POLICY, layer_order, needed},
    document::{Document, Envelope, native},
    model::{Design, Fault},
    object::{GROUP, ITEMS, KINDS, Layers, VERSION, Written, item_of, object_of},
    reach::reach,
    user_kinds::UserKinds,
};
use serde_json::{Value, json};

use crate::{
    compile::refused,
    outcome::{Ended, Streams, Trouble},
    server::{Secrecy, ServerDesign, commit, secrets_of},
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
    written: &[Document],
    rendered: &[Document],
    options: &Options,
    streams: &mut Streams<'_>,
) -> Result<Ended, Trouble> {
    if let Some(refusal) = refusal(rendered, streams) {
        streams.note("nothing was imported: fix the documents above");
        return Ok(refusal);
    }
    let brought = Brought::of(written, options.items)?;
    for document in written.iter().filter(|one| is_sealed_whole(one)) {
        streams.note(format_args!(
            "warning: {}: {} has the storage policy `encrypted`: all its data goes into a Secret, which questions on the \
             server do not read; to keep the rest readable, move its secrets to a deckhand/Passphrase/v1 document and \
             substitute them",
            document.at, document.id
        ));
    }
    let place = ServerDesign::look(options.design.as_deref(), streams)?;
    let now = place.objects(streams)?;
    let items = planned(&place, &brought, &now, options, streams)?;
    let force = ("force", options.force_conflicts.to_string());
    let rehearsal = [("dryRun", "All".to_owned()), ("object", "true".to_owned()), force.clone()];
    let message = options.message.as_deref();
    let status = commit(items.clone(), &options.source, &rehearsal, message, streams)?;
    if status["refused"] == true {
        return Ok(not_taken(&status, options, streams));
    }
    let layers = brought.layers.clone().unwrap_or_else(|| place.layers());
    tell_reach(&place, &now, &after(&now, &status), &layers, options.dry_run, streams)?;
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
    writeln!(
        streams.out,
        "{} documents {done} into design {name}: {}",
        brought.objects.len(),
        parts.join(", ")
    )?;
    if brought.left > 0 {
        let left = brought.left;
        streams
            .note(format_args!("{left} documents of other kinds were skipped; pass --items to import them"));
    }
    Ok(Ended::Well)
}

/// Documents that no server takes. What a document lacks is no reason: another source may have it.
fn refusal(rendered: &[Document], streams: &mut Streams<'_>) -> Option<Ended> {
    let read = Design::read(rendered);
    let mut is_refused = false;
    for outcome in &read.outcomes {
        let problems = outcome.problems.iter();
        for problem in problems.filter(|one| one.fault.refuses() && one.fault != Fault::Missing) {
            streams.note(format_args!("{problem} ({})", outcome.document));
            is_refused = true;
        }
    }
    is_refused.then_some(Ended::NotWell)
}

/// Whether a document of a design is marked as secret as a whole, so that no field of it may be in an object.
fn is_sealed_whole(document: &Document) -> bool {
    native::is_of_a_design(document) && document.is_secret()
}

/// What is imported.
struct Brought {
    objects: Vec<Written>,
    /// The order of layers, if the documents have a policy.
    layers: Option<Vec<String>>,
    /// Number of documents that are not imported.
    left: usize,
}

impl Brought {
    /// Documents as objects: those of the design, those that they need, and all others if asked for. Names must be unique.
    fn of(documents: &[Document], with_items: bool) -> Result<Self, Trouble> {
        let layers = layer_order(documents);
        let kept = if layers.is_some() { Layers::Kept } else { Layers::Rendered };
        let kinds = UserKinds::of(documents);
        let needed = match layers.is_some() {
            true => needed(documents, native::is_of_a_design),
            false => needed(documents, |one| one.envelope == Envelope::Native),
        };
        let (mut objects, mut left) = (Vec::new(), 0);
        for (document, is_needed) in documents.iter().zip(needed) {
            // The Design has the order of layers, and a site its definition.
            if [LAYERING_POLICY, "pegleg/SiteDefinition/v1"].contains(&document.schema()) && layers.is_some()
            {
                continue;
            }
            let is_open = native::is_of_a_design(document) && !is_sealed_whole(document);
            match object_of(document, kept).filter(|_| is_open) {
                Some(object) => objects.push(object),
                None if with_items || is_needed || is_sealed_whole(document) => {
                    objects.push(item_of(document, kept, &kinds))
                }
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
        Ok(Self { objects, layers, left })
    }
}

/// The transaction items: documents, their Secrets, the Design, and pruned documents.
fn planned(
    place: &ServerDesign,
    brought: &Brought,
    now: &[Value],
    options: &Options,
    streams: &mut Streams<'_>,
) -> Result<Vec<Value>, Trouble> {
    let objects = &brought.objects;
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
    if place.object.is_null() || brought.layers.is_some() {
        let spec = brought.layers.as_ref().map_or_else(|| json!({}), |layers| json!({ "layers": layers }));
        let object = json!({
            "apiVersion": format!("{GROUP}/{VERSION}"), "kind": "Design",
            "metadata": {"name": place.name, "namespace": namespace}, "spec": spec,
        });
        items.push(json!({"operation": "apply", "object": object}));
    }
    let mut secrets: BTreeMap<&str, BTreeMap<&str, String>> = BTreeMap::new();
    for one in objects {
        let mut object = one.from_source(&options.source);
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
    let mut secrets = BTreeSet::new();
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
        if !others {
            let kept: HashSet<&str> =
                objects.iter().flat_map(|one| &one.secrets).map(|one| one.secret.as_str()).collect();
            let gone = secrets_of(object).into_iter().filter(|secret| !kept.contains(secret.as_str()));
            secrets.extend(gone);
        }
        items.push(match others {
            false => json!({"operation": "delete", "target": target}),
            true => json!({"operation": "apply", "object": {
                "apiVersion": format!("{GROUP}/{VERSION}"), "kind": kind,
                "metadata": {"name": name, "namespace": place.namespace},
            }}),
        });
    }
    items.extend(secrets.into_iter().map(|secret| {
        json!({"operation": "delete", "target": {
            "apiVersion": "v1", "kind": "Secret", "namespace": place.namespace, "name": secret,
        }})
    }));
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
    layers: &[String],
    in_full: bool,
    streams: &mut Streams<'_>,
) -> Result<(), Trouble> {
    let others = place.user_objects(streams)?;
    let mut state = |objects: &[Value], layers: &[String]| -> Result<Compiled, Trouble> {
        let objects = [objects, &others].concat();
        let documents = place.documents(&objects, layers, Secrecy::Hidden, streams)?;
        Ok(compile(&documents, &LshwInputs::new()))
    };
    let (before, after) = (state(now, &place.layers())?, state(later, layers)?);
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
        let document =
            format!("{}/{}", item["kind"].as_str().unwrap_or("?"), item["name"].as_str().unwrap_or("?"));
        let owned = owned_fields(&item["error"]);
        conflicts |= item["error"]["code"] == 409;
        if owned.is_empty() {
            let why = item["error"]["message"].as_str().unwrap_or("refused");
            streams.note(format_args!("{document}: {why}"));
        }
        for (field, source) in owned {
            streams.note(format_args!("{document}: {field} belongs to source {source}"));
        }
    }
    if conflicts && !options.force_conflicts {
        streams.note(format_args!(
            "hint: leave these fields to their source and remove them from the files of {}, or pass --force-conflicts to take \
             them over",
            options.source
        ));
    }
    streams.note("nothing was imported");
    Ended::NotWell
}

/// The fields that other sources own, each with its source.
fn owned_fields(error: &Value) -> Vec<(&str, &str)> {
    let causes = error["details"]["causes"].as_array().into_iter().flatten();
    let conflicts = causes.filter(|cause| cause["reason"] == "FieldManagerConflict");
    conflicts
        .filter_map(|cause| {
            let source = cause["message"].as_str()?.split('"').nth(1)?;
            Some((cause["field"].as_str()?.trim_start_matches('.'), source))
        })
        .collect()
}

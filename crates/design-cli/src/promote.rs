//! `groundplane design promote`: creates a revision of the documents on the server and activates it.

use clap::Args;
use design::{
    compile::{LshwInputs, compile},
    object::{GROUP, ORIGIN, VERSION},
    reach::reach,
};
use serde_json::{Map, Value, json};

use crate::{
    compile::refused,
    outcome::{Ended, Streams, Trouble},
    server::{Secrecy, ServerDesign, State, commit, kept},
};

/// Maximum number of attempts when somebody else promotes at the same time.
const MAX_ATTEMPTS: usize = 8;

#[derive(Args)]
#[command(
    after_help = "A revision is an immutable snapshot of the documents. The active revision is the one that the site is built \
    from.\n\nExamples:\n  groundplane design promote -n airsloop -m 'third rack'\n  \
    groundplane design promote -n airsloop --dry-run\n  groundplane design promote -n airsloop --revision 3"
)]
pub(crate) struct Arguments {
    /// Name of the design. Defaults to the only one of the namespace.
    #[arg(value_name = "NAME")]
    design: Option<String>,
    /// Activate this existing revision instead of creating one.
    #[arg(long, value_name = "NUMBER")]
    revision: Option<i64>,
    /// Activate the revision even if it has errors.
    #[arg(long)]
    allow_errors: bool,
    /// Show the affected nodes without changing anything.
    #[arg(long)]
    dry_run: bool,
    /// Message of the revision, also recorded in the change history.
    #[arg(short, long, value_name = "TEXT")]
    message: Option<String>,
}

pub(crate) fn run(arguments: &Arguments, streams: &mut Streams<'_>) -> Result<Ended, Trouble> {
    let place = ServerDesign::find(arguments.design.as_deref(), streams)?;
    let state = arguments.revision.map_or(State::Documents, State::Revision);
    let changed = reached(&place, state, arguments.dry_run, streams)?;
    if arguments.dry_run {
        return Ok(Ended::Well);
    }
    let Some(number) = arguments.revision else { return make(arguments, &place, changed, streams) };
    let items = vec![in_force(&place, number, arguments.allow_errors)];
    commit(items, "groundplane-design", &[], arguments.message.as_deref(), streams)?;
    writeln!(streams.out, "revision {number} of {} is now active{changed}", place.name)?;
    Ok(Ended::Well)
}

/// Creates a revision of the current documents, or reuses the latest one if it is identical.
fn make(
    arguments: &Arguments,
    place: &ServerDesign,
    changed: String,
    streams: &mut Streams<'_>,
) -> Result<Ended, Trouble> {
    let (objects, layers) = place.objects_at(State::Documents, streams)?;
    let documents = documents(&objects);
    for _ in 0..MAX_ATTEMPTS {
        let newest = place.revisions(streams)?.pop();
        let number = newest.as_ref().and_then(|newest| newest["spec"]["number"].as_i64()).unwrap_or(0);
        let is_kept = newest.is_some_and(|newest| is_same(&newest["spec"], &documents, &layers));
        let number = if is_kept { number } else { number + 1 };
        let mut items = vec![in_force(place, number, arguments.allow_errors)];
        if !is_kept {
            let mut spec = json!({
                "design": place.name, "number": number, "message": arguments.message, "documents": documents,
            });
            if !layers.is_empty() {
                spec["layers"] = json!(layers);
            }
            items.push(json!({"operation": "create", "object": {
                "apiVersion": format!("{GROUP}/{VERSION}"), "kind": "DesignRevision",
                "metadata": {"name": format!("{}-{number}", place.name), "namespace": place.namespace},
                "spec": spec,
            }}));
        }
        match commit(items, "groundplane-design", &[], arguments.message.as_deref(), streams) {
            Err(Trouble::Server(refused)) if refused.code == 409 => {}
            Err(trouble) => return Err(trouble),
            Ok(_) => {
                writeln!(streams.out, "revision {number} of {} is now active{changed}", place.name)?;
                return Ok(Ended::Well);
            }
        }
    }
    Err(Trouble::Asked("the design is being promoted by somebody else; try again".to_owned()))
}

/// Whether a revision holds these documents, wherever their lines are.
fn is_same(spec: &Value, documents: &Value, layers: &[String]) -> bool {
    let without_lines = |documents: &Value| -> Value {
        let documents = documents.as_array().into_iter().flatten().cloned();
        documents
            .map(|mut document| {
                document.as_object_mut().map(|fields| fields.remove("origins"));
                document
            })
            .collect()
    };
    let theirs = spec["layers"].as_array().map(Vec::as_slice).unwrap_or_default();
    theirs == layers && without_lines(&spec["documents"]) == without_lines(documents)
}

/// Documents in the format of a revision.
fn documents(objects: &[Value]) -> Value {
    let mut documents: Vec<Value> = objects
        .iter()
        .map(|object| {
            let mut document =
                json!({"kind": object["kind"], "name": object["metadata"]["name"], "spec": object["spec"]});
            if let Some(labels) = object["metadata"].get("labels").filter(|labels| !labels.is_null()) {
                document["labels"] = labels.clone();
            }
            let annotations = object["metadata"]["annotations"].as_object().into_iter().flatten();
            let origins: Map<String, Value> = annotations
                .filter(|(key, _)| key.starts_with(ORIGIN))
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect();
            if !origins.is_empty() {
                document["origins"] = origins.into();
            }
            document
        })
        .collect();
    let key = |document: &Value| [document["kind"].to_string(), document["name"].to_string()];
    documents.sort_by_key(key);
    documents.into()
}

/// The transaction item that activates a revision.
pub(crate) fn in_force(place: &ServerDesign, number: i64, allow_errors: bool) -> Value {
    let mut spec = json!({"revision": number});
    if allow_errors {
        spec["allowErrors"] = json!(true);
    }
    json!({
        "operation": "patch",
        "target": {
            "apiVersion": format!("{GROUP}/{VERSION}"), "kind": "Design",
            "namespace": place.namespace, "name": place.name,
        },
        "patch": {"spec": spec},
    })
}

/// The number of nodes that differ from the active revision, as a clause. Prints all differences if `in_full`.
pub(crate) fn reached(
    place: &ServerDesign,
    to: State,
    in_full: bool,
    streams: &mut Streams<'_>,
) -> Result<String, Trouble> {
    let later = compile(&place.read(to, Secrecy::Hidden, streams)?, &LshwInputs::new());
    let Some(live) = place.live() else {
        let count = later.site().map_or(0, |site| site.nodes.len());
        if in_full {
            writeln!(streams.out, "no revision is active yet; the design has {count} nodes")?;
        }
        return Ok(format!(": {count} nodes"));
    };
    let now = place.read(State::Revision(live), Secrecy::Hidden, streams)?;
    let now = compile(&now, &LshwInputs::new());
    let (Some(old), Some(new)) = (now.site(), later.site()) else {
        refused(&later, streams);
        return Ok(String::new());
    };
    let changes = reach(old, new);
    if in_full {
        changes.iter().try_for_each(|one| writeln!(streams.out, "{one}"))?;
        writeln!(streams.out, "{} of {} nodes differ from revision {live}", changes.len(), new.nodes.len())?;
    }
    Ok(format!(": {} of {} nodes differ from revision {live}", changes.len(), new.nodes.len()))
}

/// The objects of a revision.
pub(crate) fn of_revision(revision: &Value) -> Vec<Value> {
    revision["spec"]["documents"].as_array().into_iter().flatten().map(kept).collect()
}

//! `groundplane label` and `groundplane annotate`: small texts on objects.

use std::collections::BTreeMap;
use std::io::Write;

use http::Method;
use serde_json::{Map, Value, json};

use crate::client::Ask;
use crate::commands::found::{self, ObjectTarget};
use crate::commands::selection::Selection;
use crate::failure::Failure;
use crate::flags::DryRun;
use crate::manifests::FileFlags;
use crate::print::Output;
use crate::session::Session;

/// Set or remove labels of objects.
///
/// KEY=VALUE sets a label, KEY- removes it. Changing an existing value needs --overwrite.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  groundplane create configmap settings --from-literal=limit=3\n  \
    groundplane label configmap settings tier=front\n  groundplane label configmap settings tier-")]
pub struct LabelArguments {
    #[command(flatten)]
    common: Common,
}

/// Set or remove annotations of objects.
///
/// KEY=VALUE sets an annotation, KEY- removes it. Changing an existing value needs --overwrite.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  groundplane create configmap settings --from-literal=limit=3\n  \
    groundplane annotate configmap settings note='see the runbook'\n  \
    groundplane annotate configmap settings note-")]
pub struct AnnotateArguments {
    #[command(flatten)]
    common: Common,
}

#[derive(clap::Args, Debug)]
struct Common {
    /// TYPE NAME… or TYPE/NAME…, followed by KEY=VALUE or KEY-
    #[arg(value_name = "TYPE NAME KEY=VALUE", required = true, allow_hyphen_values = false)]
    words: Vec<String>,

    #[command(flatten)]
    files: FileFlags,

    #[command(flatten)]
    selection: Selection,

    /// All objects of the type in the namespace.
    #[arg(long)]
    all: bool,

    /// Change existing values.
    #[arg(long)]
    overwrite: bool,

    /// List the labels or annotations instead of changing them.
    #[arg(long)]
    list: bool,

    /// Change the object only if this is its resourceVersion.
    #[arg(long, value_name = "VERSION")]
    resource_version: Option<String>,

    #[command(flatten)]
    dry_run: DryRun,

    /// Field manager to record as the owner of the fields.
    #[arg(long, value_name = "NAME", default_value = "groundplane")]
    field_manager: String,

    /// Reason for the change, shown in the history.
    #[arg(long, value_name = "TEXT")]
    message: Option<String>,

    /// Output format: name, json, yaml, jsonpath=TEMPLATE.
    #[arg(long, short, value_name = "FORMAT")]
    output: Option<String>,
}

/// Labels or annotations.
#[derive(Clone, Copy, PartialEq)]
enum Marks {
    Labels,
    Annotations,
}

impl Marks {
    fn field(self) -> &'static str {
        match self {
            Marks::Labels => "labels",
            Marks::Annotations => "annotations",
        }
    }

    fn one(self) -> &'static str {
        match self {
            Marks::Labels => "label",
            Marks::Annotations => "annotation",
        }
    }
}

/// What is to change.
struct Changes {
    set: BTreeMap<String, String>,
    remove: Vec<String>,
}

/// Labels objects.
pub async fn label(arguments: LabelArguments, session: &mut Session) -> Result<(), Failure> {
    run(arguments.common, Marks::Labels, session).await
}

/// Annotates objects.
pub async fn annotate(arguments: AnnotateArguments, session: &mut Session) -> Result<(), Failure> {
    run(arguments.common, Marks::Annotations, session).await
}

async fn run(common: Common, marks: Marks, session: &mut Session) -> Result<(), Failure> {
    let is_change = |word: &&String| word.contains('=') || word.ends_with('-');
    let first = common.words.iter().position(|word| is_change(&word)).unwrap_or(common.words.len());
    let (words, changes) = common.words.split_at(first);
    let changes = Changes::read(changes, marks)?;
    if words.is_empty() && common.files.is_empty() {
        return Err(Failure::usage(
            "one or more resources must be specified as <resource> <name> or <resource>/<name>",
        ));
    }
    if changes.set.is_empty() && changes.remove.is_empty() && !common.list {
        return Err(Failure::usage(format!("at least one {} update is required", marks.one())));
    }
    let places = found::places(words, &common.files, &common.selection, common.all, session).await?;
    if places.len() != 1 && common.resource_version.is_some() {
        return Err(Failure::usage("--resource-version may only be used with a single resource"));
    }
    let mut failures = Vec::new();
    for place in &places {
        if let Err(failure) = one(&common, marks, &changes, place, places.len() == 1, session).await {
            failures.push(failure);
        }
    }
    Failure::all(failures)
}

async fn one(
    common: &Common,
    marks: Marks,
    changes: &Changes,
    place: &ObjectTarget,
    is_only: bool,
    session: &mut Session,
) -> Result<(), Failure> {
    let client = session.client().await?;
    let mut object = place.fetch(&client).await?;
    let mut present = object["metadata"][marks.field()].as_object().cloned().unwrap_or_default();
    if common.list {
        present.extend(changes.set.iter().map(|(key, value)| (key.clone(), value.as_str().into())));
        present.retain(|key, _| !changes.remove.contains(key));
        if !is_only {
            let group = &place.resource.group;
            let title =
                format!("Listing {} for {}.{group}/{}:", marks.field(), place.resource.kind, place.name);
            writeln!(session.console.out, "{title}")?;
        }
        let indent = if is_only { "" } else { " " };
        for (key, value) in &present {
            writeln!(session.console.out, "{indent}{key}={}", value.as_str().unwrap_or(""))?;
        }
        return Ok(());
    }
    changes.check(&present, common.overwrite, marks)?;
    let mut patch = Map::new();
    let (mut added, mut removed) = (false, false);
    for (key, value) in &changes.set {
        if present.get(key).and_then(Value::as_str) != Some(value) {
            added = true;
        }
        patch.insert(key.clone(), value.as_str().into());
    }
    for key in &changes.remove {
        match present.contains_key(key) {
            true => removed = true,
            false if marks == Marks::Labels => {
                writeln!(session.console.out, "label {} not found.", krm::field::quote(key))?
            }
            false => {}
        }
        patch.insert(key.clone(), Value::Null);
    }
    let is_needed = added || removed || marks == Marks::Annotations;
    if is_needed && !common.dry_run.is_client() {
        let mut metadata = json!({marks.field(): patch});
        if let Some(version) = &common.resource_version {
            metadata["resourceVersion"] = version.as_str().into();
        }
        let ask = Ask::new(Method::PATCH, place.path())
            .query("fieldManager", common.field_manager.as_str())
            .query_if("dryRun", common.dry_run.parameter())
            .message(common.message.as_deref())
            .body("application/merge-patch+json", json!({"metadata": metadata}).to_string());
        object = client.value(&ask).await?;
    }
    if let Some(form) = &common.output {
        crate::print::without_managed_fields(&mut object);
        return Output::parse(Some(form), false)?.print(&mut session.console.out, &object);
    }
    let done = match (marks, added, removed) {
        (Marks::Annotations, ..) => "annotated",
        (_, true, _) => "labeled",
        (_, false, true) => "unlabeled",
        (_, false, false) => "not labeled",
    };
    writeln!(session.console.out, "{} {done}{}", place.shown(), common.dry_run.suffix())?;
    Ok(())
}

impl Changes {
    fn read(words: &[String], marks: Marks) -> Result<Changes, Failure> {
        let mut changes = Changes { set: BTreeMap::new(), remove: Vec::new() };
        for word in words {
            if let Some((key, value)) = word.split_once('=') {
                let faults = if marks == Marks::Labels { krm::names::label_value(value) } else { Vec::new() };
                if !faults.is_empty() {
                    let word = krm::field::quote(word);
                    return Err(Failure::usage(format!("invalid label value: {word}: {}", faults.join(";"))));
                }
                changes.set.insert(key.to_owned(), value.to_owned());
            } else if let Some(key) = word.strip_suffix('-') {
                changes.remove.push(key.to_owned());
            } else {
                return Err(Failure::usage(format!("unknown {} spec: {word}", marks.one())));
            }
        }
        match changes.remove.iter().find(|key| changes.set.contains_key(*key)) {
            Some(_) if marks == Marks::Labels => {
                Err(Failure::usage("can not both modify and remove a label in the same command"))
            }
            Some(_) => {
                Err(Failure::usage("can not both modify and remove an annotation in the same command"))
            }
            None => Ok(changes),
        }
    }

    fn check(&self, present: &Map<String, Value>, overwrite: bool, marks: Marks) -> Result<(), Failure> {
        if overwrite {
            return Ok(());
        }
        let mut taken = Vec::new();
        for (key, value) in &self.set {
            if let Some(before) = present.get(key).and_then(Value::as_str).filter(|before| before != value) {
                taken.push(format!("'{key}' already has a value ({before})"));
            }
        }
        match marks {
            Marks::Annotations if !taken.is_empty() => Err(Failure::other(format!(
                "--overwrite is false but found the following declared annotation(s): {}",
                taken.join(", ")
            ))),
            _ => Failure::all(
                taken.iter().map(|why| Failure::other(format!("{why}, and --overwrite is false"))).collect(),
            ),
        }
    }
}

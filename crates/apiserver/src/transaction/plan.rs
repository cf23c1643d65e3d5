//! Plans: the preview of a transaction with the versions that it depends on, to be committed unchanged or not
//! at all.

use std::sync::Arc;

use krm::Object;
use krm::base64;
use krm::status::{Cause, Status};
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};
use store::{Key, Version, View};

use super::report::Detail;
use super::{Along, Spec, Work, report, run};
use crate::api::store_failure;
use crate::call::Call;
use crate::encode;
use crate::index;
use crate::keys;
use crate::later;
use crate::plane::Plane;
use crate::request::query::WriteOptions;
use crate::write;

/// How long a plan is kept, in seconds.
pub const KEPT_SECONDS: i64 = 24 * 3600;
/// How many things that have changed a refusal names.
const NAMED: usize = 5;

/// Something that was read, and how it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Guard {
    /// An object at a version; zero where there was none.
    At(Key, Version),
    /// An object that was there.
    Exists(Key),
    /// All objects that have something in common, by a digest of them and their versions.
    Bucket(Vec<u8>, String),
}

impl Guard {
    /// Everything of a plane that was read through a view. What was read of the root for a project is left out: whoever
    /// reads the plan may not be allowed to see it. It is read and guarded again when the plan is applied.
    pub fn all(view: &View, plane: &Plane) -> Vec<Guard> {
        let here = |guard: &&store::Guard| match guard {
            store::Guard::At { key, .. } | store::Guard::Exists(key) | store::Guard::Life { key, .. } => {
                keys::parts(key).is_none_or(|parts| parts.plane == plane.as_str())
            }
            store::Guard::Bucket { term, .. } => index::is_of(plane, term),
            store::Guard::Lease(_) => false,
        };
        let guards = view.guards().iter().filter(here).filter_map(|guard| match guard {
            store::Guard::At { key, version } => Some(Guard::At(key.clone(), *version)),
            store::Guard::Exists(key) => Some(Guard::Exists(key.clone())),
            store::Guard::Bucket { term, .. } => Some(Guard::Bucket(term.to_vec(), members(view, term))),
            store::Guard::Life { .. } | store::Guard::Lease(_) => None,
        });
        guards.collect()
    }

    fn to_json(&self) -> Value {
        match self {
            Guard::At(key, version) => {
                json!({ "key": key.to_string(), "resourceVersion": version.to_string() })
            }
            Guard::Exists(key) => json!({ "key": key.to_string(), "exists": true }),
            Guard::Bucket(term, digest) => json!({ "bucket": base64::url(term), "digest": digest }),
        }
    }

    fn from_json(value: &Value) -> Option<Guard> {
        let text = |field: &str| value.get(field).and_then(Value::as_str);
        if let Some(term) = text("bucket") {
            return Some(Guard::Bucket(base64::from_url(term)?, text("digest")?.to_owned()));
        }
        let key = Key::new(text("key")?).ok()?;
        match text("resourceVersion") {
            Some(version) => Some(Guard::At(key, version.parse().ok()?)),
            None => Some(Guard::Exists(key)),
        }
    }

    /// Whether whoever makes a call may read what was read. Of a bucket that is not known: its members are many, and their
    /// number may be none.
    fn is_readable(&self, call: &Call) -> Option<bool> {
        match self {
            Guard::At(key, _) | Guard::Exists(key) => Some(may_read(call, key)),
            Guard::Bucket(..) => None,
        }
    }

    /// What is not as it was; looking makes it a guard of the commit, too.
    fn changed(&self, view: &mut View) -> Option<String> {
        match self {
            Guard::At(key, version) => {
                let found = view.get(key).map_or(Version::ZERO, |entry| entry.version());
                let shown = |version: Version| match version == Version::ZERO {
                    true => "absent".to_owned(),
                    false => format!("at {version}"),
                };
                (found != *version)
                    .then(|| format!("{}: was {}, is {}", named(key), shown(*version), shown(found)))
            }
            Guard::Exists(key) => (!view.exists(key)).then(|| format!("{}: no longer exists", named(key))),
            Guard::Bucket(term, digest) => {
                let term = bytes::Bytes::from(term.clone());
                view.bucket(&term);
                (members(view, &term) != *digest).then(|| format!("{}: changed", about(&term)))
            }
        }
    }
}

/// A digest of the objects of a bucket and their versions.
fn members(view: &View, term: &bytes::Bytes) -> String {
    let mut text = String::new();
    for (key, version) in view.had(term) {
        text.push_str(&format!("{key}\0{version}\n"));
    }
    let hash = digest(&SHA256, text.as_bytes());
    hash.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A key as people read it: `configmaps default/a`.
pub fn named(key: &Key) -> String {
    let Some(parts) = keys::parts(key) else { return key.to_string() };
    let group = if parts.group.is_empty() { String::new() } else { format!(".{}", parts.group) };
    let namespace = if parts.namespace.is_empty() { String::new() } else { format!("{}/", parts.namespace) };
    format!("{}{group} {namespace}{}", parts.plural, parts.name)
}

/// What the objects of a bucket have in common, as people read it.
fn about(term: &[u8]) -> String {
    let text = String::from_utf8_lossy(term);
    match text.split_at_checked(1) {
        Some(("r", target)) => match Key::new(target) {
            Ok(key) => format!("references to {}", named(&key)),
            Err(_) => "references to an object".to_owned(),
        },
        Some((_, rest)) => format!("content of {}", rest.replace('\0', " ")),
        None => "something".to_owned(),
    }
}

/// Leaves out of a plan what its rules read and whoever makes a call may not: its guards tell names and versions. With them go
/// those of buckets, whose names may be made of the others'.
pub fn leave_out_withheld(call: &Call, plan: &mut Object) {
    let status = plan.0.get_mut("status").and_then(Value::as_object_mut);
    let Some(status) = status else { return };
    let Some(guards) = status.get_mut("guards").and_then(Value::as_array_mut) else { return };
    let readable = |guard: &Value| Guard::from_json(guard).and_then(|guard| guard.is_readable(call));
    if guards.iter().any(|guard| readable(guard) == Some(false)) {
        guards.retain(|guard| readable(guard) == Some(true));
        status.insert("incomplete".to_owned(), true.into());
    }
}

/// Whether whoever makes a call may read the object of a key, in whichever plane it is.
fn may_read(call: &Call, key: &Key) -> bool {
    keys::parts(key).is_some_and(|parts| parts.plane == call.plane.as_str() && call.may_see(&parts.address()))
}

/// Makes a plan of what the object's spec asks for: the object that is to be kept.
pub async fn make(call: &Arc<Call>, mut plan: Object, options: &WriteOptions) -> Result<Object, Status> {
    let spec = plan.get("spec").cloned().unwrap_or_default();
    let options = WriteOptions { dry_run: true, ..options.clone() };
    let (items, skipped) = Spec(spec).items(call, &options).await?;
    let drawn: Vec<(usize, String)> = items
        .iter()
        .filter(|item| !item.named.name.is_empty())
        .map(|item| (item.index, item.named.name.clone()))
        .collect();
    let work = Arc::new(Work { call: call.clone(), items, options });
    let ended = run(work, None).await?;
    let detail = Detail { diff: true, dry_run: true, object: false };
    let mut status = report::leaving_out(report::status(call, &ended, detail), &skipped);
    let now = call.api.now();
    let until = krm::time::Moment::of_seconds(now.seconds + KEPT_SECONDS);
    status["expirationTimestamp"] = until.to_string().into();
    status["guards"] = ended.guards.iter().map(Guard::to_json).collect();
    later::free(ended);
    plan.set("status", Some(status));
    // Names that were drawn are part of the plan.
    if let Some(Value::Array(values)) = plan.0.get_mut("spec").and_then(|spec| spec.get_mut("items")) {
        for (index, name) in drawn {
            if let Some(metadata) =
                values.get_mut(index).and_then(|value| value.pointer_mut("/object/metadata"))
            {
                metadata["name"] = name.into();
            }
        }
    }
    Ok(plan)
}

/// Commits a plan, exactly as it was made.
pub async fn apply(call: &Arc<Call>, options: &WriteOptions) -> Result<(Value, Option<String>), Status> {
    let snapshot = call.api.store().current().await.map_err(|error| store_failure(&error))?;
    let key = call.key()?;
    let entry = snapshot.get(&key).ok_or_else(|| call.not_found())?.clone();
    // As it was made: what is shown of it has no values of Secrets.
    let plan = encode::read(&call.api.reveal(&key, &entry)?)?;
    can_be_applied(call, &plan)?;
    let spec = plan.get("spec").cloned().unwrap_or_default();
    let message = crate::handle::past::text(&spec, "message")?;
    let manager = crate::handle::past::text(&spec, "fieldManager")?;
    let mut base = Call::clone(call);
    base.subresource.clear();
    if let Some(message) = &message {
        base.message = Some(message.clone());
    }
    let base = Arc::new(base);
    let options = WriteOptions {
        manager: manager.unwrap_or_else(|| options.manager.clone()),
        force: spec.get("force").and_then(Value::as_bool).or(options.force),
        ..options.clone()
    };
    let (items, skipped) = Spec(spec).items(&base, &options).await?;
    let dry_run = options.dry_run;
    let work = Arc::new(Work { call: base.clone(), items, options });
    let ended = run(work, Some(unchanged_since(&base, plan, entry.version())?)).await?;
    let detail = Detail { dry_run, ..Detail::default() };
    let status = report::leaving_out(report::status(call, &ended, detail), &skipped);
    later::free(ended);
    Ok((report::transaction(status, message.as_deref()), message))
}

fn can_be_applied(call: &Call, plan: &Object) -> Result<(), Status> {
    let refuse = |why: String| Err(Status::conflict(&call.kind.resource(), &call.name, why));
    if let Some(applied) = plan.at("status.applied") {
        let text = |field: &str| applied.get(field).and_then(Value::as_str).unwrap_or_default();
        return refuse(format!("the plan was already applied, by {} at {}", text("user"), text("time")));
    }
    match plan.at("status.refused").and_then(Value::as_bool) {
        Some(false) => Ok(()),
        _ => refuse("some items of the plan failed; see status.items, and create a new plan".to_owned()),
    }
}

/// Everything that the plan was decided on is as it was, and the plan says that it was applied, in the same commit.
fn unchanged_since(call: &Arc<Call>, mut plan: Object, version: Version) -> Result<Along, Status> {
    let call = call.clone();
    let mut guards = Vec::new();
    if let Some(status) = plan.0.get_mut("status") {
        // Once it is applied nobody asks what it depended on.
        let read = status.as_object_mut().and_then(|status| status.remove("guards"));
        guards.extend(read.iter().filter_map(Value::as_array).flatten().map(Guard::from_json));
        status["applied"] = json!({ "time": call.api.now().to_micros(), "user": &*call.who.user });
    }
    plan.set_meta("resourceVersion", None);
    let applied = write::to_storage(&call, plan)?;
    Ok(Arc::new(move |view: &mut View| {
        let key = call.key()?;
        if view.get(&key).is_none_or(|entry| entry.version() != version) {
            return Err(Status::conflict(
                &call.kind.resource(),
                &call.name,
                "the plan was applied or deleted concurrently",
            ));
        }
        let mut changed = Vec::new();
        for (index, guard) in guards.iter().enumerate() {
            let message = match guard {
                Some(guard) => guard.changed(view),
                None => Some("invalid guard".to_owned()),
            };
            changed.extend(message.map(|message| (index, message)));
        }
        let causes = causes(&call, &guards, changed);
        if !causes.is_empty() {
            return Err(stale(&call, causes));
        }
        write::put(&call, view, &applied, "apply", false)
    }))
}

/// What has changed, as whoever applies the plan is told: what they may not read is not named, nor how much of it there is.
fn causes(call: &Call, guards: &[Option<Guard>], changed: Vec<(usize, String)>) -> Vec<Cause> {
    let readable = |guard: &Option<Guard>| guard.as_ref().and_then(|guard| guard.is_readable(call));
    let hides = !changed.is_empty() && guards.iter().any(|guard| readable(guard) == Some(false));
    let all = changed.len();
    let told = changed.into_iter().filter(|(index, _)| !hides || readable(&guards[*index]) == Some(true));
    let field = |index: usize| match hides {
        true => "status.guards".to_owned(),
        false => format!("status.guards[{index}]"),
    };
    let cause = |message: String, field: String| Cause { reason: "Stale".into(), message, field };
    let mut causes: Vec<Cause> = told.map(|(index, message)| cause(message, field(index))).collect();
    if causes.len() < all {
        causes.push(cause("something that you may not read has changed".to_owned(), field(0)));
    }
    causes
}

fn stale(call: &Call, causes: Vec<Cause>) -> Status {
    let mut said: Vec<&str> = causes.iter().take(NAMED).map(|cause| cause.message.as_str()).collect();
    let more = format!("and {} more", causes.len().saturating_sub(NAMED));
    if causes.len() > NAMED {
        said.push(&more);
    }
    let why = format!("the plan is stale: {}; create and review a new plan", said.join("; "));
    let mut status = Status::conflict(&call.kind.resource(), &call.name, why);
    if let Some(details) = &mut status.details {
        details.causes = causes;
    }
    status
}

//! Writing: every change of an object goes through here, whoever makes it.
//!
//! The whole decision runs inside a transaction of the store: what it reads guards the commit, and if any of it has
//! changed by then, it is decided anew.

pub mod admit;
pub mod batch;
pub mod create;
pub mod delete;
pub mod effects;
pub mod fence;
pub mod guarded;
pub mod ownership;
pub mod patch;
pub mod proposal;
pub mod references;
mod refusals;
pub mod scale;
pub mod sealed;
pub mod stored_change;
pub mod update;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt;
use krm::Object;
use krm::cel::RequestBudget;
use krm::status::Status;
use serde_json::{Map, Value};
use store::{Entry, Key, Level, Put, Refused, Uid, View};
use tokio::time::Instant;

use crate::api::store_failure;
use crate::call::Call;
use crate::conversion::Turns;
use crate::encode;
use crate::planes;
use crate::present::Presenter;
use crate::request::query::WriteOptions;
use crate::secrets;
use guarded::Guarded;
use krm::kind::{History, Kind, Origin};
pub use proposal::Proposal;

/// How long a write goes on trying while others keep changing what it depends on.
const PATIENCE: Duration = Duration::from_secs(20);

/// What a decision leads to.
pub struct Decided {
    /// What became of the object.
    pub fate: Fate,
    /// What the client should know.
    pub warnings: Vec<String>,
}

/// What becomes of an object.
pub enum Fate {
    /// It is there for the first time.
    Created(Object),
    /// It has changed.
    Changed(Object),
    /// It is as it was.
    Unchanged(Key, Arc<Entry>),
    /// It is gone because nothing keeps it any more; this is how it was last.
    Gone(Object),
    /// It was deleted; this is how it was last, to be told at the version of the deletion.
    Deleted(Object),
}

/// What a write did.
pub struct Written {
    /// The object as the call's version has it.
    pub bytes: Bytes,
    /// What the commit stored, or what is stored if nothing had to be written; `None` of a rehearsal and of what is gone.
    pub entry: Option<Arc<Entry>>,
    /// Whether it was made.
    pub created: bool,
    /// Whether it is gone.
    pub gone: bool,
    /// What the client should know.
    pub warnings: Vec<String>,
}

/// Decides inside a transaction, and commits unless it is a rehearsal.
pub async fn run(
    call: &Arc<Call>,
    options: &WriteOptions,
    decide: impl Fn(&Call, &mut View) -> Result<Decided, Status> + Send + Sync + 'static,
) -> Result<Written, Status> {
    let store = call.api.store();
    let author = call.author(&krm::ownership::manager_of(&options.manager, &call.agent));
    let decided_for = call.clone();
    let dry_run = options.dry_run;
    let decide = move |view: &mut View| {
        if let Some(fence) = &decided_for.fence {
            view.guard(fence.guard());
        }
        planes::guard(&decided_for, view)?;
        if let Some(held) = &decided_for.held {
            held.check(view)?;
        }
        let decided = decide(&decided_for, view)?;
        // A rehearsal is everything but the writes.
        match dry_run {
            true => Err(Stop::Rehearsed(Box::new(decided))),
            false => Ok((decided, decided_for.api.follows_any(view.written_keys()))),
        }
    };
    let budget = call.budget.clone();
    let given_up = GivenUp::on_drop(&budget);
    let decide = Arc::new(move |view: &mut View| budget.run(|| decide(view)));
    let is_costly = call.is_costly();
    let begun = Instant::now();
    let ended = loop {
        let decide = decide.clone();
        let decide = move |view: &mut View| decide(view);
        let deciding = match is_costly {
            true => store.transact_apart(author.clone(), decide).boxed(),
            false => store.transact(author.clone(), decide).boxed(),
        };
        match deciding.await {
            // Everybody wants to be next; whoever is not yet waits its turn for as long as a request may take.
            Err(Refused::Store(store::Error::Contended { .. })) if begun.elapsed() < PATIENCE => {}
            ended => break ended,
        }
    };
    given_up.decided();
    let (decided, committed) = match ended {
        Ok(((decided, is_followed), committed)) => {
            if is_followed {
                call.api.caught_up(committed.revision.end()).await;
            }
            (decided, committed)
        }
        Err(Refused::Store(error)) => return Err(commit_failure(call, &error)),
        Err(Refused::Decision(Stop::Refused(status))) => return Err(*status),
        Err(Refused::Decision(Stop::Rehearsed(decided))) => return rehearsed(call, *decided).await,
    };
    let warnings = decided.warnings;
    let written = |bytes, entry, created, gone| Ok(Written { bytes, entry, created, gone, warnings });
    match decided.fate {
        Fate::Gone(object) => written(show(call, object).await?, None, false, true),
        Fate::Deleted(mut object) => {
            if let Some(Some(entry)) = committed.entries.first() {
                object.set_meta("resourceVersion", Some(entry.version().to_string().into()));
            }
            written(show(call, object).await?, None, false, true)
        }
        Fate::Unchanged(key, entry) => written(shown(call, &key, &entry).await?, Some(entry), false, false),
        Fate::Created(object) | Fate::Changed(object) => {
            let key = call.key_of(object.name())?;
            let entry = committed.entries.first().cloned().flatten();
            let created = object.resource_version().is_empty();
            let entry = entry.ok_or_else(|| Status::internal("the commit gave nothing back"))?;
            written(shown(call, &key, &entry).await?, Some(entry), created, false)
        }
    }
}

/// Ends what rules of a request still cost when nobody waits for its answer any more.
pub(crate) struct GivenUp(Option<Arc<RequestBudget>>);

impl GivenUp {
    /// When this is dropped before the decision is made.
    pub(crate) fn on_drop(budget: &Arc<RequestBudget>) -> GivenUp {
        GivenUp(Some(budget.clone()))
    }

    /// The decision is made; the request may go on to another.
    pub(crate) fn decided(mut self) {
        self.0 = None;
    }
}

impl Drop for GivenUp {
    fn drop(&mut self) {
        if let Some(budget) = &self.0 {
            budget.cancel();
        }
    }
}

/// Why a decision did not come to a commit.
enum Stop {
    Refused(Box<Status>),
    Rehearsed(Box<Decided>),
}

impl From<Status> for Stop {
    fn from(status: Status) -> Stop {
        Stop::Refused(Box::new(status))
    }
}

async fn rehearsed(call: &Call, decided: Decided) -> Result<Written, Status> {
    let (bytes, created, gone) = match decided.fate {
        Fate::Created(object) => (show(call, object).await?, true, false),
        Fate::Changed(object) => (show(call, object).await?, false, false),
        Fate::Gone(object) | Fate::Deleted(object) => (show(call, object).await?, false, true),
        Fate::Unchanged(key, entry) => (shown(call, &key, &entry).await?, false, false),
    };
    Ok(Written { bytes, entry: None, created, gone, warnings: decided.warnings })
}

/// An object at the storage version, as the call's version has it.
async fn show(call: &Call, object: Object) -> Result<Bytes, Status> {
    let mut turns = Turns::default();
    loop {
        match call.convert(object.clone(), u64::MAX) {
            Ok(mut object) => {
                if call.hides(&call.key_of(object.name())?) {
                    secrets::redact(&mut object);
                }
                return Ok(encode::plain(&object));
            }
            Err(refused) => turns.next(call, refused).await?,
        }
    }
}

/// A stored object, as the call's version has it. It is there already, so nothing but its showing may be tried again.
async fn shown(call: &Call, key: &Key, entry: &Entry) -> Result<Bytes, Status> {
    let mut turns = Turns::default();
    loop {
        match Presenter::of(call).bytes(key, entry) {
            Ok(bytes) => return Ok(bytes),
            Err(refused) => turns.next(call, refused).await?,
        }
    }
}

fn commit_failure(call: &Call, error: &store::Error) -> Status {
    match error {
        store::Error::Conflict(store::Conflict::LeaseLost(_)) => store_failure(error),
        store::Error::Conflict(_) | store::Error::Contended { .. } => {
            let mut status = Status::conflict(&call.kind.resource(), &call.name, error);
            if let Some(details) = &mut status.details {
                details.retry_after_seconds = Some(1);
            }
            status
        }
        other => store_failure(other),
    }
}

/// Puts an object of the call's kind, at its storage version.
pub fn put(
    call: &Call,
    view: &mut View,
    object: &Object,
    verb: &'static str,
    status_only: bool,
) -> Result<(), Status> {
    let key = call.key_of(object.name())?;
    let opened = call.tokens.open(&key, object).map_err(|stray| secrets::moves_a_value(call, &stray))?;
    if let Some(too_large) = opened.as_ref().and_then(|opened| secrets::too_large(call, opened)) {
        return Err(too_large);
    }
    let body = match &opened {
        // Whether a value that was sent is the one that was there must make no difference: it is a change.
        Some(opened) => match view.get(&key) {
            Some(stored) => {
                let stored = view.reveal(&key, &stored).map_err(|error| store_failure(&error))?;
                encode::body_unlike(&stored, opened)?
            }
            None => encode::body(opened)?,
        },
        None => encode::body(object)?,
    };
    let mut put = Put::new(key, uid(object), body).verb(verb);
    put.secret = call.kind.secret;
    put.level = level(&call.kind, status_only);
    if let Some(lifetime) = call.kind.lifetime.as_ref().and_then(|lifetime| lifetime(object)) {
        let now = u64::try_from(call.api.now().seconds).unwrap_or(0);
        put.expires = Some(now * 1000 + u64::try_from(lifetime.as_millis()).unwrap_or(u64::MAX / 2));
    }
    view.put(put);
    Ok(())
}

/// How much of a change history keeps.
fn level(kind: &Kind, status_only: bool) -> Level {
    match (kind.history, status_only) {
        (History::Everything, _) | (History::Full, false) | (History::Spec, false) => Level::Full,
        (History::Full, true) => Level::Brief,
        (History::Spec, true) | (History::None, _) => Level::None,
    }
}

/// Takes an object away. What has to be known of it later stays in the same commit.
pub fn remove(call: &Call, view: &mut View, gone: &Object) -> Result<(), Status> {
    view.delete(call.key_of(gone.name())?, "delete");
    let parts = call.parts();
    for other in call.api.followers().rights.others().iter().filter(|other| other.leaves(&parts)) {
        for (key, record) in other.remains(call, gone) {
            let mut put = Put::new(key, uid(&record), encode::body(&record)?).verb("delete");
            put.level = Level::None;
            view.put(put);
        }
    }
    sealed::release(call, view, gone)?;
    effects::release(call, view, gone)
}

/// The stored object of the call, at the call's version. Every decision about a write reads it here.
pub fn current(call: &Call, view: &mut View) -> Result<Option<(Arc<Entry>, Object)>, Status> {
    let key = call.key()?;
    let found = Guarded::new(view, &call.plane).entry(&key)?;
    found
        .map(|(entry, object)| {
            let at = entry.version().get();
            Ok((entry, call.covered(&key, at, call.convert(object, at)?)))
        })
        .transpose()
}

/// An object at the call's version, as it is stored.
pub fn to_storage(call: &Call, mut object: Object) -> Result<Object, Status> {
    let kind = &call.kind;
    if let Some(mirror) = &kind.mirror {
        return Ok((mirror.keep)(object));
    }
    if call.version != kind.storage {
        return crate::present::retyped(call.conversions.as_deref(), kind, kind.storage, object, true);
    }
    object.set_type(&call.api_version(), &kind.names.kind);
    Ok(object)
}

/// Whether an object is stored as it would be today. One that is not, because its kind stores another version or its
/// definition says something else by now, is written anew by a change of nothing.
pub fn is_stored_so(call: &Call, entry: &Entry, wanted: &Object) -> bool {
    if call.kind.conversion.is_some() {
        let bytes = call.key().and_then(|key| call.api.reveal(&key, entry));
        return bytes.is_ok_and(|bytes| crate::present::is_in_storage_version(&call.kind, &bytes));
    }
    if call.kind.origin == Origin::BuiltIn {
        return true;
    }
    encode::read(entry.bytes()).is_ok_and(|stored| is_same(&stored, wanted))
}

/// The identity of an object: its uid, read as the number it is.
pub fn uid(object: &Object) -> Uid {
    uid_of(object.uid())
}

/// The same of a uid that stands alone.
pub fn uid_of(text: &str) -> Uid {
    let mut bytes = [0; 16];
    let digits: Vec<u8> = text
        .bytes()
        .filter(|byte| *byte != b'-')
        .filter_map(|byte| (byte as char).to_digit(16).map(|d| d as u8))
        .collect();
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = pair[0] << 4 | pair[1];
    }
    Uid(bytes)
}

/// A new identity: a random UUID. What is written gets one of [`crate::api::Api::new_uid`].
pub fn new_uid() -> String {
    uuid(crate::read::resume::random())
}

/// The UUID of some random bytes.
pub fn uuid(mut bytes: [u8; 16]) -> String {
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    uid_text(Uid(bytes))
}

/// An identity as objects have it.
pub fn uid_text(uid: Uid) -> String {
    let Uid(bytes) = uid;
    let mut text = String::with_capacity(36);
    for (at, byte) in bytes.iter().enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        for digit in [byte >> 4, byte & 15] {
            text.push(char::from_digit(u32::from(digit), 16).unwrap_or('0'));
        }
    }
    text
}

/// Whether two objects differ in nothing but what the server notes down about writes.
pub fn is_same(old: &Object, new: &Object) -> bool {
    without(&old.0, &["metadata"]).eq(without(&new.0, &["metadata"]))
        && meta_without_version(old).eq(meta_without_version(new))
}

/// Whether what is wanted differs: anything but metadata, and status where it is written apart.
pub fn spec_differs(old: &Object, new: &Object) -> bool {
    const NOT_WANTED: [&str; 3] = ["metadata", "apiVersion", "kind"];
    without(&old.0, &NOT_WANTED).ne(without(&new.0, &NOT_WANTED))
}

fn meta_without_version(object: &Object) -> impl Iterator<Item = (&String, &Value)> {
    object.metadata().into_iter().flat_map(|metadata| without(metadata, &["resourceVersion"]))
}

fn without<'a>(
    map: &'a Map<String, Value>,
    fields: &'a [&'static str],
) -> impl Iterator<Item = (&'a String, &'a Value)> {
    map.iter().filter(|(field, _)| !fields.contains(&field.as_str()))
}

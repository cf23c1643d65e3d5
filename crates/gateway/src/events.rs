//! Events: what happens to objects, from the store's watch, as each caller may see it.
//!
//! Every subscriber has a place of its own in the store's watch: a slow one holds up nobody, and is told when too much has
//! happened for it to go on.

use std::time::Duration;

use apiserver::api::store_failure;
use apiserver::keys;
use apiserver::write::uid_text;
use krm::cel::Expression;
use prost_reflect::{DynamicMessage, MessageDescriptor, SerializeOptions, Value};
use serde_json::{Value as Json, json};
use store::{Entry, Event, Uid, Version};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Code;

use crate::caller::Caller;
use crate::collection::{ALL, Collection, Face, GROUP, Public};
use crate::failure::Failure;
use crate::objects::{Found, Objects, Signalled};
use crate::schema;
use crate::view::Names;

/// How often a watch that asked for marks is told how far it has come.
const MARKS: Duration = Duration::from_secs(15);
/// Events that wait for a subscriber to take them; the rest waits in the store.
const WAITING: usize = 64;
/// What tokens begin with.
const TOKEN: &str = "e1-";

/// What is asked of a watch.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// A filter; empty for everything.
    pub filter: String,
    /// The token to go on after, if any was given; empty for now.
    pub resume_token: Option<String>,
}

impl Wanted {
    /// What a request asks for.
    pub fn read(request: &DynamicMessage) -> Wanted {
        let text = |field: &str| {
            let is_set = request.has_field_by_name(field);
            is_set.then(|| request.get_field_by_name(field)?.as_str().map(str::to_owned)).flatten()
        };
        Wanted { filter: text("filter").unwrap_or_default(), resume_token: text("resume_token") }
    }
}

/// What happened, by its number.
#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Created = 1,
    Updated = 2,
    Deleted = 3,
    Signalled = 4,
}

/// An event, or a mark of progress, as a subscriber is told.
pub struct Told {
    /// The event; `None` for a mark.
    pub event: Option<DynamicMessage>,
    /// The token to go on after it.
    pub resume_token: String,
}

/// A watch of one subscriber.
pub struct Watch {
    face: Face,
    caller: Caller,
    objects: Vec<Objects>,
    event: MessageDescriptor,
    filter: Option<Filter>,
    watch: store::Watch,
    has_marks: bool,
}

/// A filter, and the constants that it may name.
struct Filter {
    expression: Expression,
    constants: Json,
}

impl Watch {
    /// Opens a watch.
    pub async fn open(caller: Caller, face: Face, wanted: Wanted) -> Result<Watch, Failure> {
        let event =
            face.message("Event").ok_or_else(|| Failure::new(Code::Internal, "there are no events"))?;
        let filter = match wanted.filter.trim() {
            "" => None,
            text => Some(Filter::read(text, face)?),
        };
        let now = caller.now().await?;
        let from = match wanted.resume_token.as_deref() {
            None | Some("") => now.version(),
            Some(token) => version_of(token)?,
        };
        if face == Face::Private {
            let sees = ALL.iter().any(|collection| !caller.readable(collection, &now, "watch").is_empty());
            if !sees {
                return Err(caller.refusal(&ALL[0], &apiserver::plane::Plane::root(), "watch"));
            }
        }
        let watch = caller.api.store().watch(b"", from).map_err(|error| lost(&error))?;
        let on_face = ALL.iter().filter(|collection| collection.is_on(face));
        let objects: Result<Vec<Objects>, Failure> =
            on_face.map(|collection| Objects::of(caller.clone(), face, collection)).collect();
        let has_marks = wanted.resume_token.is_some();
        Ok(Watch { face, objects: objects?, caller, event, filter, watch, has_marks })
    }

    /// What the subscriber is told, as messages of a type.
    pub fn messages(
        self,
        of: MessageDescriptor,
    ) -> impl Stream<Item = Result<DynamicMessage, tonic::Status>> + Send + 'static {
        tokio_stream::StreamExt::map(self.told(), move |told| {
            let told = told?;
            let mut message = DynamicMessage::new(of.clone());
            if let Some(event) = told.event {
                let _ = message.try_set_field_by_name("event", Value::Message(event));
            }
            let _ = message.try_set_field_by_name("resume_token", Value::String(told.resume_token));
            Ok(message)
        })
    }

    /// What the subscriber is told, until it goes or the watch is lost.
    pub fn told(mut self) -> ReceiverStream<Result<Told, Failure>> {
        let (sender, told) = mpsc::channel(WAITING);
        tokio::spawn(async move {
            if let Err(failure) = self.tell(&sender).await {
                let _ = sender.send(Err(failure)).await;
            }
        });
        ReceiverStream::new(told)
    }

    async fn tell(&mut self, sender: &mpsc::Sender<Result<Told, Failure>>) -> Result<(), Failure> {
        let (mut marked, mut due) = (None, Instant::now());
        loop {
            let position = self.watch.position();
            if self.has_marks && due <= Instant::now() {
                due = Instant::now() + MARKS;
                let mark = Told { event: None, resume_token: token(position) };
                if marked.replace(position) != Some(position) && sender.send(Ok(mark)).await.is_err() {
                    return Ok(());
                }
            }
            let events = tokio::select! {
                () = sender.closed() => return Ok(()),
                events = self.watch.next() => events.map_err(|error| lost(&error))?,
                () = tokio::time::sleep_until(due), if self.has_marks => continue,
            };
            for event in events {
                if let Some(told) = self.seen(&event)
                    && sender.send(Ok(told)).await.is_err()
                {
                    return Ok(());
                }
            }
        }
    }

    /// What the subscriber sees of a change.
    fn seen(&self, change: &Event) -> Option<Told> {
        let parts = keys::parts(change.key()).filter(|parts| parts.group == GROUP)?;
        let resume_token = token(change.version());
        let tell = |event: DynamicMessage| {
            let is_wanted = self.filter.as_ref().is_none_or(|filter| filter.holds(&event));
            is_wanted.then(|| Told { event: Some(event), resume_token: resume_token.clone() })
        };
        let names = Names::at(self.caller.api.store().latest());
        if let Some(signalled) = Signalled::at(&parts) {
            if self.face == Face::Public || change.after().is_none() {
                return None;
            }
            let objects = self.of(signalled.collection)?;
            let entry = names.snapshot().get(&signalled.key)?.clone();
            let found = Found { key: signalled.key, entry };
            if !self.sees(objects, &found.key, &found.entry, &names) {
                return None;
            }
            return tell(self.event(objects, What::Signalled, &found, change.version(), &names)?);
        }
        let collection = Collection::of_plural(parts.plural)?;
        let objects = self.of(collection)?;
        let sees = |entry: Option<&std::sync::Arc<Entry>>| {
            entry.is_some_and(|entry| self.sees(objects, change.key(), entry, &names))
        };
        let (what, entry) = match (sees(change.before()), sees(change.after())) {
            (false, false) => return None,
            (false, true) => (What::Created, change.shown()),
            (true, true) => (What::Updated, change.shown()),
            (true, false) if change.after().is_none() => (What::Deleted, change.shown()),
            // It left what the subscriber sees: told as it was.
            (true, false) => (What::Deleted, change.before()?),
        };
        let found = Found { key: change.key().clone(), entry: entry.clone() };
        tell(self.event(objects, what, &found, change.version(), &names)?)
    }

    fn of(&self, collection: &Collection) -> Option<&Objects> {
        self.objects.iter().find(|objects| objects.view().collection == collection)
    }

    /// Whether the subscriber may see a state of an object, as rights are now.
    fn sees(&self, objects: &Objects, key: &store::Key, entry: &Entry, names: &Names) -> bool {
        let collection = objects.view().collection;
        let Some(parts) = keys::parts(key) else { return false };
        if self.face == Face::Public {
            match collection.public {
                Public::Nobody => return false,
                Public::Everybody => return true,
                Public::ReadersOfCluster => return objects.sees_cluster_of(entry, names),
                Public::Readers => {}
            }
        }
        let plane = parts.plane();
        // A project that is gone took its members' rights along; its last objects are told to nobody.
        if !self.caller.belongs_to(&plane) {
            return false;
        }
        match self.caller.reads(collection, &plane, "watch") {
            None => false,
            Some(None) => true,
            Some(Some(only)) => only.has("", parts.name),
        }
    }

    fn event(
        &self,
        objects: &Objects,
        what: What,
        found: &Found,
        at: Version,
        names: &Names,
    ) -> Option<DynamicMessage> {
        let object = objects.show(found, names).ok()?;
        let mut event = DynamicMessage::new(self.event.clone());
        event.set_field_by_name("id", Value::String(id_of(at)));
        event.set_field_by_name("type", Value::EnumNumber(what as i32));
        event.try_set_field_by_name(objects.view().collection.event, Value::Message(object)).ok()?;
        Some(event)
    }
}

impl Filter {
    fn read(text: &str, face: Face) -> Result<Filter, Failure> {
        let mut constants = json!({});
        for of in schema::pool().all_enums().filter(|of| of.package_name() == face.package()) {
            for value in of.values() {
                constants[value.name()] = value.number().into();
            }
        }
        let names: Vec<&str> =
            constants.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
        let names: Vec<&str> = std::iter::once("event").chain(names).collect();
        let expression = Expression::about(text, &names);
        let expression = expression.map_err(|why| Failure::invalid(format!("filter: {why}")))?;
        Ok(Filter { expression, constants })
    }

    /// Whether it holds. An event that it can't be computed for is not wanted.
    fn holds(&self, event: &DynamicMessage) -> bool {
        let options = SerializeOptions::new().use_proto_field_name(true).use_enum_numbers(true);
        let Ok(event) = event.serialize_with_options(serde_json::value::Serializer, &options) else {
            return false;
        };
        let mut values = self.constants.clone();
        values["event"] = event;
        self.expression.holds(&values).unwrap_or(false)
    }
}

/// The identifier of an event: a UUID that says where the change stands, the same on every server.
fn id_of(at: Version) -> String {
    let mut bytes = [0; 16];
    bytes[8..].copy_from_slice(&at.get().to_be_bytes());
    let upper = at.get() >> 16;
    bytes[..6].copy_from_slice(&upper.to_be_bytes()[2..]);
    bytes[6] = 0x80;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    uid_text(Uid(bytes))
}

fn token(at: Version) -> String {
    format!("{TOKEN}{at}")
}

fn version_of(token: &str) -> Result<Version, Failure> {
    let version = token.strip_prefix(TOKEN).and_then(|number| number.parse().ok());
    version.ok_or_else(|| Failure::invalid("field 'resume_token': it is not a token of this API"))
}

/// Why a watch can't go on.
fn lost(error: &store::Error) -> Failure {
    match error {
        store::Error::Gone { .. } => {
            let why = "too much has happened since the resume token; list the objects, and watch again";
            Failure::new(Code::OutOfRange, why)
        }
        store::Error::Closed => Failure::new(Code::Unavailable, "the server is shutting down"),
        other => store_failure(other).into(),
    }
}

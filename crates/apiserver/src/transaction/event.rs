//! The operation `event`: an Event about an object, counted per object, controller and reason.
//!
//! It lands in the commit of the change that it tells of. The server counts occurrences, so whoever reports one need not read
//! the Event first.

use std::collections::BTreeMap;
use std::sync::Arc;

use krm::status::Status;
use reconcile::plan::Event;
use reconcile::target::Target;
use serde_json::Value;
use store::{Key, View};

use super::item::Doing;
use crate::call::Call;
use crate::controllers::events;
use crate::encode;
use crate::request::query::WriteOptions;
use crate::write::{self, Proposal, create, guarded::Guarded, update};

/// The annotation with the id of the last occurrence. The same id is not counted twice: a request that is sent again, because
/// nobody knows whether the first has arrived, changes nothing.
const OCCURRENCE: &str = "groundplane.dev/occurrence";
const LONGEST_REASON: usize = 128;
const LONGEST_REPORTER: usize = 253;

/// An Event that is to be recorded.
pub struct ReportedEvent {
    /// The object that it is about.
    about: Key,
    uid: String,
    event: Event,
    controller: String,
    instance: String,
}

impl ReportedEvent {
    /// Reads one about the object of a call. What makes no sense is an error; otherwise what is to be done, or why it can't be.
    pub fn read(about: &Call, value: &Value) -> Result<Result<(Arc<Call>, Doing), Status>, Status> {
        let event = value.get("event").unwrap_or(&Value::Null);
        let text = |field: &str| event.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
        let wrong = |field: &str, why: &str| Err(Status::bad_request(format!("event.{field}: {why}")));
        let (reason, controller) = (text("reason"), text("reportingController"));
        let is_word = reason.chars().all(|it| it.is_ascii_alphanumeric());
        if reason.is_empty() || reason.len() > LONGEST_REASON || !is_word {
            return wrong("reason", "must be a word of at most 128 letters and digits, such as Ready");
        }
        if controller.is_empty() || controller.len() > LONGEST_REPORTER {
            return wrong("reportingController", "must be the name of the controller, of at most 253 bytes");
        }
        let is_warning = match text("type").as_str() {
            "" | "Normal" => false,
            "Warning" => true,
            _ => return wrong("type", "must be Normal or Warning"),
        };
        let pairs = event.get("annotations").and_then(Value::as_object).into_iter().flatten();
        let pairs = pairs.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())));
        let mut annotations: BTreeMap<String, String> = pairs.collect();
        if !text("occurrence").is_empty() {
            annotations.insert(OCCURRENCE.to_owned(), text("occurrence"));
        }
        let event = Event { is_warning, reason, note: text("message"), annotations };
        let instance = Some(text("reportingInstance")).filter(|text| !text.is_empty());
        let instance = instance.unwrap_or_else(|| controller.clone());
        Ok(Self::find(about, event, controller, instance))
    }

    fn find(
        about: &Call,
        event: Event,
        controller: String,
        instance: String,
    ) -> Result<(Arc<Call>, Doing), Status> {
        let key = about.key()?;
        let snapshot = about.api.store().latest();
        let entry = snapshot.get(&key).ok_or_else(|| about.not_found())?;
        let object = encode::read(&about.api.reveal(&key, entry)?)?;
        let target = Target::new(about.plane.as_str(), about.address());
        let at = events::address(&target, &object, &event, &controller);
        let kind = about.catalog.resource("", "events").ok_or_else(Status::no_such_resource)?;
        let call = about.about(kind.clone(), kind.storage, at.namespace, at.name);
        call.may("create", "")?;
        let uid = object.uid().to_owned();
        Ok((Arc::new(call), Doing::Event(Box::new(Self { about: key, uid, event, controller, instance }))))
    }

    /// What the Event would be. `call` is about it.
    pub fn propose(&self, call: &Call, view: &mut View, options: &WriteOptions) -> Result<Proposal, Status> {
        let stored = Guarded::new(view, &call.plane).entry(&self.about)?;
        let Some((_, object)) = stored.filter(|(_, object)| object.uid() == self.uid) else {
            let why = "the object was deleted while an event about it was recorded";
            return Err(Status::conflict(&call.kind.resource(), &call.name, why));
        };
        let reporter = (self.controller.as_str(), self.instance.as_str());
        let Some((entry, earlier)) = write::current(call, view)? else {
            let first = events::composed(call, None, &object, &self.event, reporter);
            return create::propose(call, view, options, first, Vec::new());
        };
        let occurrence = self.event.annotations.get(OCCURRENCE).map(String::as_str);
        let again = match occurrence.is_some() && earlier.annotation(OCCURRENCE) == occurrence {
            true => earlier.clone(),
            false => events::composed(call, Some(&earlier), &object, &self.event, reporter),
        };
        update::begin(call, view, options, (entry, earlier), again, "update", Vec::new())
    }
}

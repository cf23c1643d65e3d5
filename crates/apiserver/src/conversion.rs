//! Objects of one version made into another by the webhook that their definition names.
//!
//! What becomes of an object is decided where nothing can be waited for: inside a transaction of the store, or while a
//! list is written out. What is needed there in another version, and is not at hand, is noted down, and the decision is
//! given up as [`UNCONVERTED`]; then the webhook is asked, and it is decided anew.

mod review;
mod webhook;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use krm::Object;
use krm::kind::Kind;
use krm::status::Status;
use serde_json::{Value, json};
use store::{Entry, Key};

use crate::call::Call;
use crate::present::Presenter;
use crate::select::Selection;

/// The reason of a refusal that is none: an object has to be converted first.
pub const UNCONVERTED: &str = "Unconverted";

/// What a request has had converted, and what it wants next.
#[derive(Default)]
pub struct Conversions {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    done: HashMap<ConversionKey, Object>,
    wanted: Vec<(ConversionKey, Object)>,
}

/// One object in one version.
#[derive(Clone, PartialEq, Eq, Hash)]
struct ConversionKey {
    target: usize,
    /// The object without what the server makes up anew each time it decides.
    source: String,
}

impl ConversionKey {
    fn new(target: usize, object: &Object) -> ConversionKey {
        let metadata = object.metadata();
        let field = |name: &str| metadata.and_then(|metadata| metadata.get(name));
        let is_generated = field("generateName").is_some();
        let kept = json!({
            "name": field("name").filter(|_| !is_generated), "namespace": field("namespace"),
            "labels": field("labels"), "annotations": field("annotations"),
        });
        let rest = object.0.iter().filter(|(name, _)| *name != "metadata");
        let rest: serde_json::Map<String, Value> =
            rest.map(|(name, value)| (name.clone(), value.clone())).collect();
        ConversionKey { target, source: format!("{kept}{}", Value::Object(rest)) }
    }
}

impl Conversions {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The object at the version with this index, if the webhook has made it; otherwise it is noted down as wanted.
    pub fn get(&self, kind: &Kind, target: usize, object: Object) -> Result<Object, Status> {
        let wanted = ConversionKey::new(target, &object);
        let mut state = self.state();
        if let Some(converted) = state.done.get(&wanted) {
            return Ok(converted.clone().with_metadata_of(&object));
        }
        let refusal = unconverted(kind, object.api_version());
        state.wanted.push((wanted, object));
        Err(refusal)
    }

    /// Has everything converted that is wanted.
    pub async fn settle(&self, call: &Call, are_listed: bool) -> Result<(), Status> {
        let mut wanted = std::mem::take(&mut self.state().wanted);
        while let Some(target) = wanted.last().map(|(wanted, _)| wanted.target) {
            let (now, later): (Vec<_>, Vec<_>) =
                wanted.into_iter().partition(|(wanted, _)| wanted.target == target);
            let (keys, objects): (Vec<ConversionKey>, Vec<Object>) = now.into_iter().unzip();
            let converted = webhook::convert(call, target, &objects, are_listed).await?;
            self.state().done.extend(keys.into_iter().zip(converted));
            wanted = later;
        }
        Ok(())
    }

    /// Forgets what was made, for a request that goes on for long.
    pub fn clear(&self) {
        *self.state() = State::default();
    }
}

/// Whether objects are only known in the version of the call after they were converted: what is stored says nothing about
/// the fields and labels that they have there.
pub fn is_needed(call: &Call) -> bool {
    let asks = call.kind.converter.is_some() && call.conversions.is_some();
    (asks || call.kind.conversion.is_some()) && call.version != call.kind.storage
}

/// Those of the stored objects that a selection means in the version of the call, which they are converted to.
pub async fn selected(
    call: &Call,
    selection: &Selection,
    stored: Vec<(Key, Arc<Entry>)>,
) -> Result<Vec<(Key, Arc<Entry>)>, Status> {
    prepare(call, &stored).await?;
    let presenter = Presenter::of(call);
    let mut meant = Vec::new();
    for (key, entry) in stored {
        if selection.matches(&presenter.object(&key, &entry)?) {
            meant.push((key, entry));
        }
    }
    Ok(meant)
}

/// Has stored objects converted that are about to be shown, all of them in one go.
pub async fn prepare(call: &Call, stored: &[(Key, Arc<Entry>)]) -> Result<(), Status> {
    let (Some(_), Some(conversions)) = (&call.kind.converter, &call.conversions) else { return Ok(()) };
    let presenter = Presenter::of(call);
    for (key, entry) in stored {
        match presenter.object(key, entry) {
            Err(status) if status.reason != UNCONVERTED => return Err(status),
            _ => {}
        }
    }
    conversions.settle(call, true).await
}

/// How often something was made that needs conversions.
#[derive(Default)]
pub struct Turns(u8);

impl Turns {
    /// Has converted what something was given up for, so that it can be made anew; what was refused for another reason
    /// stays refused.
    ///
    /// Each turn converts what the last one lacked: what is there, what becomes of it, what is shown. Others may change
    /// the object meanwhile, but not for ever.
    pub async fn next(&mut self, call: &Call, refused: Status) -> Result<(), Status> {
        self.0 += 1;
        match &call.conversions {
            Some(conversions) if refused.reason == UNCONVERTED && self.0 < 20 => {
                conversions.settle(call, false).await
            }
            _ => Err(refused),
        }
    }
}

/// Why something can't be made yet; whoever can't have it converted tells it as it is.
fn unconverted(kind: &Kind, api_version: &str) -> Status {
    let stored = &kind.stored().name;
    let why = format!(
        "conversion webhook for {api_version}, Kind={} failed: this type of request does not call webhooks; use the \
         storage version {stored}",
        kind.names.kind
    );
    Status::failure(500, UNCONVERTED, why)
}

//! Effects: what belongs to a change and is written in the same commit.

pub mod amended;
pub mod landing;

use std::sync::Arc;

use krm::Object;
use krm::kind::{Effect, EffectPlugin, EffectWrite, RawChange, Refusal};
use krm::status::Status;
use serde_json::Value;
use store::View;

use super::guarded::{Guarded, Shown};
use super::stored_change::{self, StoredChange};
use super::{admit, ownership, refusals};
use crate::call::Call;
use crate::request::query::WriteOptions;

/// Levels of effects of effects, at most. More is a mistake: things that make each other without end.
const DEEPEST: u8 = 4;

/// What is still to be written besides an object.
#[must_use]
#[derive(Default)]
pub struct Landing {
    /// The name of the object.
    name: String,
    /// Each with who owns the fields that it writes.
    effects: Vec<(String, Effect)>,
}

/// Asks what belongs to a new or changed object, and sets the object's own status. Of one that is being deleted nothing is
/// asked until it is gone.
pub fn decide(
    call: &Call,
    view: &mut View,
    old: Option<&Object>,
    new: &mut Object,
) -> Result<Landing, Status> {
    if !has_effects(call) || new.is_deleting() {
        return Ok(Landing::default());
    }
    let change = RawChange { old, new: Some(new), subresource: &call.subresource };
    let (own, landing) = ask(call, view, &change)?;
    if let Some(status) = own {
        let before = (call.depth == 0 || call.kind.tracks_effects).then(|| new.clone());
        stored_change::set_status(call, new, status);
        owned_by_kind(call, before.as_ref(), new)?;
    }
    Ok(landing)
}

/// Lets go of what an object holds that is gone.
pub fn release(call: &Call, view: &mut View, gone: &Object) -> Result<(), Status> {
    if !has_effects(call) {
        return Ok(());
    }
    let change = RawChange { old: Some(gone), new: None, subresource: "" };
    let (_, landing) = ask(call, view, &change)?;
    landing.land(call, view)
}

/// Whether a change of an object of this kind may have effects.
pub fn has_effects(call: &Call) -> bool {
    !call.kind.effects.is_empty() || plugins(call).next().is_some()
}

fn plugins(call: &Call) -> impl Iterator<Item = &Arc<dyn EffectPlugin>> {
    let project = (!call.plane.is_root()).then(|| call.plane.as_str());
    let all = call.api.followers().effects.iter();
    // An object that goes by itself would release nothing.
    all.filter(move |plugin| call.kind.lifetime.is_none() && plugin.concerns(&call.kind, project))
}

fn ask(call: &Call, view: &mut View, change: &RawChange<'_>) -> Result<(Option<Value>, Landing), Status> {
    let converted = StoredChange::of(call, change)?;
    let stored = converted.as_ref().map(|converted| converted.as_change(change.subresource));
    let change = stored.as_ref().unwrap_or(change);
    let name = change.new.or(change.old).map_or("", Object::name);
    let newcomer = change.old.is_none().then(|| call.key_of(name).ok()).flatten();
    let mut guarded = Guarded::of(view, call).making(newcomer);
    let shown = guarded.shown();
    let mut view = krm::kind::View::new(&mut guarded);
    let mut own = None;
    let mut landing = Landing { name: name.to_owned(), effects: Vec::new() };
    let mut refusals = Vec::new();
    let manager = call.kind.resource().to_string();
    for effects in &call.kind.effects {
        match effects(change, &mut view) {
            Err(refusal) => refusals.push(refusal),
            Ok(effects) => {
                for effect in effects {
                    match effect.write {
                        EffectWrite::OwnStatus(status) => own = Some(status),
                        _ => landing.effects.push((manager.clone(), effect)),
                    }
                }
            }
        }
    }
    for plugin in plugins(call) {
        match plugin.effects(&call.kind, change, &mut view) {
            Err(refusal) => refusals.push(refusal),
            Ok(effects) => {
                landing.effects.extend(effects.into_iter().map(|effect| (plugin.name().to_owned(), effect)));
            }
        }
    }
    refused(call, name, refusals, &shown)?;
    Ok((own, landing))
}

/// What a client is told when effects say no.
fn refused(call: &Call, name: &str, refusals: Vec<Refusal>, shown: &Shown) -> Result<(), Status> {
    if call.depth == 0 {
        return admit::refused(call, name, refusals, shown);
    }
    // The object that the client writes is another one: it is told there.
    let told = refusals::as_seen(call, name, refusals, shown);
    told.into_iter().next().map_or(Ok(()), |refusal| Err(landing::inner(refusal)))
}

/// The object's own status is the kind's, and has to be what its schema says.
fn owned_by_kind(call: &Call, before: Option<&Object>, new: &mut Object) -> Result<(), Status> {
    if before.is_some() {
        let of_status = Call { subresource: "status".to_owned(), ..call.clone() };
        ownership::on_write(&of_status, before, new, &options(&call.kind.resource().to_string()));
    }
    let value = Value::Object(std::mem::take(&mut new.0));
    let errors = call.version().schema.validate_status(&value, None);
    *new = Object::from_value(value).unwrap_or_default();
    match errors.is_empty() {
        true => Ok(()),
        false => {
            let failed = Status::invalid(&call.kind.subject(), new.name(), &errors);
            Err(landing::hidden(call, &call.address_of(new.name()), failed))
        }
    }
}

fn options(manager: &str) -> WriteOptions {
    WriteOptions { manager: manager.to_owned(), ..WriteOptions::default() }
}

//! Create.

use krm::Object;
use krm::status::Status;
use serde_json::Value;
use store::View;

use super::sealed::{self, Sealing};
use super::{Decided, Fate, Proposal, admit, effects, ownership, put, stored_change};
use crate::call::Call;
use crate::planes;
use crate::request::query::WriteOptions;

/// Names drawn for one object before giving up.
const DRAWS: usize = 8;

/// Decides on a new object.
pub fn decide(
    call: &Call,
    view: &mut View,
    options: &WriteOptions,
    object: Object,
    warnings: Vec<String>,
) -> Result<Decided, Status> {
    propose(call, view, options, object, warnings)?.settle(call, view)
}

/// What a new object would be.
pub fn propose(
    call: &Call,
    view: &mut View,
    options: &WriteOptions,
    mut object: Object,
    mut warnings: Vec<String>,
) -> Result<Proposal, Status> {
    admit::kind_is_current(call, view, Some(object.name()))?;
    if !matches!(object.resource_version(), "" | "0") {
        let why = "resourceVersion should not be set on objects to be created";
        return Err(Status::failure(500, "", why));
    }
    // What is sealed is kept under the name of the object.
    if !call.kind.sealed.is_empty() {
        name(call, &mut object);
    }
    let named = object.name().to_owned();
    let mut sealing = sealed::take(call, view, None, &named, &mut object)?;
    warnings.append(&mut sealing.warnings);
    fill_in(call, &mut object)?;
    ownership::on_write(call, None, &mut object, options);
    Ok(Proposal { sealing, ..begin(call, view, object, "create", warnings)? })
}

/// Everything after it is known what the object is to be, and before it is checked: its name, its namespace, what the
/// server decides.
pub fn begin(
    call: &Call,
    view: &mut View,
    mut object: Object,
    verb: &'static str,
    warnings: Vec<String>,
) -> Result<Proposal, Status> {
    let draws = name(call, &mut object);
    planes::takes_content(call, view)?;
    admit::namespace_takes_content(call, view, object.name())?;
    call.api.followers().population.has_room(call, object.name())?;
    if call.kind.shape.is_none() && call.version().has_status() {
        object.set("status", None);
    }
    stored_change::prepare(call, &mut object, None);
    for other in call.api.followers().rights.others() {
        other.prepare(call, view, &mut object);
    }
    Ok(Proposal { entry: None, old: None, new: object, verb, draws, sealing: Sealing::default(), warnings })
}

/// Writes a new object, under a name that nobody has.
pub fn land(
    call: &Call,
    view: &mut View,
    object: Object,
    draws: usize,
    verb: &'static str,
) -> Result<Fate, Status> {
    let mut object = super::to_storage(call, object)?;
    draw(call, view, &mut object, draws)?;
    // Two creations of one name must meet: the key is read, so that it guards the commit.
    if view.get(&call.key_of(object.name())?).is_some() {
        return Err(Status::already_exists(&call.kind.resource(), object.name()));
    }
    let effects = effects::decide(call, view, None, &mut object)?;
    put(call, view, &object, verb, false)?;
    // Effects may write into a namespace that comes along.
    accompany(call, view, &object)?;
    effects.land(call, view)?;
    if planes::is_project(call) {
        planes::begin(call, view, &object)?;
    }
    Ok(Fate::Created(object))
}

/// Draws names until one is free.
fn draw(call: &Call, view: &mut View, object: &mut Object, draws: usize) -> Result<(), Status> {
    for left in (0..draws).rev() {
        if !view.exists(&call.key_of(object.name())?) {
            break;
        }
        if left == 0 {
            return Err(Status::already_exists(&call.kind.resource(), object.name()));
        }
        name_again(call, object);
    }
    Ok(())
}

/// Makes what comes along with a new object, unless it is there.
fn accompany(call: &Call, view: &mut View, object: &Object) -> Result<(), Status> {
    for other in call.api.followers().rights.others() {
        for mut companion in other.companions(call, object) {
            let (group, _) = krm::kind::split_api_version(companion.api_version());
            let Some(kind) = call.catalog.kind(group, companion.kind()) else { continue };
            let mut of = Call { kind: kind.clone(), version: kind.storage, ..call.clone() };
            of.namespace = companion.namespace().to_owned();
            of.name = companion.name().to_owned();
            fill_in(&of, &mut companion)?;
            kind.complete.iter().for_each(|complete| complete(&mut companion));
            kind.prepare.iter().for_each(|prepare| prepare(&mut companion, None, ""));
            if view.get(&of.key()?).is_none() {
                put(&of, view, &companion, "create", false)?;
            }
        }
    }
    Ok(())
}

/// What the server says about an object, whatever the client said.
pub fn fill_in(call: &Call, object: &mut Object) -> Result<(), Status> {
    krm::meta::fill_on_create(object, call.api.new_object_uid()?, call.api.now());
    object.set_meta("resourceVersion", None);
    let namespace = call.kind.is_namespaced().then(|| call.namespace.as_str().into());
    object.set_meta("namespace", namespace);
    object.set_meta("generation", call.kind.generations.then(|| Value::from(1)));
    Ok(())
}

/// Draws a name where only its beginning is given; how often that may be tried.
fn name(call: &Call, object: &mut Object) -> usize {
    if !call.name.is_empty() && object.name().is_empty() {
        object.set_meta("name", Some(call.name.as_str().into()));
    }
    if !object.name().is_empty() || object.meta_text("generateName").is_empty() {
        return 1;
    }
    name_again(call, object);
    DRAWS
}

fn name_again(call: &Call, object: &mut Object) {
    let name = krm::names::generate_name(object.meta_text("generateName"), call.api.random());
    object.set_meta("name", Some(name.into()));
}

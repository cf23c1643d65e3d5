//! Where clusters are hosted: kept in the root, and shown as a part of the status in the private API.

use apiserver::encode;
use apiserver::plane::Plane;
use apiserver::write;
use krm::Object;
use krm::kind::Address;
use prost_reflect::{DynamicMessage, Value};
use serde_json::{Value as Json, json};

use super::{Found, Objects};
use crate::collection::{Face, GROUP};
use crate::failure::Failure;
use crate::view::Names;

const PLURAL: &str = "clusterplacements";
/// The fields of a cluster's status that say it.
const FIELDS: [&str; 3] = ["hub", "alias", "port"];

impl Objects {
    /// The placement of a cluster, if the caller may read it.
    pub(super) fn placement_of(&self, object: &Object, names: &Names) -> Option<Object> {
        if self.view.face != Face::Private || !self.view.collection.in_projects {
            return None;
        }
        let at = Address {
            group: GROUP.to_owned(),
            plural: PLURAL.to_owned(),
            namespace: String::new(),
            name: self.view.id(object),
        };
        let root = Plane::root();
        let key = apiserver::keys::object(&root, &at).ok()?;
        let entry = names.snapshot().get(&key)?;
        let kind = self.caller.kind_of(PLURAL, &root).ok()?;
        self.caller.call(&kind, &root, &at.name).may_get().ok()?;
        encode::read(entry.bytes()).ok()
    }

    /// Writes the placement of a cluster, if a change of its message is one of it.
    pub(super) async fn place(
        &self,
        found: &Found,
        old: &DynamicMessage,
        new: &DynamicMessage,
        names: &Names,
    ) -> Result<(), Failure> {
        if self.view.face != Face::Private || !self.view.collection.in_projects {
            return Ok(());
        }
        let status = |message: &DynamicMessage| -> Vec<Option<Value>> {
            let status = message.get_field_by_name("status").map(std::borrow::Cow::into_owned);
            let status = status.as_ref().and_then(Value::as_message);
            FIELDS
                .map(|field| {
                    let status = status.filter(|status| status.has_field_by_name(field))?;
                    Some(status.get_field_by_name(field)?.into_owned())
                })
                .into()
        };
        let (old, new) = (status(old), status(new));
        if old == new {
            return Ok(());
        }
        let cluster = encode::read(found.entry.bytes())?;
        let root = Plane::root();
        let kind = self.caller.kind_of(PLURAL, &root)?;
        let call = self.caller.call(&kind, &root, &self.view.id(&cluster));
        let existing = self.placement_of(&cluster, names);
        let mut placement = existing.clone().unwrap_or_else(|| {
            let mut placement = Object::new(&call.api_version(), &kind.names.kind);
            placement.set_meta("name", Some(call.name.as_str().into()));
            placement
        });
        let mut spec = placement.get("spec").cloned().unwrap_or_else(|| json!({}));
        spec["project"] = found.plane().as_str().into();
        spec["cluster"] = found.name().into();
        for (field, value) in FIELDS.into_iter().zip(new) {
            let json: Option<Json> = match value {
                Some(Value::String(text)) if field == "hub" => {
                    Some(fulfillment::identity::name_of(&text).into())
                }
                Some(Value::String(text)) => Some(text.into()),
                Some(Value::I32(number)) => Some(number.into()),
                _ => None,
            };
            match (json, spec.as_object_mut()) {
                (Some(json), Some(spec)) => drop(spec.insert(field.to_owned(), json)),
                (None, Some(spec)) => drop(spec.remove(field)),
                (_, None) => {}
            }
        }
        placement.set("spec", Some(spec));
        let options = self.caller.options();
        let decided = options.clone();
        let call = std::sync::Arc::new(call);
        match existing {
            None => {
                call.may("create", "")?;
                write::run(&call, &options, move |call, view| {
                    write::create::decide(call, view, &decided, placement.clone(), Vec::new())
                })
                .await?;
            }
            Some(_) => {
                call.may("update", &call.name)?;
                write::run(&call, &options, move |call, view| {
                    write::update::decide(call, view, &decided, placement.clone(), Vec::new())
                })
                .await?;
            }
        }
        Ok(())
    }
}

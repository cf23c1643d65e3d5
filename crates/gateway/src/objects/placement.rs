//! Where clusters are hosted: kept in the root, and shown as a part of the status in the private API.

use apiserver::call::Call;
use apiserver::encode;
use apiserver::plane::Plane;
use apiserver::request::query::WriteOptions;
use apiserver::write;
use krm::Object;
use krm::kind::Address;
use krm::status::Status;
use prost_reflect::{DynamicMessage, Value};
use serde_json::{Value as Json, json};
use store::View as Transaction;

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

    /// How the placement of a cluster is read and written; nothing on the public face, and for what is no cluster.
    pub(super) fn placing(&self, found: &Found) -> Result<Option<Placing>, Failure> {
        if self.view.face != Face::Private || !self.view.collection.in_projects {
            return Ok(None);
        }
        let cluster = encode::read(found.entry.bytes())?;
        let root = Plane::root();
        let kind = self.caller.kind_of(PLURAL, &root)?;
        let call = self.caller.call(&kind, &root, &self.view.id(&cluster));
        Ok(Some(Placing {
            call,
            project: found.plane().as_str().to_owned(),
            cluster: found.name().to_owned(),
        }))
    }
}

/// How the placement of one cluster is read and written: in the transaction of the cluster.
pub(super) struct Placing {
    call: Call,
    project: String,
    cluster: String,
}

impl Placing {
    /// The placement that is stored. It guards the commit.
    pub(super) fn current(&self, view: &mut Transaction) -> Result<Option<Object>, Status> {
        Ok(write::current(&self.call, view)?.map(|(_, placement)| placement))
    }

    /// It, if the caller may read it.
    pub(super) fn shown<'a>(&self, placement: Option<&'a Object>) -> Option<&'a Object> {
        placement.filter(|_| self.call.may_get().is_ok())
    }

    /// Writes the placement, if a change of the message of its cluster is one of it. Answers it as it is then.
    pub(super) fn place(
        &self,
        view: &mut Transaction,
        options: &WriteOptions,
        existing: Option<Object>,
        (old, new): (&DynamicMessage, &DynamicMessage),
    ) -> Result<Option<Object>, Status> {
        let (old, new) = (said(old), said(new));
        if old == new {
            return Ok(None);
        }
        let mut placement = existing.clone().unwrap_or_else(|| {
            let mut placement = Object::new(&self.call.api_version(), &self.call.kind.names.kind);
            placement.set_meta("name", Some(self.call.name.as_str().into()));
            placement
        });
        let mut spec = placement.get("spec").cloned().unwrap_or_else(|| json!({}));
        spec["project"] = self.project.as_str().into();
        spec["cluster"] = self.cluster.as_str().into();
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
        match existing {
            None => {
                self.call.may("create", "")?;
                write::create::decide(&self.call, view, options, placement.clone(), Vec::new())?;
            }
            Some(_) => {
                self.call.may("update", &self.call.name)?;
                write::update::decide(&self.call, view, options, placement.clone(), Vec::new())?;
            }
        }
        Ok(Some(placement))
    }
}

/// What a message says about where its cluster is hosted.
fn said(message: &DynamicMessage) -> [Option<Value>; 3] {
    let status = message.get_field_by_name("status").map(std::borrow::Cow::into_owned);
    let status = status.as_ref().and_then(Value::as_message);
    FIELDS.map(|field| {
        let status = status.filter(|status| status.has_field_by_name(field))?;
        Some(status.get_field_by_name(field)?.into_owned())
    })
}

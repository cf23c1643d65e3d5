//! Messages as views of resources: what a message shows of an object, and what a changed message changes in it.
//!
//! A field of a message is the field of the object with the same path, in camel case. Fields of an object that no message
//! has are left alone.

mod from_json;
mod metadata;
mod names;
mod overlay;
mod to_json;

use krm::Object;
use krm::status::Status;
use prost_reflect::{DynamicMessage, Kind, MessageDescriptor, Value};
use serde_json::Value as Json;

use crate::collection::{Collection, Face};

pub use metadata::{SHARED, check_name};
pub use names::Names;

/// How one face shows the objects of one collection.
#[derive(Clone)]
pub struct View {
    /// The face.
    pub face: Face,
    /// The collection.
    pub collection: &'static Collection,
    message: MessageDescriptor,
}

/// What is shown of an object besides its fields.
#[derive(Debug, Clone, Default)]
pub struct About<'a> {
    /// Name of its project; empty in the root.
    pub plane: &'a str,
    /// How often it was changed.
    pub version: i32,
    /// Where a cluster is hosted, for the private API.
    pub placement: Option<&'a Object>,
}

impl View {
    /// The view of a collection on a face that has it.
    pub fn of(face: Face, collection: &'static Collection) -> Option<View> {
        let message = face.message(collection.message).filter(|_| collection.is_on(face))?;
        Some(View { face, collection, message })
    }

    /// The message.
    pub fn message(&self) -> &MessageDescriptor {
        &self.message
    }

    /// The identifier of an object.
    pub fn id(&self, object: &Object) -> String {
        let chosen = object.get("id").and_then(Json::as_str);
        let name = if self.collection.in_projects { object.uid() } else { object.name() };
        chosen.unwrap_or(name).to_owned()
    }

    /// What the message shows of an object. Secrets are not part of it.
    pub fn show(&self, object: &Object, about: &About<'_>, names: &Names) -> DynamicMessage {
        let mut message = DynamicMessage::new(self.message.clone());
        message.set_field_by_name("id", Value::String(self.id(object)));
        let metadata = self.message.get_field_by_name("metadata").map(|field| field.kind());
        if let Some(Kind::Message(of)) = metadata {
            let shown = metadata::show(of, object, about);
            message.set_field_by_name("metadata", Value::Message(shown));
        }
        for field in self.message.fields().filter(|field| !is_identity(field.name())) {
            let Some(json) = object.get(field.json_name()) else { continue };
            if let Some(value) = from_json::field(&field, json, names) {
                message.set_field(&field, value);
            }
        }
        if let Some(placement) = about.placement {
            self.show_placement(&mut message, placement, names);
        }
        // Whoever filters by what a status lacks finds it, also before anybody has written one.
        if let Some(status) = self.message.get_field_by_name("status") {
            message.get_field_mut(&status);
        }
        message
    }

    fn show_placement(&self, message: &mut DynamicMessage, placement: &Object, names: &Names) {
        let Some(Value::Message(status)) = message.get_field_by_name_mut("status") else { return };
        let text = |field: &str| placement.at(field).and_then(Json::as_str);
        if let Some(hub) = text("spec.hub") {
            let _ = status.try_set_field_by_name("hub", Value::String(names.shown("hubs", hub)));
        }
        if let Some(alias) = text("spec.alias") {
            let _ = status.try_set_field_by_name("alias", Value::String(alias.to_owned()));
        }
        let port = placement.at("spec.port").and_then(Json::as_i64).and_then(|port| i32::try_from(port).ok());
        if let Some(port) = port {
            let _ = status.try_set_field_by_name("port", Value::I32(port));
        }
    }

    /// Changes in an object what differs between two messages of it.
    pub fn change(
        &self,
        object: &mut Object,
        old: &DynamicMessage,
        new: &DynamicMessage,
        names: &Names,
        now: &str,
    ) -> Result<(), Status> {
        metadata::change(object, old, new)?;
        let context = overlay::Context { names, now };
        for field in self.message.fields().filter(|field| !is_identity(field.name())) {
            context.field(&field, old, new, &mut object.0, overlay::Depth::Top)?;
        }
        Ok(())
    }

    /// A message without anything.
    pub fn nothing(&self) -> DynamicMessage {
        DynamicMessage::new(self.message.clone())
    }
}

/// Whether a field says which object it is, and nothing of what is in it.
fn is_identity(name: &str) -> bool {
    matches!(name, "id" | "metadata")
}

/// Fields that name another object, and the plural of that: the API has its identifier, a resource its name.
fn refers_to(field: &str) -> Option<(&'static str, Named)> {
    let field = field.strip_prefix("osac.private.v1.").or_else(|| field.strip_prefix("osac.public.v1."))?;
    Some(match field {
        "HostSpec.class" | "ClusterNodeSet.host_class" | "ClusterTemplateNodeSet.host_class" => {
            ("hostclasses", Named::ByIdOrName)
        }
        "ClusterSpec.template" => ("clustertemplates", Named::ByIdOrName),
        "HostStatus.hub" | "ClusterStatus.hub" => ("hubs", Named::ById),
        "ClusterNodeSet.hosts" => ("hosts", Named::ById),
        _ => return None,
    })
}

/// How clients may name another object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    ById,
    ByIdOrName,
}

/// Whether a message is a condition, whose values are short words in resources: `Ready`, `True`.
fn is_condition(message: &MessageDescriptor) -> bool {
    message.name().ends_with("Condition")
}

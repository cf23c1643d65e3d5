//! One item of a transaction: the object and the operation on it.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use krm::Object;
use krm::kind::{Kind, split_api_version};
use krm::status::Status;
use serde_json::{Value, json};

use super::event::ReportedEvent;
use super::operations;
use crate::call::Call;
use crate::controllers::records::Record;
use crate::handle::past;
use crate::past::restore;
use crate::past::undo::{Back, TakenBack};
use crate::request::query::{Query, WriteOptions};
use crate::write::delete::DeleteOptions;
use crate::write::patch::{Patch, Style};

/// The namespace of objects that name none.
const USUAL_NAMESPACE: &str = "default";

/// What is done with an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// It is made.
    Create,
    /// It is replaced.
    Update,
    /// What its manager wants of it is made so.
    Apply,
    /// It is changed.
    Patch,
    /// It goes.
    Delete,
    /// It becomes what it was.
    Undo,
    /// It is made again.
    Restore,
    /// Something happened to it, which an Event tells.
    Event,
    /// A controller records the external actions that it has begun for it.
    RecordOperations,
}

impl Operation {
    fn read(text: &str) -> Option<Operation> {
        Some(match text {
            "create" => Operation::Create,
            "update" => Operation::Update,
            "apply" => Operation::Apply,
            "patch" => Operation::Patch,
            "delete" => Operation::Delete,
            "undo" => Operation::Undo,
            "restore" => Operation::Restore,
            "event" => Operation::Event,
            "recordOperations" => Operation::RecordOperations,
            _ => return None,
        })
    }

    /// As items name it.
    pub fn as_str(self) -> &'static str {
        match self {
            Operation::Create => "create",
            Operation::Update => "update",
            Operation::Apply => "apply",
            Operation::Patch => "patch",
            Operation::Delete => "delete",
            Operation::Undo => "undo",
            Operation::Restore => "restore",
            Operation::Event => "event",
            Operation::RecordOperations => "recordOperations",
        }
    }

    /// The verb that it takes by itself.
    fn verb(self) -> &'static str {
        match self {
            Operation::Create | Operation::Restore => "create",
            Operation::Update | Operation::Undo => "update",
            Operation::Apply | Operation::Patch => "patch",
            Operation::Delete => "delete",
            // What they are about is read; what they write has a permission of its own.
            Operation::Event | Operation::RecordOperations => "get",
        }
    }
}

/// What an item is about, as answers name it.
#[derive(Debug, Clone, Default)]
pub struct Named {
    /// Its `apiVersion`.
    pub api_version: String,
    /// Its kind.
    pub kind: String,
    /// Its plural, where it is known.
    pub resource: String,
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// What is to be done, ready to be decided.
pub enum Doing {
    /// A new object.
    Create(Object),
    /// One instead of another.
    Update(Object),
    /// One instead of another, and its status.
    UpdateWhole(Object),
    /// Changes, or an apply.
    Patch(Box<Patch>),
    /// It goes.
    Delete(DeleteOptions),
    /// An older state.
    Undo(Back),
    /// Changes that are taken back, the newest first.
    TakeBack(Vec<TakenBack>),
    /// A deleted object.
    Restore(Object),
    /// An Event about an object.
    Event(Box<ReportedEvent>),
    /// A record of external actions.
    Record(Record),
}

/// One item.
pub struct Item {
    /// Its place among those that were sent.
    pub index: usize,
    /// What it is about.
    pub named: Named,
    /// What it is.
    pub operation: Operation,
    /// What is to be done, or why it can't be.
    pub doing: Result<(Arc<Call>, Doing), Status>,
    /// How it is written.
    pub options: WriteOptions,
    /// Whether it may be deleted already.
    pub ignores_not_found: bool,
}

impl Named {
    /// As messages name it: `Book kallocain`, `ConfigMap default/a`.
    pub fn shown(&self) -> String {
        match self.namespace.is_empty() {
            true => format!("{} {}", self.kind, self.name),
            false => format!("{} {}/{}", self.kind, self.namespace, self.name),
        }
    }

    /// The fields of an answer.
    pub fn to_json(&self) -> Value {
        json!({
            "apiVersion": self.api_version,
            "kind": self.kind,
            "resource": self.resource,
            "namespace": self.namespace,
            "name": self.name,
        })
    }
}

/// Reads the items that were sent. What is wrong with one alone is kept with it; what makes no sense at all is an error.
pub async fn read_all(
    call: &Arc<Call>,
    values: Vec<Value>,
    options: &WriteOptions,
) -> Result<Vec<Item>, Status> {
    let mut items = Vec::with_capacity(values.len());
    let mut seen: HashMap<(String, String, String, String), usize> = HashMap::new();
    for (index, mut value) in values.into_iter().enumerate() {
        let bad = |why: String| Status::bad_request(format!("spec.items[{index}]: {why}"));
        let text = value.get("operation").and_then(Value::as_str).unwrap_or_default();
        let operation = Operation::read(text).ok_or_else(|| {
            bad(format!(
                "operation {text:?} must be one of create, update, apply, patch, delete, undo, restore, event, \
                 recordOperations"
            ))
        })?;
        let place = ItemTarget::of(&value, operation).map_err(bad)?;
        let mut named = place.named.clone();
        let mut options = options.clone();
        if let Some(force) = value.get("force").and_then(Value::as_bool) {
            options.force = Some(force);
        }
        let doing = match place.find(call, operation) {
            Err(status) => Err(status),
            Ok(one) if operation == Operation::Event => {
                ReportedEvent::read(&one, &value).map_err(|why| bad(why.message))?
            }
            Ok(one) if operation == Operation::RecordOperations => {
                let record = operations::read(&one, &value).map_err(|why| bad(why.message))?;
                record.map(|record| (Arc::new(one), Doing::Record(record)))
            }
            Ok(one) => {
                named.resource.clone_from(&one.kind.names.plural);
                named.namespace.clone_from(&one.namespace);
                named.name.clone_from(&one.name);
                let of = (one.kind.group.clone(), one.kind.names.plural.clone());
                let at = (of.0, of.1, one.namespace.clone(), one.name.clone());
                if let Some(earlier) = seen.insert(at, index) {
                    return Err(bad(format!(
                        "{} is also in spec.items[{earlier}]; an object can be in a transaction only once",
                        named.shown()
                    )));
                }
                read(&one, &mut value, operation, &options).await.map(|doing| (Arc::new(one), doing))
            }
        };
        let ignores_not_found = value["ignoreNotFound"] == true;
        items.push(Item { index, named, operation, doing, options, ignores_not_found });
    }
    Ok(items)
}

/// Where an item says that its object is.
struct ItemTarget {
    named: Named,
    subresource: String,
    /// Whether an update is of the status, too.
    with_status: bool,
    /// What a new name begins with.
    prefix: String,
}

impl ItemTarget {
    fn of(value: &Value, operation: Operation) -> Result<ItemTarget, String> {
        let text =
            |of: &Value, field: &str| of.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
        let subresource = text(value, "subresource");
        let writes = matches!(operation, Operation::Update | Operation::Apply | Operation::Patch);
        if !matches!((subresource.as_str(), writes), ("", _) | ("status", true)) {
            return Err(format!("subresource {subresource:?} is not supported by this operation"));
        }
        let with_status = value.get("withStatus").and_then(Value::as_bool).unwrap_or(false);
        if with_status && (operation != Operation::Update || !subresource.is_empty()) {
            return Err("withStatus is for operation update without a subresource".to_owned());
        }
        let (object, target) = (value.get("object"), value.get("target"));
        let named = match (object, target) {
            (Some(object), _) if object.is_object() => {
                let metadata = object.get("metadata").unwrap_or(&Value::Null);
                Named {
                    api_version: text(object, "apiVersion"),
                    kind: text(object, "kind"),
                    namespace: text(metadata, "namespace"),
                    name: text(metadata, "name"),
                    resource: String::new(),
                }
            }
            (None, Some(target)) if target.is_object() => Named {
                api_version: text(target, "apiVersion"),
                kind: text(target, "kind"),
                namespace: text(target, "namespace"),
                name: text(target, "name"),
                resource: String::new(),
            },
            _ => return Err("object or target is required".to_owned()),
        };
        let needs_object = matches!(operation, Operation::Create | Operation::Update | Operation::Apply);
        if needs_object && object.is_none() {
            return Err(format!("object is required for operation {}", operation.as_str()));
        }
        if named.api_version.is_empty() || named.kind.is_empty() {
            return Err("apiVersion and kind are required".to_owned());
        }
        let prefix = object.and_then(|object| object.pointer("/metadata/generateName")?.as_str());
        let prefix = prefix.filter(|_| operation == Operation::Create && named.name.is_empty());
        if named.name.is_empty() && prefix.is_none() {
            return Err("name is required".to_owned());
        }
        Ok(ItemTarget { prefix: prefix.unwrap_or_default().to_owned(), named, subresource, with_status })
    }

    /// The call that this item would be by itself, if it may be made.
    fn find(&self, call: &Call, operation: Operation) -> Result<Call, Status> {
        let (group, version) = split_api_version(&self.named.api_version);
        let known = call.catalog.kind(group, &self.named.kind).and_then(|kind| {
            let served = |found: &krm::kind::Version| found.served && found.name == version;
            Some((kind.clone(), kind.versions.iter().position(served)?))
        });
        let Some((kind, version)) = known else {
            let why = format!(
                "no matches for kind {:?} in version {:?}; a custom resource that is defined in the same transaction is only served after it",
                self.named.kind, self.named.api_version
            );
            return Err(Status::failure(404, "NotFound", why));
        };
        if !kind.takes(operation.verb()) || !kind.takes("get") || kind.group == super::GROUP {
            let why = format!("{} cannot be written in a transaction", kind.resource());
            return Err(Status::failure(405, "MethodNotAllowed", why));
        }
        let namespace = namespace_of(&kind, &self.named)?;
        let name = match self.prefix.is_empty() {
            true => self.named.name.clone(),
            false => krm::names::generate_name(&self.prefix, call.api.random()),
        };
        let mut one = call.about(kind, version, namespace, name);
        one.subresource.clone_from(&self.subresource);
        let named = if operation.verb() == "create" { "" } else { one.name.as_str() };
        one.may_with(operation.verb(), &one.subresource, named)?;
        if self.with_status {
            one.may_with(operation.verb(), "status", named)?;
        }
        Ok(one)
    }
}

fn namespace_of(kind: &Kind, named: &Named) -> Result<String, Status> {
    match (kind.is_namespaced(), named.namespace.is_empty()) {
        (true, true) => Ok(USUAL_NAMESPACE.to_owned()),
        (true, false) => Ok(named.namespace.clone()),
        (false, true) => Ok(String::new()),
        (false, false) => Err(Status::bad_request(format!(
            "{} {} is cluster-scoped and must not have a namespace",
            named.kind, named.name
        ))),
    }
}

async fn read(
    call: &Call,
    value: &mut Value,
    operation: Operation,
    options: &WriteOptions,
) -> Result<Doing, Status> {
    Ok(match operation {
        Operation::Create => Doing::Create(object(call, value)),
        Operation::Update if value["withStatus"] == true => Doing::UpdateWhole(object(call, value)),
        Operation::Update => Doing::Update(object(call, value)),
        Operation::Apply => Doing::Patch(Box::new(Patch::Apply(object(call, value), Vec::new()))),
        Operation::Patch => {
            let media = value.get("patchType").and_then(Value::as_str);
            let style = Style::of(Some(media.unwrap_or("application/merge-patch+json")), call)?;
            if style == Style::Apply {
                return Err(Status::bad_request("patchType: use the operation apply for server-side apply"));
            }
            let Some(patch) = value.get("patch") else {
                return Err(Status::bad_request("patch: is required for operation patch"));
            };
            Doing::Patch(Box::new(Patch::read(style, &Bytes::from(patch.to_string()), options.validation)))
        }
        Operation::Delete => Doing::Delete(DeleteOptions::read(&Query::default(), Some(value))?),
        Operation::Undo => Doing::Undo(Back::find(call, &past::target(value)?).await?),
        Operation::Restore => {
            Doing::Restore(restore::find(call, past::text(value, "revision")?.as_deref()).await?)
        }
        Operation::Event | Operation::RecordOperations => {
            return Err(Status::internal("an operation that is read elsewhere"));
        }
    })
}

/// The object of an item, with the name and namespace that it has.
fn object(call: &Call, value: &mut Value) -> Object {
    let mut object = Object::from_value(value["object"].take()).unwrap_or_default();
    object.set_meta("name", Some(call.name.as_str().into()));
    object.set_meta("namespace", call.kind.is_namespaced().then(|| call.namespace.as_str().into()));
    object
}

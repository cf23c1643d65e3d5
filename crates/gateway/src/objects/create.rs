//! Create.

use std::sync::Arc;

use apiserver::call::Call;
use apiserver::plane::Plane;
use apiserver::write::{self, Written};
use krm::Object;
use prost_reflect::{DynamicMessage, Value};
use tonic::Code;

use super::{Found, Objects};
use crate::collection::{Collection, Face, GROUP};
use crate::failure::Failure;
use crate::view::{About, Names, SHARED, check_name};

/// How often another name is tried for a cluster whose name is taken.
const TRIES: usize = 8;

impl Objects {
    /// Creates an object.
    pub async fn create(&self, mut message: DynamicMessage) -> Result<DynamicMessage, Failure> {
        let names = Names::at(self.caller.now().await?);
        let plane = self.plane_for(&message, &names)?;
        if self.view.face == Face::Public {
            message.clear_field_by_name("status");
        }
        let status = message.get_field_by_name("status").map(|status| status.into_owned());
        let id = text(&message, "id");
        let kind = self.caller.kind(self.view.collection, &plane)?;
        let call = self.caller.call(&kind, &plane, "");
        call.may("create", "")?;
        apiserver::planes::furnish(&self.caller.api, &plane).await?;
        let mut spec = message.clone();
        spec.clear_field_by_name("status");
        let object = self.object_of(&spec, &call, &names)?;
        let written = self.write_new(&call, object, &id).await?;
        let created = apiserver::encode::read(&written.bytes)?;
        let Some(entry) = written.entry else {
            return Ok(self.view.show(&created, &About::default(), &names));
        };
        let has_status = matches!(&status, Some(Value::Message(status)) if status.fields().next().is_some());
        if has_status {
            // The status is written as whoever updates it would.
            let id = self.view.id(&created);
            message.set_field_by_name("id", Value::String(id));
            return self
                .update(message, &super::Changes { mask: Some(vec!["status".to_owned()]), lock: false })
                .await;
        }
        // What the commit stored, whatever others have written since.
        let found = Found { key: self.caller.key(self.view.collection, &plane, created.name())?, entry };
        let mut shown = self.show(&found, &names)?;
        self.reveal(&mut shown, &found)?;
        Ok(shown)
    }

    /// The resource that a message without a status asks for.
    pub(super) fn object_of(
        &self,
        message: &DynamicMessage,
        call: &Call,
        names: &Names,
    ) -> Result<Object, Failure> {
        let mut object = Object::new(&call.api_version(), &call.kind.names.kind);
        let now = self.caller.api.now().to_string();
        self.view.change(&mut object, &self.view.nothing(), message, names, &now)?;
        drop_reported_hosts(&mut object);
        self.identify(&mut object, &text(message, "id"), names)?;
        if self.view.collection.in_projects {
            complete(&mut object, names)?;
        }
        Ok(object)
    }

    async fn write_new(&self, call: &Call, object: Object, id: &str) -> Result<Written, Failure> {
        let options = self.caller.options();
        let mut object = object;
        for attempt in 1.. {
            let mut call = call.clone();
            object.name().clone_into(&mut call.name);
            let (decided, new) = (options.clone(), object.clone());
            let call = Arc::new(call);
            let written = write::run(&call, &options, move |call, view| {
                let (new, dropped) =
                    write::admit::shape(call, new.clone()).map_err(|why| write::admit::unfit(call, &why))?;
                write::create::decide(call, view, &decided, new, dropped)
            });
            match written.await {
                Err(taken) if taken.reason == "AlreadyExists" && !id.is_empty() => return Err(exists(id)),
                // Names need not be unique here; the names of resources are.
                Err(taken)
                    if taken.reason == "AlreadyExists" && attempt < TRIES && !object.name().is_empty() =>
                {
                    let prefix = format!("{}-", object.name());
                    object.set_meta("generateName", Some(prefix.into()));
                    object.set_meta("name", None);
                }
                written => return Ok(written?),
            }
        }
        Err(Failure::new(Code::Aborted, "no free name was found; try again"))
    }

    /// The name and the identifier of a new object.
    fn identify(&self, object: &mut Object, id: &str, names: &Names) -> Result<(), Failure> {
        let display_name =
            object.get("displayName").and_then(|name| name.as_str()).unwrap_or_default().to_owned();
        check_name(&display_name)?;
        if !self.view.collection.in_projects {
            let id = if id.is_empty() { self.new_id() } else { id.to_owned() };
            let name = fulfillment::identity::name_of(&id);
            if name != id {
                object.set("id", Some(id.into()));
            }
            object.set_meta("name", Some(name.into()));
            return Ok(());
        }
        if !id.is_empty() {
            if !is_uuid(id) {
                let why =
                    format!("field 'id': the identifier of a cluster is a UUID in lower case, not '{id}'");
                return Err(Failure::invalid(why));
            }
            if self.is_taken(id, names) {
                return Err(exists(id));
            }
            object.set("id", Some(id.into()));
        }
        match display_name.is_empty() {
            true => object.set_meta("generateName", Some("cluster-".into())),
            false => object.set_meta("name", Some(display_name.into())),
        }
        Ok(())
    }

    /// Whether a cluster of any project has an identifier, whoever may know of it.
    fn is_taken(&self, id: &str, names: &Names) -> bool {
        let snapshot = names.snapshot();
        let uid = write::uid_of(id);
        apiserver::read::all_planes::all(self.caller.api.kinds(), snapshot).iter().any(|plane| {
            let plural = self.view.collection.plural;
            let of = apiserver::keys::Parts {
                plane: plane.as_str(),
                group: GROUP,
                plural,
                namespace: "",
                name: "",
            };
            let prefix = apiserver::keys::of_kind(plane, GROUP, plural);
            snapshot.having(&apiserver::index::field_is(&of, "id", id)).next().is_some()
                || snapshot.list(prefix.as_bytes()).any(|(_, entry)| entry.uid() == uid)
        })
    }

    /// A new identifier: a UUID of version 7.
    fn new_id(&self) -> String {
        let now = self.caller.api.now();
        let millis = u64::try_from(now.seconds).unwrap_or(0) * 1_000 + u64::from(now.nanoseconds / 1_000_000);
        let mut bytes: [u8; 16] = self.caller.api.random();
        bytes[..6].copy_from_slice(&millis.to_be_bytes()[2..]);
        bytes[6] = bytes[6] & 0x0f | 0x70;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        write::uid_text(store::Uid(bytes))
    }

    /// The plane that a new object is for, by its tenant.
    fn plane_for(&self, message: &DynamicMessage, names: &Names) -> Result<Plane, Failure> {
        let metadata = message.get_field_by_name("metadata").map(|metadata| metadata.into_owned());
        let tenants = metadata.as_ref().and_then(|metadata| {
            let tenants = metadata.as_message()?.get_field_by_name("tenants")?.into_owned();
            Some(
                tenants
                    .as_list()?
                    .iter()
                    .filter_map(|tenant| tenant.as_str().map(str::to_owned))
                    .collect::<Vec<_>>(),
            )
        });
        let tenants = tenants.unwrap_or_default();
        let given = match tenants.as_slice() {
            [] => None,
            [tenant] => Some(tenant.as_str()),
            _ => return Err(Failure::invalid("field 'metadata.tenants': an object has one tenant")),
        };
        if !self.view.collection.in_projects {
            return match given {
                None | Some(SHARED) => Ok(Plane::root()),
                Some(tenant) => {
                    let why = format!(
                        "field 'metadata.tenants': tenant '{tenant}' can't be assigned; only '{SHARED}' can"
                    );
                    Err(Failure::invalid(why))
                }
            };
        }
        if let Some(tenant) = given {
            let plane = Plane::project(tenant);
            return match tenant != SHARED && self.caller.belongs_to(&plane) {
                true => Ok(plane),
                false => Err(Failure::invalid(format!(
                    "field 'metadata.tenants': tenant '{tenant}' doesn't exist"
                ))),
            };
        }
        let own = self.creatable(self.view.collection, names);
        match own.as_slice() {
            [plane] => Ok(plane.clone()),
            [] => Err(Failure::new(Code::PermissionDenied, "you can't create clusters in any project")),
            several => {
                let listed: Vec<&str> = several.iter().map(Plane::as_str).collect();
                let why = format!(
                    "field 'metadata.tenants': you can create clusters in several projects; name one of {}",
                    listed.join(", ")
                );
                Err(Failure::invalid(why))
            }
        }
    }

    fn creatable(&self, collection: &Collection, names: &Names) -> Vec<Plane> {
        let projects = self.caller.projects(names.snapshot()).into_iter();
        projects
            .filter(|plane| {
                let kind = self.caller.kind(collection, plane);
                kind.is_ok_and(|kind| self.caller.call(&kind, plane, "").may("create", "").is_ok())
            })
            .collect()
    }
}

/// Completes a new cluster from its template: node sets and parameters that it does not name.
fn complete(object: &mut Object, names: &Names) -> Result<(), Failure> {
    let name = object.at("spec.template").and_then(|name| name.as_str()).unwrap_or_default();
    if name.is_empty() {
        return Err(Failure::invalid("field 'spec.template': template is mandatory"));
    }
    let template = names.object("clustertemplates", name);
    if template.as_ref().is_some_and(Object::is_deleting) {
        let why = format!("field 'spec.template': template '{name}' is being deleted");
        return Err(Failure::invalid(why));
    }
    let template = template.and_then(|template| serde_json::from_value(template.into_value()).ok());
    let spec = object.get("spec").cloned().and_then(|spec| serde_json::from_value(spec).ok());
    // What can't be read is refused by the kind, which says why.
    if let (Some(template), Some(mut spec)) = (template, spec) {
        fulfillment::templates::complete(&mut spec, &template);
        object.set("spec", serde_json::to_value(spec).ok());
    }
    Ok(())
}

fn text(message: &DynamicMessage, field: &str) -> String {
    let value = message.get_field_by_name(field);
    value.and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

fn exists(id: &str) -> Failure {
    Failure::new(Code::AlreadyExists, format!("object with identifier '{id}' already exists"))
}

fn is_uuid(id: &str) -> bool {
    id.len() == 36
        && id.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte),
        })
}

/// The hosts of a node set are what controllers report; who asks for a cluster does not choose them.
pub(super) fn drop_reported_hosts(object: &mut Object) {
    let sets = object.0.get_mut("spec").and_then(|spec| spec.get_mut("nodeSets"));
    let sets = sets.and_then(|sets| sets.as_object_mut());
    for set in sets.into_iter().flat_map(|sets| sets.values_mut()) {
        if let Some(set) = set.as_object_mut() {
            set.remove("hosts");
        }
    }
}

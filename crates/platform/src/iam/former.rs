//! What is kept of accounts that were deleted and of members who left: a name alone gives nobody what an earlier account of
//! that name had.
//!
//! A record is written in the commit that deletes a User, a MachineAccount or an OrganizationMembership, under a key that no
//! served kind has. It is read like any object, so it outlives restarts, and other servers of the same store follow it.

use std::collections::HashMap;
use std::sync::Arc;

use apiserver::authz::RBAC_GROUP;
use apiserver::call::Call;
use apiserver::keys::{self, Parts};
use apiserver::plane::Plane;
use krm::Object;
use krm::kind::Address;
use krm::status::Status;
use serde_json::{Value, json};
use store::Key;

use super::GROUP;
use super::directory::{Directory, machine_address};
use crate::tenancy::GROUP as TENANCY;

/// Where records of accounts are.
pub const ACCOUNTS: &str = "formeraccounts";
/// Where records of members are.
pub const MEMBERS: &str = "formermembers";

/// An account that has gone.
#[derive(Debug, Clone)]
pub struct Gone {
    /// `User` or `MachineAccount`.
    pub kind: String,
    /// When it went, for people.
    pub time: String,
    /// When it went, in microseconds since 1970.
    pub micros: u64,
    /// The version of the commit that took it away.
    pub version: u64,
}

/// Who is there no more.
#[derive(Debug, Default)]
pub struct Former {
    /// By every name and address that the account signed in under.
    accounts: HashMap<Arc<str>, Gone>,
    /// By organization and uid of the user, when they left last, in microseconds since 1970.
    members: HashMap<(Arc<str>, Arc<str>), u64>,
}

impl Former {
    /// Takes in a record.
    pub fn take_in(&mut self, plural: &str, record: &Object) {
        let micros = record.at("spec.micros").and_then(Value::as_u64).unwrap_or(0);
        match plural {
            ACCOUNTS => {
                let gone = Gone {
                    kind: text(record, "spec.kind").to_owned(),
                    time: text(record, "spec.time").to_owned(),
                    micros,
                    version: record.resource_version().parse().unwrap_or(0),
                };
                let logins = record.at("spec.logins").and_then(Value::as_array).into_iter().flatten();
                for login in logins.filter_map(Value::as_str) {
                    let newest = self.accounts.get(login).is_none_or(|known| known.version < gone.version);
                    if newest {
                        self.accounts.insert(login.into(), gone.clone());
                    }
                }
            }
            _ => {
                let of = (text(record, "spec.organization").into(), text(record, "spec.user").into());
                let left = self.members.entry(of).or_default();
                *left = micros.max(*left);
            }
        }
    }

    /// The last account that has gone of those that signed in so.
    pub fn of(&self, login: &str) -> Option<&Gone> {
        self.accounts.get(login)
    }

    /// When the last account of a name went, in microseconds since 1970; zero where none did.
    pub fn gone_at(&self, login: &str) -> u64 {
        self.of(login).map_or(0, |gone| gone.micros)
    }

    /// When a user left an organization last, in microseconds since 1970; zero for one who never did.
    pub fn left_at(&self, organization: &str, uid: &str) -> u64 {
        self.members.get(&(organization.into(), uid.into())).copied().unwrap_or(0)
    }
}

/// Whether something is kept of an object when it goes.
pub fn is_recorded(parts: &Parts<'_>) -> bool {
    match parts.group {
        GROUP => matches!(parts.plural, "users" | "machineaccounts"),
        TENANCY => parts.plural == "organizationmemberships",
        _ => false,
    }
}

/// What is kept when this object goes.
pub fn records(directory: &Directory, call: &Call, gone: &Object) -> Vec<(Key, Object)> {
    let now = call.api.now();
    let micros = u64::try_from(now.seconds).unwrap_or(0) * 1_000_000 + u64::from(now.nanoseconds / 1000);
    let record = |group: &str, plural: &str, name: String, mut spec: Value| {
        let at = Address {
            group: group.to_owned(),
            plural: plural.to_owned(),
            namespace: String::new(),
            name: name.clone(),
        };
        spec["micros"] = micros.into();
        spec["time"] = now.to_string().into();
        let mut object = Object::new(&format!("{group}/v1alpha1"), "Former");
        object.set_meta("name", Some(name.into()));
        object.set_meta("uid", Some(gone.uid().into()));
        object.set("spec", Some(spec));
        keys::object(&Plane::root(), &at).ok().map(|key| (key, object))
    };
    let (group, plural) = (call.kind.group.as_str(), call.kind.names.plural.as_str());
    let kept = match (group, plural) {
        (GROUP, "users") => {
            let logins = [gone.name().to_owned(), text(gone, "spec.email").to_lowercase()];
            // One record for each account: addresses change, and names come back.
            let name = format!("user.{}", gone.uid());
            record(GROUP, ACCOUNTS, name, json!({ "kind": "User", "logins": logins }))
        }
        (GROUP, "machineaccounts") => {
            let login = machine_address(call.plane.as_str(), &call.namespace, gone.name());
            let name = format!("machineaccount.{}", gone.uid());
            record(GROUP, ACCOUNTS, name, json!({ "kind": "MachineAccount", "logins": [login] }))
        }
        (TENANCY, "organizationmemberships") => {
            let organization = text(gone, "spec.organizationRef.name");
            directory.user_uid(text(gone, "spec.userRef.name")).and_then(|uid| {
                let name = format!("{organization}.{uid}");
                record(TENANCY, MEMBERS, name, json!({ "organization": organization, "user": &**uid }))
            })
        }
        _ => None,
    };
    kept.into_iter().collect()
}

/// Refuses to write an RBAC binding again that still names an account which has gone: that would hand it to a later one of
/// the name.
pub fn hands_nothing_on(
    former: &Former,
    call: &Call,
    old: Option<&Object>,
    new: &Object,
) -> Result<(), Status> {
    let is_binding = call.kind.group == RBAC_GROUP && call.kind.names.plural.ends_with("bindings");
    let Some(old) = old.filter(|old| is_binding && !old.is_deleting()) else { return Ok(()) };
    let written: u64 = old.resource_version().parse().unwrap_or(u64::MAX);
    let names = |object: &Object| -> Vec<String> {
        let subjects = object.get("subjects").and_then(Value::as_array).into_iter().flatten();
        let users = subjects.filter(|subject| subject["kind"] == "User");
        users.filter_map(|subject| subject["name"].as_str().map(str::to_owned)).collect()
    };
    let kept = names(new);
    for name in names(old).into_iter().filter(|name| kept.contains(name)) {
        if let Some(gone) = former.of(&name).filter(|gone| written < gone.version) {
            let why = format!(
                "subjects names {} {name:?}, which was deleted at {}: take it out of the subjects; to grant the role to a \
                 later one of this name, add it again afterwards",
                gone.kind, gone.time
            );
            return Err(Status::forbidden(&call.kind.resource(), new.name(), why));
        }
    }
    Ok(())
}

fn text<'a>(object: &'a Object, path: &str) -> &'a str {
    object.at(path).and_then(Value::as_str).unwrap_or_default()
}

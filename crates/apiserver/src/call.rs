//! A request for objects of a kind, after authentication and routing.

use std::sync::Arc;

use krm::Object;
use krm::cel::RequestBudget;
use krm::kind::{Address, Kind, Version};
use krm::status::Status;
use store::{Author, Fence, Key, Uid};

use crate::api::Api;
use crate::authz::{Attributes, Only, REVEAL};
use crate::catalog::Catalog;
use crate::conversion::Conversions;
use crate::identity::Identity;
use crate::keys::{self, Parts};
use crate::plane::Plane;
use crate::planes;
use crate::read::all_planes;
use crate::secrets::{self, tokens::Tokens};
use crate::write::fence::HeldLease;

/// Who asks what of which objects.
#[derive(Clone)]
pub struct Call {
    /// The server.
    pub api: Api,
    /// The plane it is made in.
    pub plane: Plane,
    /// The life of the project whose plane it is, as it was when the call was admitted; nothing in the root, or where
    /// there is no such project.
    pub project: Option<Uid>,
    /// The kinds of that plane when it was made.
    pub catalog: Arc<Catalog>,
    /// The kind it is about.
    pub kind: Arc<Kind>,
    /// The version of the kind: an index into the kind's versions.
    pub version: usize,
    /// The namespace; empty for none and for all.
    pub namespace: String,
    /// The name; empty for a collection.
    pub name: String,
    /// The subresource; empty for the object itself.
    pub subresource: String,
    /// Who makes it.
    pub who: Identity,
    /// Who was authenticated, where they act as somebody else.
    pub really: Option<Identity>,
    /// The program that makes it, as it calls itself.
    pub agent: String,
    /// Why a change is made.
    pub message: Option<String>,
    /// The part of the collection that may be seen. Defaults to all of it.
    pub only: Option<Arc<Only>>,
    /// Whether values of secrets are left out unless whoever asks may see them.
    pub redacts: bool,
    /// What stands for values that whoever makes it may not see, while it is decided.
    pub tokens: Tokens,
    /// The lease without which a change must not land.
    pub fence: Option<Fence>,
    /// The lease that the request names, without which a change must not land.
    pub held: Option<Arc<HeldLease>>,
    /// Whether it is about the objects of all planes; only in the root.
    pub all_planes: bool,
    /// How many effects led to it; of a request none.
    pub depth: u8,
    /// The request whose effects led to this call: its user gets the errors.
    pub asker: Option<Arc<Call>>,
    /// What the rules of all objects that the request is about may cost together.
    pub budget: Arc<RequestBudget>,
    /// What a webhook has made of objects for this request; the server's own work never waits for one.
    pub conversions: Option<Arc<Conversions>>,
}

impl Call {
    /// The version of the kind.
    pub fn version(&self) -> &Version {
        &self.kind.versions[self.version]
    }

    /// The `apiVersion` of what goes in and out.
    pub fn api_version(&self) -> String {
        self.kind.api_version(&self.version().name)
    }

    /// The group and the plural under which the objects are kept.
    pub fn kept(&self) -> (&str, &str) {
        match &self.kind.mirror {
            Some(mirror) => (mirror.group, mirror.plural),
            None => (&self.kind.group, &self.kind.names.plural),
        }
    }

    /// Where the object is.
    pub fn address(&self) -> Address {
        self.address_of(&self.name)
    }

    /// Where an object of this name is.
    pub fn address_of(&self, name: &str) -> Address {
        let (group, plural) = self.kept();
        Address {
            group: group.to_owned(),
            plural: plural.to_owned(),
            namespace: self.namespace.clone(),
            name: name.to_owned(),
        }
    }

    /// The key of an object of this name.
    pub fn key_of(&self, name: &str) -> Result<Key, Status> {
        keys::object(&self.plane, &self.address_of(name))
            .map_err(|error| Status::bad_request(error.to_string()))
    }

    /// The key of the object.
    pub fn key(&self) -> Result<Key, Status> {
        self.key_of(&self.name)
    }

    /// The beginning of the keys of the collection.
    pub fn prefix(&self) -> String {
        if self.all_planes {
            return String::new();
        }
        let (group, plural) = self.kept();
        match self.namespace.is_empty() {
            true => keys::of_kind(&self.plane, group, plural),
            false => keys::in_namespace(&self.plane, group, plural, &self.namespace),
        }
    }

    /// What the terms of the kind are made of.
    pub fn parts(&self) -> Parts<'_> {
        let (group, plural) = self.kept();
        Parts { plane: self.plane.as_str(), group, plural, namespace: &self.namespace, name: &self.name }
    }

    /// Whether a change of its object may take long to decide: by rules that others wrote, or because it is the definition of a
    /// kind.
    pub fn is_costly(&self) -> bool {
        self.kind.group == crate::definitions::GROUP
            || self.kind.versions.iter().any(|version| !version.rules.is_empty())
    }

    /// Whether who makes it may do something to objects of its kind; an error is the refusal.
    pub fn may(&self, verb: &str, name: &str) -> Result<(), Status> {
        self.may_with(verb, "", name)
    }

    /// The same for a subresource.
    pub fn may_with(&self, verb: &str, subresource: &str, name: &str) -> Result<(), Status> {
        let attributes = Attributes {
            verb,
            group: &self.kind.group,
            version: &self.version().name,
            resource: &self.kind.names.plural,
            subresource,
            namespace: &self.namespace,
            name,
            ..Attributes::default()
        };
        let decision = self.api.followers().rights.decide(&self.plane, &self.who, &attributes);
        match decision.allowed {
            true => Ok(()),
            false => Err(attributes.forbidden(&self.who, &decision.reason)),
        }
    }

    /// Whether who makes it may read the object; an error is what reading it would be answered with. To whoever may read a part
    /// of the collection, what is not in it does not exist.
    pub fn may_get(&self) -> Result<(), Status> {
        let refused = match self.may("get", &self.name) {
            Ok(()) => return Ok(()),
            Err(refused) => refused,
        };
        let list = Attributes {
            verb: "list",
            group: &self.kind.group,
            version: &self.version().name,
            resource: &self.kind.names.plural,
            namespace: &self.namespace,
            ..Attributes::default()
        };
        match self.api.followers().rights.some_of(&self.plane, &self.who, &list) {
            Some(_) => Err(self.not_found()),
            None => Err(refused),
        }
    }

    /// Whether an object of the collection may be seen, by the key it is kept under.
    pub fn sees(&self, key: &Key) -> bool {
        let Some(only) = &self.only else { return true };
        keys::parts(key).is_some_and(|parts| only.has(parts.namespace, parts.name))
    }

    /// Whether a change of an object of the collection may be seen, as rights are now: a watch lasts long.
    pub fn sees_now(&self, key: &Key) -> bool {
        if self.only.is_none() {
            return true;
        }
        let Some(parts) = keys::parts(key) else { return false };
        let what = Attributes {
            verb: "watch",
            group: &self.kind.group,
            version: &self.version().name,
            resource: &self.kind.names.plural,
            namespace: parts.namespace,
            name: parts.name,
            ..Attributes::default()
        };
        self.api.followers().rights.decide(&self.plane, &self.who, &what).allowed
    }

    /// Whether a watch of the collection may go on; an error is why not.
    pub fn may_watch(&self) -> Result<(), Status> {
        if self.all_planes {
            return self.may_in_all_planes();
        }
        let refused = match self.may("watch", &self.name) {
            Ok(()) => return Ok(()),
            Err(refused) => refused,
        };
        let what = Attributes {
            verb: "watch",
            group: &self.kind.group,
            version: &self.version().name,
            resource: &self.kind.names.plural,
            namespace: &self.namespace,
            ..Attributes::default()
        };
        let in_part = || self.api.followers().rights.some_of(&self.plane, &self.who, &what);
        match self.only.is_some() && in_part().is_some() {
            true => Ok(()),
            false => Err(refused),
        }
    }

    fn may_in_all_planes(&self) -> Result<(), Status> {
        let what = Attributes {
            verb: all_planes::VERB,
            group: &self.kind.group,
            version: &self.version().name,
            resource: &self.kind.names.plural,
            subresource: all_planes::SUBRESOURCE,
            namespace: &self.namespace,
            ..Attributes::default()
        };
        let decision = self.api.followers().rights.decide(&self.plane, &self.who, &what);
        match decision.allowed {
            true => Ok(()),
            false => Err(what.forbidden(&self.who, &decision.reason)),
        }
    }

    /// Whether who makes it may see an object of any kind of the plane, for answers that tell of others.
    pub fn may_see(&self, at: &Address) -> bool {
        let what =
            Attributes::resource("get", &at.group, &at.plural).in_namespace(&at.namespace).named(&at.name);
        self.api.followers().rights.decide(&self.plane, &self.who, &what).allowed
    }

    /// The same for an object of any plane. In another plane than the call's own, a service account is nobody: its name
    /// may be that of another there. And whoever acts as somebody else sees no more than both may.
    pub fn may_see_in(&self, plane: &Plane, at: &Address) -> bool {
        if *plane == self.plane {
            return self.may_see(at);
        }
        let what =
            Attributes::resource("get", &at.group, &at.plural).in_namespace(&at.namespace).named(&at.name);
        let rights = &self.api.followers().rights;
        let mut all = std::iter::once(&self.who).chain(&self.really);
        all.all(|who| !planes::is_of_one_plane(who) && rights.decide(plane, who, &what).allowed)
    }

    /// Whether the values of a secret are left out of what is shown of it.
    pub fn hides(&self, key: &Key) -> bool {
        if !self.redacts || !secrets::is_secret(&self.kind) {
            return false;
        }
        let Some(parts) = keys::parts(key) else { return true };
        let what = Attributes {
            verb: REVEAL,
            group: &self.kind.group,
            version: &self.version().name,
            resource: &self.kind.names.plural,
            namespace: parts.namespace,
            name: parts.name,
            ..Attributes::default()
        };
        !self.api.followers().rights.decide(&self.plane, &self.who, &what).allowed
    }

    /// A stored state of an object, for a decision: where its values may not be seen, tokens stand for them.
    pub fn covered(&self, key: &Key, version: u64, mut object: Object) -> Object {
        if self.hides(key) {
            self.tokens.cover(key, version, &mut object.0);
        }
        object
    }

    /// The same request about objects of another kind. Whether it is shown the values of those is asked anew: whoever may
    /// make a transaction need not be allowed to see what it writes.
    pub fn about(&self, kind: Arc<Kind>, version: usize, namespace: String, name: String) -> Call {
        let redacts = secrets::is_secret(&kind);
        Call { kind, version, namespace, name, subresource: String::new(), redacts, ..self.clone() }
    }

    /// There is no such object.
    pub fn not_found(&self) -> Status {
        Status::not_found(&self.kind.resource(), &self.name)
    }

    /// Who writes, for the history.
    pub fn author(&self, manager: &str) -> Author {
        let mut author = Author::new(&*self.who.user, manager);
        if let Some(really) = &self.really {
            author = author.acted_by(&*really.user);
        }
        match &self.message {
            Some(message) => author.because(message.as_str()),
            None => author,
        }
    }

    /// The stored object as the call's version has it.
    pub fn convert(&self, object: Object, written_at: u64) -> Result<Object, Status> {
        let conversions = self.conversions.as_deref();
        crate::present::convert(conversions, &self.kind, self.version, object, written_at)
    }
}

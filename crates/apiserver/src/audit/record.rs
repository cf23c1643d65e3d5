//! What is collected for the audit event of a request while it is handled.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::SystemTime;

use bytes::Bytes;
use http::{HeaderMap, Uri};
use krm::Object;
use krm::status::Status;

use super::source::{source_ips, user_agent};
use super::{Event, Level, ObjectRef, Policy, Stage, Verdict};
use crate::authn::Impersonated;
use crate::authz::{Attributes, Decision};
use crate::identity::Identity;

/// What is gathered about one request; an event is made of it at each stage.
#[derive(Debug, Clone)]
pub struct Record {
    verdict: Verdict,
    event: Event,
}

impl Record {
    /// Begins with what is known when a request has come in and its maker is known; `None` if nothing of it is to be
    /// written down.
    pub fn begin(
        policy: &Policy,
        audit_id: &str,
        who: &Identity,
        what: &Attributes<'_>,
        (uri, headers, remote): (&Uri, &HeaderMap, SocketAddr),
        received: SystemTime,
    ) -> Option<Record> {
        let verdict = policy.judge(who, what);
        if verdict.level == Level::None {
            return None;
        }
        let object = what.is_resource().then(|| ObjectRef {
            resource: what.resource.to_owned(),
            namespace: what.namespace.to_owned(),
            name: what.name.to_owned(),
            api_group: what.group.to_owned(),
            api_version: what.version.to_owned(),
            subresource: what.subresource.to_owned(),
            ..ObjectRef::default()
        });
        let event = Event {
            level: verdict.level,
            audit_id: audit_id.to_owned(),
            stage: Stage::RequestReceived,
            request_uri: uri.path_and_query().map_or("/", |path| path.as_str()).to_owned(),
            verb: what.verb.to_owned(),
            user: who.clone(),
            impersonated: None,
            impersonation_constraint: "",
            source_ips: source_ips(headers, remote),
            user_agent: user_agent(headers),
            object,
            outcome: None,
            request_object: None,
            response_object: None,
            omit_managed_fields: verdict.omit_managed_fields,
            received,
            at: received,
            annotations: BTreeMap::new(),
        };
        Some(Record { verdict, event })
    }

    /// Nothing of what is sent and answered is to be written down, whatever the policy says: it is secret.
    pub fn without_bodies(mut self) -> Record {
        self.verdict.level = self.verdict.level.min(Level::Metadata);
        self.event.level = self.verdict.level;
        self
    }

    /// The request is made in somebody else's name.
    pub fn impersonating(&mut self, acted: &Impersonated) {
        self.event.impersonated = Some(acted.identity.clone());
        self.event.impersonation_constraint = acted.constraint;
    }

    /// Whether the request was allowed, and why.
    pub fn decided(&mut self, decision: &Decision) {
        let verdict = if decision.allowed { "allow" } else { "forbid" };
        self.annotate("authorization.k8s.io/decision", verdict);
        self.annotate("authorization.k8s.io/reason", &decision.reason);
    }

    /// Something else to be told.
    pub fn annotate(&mut self, key: &str, value: &str) {
        self.event.annotations.insert(key.to_owned(), super::event::cut(value).into_owned());
    }

    /// What was sent, in JSON. It is kept only where the policy wants it.
    pub fn requested(&mut self, object: &Bytes) {
        if self.verdict.level >= Level::Request {
            self.event.request_object = Some(object.clone());
        }
    }

    /// The object in what was sent says more about itself than the path does.
    pub fn about(&mut self, object: &Object) {
        let Some(reference) = &mut self.event.object else { return };
        let fields = [
            (&mut reference.namespace, object.namespace()),
            (&mut reference.name, object.name()),
            (&mut reference.uid, object.uid()),
            (&mut reference.resource_version, object.resource_version()),
        ];
        for (field, found) in fields {
            if field.is_empty() {
                found.clone_into(field);
            }
        }
    }

    /// How the request was answered: the code, the status when it failed.
    pub fn answered(&mut self, code: u16, status: Option<&Status>) {
        self.event.outcome = Some((code, status.cloned()));
    }

    /// What was answered, in JSON. It is kept only where the policy wants it.
    pub fn responded(&mut self, object: &Bytes) {
        if self.verdict.level >= Level::RequestResponse {
            self.event.response_object = Some(object.clone());
        }
    }

    /// Whether what was answered is wanted at all.
    pub fn wants_response(&self) -> bool {
        self.verdict.level >= Level::RequestResponse
    }

    /// The event of a stage, unless the policy leaves that stage out.
    pub fn event(&self, stage: Stage, at: SystemTime) -> Option<Event> {
        self.verdict.includes(stage).then(|| Event { stage, at, ..self.event.clone() })
    }
}

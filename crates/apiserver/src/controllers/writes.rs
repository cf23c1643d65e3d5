//! The audit of what controllers write: all that is more than a status or an event.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::SystemTime;

use http::header::USER_AGENT;
use http::{HeaderMap, HeaderValue, Uri};
use krm::status::Status;

use crate::audit::{AuditLog, Policy, Record, Stage};
use crate::authz::{Attributes, Decision};
use crate::call::Call;

/// Where writes of controllers are audited.
pub struct ControllerAudit {
    /// The audit log.
    pub log: Arc<AuditLog>,
    /// What is logged.
    pub policy: Policy,
}

impl ControllerAudit {
    /// Logs a write as if it had come as a request.
    pub async fn log(&self, call: &Call, verb: &str, refused: Option<&Status>) {
        let attributes = Attributes {
            verb,
            group: &call.kind.group,
            version: &call.version().name,
            resource: &call.kind.names.plural,
            subresource: &call.subresource,
            namespace: &call.namespace,
            name: &call.name,
            ..Attributes::default()
        };
        let mut headers = HeaderMap::new();
        if let Ok(agent) = HeaderValue::from_str(&call.agent) {
            headers.insert(USER_AGENT, agent);
        }
        let Ok(uri) = path(call).parse::<Uri>() else { return };
        let here = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
        let (id, now) = (call.api.new_uid(), SystemTime::now());
        let seen = (&uri, &headers, here);
        let Some(mut record) = Record::begin(&self.policy, &id, &call.who, &attributes, seen, now) else {
            return;
        };
        record.decided(&Decision::allow("the compiled role of the controller allows it"));
        let code = match (refused, verb) {
            (Some(refused), _) => refused.code,
            (None, "create") => 201,
            (None, _) => 200,
        };
        record.answered(code, refused);
        if let Some(event) = record.event(Stage::ResponseComplete, now) {
            self.log.write(event).await;
        }
    }
}

/// The path of the object of a call.
fn path(call: &Call) -> String {
    let mut path = call.api.kinds().path_of(&call.plane);
    path += if call.kind.group.is_empty() { "/api/" } else { "/apis/" };
    path += &call.api_version();
    if !call.namespace.is_empty() {
        path += &format!("/namespaces/{}", call.namespace);
    }
    path += &format!("/{}/{}", call.kind.names.plural, call.name);
    if !call.subresource.is_empty() {
        path += &format!("/{}", call.subresource);
    }
    path
}

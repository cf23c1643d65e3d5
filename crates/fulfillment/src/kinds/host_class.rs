//! HostClass: a kind of hardware that tenants can ask for.

use krm::field::FieldError;
use krm::kind::{Change, Declaration, Metadata, Planes, Refusal, Resource, Sentence, Verdict, View, allow};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cluster_template::OF_CLASS;
use crate::identity;

/// A kind of hardware that tenants can ask for. Its fields are not below `spec`: they are those of the HostClass of the
/// fulfillment API. It cannot be deleted while a Host or a node set of a ClusterTemplate is of this class.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HostClass {
    /// Standard object metadata. The name is the identifier of the class in the fulfillment API, if that is a DNS name.
    pub metadata: Metadata,
    /// Identifier in the fulfillment API, if it is not a DNS name. The object is then named after it: the server says how.
    /// Immutable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512))]
    #[schemars(extend("x-kubernetes-validations" = [{"rule": "self == oldSelf", "message": "id is immutable"}]))]
    pub id: Option<String>,
    /// Name in the fulfillment API, a DNS label. Need not be unique. Defaults to the name of the object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub display_name: Option<String>,
    /// Title for people, such as `GPU node with eight H100`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub title: Option<String>,
    /// Description for people, in Markdown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 16384))]
    pub description: Option<String>,
}

impl Resource for HostClass {
    const GROUP: &'static str = crate::GROUP;
    const VERSION: &'static str = crate::VERSION;
    const KIND: &'static str = "HostClass";
    const PLURAL: &'static str = "hostclasses";

    fn declare() -> Declaration<HostClass> {
        Declaration::cluster()
            .planes(Planes::Root)
            .categories(&["fulfillment"])
            .selects(&["id", "displayName", "title"])
            .searches(&["id", "displayName", "title"])
            .prints("DisplayName", "string", ".displayName")
            .prints("Title", "string", ".title")
            .prints_age()
            .validate(has_an_identity)
            .rule(stays_while_templates_name_it)
            .tells_created(&[Sentence { when: "true", says: "added host class @" }])
    }
}

fn has_an_identity(change: &Change<HostClass>) -> Vec<FieldError> {
    let Some(class) = change.after() else { return Vec::new() };
    identity::faults(&class.metadata, class.id.as_deref(), class.display_name.as_deref())
}

/// Templates name it in a map, so that no reference can be declared.
fn stays_while_templates_name_it(change: &Change<HostClass>, view: &mut View<'_>) -> Verdict {
    let (Some(class), None) = (change.before(), change.after()) else { return allow() };
    let templates = view.bucket(OF_CLASS, &class.metadata.name);
    match templates.first() {
        None => allow(),
        Some(template) => {
            let (name, others) = (template.name(), templates.len() - 1);
            let more = if others == 0 { String::new() } else { format!(" and {others} more") };
            Err(Refusal::Conflict(format!(
                "node sets of ClusterTemplate {name}{more} are of this class; change those first"
            )))
        }
    }
}

//! Greetings: lines for a screen. Their text is in a ConfigMap.

use krm::condition::Condition;
use krm::kind::{Declaration, Metadata, Missing, OnDelete, Reference, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A line for a screen.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Greeting {
    pub metadata: Metadata,
    pub spec: GreetingSpec,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<GreetingStatus>,
}

/// What is shown.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GreetingSpec {
    /// The ConfigMap with the text, in the same namespace.
    pub text_ref: TextRef,
}

/// A ConfigMap by its name.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct TextRef {
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
}

/// What the controller found.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct GreetingStatus {
    /// `Ready` is `True` while the text exists.
    #[serde(default)]
    pub conditions: Vec<Condition>,
}

impl Resource for Greeting {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = "v1alpha1";
    const KIND: &'static str = "Greeting";
    const PLURAL: &'static str = "greetings";

    fn declare() -> Declaration<Greeting> {
        let text = Reference::at("spec.textRef.name", "", "configmaps")
            .same_namespace()
            .missing(Missing::NotReady("TextNotFound"))
            .on_delete(OnDelete::NotReady("TextNotFound"));
        Declaration::namespaced()
            .status()
            .refers(text)
            .prints("Text", "string", ".spec.textRef.name")
            .prints_age()
    }
}

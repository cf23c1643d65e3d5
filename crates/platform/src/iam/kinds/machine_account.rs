//! MachineAccount: a program that signs in with keys of its own.

use krm::condition::Condition;
use krm::kind::{Declaration, Metadata, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{pending, prints_ready};

/// A program that signs in with keys of its own.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct MachineAccount {
    /// What every object has.
    pub metadata: Metadata,
    /// Whether it may sign in.
    #[serde(default)]
    pub spec: MachineAccountSpec,
    /// What is observed of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<MachineAccountStatus>,
}

/// Whether a machine account may sign in.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct MachineAccountSpec {
    /// Whether it may sign in.
    #[serde(default)]
    pub state: State,
}

/// Whether an account may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub enum State {
    /// It may.
    #[default]
    Active,
    /// It may not, and nothing that it holds counts.
    Inactive,
}

/// What is observed of a machine account.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct MachineAccountStatus {
    /// Under which name it signs in: `<name>@<namespace>.<project>.<suffix>`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub email: String,
    /// For whom the tokens are that it signs: this server, as `aud`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub audience: String,
    /// Whether it may be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<State>,
    /// Everything that was found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}

impl Resource for MachineAccount {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = "MachineAccount";
    const PLURAL: &'static str = "machineaccounts";

    fn declare() -> Declaration<MachineAccount> {
        let declaration = Declaration::namespaced()
            .names(krm::names::name_is_dns_label)
            .status()
            .prepare(pending)
            .prints("Email", "string", ".status.email")
            .prints("Description", "string", ".metadata.annotations.kubernetes\\.io/description")
            .prints("State", "string", ".spec.state");
        prints_ready(declaration).prints_age()
    }
}

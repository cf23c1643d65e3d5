//! MachineAccount: an identity for a program, which authenticates with keys of its own.

use krm::condition::Condition;
use krm::kind::{Declaration, Metadata, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{pending, prints_ready};

/// MachineAccount is an identity for a program. It authenticates with JWTs that it signs with one of its
/// MachineAccountKeys.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct MachineAccount {
    /// Standard object metadata. The name must be a DNS label.
    pub metadata: Metadata,
    /// Desired state of the machine account.
    #[serde(default)]
    pub spec: MachineAccountSpec,
    /// Observed state of the machine account, written by the IAM controller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<MachineAccountStatus>,
}

/// Desired state of a machine account.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct MachineAccountSpec {
    /// Whether the account can authenticate: `Active` or `Inactive`. Defaults to `Active`.
    #[serde(default)]
    pub state: State,
}

/// Whether an account can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub enum State {
    /// The account can authenticate, and its grants apply.
    #[default]
    Active,
    /// The account cannot authenticate, and none of its grants apply.
    Inactive,
}

/// Observed state of a machine account.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct MachineAccountStatus {
    /// User name of the account when it authenticates: `<name>@<namespace>.<project>.<suffix>`. Tokens must
    /// carry it as `iss` and `sub`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub email: String,
    /// Value that tokens of the account must have as `aud`: this server.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub audience: String,
    /// State in effect: `Active` or `Inactive`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<State>,
    /// Latest observations. `Ready` is `True` while the account can authenticate.
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

//! MachineAccountKey: the public half of a key that a machine account signs its tokens with.

use apiserver::authn::PublicKey;
use krm::condition::Condition;
use krm::field::{FieldError, Path};
use krm::kind::{Change, Declaration, Metadata, Missing, OnDelete, Reference, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{pending, prints_ready};

/// The public half of a key that a machine account signs its tokens with.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct MachineAccountKey {
    /// What every object has.
    pub metadata: Metadata,
    /// Whose key it is.
    pub spec: MachineAccountKeySpec,
    /// What is observed of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<MachineAccountKeyStatus>,
}

/// Whose key it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {"rule": "self == oldSelf", "message": "a key is not changed; make another"},
]))]
pub struct MachineAccountKeySpec {
    /// The machine account, in the same namespace.
    #[schemars(length(min = 1, max = 63))]
    pub machine_account_name: String,
    /// When it is no longer good; never unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub expiration_date: Option<String>,
    /// The public key, in PEM: RSA of 2048 bits or more, P-256 or Ed25519. Unless it is given the server makes a pair, and
    /// puts the private half into a Secret of the same name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 8_192))]
    pub public_key: String,
}

/// What is observed of a key.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MachineAccountKeyStatus {
    /// What tokens call the key in their header, as `kid`.
    #[serde(default, rename = "authProviderKeyID", skip_serializing_if = "String::is_empty")]
    pub auth_provider_key_id: String,
    /// Everything that was found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}

impl Resource for MachineAccountKey {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = "MachineAccountKey";
    const PLURAL: &'static str = "machineaccountkeys";

    fn declare() -> Declaration<MachineAccountKey> {
        let account = Reference::at("spec.machineAccountName", super::GROUP, "machineaccounts");
        let declaration = Declaration::namespaced()
            .status()
            .refers(account.same_namespace().missing(Missing::Refuse).on_delete(OnDelete::Ignore))
            .selects(&["spec.machineAccountName"])
            .prepare(pending)
            .prints("Machine Account", "string", ".spec.machineAccountName")
            .prints("Expiration Date", "string", ".spec.expirationDate");
        prints_ready(declaration).prints_age().validate(is_a_key)
    }
}

/// The server can verify what the key signs.
fn is_a_key(change: &Change<MachineAccountKey>) -> Vec<FieldError> {
    let Some(key) = change.after() else { return Vec::new() };
    let spec = Path::of("spec");
    let mut faults = Vec::new();
    if let Err(why) = PublicKey::from_pem(&key.spec.public_key) {
        faults.push(FieldError::invalid_text(&spec.field("publicKey"), &key.spec.public_key, why));
    }
    faults
}

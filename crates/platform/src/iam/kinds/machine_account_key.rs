//! MachineAccountKey: a public key that tokens of a machine account are verified with.

use apiserver::authn::PublicKey;
use krm::condition::Condition;
use krm::field::{FieldError, Path};
use krm::kind::{Change, Declaration, Metadata, Missing, OnDelete, Reference, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{MachineAccount, pending, prints_ready};

/// MachineAccountKey is a public key that tokens of a machine account are verified with. It cannot be
/// changed; create another key to rotate.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct MachineAccountKey {
    /// Standard object metadata.
    pub metadata: Metadata,
    /// The public key, its machine account and its expiration date. Immutable.
    pub spec: MachineAccountKeySpec,
    /// Observed state of the key, written by the IAM controller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<MachineAccountKeyStatus>,
}

/// The public key, its machine account and its expiration date. Immutable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {"rule": "self == oldSelf", "message": "spec is immutable; create another MachineAccountKey"},
]))]
pub struct MachineAccountKeySpec {
    /// Name of the MachineAccount that signs with the key, in the same namespace. It must exist.
    #[schemars(length(min = 1, max = 63))]
    pub machine_account_name: String,
    /// Time in RFC 3339 format from which the key is no longer accepted. If unset, the key does not expire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub expiration_date: Option<String>,
    /// Public key in PEM format: RSA of at least 2048 bits, ECDSA P-256 or Ed25519. If unset, the server
    /// generates a key pair and stores the private key in a Secret of the same name and namespace.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 8_192))]
    pub public_key: String,
}

/// Observed state of a key.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MachineAccountKeyStatus {
    /// Identifier of the key. Tokens must carry it as `kid` in their header.
    #[serde(default, rename = "authProviderKeyID", skip_serializing_if = "String::is_empty")]
    pub auth_provider_key_id: String,
    /// Latest observations. `Ready` is `True` while tokens signed with the key are accepted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}

impl Resource for MachineAccountKey {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = "MachineAccountKey";
    const PLURAL: &'static str = "machineaccountkeys";

    fn declare() -> Declaration<MachineAccountKey> {
        let account = Reference::to::<MachineAccount>("spec.machineAccountName");
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

/// The key is of a type that the server can verify signatures with.
fn is_a_key(change: &Change<MachineAccountKey>) -> Vec<FieldError> {
    let Some(key) = change.after() else { return Vec::new() };
    let spec = Path::of("spec");
    let mut faults = Vec::new();
    if let Err(why) = PublicKey::from_pem(&key.spec.public_key) {
        faults.push(FieldError::invalid_text(&spec.field("publicKey"), &key.spec.public_key, why));
    }
    faults
}

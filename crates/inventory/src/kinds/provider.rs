//! Provider: a company that provides sites, circuits or virtual machines.

use krm::kind::{Declaration, Metadata, Resource, Sentence};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{declare_inventory, prints_ready};
use crate::Status;
use crate::choice::choice;

/// A company that provides sites, circuits or virtual machines. It cannot be deleted while a Site, Circuit or
/// VirtualMachine refers to it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Provider {
    /// Standard object metadata.
    pub metadata: Metadata,
    /// Specification of the provider. Set by users.
    pub spec: ProviderSpec,
    /// Observation state of the provider. Set by the inventory controller; read-only for users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
}

choice! {
    /// The type of service that a provider offers.
    ProviderType: Hosting, Colocation, Transit, InternetExchange, DarkFiber, Cloud
}

/// Specification of a provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProviderSpec {
    /// Human-readable name. Must not be empty.
    #[schemars(length(min = 1))]
    pub display_name: String,
    /// Main service that the provider offers.
    #[serde(rename = "type")]
    pub kind: ProviderType,
    /// Contract with the provider. Informational.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contract: Option<Contract>,
    /// Identifiers assigned to you by the provider or a registry, such as an ASN or an LOA-CFA number. Names need not be
    /// unique.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub service_identifiers: Vec<ServiceIdentifier>,
}

/// Contract data of a provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Contract {
    /// Contract number. Free text, found by search.
    #[serde(default, rename = "contractID", skip_serializing_if = "Option::is_none")]
    pub contract_id: Option<String>,
    /// Customer account at the provider. Free text, found by search.
    #[serde(default, rename = "accountID", skip_serializing_if = "Option::is_none")]
    pub account_id: Option<String>,
    /// URL of the provider's customer portal. Must begin with `http://` or `https://`.
    #[serde(default, rename = "portalURL", skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^https?://.+$"))]
    pub portal_url: Option<String>,
    /// Free-text notes on the contract.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
}

/// An identifier assigned by a provider or a registry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServiceIdentifier {
    /// Type of identifier, such as `ASN`. Must not be empty.
    #[schemars(length(min = 1))]
    pub name: String,
    /// Value of the identifier, such as `AS64500`. Must not be empty.
    #[schemars(length(min = 1))]
    pub identifier: String,
}

impl Resource for Provider {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = "Provider";
    const PLURAL: &'static str = "providers";

    fn declare() -> Declaration<Provider> {
        let provider =
            declare_inventory("vprovider.inventory.miloapis.com", &["Site", "Circuit", "VirtualMachine"])
                .tells_display_name()
                .tells_created(&[Sentence { when: "true", says: "registered @" }])
                .selects(&["spec.type"])
                .searches(&["spec.displayName", "spec.contract.contractID", "spec.contract.accountID"])
                .prints("Display", "string", ".spec.displayName")
                .prints("Type", "string", ".spec.type")
                .prints_age()
                .answers("impact", "Impact", crate::questions::impact::answer("Provider"));
        prints_ready(provider)
    }
}

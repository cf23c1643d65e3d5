//! Provider: a company that runs facilities, circuits or clouds for us.

use krm::kind::{Declaration, Metadata, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{inventoried, prints_ready};
use crate::Status;
use crate::choice::choice;

/// A company that runs facilities, circuits or clouds for us.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Provider {
    /// What every object has.
    pub metadata: Metadata,
    /// What it is.
    pub spec: ProviderSpec,
    /// What is observed of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
}

choice! {
    /// What a provider provides.
    ProviderType: Hosting, Colocation, Transit, InternetExchange, DarkFiber, Cloud
}

/// What a provider is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProviderSpec {
    /// What people call it.
    #[schemars(length(min = 1))]
    pub display_name: String,
    /// What it provides.
    #[serde(rename = "type")]
    pub kind: ProviderType,
    /// What was agreed with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contract: Option<Contract>,
    /// What it, or a registry, knows us by: an ASN, an LOA-CFA.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub service_identifiers: Vec<ServiceIdentifier>,
}

/// What was agreed with a provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Contract {
    /// The number of the contract.
    #[serde(default, rename = "contractID", skip_serializing_if = "Option::is_none")]
    pub contract_id: Option<String>,
    /// Our account.
    #[serde(default, rename = "accountID", skip_serializing_if = "Option::is_none")]
    pub account_id: Option<String>,
    /// Where its portal is.
    #[serde(default, rename = "portalURL", skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^https?://.+$"))]
    pub portal_url: Option<String>,
    /// Anything else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
}

/// What a provider, or a registry, knows us by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServiceIdentifier {
    /// What it identifies, such as `ASN`.
    #[schemars(length(min = 1))]
    pub name: String,
    /// The identifier itself.
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
            inventoried("vprovider.inventory.miloapis.com", &["Site", "Circuit", "VirtualMachine"])
                .selects(&["spec.type"])
                .searches(&["spec.displayName", "spec.contract.contractID", "spec.contract.accountID"])
                .prints("Display", "string", ".spec.displayName")
                .prints("Type", "string", ".spec.type")
                .prints_age();
        prints_ready(provider)
    }
}

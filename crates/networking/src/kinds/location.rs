//! Location: a place where workloads can run, in the root.

use std::collections::BTreeMap;

use krm::Object;
use krm::condition::Condition;
use krm::field::{FieldError, Path};
use krm::kind::{Change, Declaration, Kind, Metadata, Mirror, Planes, Resource, Sentence};
use krm::names::name_is_dns_label;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Key of the city code in a topology, such as `DFW`.
pub const CITY_CODE: &str = "topology.datum.net/city-code";
/// Key of the region in a topology.
pub const REGION: &str = "topology.datum.net/region";

/// A place where workloads can run. Projects see it as a LocationBinding while it is available to them.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Location {
    /// Standard object metadata. The name must be a DNS label of at most 63 characters.
    pub metadata: Metadata,
    /// Specification of the location. Set by the operators of the platform.
    pub spec: LocationSpec,
    /// Observed state of the location. Set by the location controller; read-only for users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<LocationStatus>,
}

/// Specification of a location.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LocationSpec {
    /// Class of the location: `datum-managed` is run by the platform, `self-managed` by a customer. A service is offered
    /// only at locations whose class it supports.
    pub location_class_name: LocationClass,
    /// Name for people, such as the name of the city. Defaults to the name of the object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub display_name: Option<String>,
    /// Where the location is. Must have `topology.datum.net/city-code`, which joins the location to the Sites of the
    /// inventory with a label of the same key and value. `topology.datum.net/region` names the region.
    #[schemars(length(min = 1, max = 32))]
    pub topology: BTreeMap<String, String>,
    /// Cloud provider that the location runs on. Without one, the location runs at Sites of the inventory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<LocationProvider>,
}

/// Who runs a location.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum LocationClass {
    /// The platform.
    #[serde(rename = "datum-managed")]
    DatumManaged,
    /// A customer.
    #[serde(rename = "self-managed")]
    SelfManaged,
}

impl LocationClass {
    /// As fields name it.
    pub fn as_str(self) -> &'static str {
        match self {
            LocationClass::DatumManaged => "datum-managed",
            LocationClass::SelfManaged => "self-managed",
        }
    }
}

/// A cloud provider.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct LocationProvider {
    /// Google Cloud.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gcp: Option<GcpProvider>,
    /// Amazon Web Services.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aws: Option<AwsProvider>,
    /// The machine that the server runs on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local: Option<LocalProvider>,
}

/// The machine that the server runs on.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct LocalProvider {}

/// A zone of Google Cloud.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GcpProvider {
    /// Project of Google Cloud that the instances are in.
    #[schemars(length(min = 1, max = 253))]
    pub project_id: String,
    /// Region, such as `us-south1`.
    #[schemars(length(min = 1, max = 253))]
    pub region: String,
    /// Zone, such as `us-south1-a`.
    #[schemars(length(min = 1, max = 253))]
    pub zone: String,
}

/// A zone of Amazon Web Services.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AwsProvider {
    /// Role that the platform assumes.
    #[schemars(length(min = 1, max = 2048))]
    pub role_arn: String,
    /// Region, such as `us-east-1`.
    #[schemars(length(min = 1, max = 253))]
    pub region: String,
    /// Zone, such as `us-east-1a`.
    #[schemars(length(min = 1, max = 253))]
    pub zone: String,
}

/// Observed state of a location.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct LocationStatus {
    /// Names of the Sites of the inventory with the city code of the location.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sites: Vec<String>,
    /// `Ready` is `True` while a Site with its city code is Ready, or a cloud provider is given.
    #[serde(default)]
    pub conditions: Vec<Condition>,
}

impl Resource for Location {
    const GROUP: &'static str = crate::GROUP;
    const VERSION: &'static str = crate::VERSION;
    const KIND: &'static str = "Location";
    const PLURAL: &'static str = "locations";

    fn declare() -> Declaration<Location> {
        Declaration::cluster()
            .planes(Planes::Root)
            .names(name_is_dns_label)
            .status()
            .selects(&["spec.locationClassName"])
            .searches(&["spec.displayName"])
            .prints("Class", "string", ".spec.locationClassName")
            .prints("CityCode", "string", r".spec.topology.topology\.datum\.net/city-code")
            .prints_age()
            .prints("Ready", "string", r#".status.conditions[?(@.type=="Ready")].status"#)
            .prints("Reason", "string", r#".status.conditions[?(@.type=="Ready")].reason"#)
            .validate(names_its_city)
            .tells_created(&[Sentence {
                when: "'topology.datum.net/city-code' in $.topology",
                says: "created @ in the city {{ $.topology['topology.datum.net/city-code'] }}",
            }])
    }
}

impl Location {
    /// Its city code.
    pub fn city_code(&self) -> Option<&str> {
        self.spec.topology.get(CITY_CODE).map(String::as_str)
    }
}

/// The same locations as `locations.miloapis.com` has them: without a status of their own, in the same shape.
pub fn newer() -> Kind {
    let mut kind = Location::kind();
    kind.group = crate::LOCATIONS_GROUP.to_owned();
    kind.versions[0].name = crate::LOCATIONS_VERSION.to_owned();
    kind.mirror = Some(Mirror { group: crate::GROUP, plural: Location::PLURAL, show, keep, fields: &[] });
    kind
}

fn show(mut location: Object) -> Object {
    location.set_type(&format!("{}/{}", crate::LOCATIONS_GROUP, crate::LOCATIONS_VERSION), Location::KIND);
    location
}

fn keep(mut location: Object) -> Object {
    location.set_type(&format!("{}/{}", crate::GROUP, crate::VERSION), Location::KIND);
    location
}

fn names_its_city(change: &Change<Location>) -> Vec<FieldError> {
    let Some(location) = change.after() else { return Vec::new() };
    match location.city_code() {
        Some(code) if !code.is_empty() => Vec::new(),
        _ => {
            let spec = Path::of("spec");
            let topology = spec.field("topology");
            vec![FieldError::required(&topology.key(CITY_CODE), "a location is in a city, such as DFW")]
        }
    }
}

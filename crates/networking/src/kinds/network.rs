//! Network: a private address space of a project, from which subnets at its locations are allocated.

use krm::Object;
use krm::condition::Condition;
use krm::field::{FieldError, Path};
use krm::kind::{Change, Declaration, Metadata, Planes, Resource, Sentence};
use krm::names::name_is_dns_label;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::prefix::{IpFamily, Prefix};

/// IPv4 range of a network that names none.
pub const DEFAULT_IPV4_RANGE: &str = "10.128.0.0/9";
/// Length of the IPv6 range of a network that names none.
const DEFAULT_IPV6_LENGTH: u8 = 48;

/// A private address space of a project. Workloads attach to it at locations through NetworkBindings, which takes the
/// permission `use` on the network.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Network {
    /// Standard object metadata. The name must be a DNS label of at most 63 characters.
    pub metadata: Metadata,
    /// Specification of the network. Set by users.
    pub spec: NetworkSpec,
    /// Observed state of the network. Set by the network controller; read-only for users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<NetworkStatus>,
}

/// Specification of a network.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NetworkSpec {
    /// Address management of the network.
    pub ipam: Ipam,
    /// Address families of the network. Defaults to IPv4.
    #[serde(default = "ipv4_only")]
    #[schemars(length(min = 1, max = 2))]
    pub ip_families: Vec<IpFamily>,
    /// Maximum transmission unit in bytes, 1300 to 8856. Defaults to 1460.
    #[serde(default = "default_mtu")]
    #[schemars(range(min = 1300, max = 8856))]
    pub mtu: u32,
}

/// Address management of a network.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Ipam {
    /// `Auto` fills in ranges that are not given; with `Policy`, every address family needs a range.
    pub mode: IpamMode,
    /// Range of IPv4 addresses in CIDR notation, with a prefix of 8 to 29 bits. Immutable once set. Defaults to
    /// 10.128.0.0/9 with mode `Auto`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 18))]
    pub ipv4_range: Option<String>,
    /// Range of IPv6 addresses in CIDR notation, with a prefix of 20 to 120 bits. Immutable once set. With mode `Auto`,
    /// defaults to a prefix of 48 bits below fd20::/20 that is derived from the uid of the network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 43))]
    pub ipv6_range: Option<String>,
}

/// How the ranges of a network are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum IpamMode {
    /// Ranges that are not given are filled in.
    Auto,
    /// Every range is given.
    Policy,
}

/// Observed state of a network.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct NetworkStatus {
    /// `Ready` is `True` while subnets can be allocated from the network.
    #[serde(default)]
    pub conditions: Vec<Condition>,
}

impl Resource for Network {
    const GROUP: &'static str = crate::GROUP;
    const VERSION: &'static str = crate::VERSION;
    const KIND: &'static str = "Network";
    const PLURAL: &'static str = "networks";

    fn declare() -> Declaration<Network> {
        Declaration::namespaced()
            .planes(Planes::Project)
            .names(name_is_dns_label)
            .custom_verbs(&["use"])
            .status()
            .prints("Families", "string", ".spec.ipFamilies")
            .prints("IPv4 Range", "string", ".spec.ipam.ipv4Range")
            .prints_wide("IPv6 Range", "string", ".spec.ipam.ipv6Range")
            .prints_wide("MTU", "integer", ".spec.mtu")
            .prints("Ready", "string", ".status.conditions[?(@.type==\"Ready\")].status")
            .prints_age()
            .prepare(fill_in_ranges)
            .validate(has_sound_ranges)
            .tells_created(&[Sentence {
                when: "has($.ipam.ipv4Range)",
                says: "created @ with the range {{ $.ipam.ipv4Range }}",
            }])
    }
}

impl Network {
    /// Its range of a family; nothing if it has none.
    pub fn range(&self, family: IpFamily) -> Option<Prefix> {
        let text = match family {
            IpFamily::IPv4 => &self.spec.ipam.ipv4_range,
            IpFamily::IPv6 => &self.spec.ipam.ipv6_range,
        };
        let has_family = self.spec.ip_families.contains(&family);
        let range = text.as_deref().filter(|_| has_family).and_then(Prefix::parse)?;
        (range.family() == family).then_some(range)
    }
}

/// Fills in the ranges that mode `Auto` leaves to the server.
fn fill_in_ranges(network: &mut Object, _: Option<&Object>) {
    let uid = network.uid().to_owned();
    let Some(spec) = network.0.get_mut("spec") else { return };
    let families = spec.get("ipFamilies").and_then(Value::as_array).cloned();
    let families = families.unwrap_or_else(|| vec![json!(IpFamily::IPv4)]);
    let Some(ipam) = spec.get_mut("ipam").filter(|ipam| ipam["mode"] == json!(IpamMode::Auto)) else {
        return;
    };
    let mut default = |family: IpFamily, field: &str, range: String| {
        if families.contains(&json!(family)) && ipam.get(field).is_none() {
            ipam[field] = range.into();
        }
    };
    default(IpFamily::IPv4, "ipv4Range", DEFAULT_IPV4_RANGE.to_owned());
    default(IpFamily::IPv6, "ipv6Range", ipv6_range_of(&uid));
}

/// A prefix of 48 bits below fd20::/20: the 28 bits in between come from the uid, which is random.
fn ipv6_range_of(uid: &str) -> String {
    let digits: String = uid.chars().filter(char::is_ascii_hexdigit).take(7).collect();
    let bits = u128::from_str_radix(&digits, 16).unwrap_or(0) & 0x0fff_ffff;
    let address = 0xfd20_u128 << 112 | bits << (128 - DEFAULT_IPV6_LENGTH);
    format!("{}/{DEFAULT_IPV6_LENGTH}", std::net::Ipv6Addr::from_bits(address))
}

/// Ranges are prefixes of their family and of a size that can be divided, and stay as they are.
fn has_sound_ranges(change: &Change<Network>) -> Vec<FieldError> {
    let Some(network) = change.after() else { return Vec::new() };
    let ipam = &network.spec.ipam;
    let before = change.before().map(|network| &network.spec.ipam);
    let before4 = before.and_then(|ipam| ipam.ipv4_range.as_ref());
    let before6 = before.and_then(|ipam| ipam.ipv6_range.as_ref());
    let spec = Path::of("spec");
    let at_ipam = spec.field("ipam");
    let mut errors = Vec::new();
    for (family, field, range, before, sizes) in [
        (IpFamily::IPv4, "ipv4Range", &ipam.ipv4_range, before4, 8..=29),
        (IpFamily::IPv6, "ipv6Range", &ipam.ipv6_range, before6, 20..=120),
    ] {
        let at = at_ipam.field(field);
        let Some(text) = range else {
            if before.is_some() {
                errors.push(FieldError::invalid(&at, &Value::Null, "field is immutable"));
            } else if network.spec.ip_families.contains(&family) {
                let why =
                    format!("must be given with mode Policy and the address family {}", family.as_str());
                errors.push(FieldError::required(&at, why));
            }
            continue;
        };
        if before.is_some_and(|before| before != text) {
            errors.push(FieldError::invalid(&at, &json!(text), "field is immutable"));
        }
        let sound = Prefix::parse(text).filter(|prefix| prefix.family() == family);
        if !sound.is_some_and(|prefix| sizes.contains(&prefix.length())) {
            let (family, least, most) = (family.as_str(), sizes.start(), sizes.end());
            let why = format!("must be an {family} prefix in CIDR notation with {least} to {most} bits");
            errors.push(FieldError::invalid(&at, &json!(text), why));
        }
    }
    let families = &network.spec.ip_families;
    if families.len() == 2 && families[0] == families[1] {
        errors.push(FieldError::duplicate(&spec.field("ipFamilies").index(1), &json!(families[1])));
    }
    errors
}

fn ipv4_only() -> Vec<IpFamily> {
    vec![IpFamily::IPv4]
}

fn default_mtu() -> u32 {
    1460
}

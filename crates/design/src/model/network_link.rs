//! NetworkLink: bonding, trunking and allowed networks of ports.

use std::sync::Arc;

use super::{
    DocumentRef, Field, Set,
    network::{Labels, labels},
    section::{Reading, Section},
};

/// Bonding, trunking, MTU and allowed networks of ports.
#[derive(Clone, Debug)]
pub struct NetworkLink {
    /// The document.
    pub document: Arc<DocumentRef>,
    /// How several ports become one.
    pub bonding: Bonding,
    /// The largest packet.
    pub mtu: i64,
    /// The speed, for people.
    pub linkspeed: String,
    /// Whether tagged networks are carried.
    pub trunk_mode: TrunkMode,
    /// The network carried untagged.
    pub native_network: Field<String>,
    /// The networks it may carry.
    pub allowed_networks: Vec<Set<String>>,
    /// Labels; `noconfig` keeps every driver away from the link.
    pub labels: Labels,
}

/// How several ports become one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bonding {
    /// The mode.
    pub mode: BondMode,
    /// How often the ports are looked at, in milliseconds.
    pub mon_rate: Option<i64>,
    /// How long a port waits before it is used, in milliseconds.
    pub up_delay: Option<i64>,
    /// How long a port waits before it is given up, in milliseconds.
    pub down_delay: Option<i64>,
    /// By what traffic is spread; LACP only.
    pub hash: Option<String>,
    /// How often the peer is heard; LACP only.
    pub peer_rate: Option<String>,
}

/// The bonding modes there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BondMode {
    /// No bond.
    Disabled,
    /// LACP.
    Lacp,
    /// Packets go round.
    BalanceRoundRobin,
    /// One port works, the others wait.
    ActiveBackup,
}

impl BondMode {
    const ALL: [Self; 4] = [Self::Disabled, Self::Lacp, Self::BalanceRoundRobin, Self::ActiveBackup];

    /// As documents spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Disabled => "disabled",
            Self::Lacp => "802.3ad",
            Self::BalanceRoundRobin => "balance-rr",
            Self::ActiveBackup => "active-backup",
        }
    }
}

/// Whether a link carries tagged networks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrunkMode {
    /// One network, untagged.
    Disabled,
    /// VLAN tags.
    Tagged,
}

impl TrunkMode {
    const ALL: [Self; 2] = [Self::Disabled, Self::Tagged];

    /// As documents spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Disabled => "disabled",
            Self::Tagged => "802.1q",
        }
    }
}

impl NetworkLink {
    pub(super) fn read(reading: &mut Reading, data: &Section) -> Self {
        data.only(reading, &["bonding", "mtu", "linkspeed", "trunking", "allowed_networks", "labels"]);
        let trunking = data.section(reading, "trunking");
        if let Some(trunking) = &trunking {
            trunking.only(reading, &["mode", "default_network"]);
        }
        let trunk_mode = trunking.as_ref().and_then(|section| {
            choice(reading, section, "mode", &TrunkMode::ALL.map(|mode| (mode.as_str(), mode)))
        });
        if !data.has("allowed_networks") {
            reading.missing(
                &data.at,
                "allowed_networks",
                "a link must say which networks it may carry".to_owned(),
            );
        }
        Self {
            document: reading.document(),
            bonding: Bonding::read(reading, data),
            mtu: data.integer(reading, "mtu").map_or(1500, |mtu| mtu.value),
            linkspeed: data.text(reading, "linkspeed").map_or_else(|| "auto".to_owned(), |speed| speed.value),
            trunk_mode: trunk_mode.unwrap_or(TrunkMode::Disabled),
            native_network: trunking.and_then(|trunking| trunking.text(reading, "default_network")),
            allowed_networks: data.texts(reading, "allowed_networks").unwrap_or_default(),
            labels: labels(reading, data),
        }
    }
}

impl Bonding {
    const NONE: Self = Self {
        mode: BondMode::Disabled,
        mon_rate: None,
        up_delay: None,
        down_delay: None,
        hash: None,
        peer_rate: None,
    };

    /// Options that a mode does not have stay unset even where they are written.
    fn read(reading: &mut Reading, data: &Section) -> Self {
        let Some(section) = data.section(reading, "bonding") else { return Self::NONE };
        section.only(reading, &["mode", "hash", "peer_rate", "mon_rate", "up_delay", "down_delay"]);
        let modes = BondMode::ALL.map(|mode| (mode.as_str(), mode));
        let mode = choice(reading, &section, "mode", &modes).unwrap_or(BondMode::Disabled);
        let mut milliseconds =
            |key, default| section.integer(reading, key).map_or(default, |number| number.value);
        let (mon_rate, up_delay, down_delay) =
            (milliseconds("mon_rate", 100), milliseconds("up_delay", 200), milliseconds("down_delay", 200));
        let mut option = |key, default: &str| {
            section.text(reading, key).map_or_else(|| default.to_owned(), |text| text.value)
        };
        let (hash, peer_rate) = (option("hash", "layer3+4"), option("peer_rate", "fast"));
        let bonded = mode != BondMode::Disabled;
        let lacp = mode == BondMode::Lacp;
        Self {
            mode,
            mon_rate: bonded.then_some(mon_rate),
            up_delay: bonded.then_some(up_delay),
            down_delay: bonded.then_some(down_delay),
            hash: lacp.then_some(hash),
            peer_rate: lacp.then_some(peer_rate),
        }
    }
}

/// A word out of a few; another is no mistake of shape but of value.
fn choice<T: Copy>(reading: &mut Reading, section: &Section, key: &str, choices: &[(&str, T)]) -> Option<T> {
    let word = section.text(reading, key)?;
    let found = choices.iter().find(|(name, _)| *name == word.value);
    if found.is_none() {
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        let message = format!("`{}` is not one of {}", word.value, names.join(", "));
        reading.invalid(&word.by.at, &section.path_of(key), message);
    }
    found.map(|(_, choice)| *choice)
}

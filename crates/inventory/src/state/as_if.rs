//! What a question assumes about the state of objects, as `KIND/NAME=STATE`, and the objects that questions are about.

use std::collections::BTreeMap;

use krm::kind::{QueryContext, Questioned};
use krm::status::Status;

use crate::choice::Choice;
use crate::kinds::device::Lifecycle;
use crate::kinds::{GROUP, Rack};

/// The kinds that can be in a state or fail: kind, plural and short name.
const KINDS: [(&str, &str, &str); 9] = [
    ("NetworkDevice", "networkdevices", "nd"),
    ("Node", "nodes", ""),
    ("Rack", "racks", ""),
    ("Cable", "cables", ""),
    ("Port", "ports", ""),
    ("Circuit", "circuits", ""),
    ("Site", "sites", ""),
    ("Provider", "providers", ""),
    ("Region", "regions", ""),
];

/// The words for states that are no lifecycle stages.
const WORDS: [(&str, Lifecycle); 4] = [
    ("Connected", Lifecycle::Active),
    ("Up", Lifecycle::Active),
    ("Down", Lifecycle::Failed),
    ("Decommissioned", Lifecycle::Retired),
];

/// An object that a question is about: `KIND/NAME`, or `rack/NAME:FEED` for a power feed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    /// Its kind.
    pub kind: &'static str,
    /// Its name.
    pub name: String,
    /// One of the rack's power feeds.
    pub feed: Option<String>,
}

impl Target {
    /// An object of a kind.
    pub fn new(kind: &'static str, name: &str) -> Target {
        Target { kind, name: name.to_owned(), feed: None }
    }

    /// The key of a rack's power feed.
    pub fn feed_key(rack: &str, feed: &str) -> String {
        format!("{}/{rack}:{feed}", <Rack as krm::kind::Resource>::KIND)
    }

    /// As `Kind/name`, or `Rack/name:feed`.
    pub fn key(&self) -> String {
        match &self.feed {
            Some(feed) => Target::feed_key(&self.name, feed),
            None => format!("{}/{}", self.kind, self.name),
        }
    }

    /// Parses a target without looking whether it is there.
    pub fn parse(text: &str) -> Result<Target, String> {
        let Some((word, name)) = text.split_once('/') else {
            return Err(format!("{text:?} is not KIND/NAME, such as networkdevice/fra1-spine1"));
        };
        let lower = word.trim().to_lowercase();
        let means = |(kind, plural, short): &&(&str, &str, &str)| {
            kind.to_lowercase() == lower || *plural == lower || (!short.is_empty() && *short == lower)
        };
        let Some((kind, ..)) = KINDS.iter().find(means) else {
            let known: Vec<String> = KINDS.iter().map(|(kind, ..)| kind.to_lowercase()).collect();
            return Err(format!("{text:?}: the kind must be one of {}", known.join(", ")));
        };
        let (name, feed) = match name.split_once(':') {
            Some((name, feed)) if *kind == "Rack" => (name, Some(feed.to_owned())),
            _ => (name, None),
        };
        if name.is_empty() || feed.as_deref() == Some("") {
            return Err(format!("{text:?} has no name"));
        }
        Ok(Target { kind, name: name.to_owned(), feed })
    }

    /// Fails if it does not exist, or whoever asks may not read it, in the same words.
    pub fn found(self, look: &dyn QueryContext) -> Result<Target, Status> {
        let plural = KINDS.iter().find(|(kind, ..)| *kind == self.kind).map_or("", |(_, plural, _)| plural);
        let at = krm::kind::Address {
            group: GROUP.to_owned(),
            plural: plural.to_owned(),
            namespace: String::new(),
            name: self.name.clone(),
        };
        let missing = |what: String| Err(Status::bad_request(format!("{what} not found")));
        if look.version(&at).is_none() {
            return missing(format!("{} {:?}", self.kind, self.name));
        }
        let Some(feed) = &self.feed else { return Ok(self) };
        let rack = look.find::<Rack>(&self.name);
        match rack.is_some_and(|rack| rack.spec.power_feeds.iter().any(|known| known.name == *feed)) {
            true => Ok(self),
            false => missing(format!("power feed {feed:?} of Rack {:?}", self.name)),
        }
    }

    /// Its kind's plural.
    pub fn plural(&self) -> &'static str {
        KINDS.iter().find(|(kind, ..)| *kind == self.kind).map_or("", |(_, plural, _)| plural)
    }
}

/// The states that a question assumes, by key.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AsIf {
    states: BTreeMap<String, Lifecycle>,
    is_about_sites: bool,
}

impl AsIf {
    /// Nothing but what is recorded.
    pub fn recorded() -> AsIf {
        AsIf::default()
    }

    /// What the option `asIf` of a question assumes. The objects must exist.
    pub fn asked(asked: &Questioned<'_>, look: &dyn QueryContext) -> Result<AsIf, Status> {
        let mut assumed = AsIf::default();
        for text in asked.values("asIf") {
            let (target, state) = AsIf::parse(text).map_err(Status::bad_request)?;
            assumed.assume(&target.found(look)?, state);
        }
        Ok(assumed)
    }

    /// Assumes a state of an object.
    pub fn assume(&mut self, target: &Target, state: Lifecycle) {
        self.is_about_sites |= matches!(target.kind, "Site" | "Provider" | "Region");
        self.states.insert(target.key(), state);
    }

    /// Parses `KIND/NAME=STATE`; the state in any case.
    pub fn parse(text: &str) -> Result<(Target, Lifecycle), String> {
        let Some((target, word)) = text.rsplit_once('=') else {
            return Err(format!("{text:?} is not KIND/NAME=STATE, such as networkdevice/fra1-spine1=failed"));
        };
        let target = Target::parse(target)?;
        let stage = Lifecycle::ALL.into_iter().find(|stage| stage.as_str().eq_ignore_ascii_case(word.trim()));
        let other = WORDS.iter().find(|(known, _)| known.eq_ignore_ascii_case(word.trim()));
        match stage.or(other.map(|(_, state)| *state)) {
            Some(state) => Ok((target, state)),
            None => Err(format!("{text:?}: the state must be one of {}", states().join(", "))),
        }
    }

    /// What is assumed about an object.
    pub fn of(&self, key: &str) -> Option<Lifecycle> {
        self.states.get(key).copied()
    }

    /// Whether anything is assumed.
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// Everything that is assumed, by key.
    pub fn all(&self) -> impl Iterator<Item = (&str, Lifecycle)> {
        self.states.iter().map(|(key, state)| (key.as_str(), *state))
    }

    /// Whether anything is assumed about sites, providers or regions, which have no state of their own.
    pub fn is_about_sites(&self) -> bool {
        self.is_about_sites
    }
}

/// The states that can be assumed, in lower case.
pub fn states() -> [&'static str; 9] {
    ["planned", "ordered", "staged", "active", "offline", "failed", "decommissioning", "retired", "connected"]
}

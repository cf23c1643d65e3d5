//! Finds candidates for a query in the ledger without reading any object.

use std::collections::HashMap;
use std::sync::Arc;

use apiserver::api::Api;
use apiserver::keys::{self, Parts};
use krm::kind::Kind;
use serde_json::json;
use store::Done;

use super::asked::Asked;
use super::compose::{self, Actor};
use super::ledger::{Seeker, Seen};
use super::policies::InForce;
use super::policy::Origin;
use super::sentences;
use super::sight::{Sight, plane};

/// What one page may cost, where passing one change costs 1 (some thirty nanoseconds).
const MOST: usize = 1_500_000;
/// What it costs to make a sentence and look for words in it.
const SAYING: usize = 10;
/// What it costs to try an expression.
const TRYING: usize = 150;
/// What it costs to ask for a right on one object.
const ASKING: usize = 150;
/// What it costs to read on in the log.
pub const DEEPENING: usize = 150_000;

/// Somebody who looks for what they asked for.
pub struct Seek<'a> {
    api: &'a Api,
    sight: &'a Sight,
    asked: &'a Asked,
    policies: &'a InForce<'a>,
    shelves: Vec<Lookup<Shelf>>,
    users: Vec<Lookup<Actor>>,
    /// What an expression says that asks for nothing but shelf and user.
    judged: HashMap<(u32, u32), bool>,
    names: Vec<&'a str>,
    life: Option<u16>,
    what: Option<Done>,
    effort: usize,
    most: usize,
}

/// What is known of a name by its number.
enum Lookup<T> {
    NotYet,
    Unwanted,
    Wanted(T),
}

/// Where objects stand, one of which may be wanted.
struct Shelf {
    plane: String,
    group: String,
    plural: String,
    namespace: String,
    kind: Arc<Kind>,
    /// Whether all of them may be read.
    is_seen: bool,
    /// Whether nobody wrote a policy for the kind.
    is_shipped: bool,
}

impl<'a> Seek<'a> {
    /// Somebody who has looked at nothing yet.
    pub fn new(api: &'a Api, sight: &'a Sight, asked: &'a Asked, policies: &'a InForce<'a>) -> Seek<'a> {
        Seek {
            api,
            sight,
            asked,
            policies,
            shelves: Vec::new(),
            users: Vec::new(),
            judged: HashMap::new(),
            names: asked.of("spec.resource.name").collect(),
            life: asked.of("spec.resource.uid").next().map(life),
            what: match asked.verb.as_str() {
                "create" => Some(Done::Made),
                "update" => Some(Done::Changed),
                "delete" => Some(Done::Removed),
                _ => None,
            },
            effort: 0,
            most: MOST,
        }
    }

    /// The same, who goes on to the end.
    pub fn untiring(self) -> Seek<'a> {
        Seek { most: usize::MAX, ..self }
    }

    /// Notes down what something cost.
    pub fn work(&mut self, effort: usize) {
        self.effort += effort;
    }

    fn shelf(&self, text: &str) -> Option<Shelf> {
        let parts = parts(text)?;
        let catalog = self.api.kinds().of(&plane(parts.plane));
        let kind = catalog.resource(parts.group, parts.plural)?.clone();
        let is_meant = self.asked.of("spec.resource.apiGroup").all(|group| group == parts.group)
            && self.asked.of("spec.resource.kind").all(|name| name == kind.names.kind)
            && self.asked.of("spec.resource.namespace").all(|name| name == parts.namespace);
        if !is_meant || !self.sight.reaches(parts.plane, u64::MAX) {
            return None;
        }
        let sees = |namespace: &str| self.sight.sees_all(parts.plane, parts.group, parts.plural, namespace);
        Some(Shelf {
            is_seen: sees("") || (!parts.namespace.is_empty() && sees(parts.namespace)),
            is_shipped: !self.policies.is_written(&kind),
            plane: parts.plane.to_owned(),
            group: parts.group.to_owned(),
            plural: parts.plural.to_owned(),
            namespace: parts.namespace.to_owned(),
            kind,
        })
    }
}

/// The parts of a key without the name.
pub fn parts(shelf: &str) -> Option<Parts<'_>> {
    keys::parts_of(shelf)
}

/// The bits of a uid that the ledger knows; of what is no uid none that fits.
fn life(uid: &str) -> u16 {
    let hex: String = uid.chars().filter(|char| *char != '-').collect();
    let ends = hex.get(..2).zip(hex.len().checked_sub(2).and_then(|end| hex.get(end..)));
    ends.and_then(|(first, last)| u16::from_str_radix(&format!("{first}{last}"), 16).ok()).unwrap_or(0)
}

impl Seeker for Seek<'_> {
    fn wants_shelf(&mut self, number: u32, shelf: &str) -> bool {
        let index = number as usize;
        if self.shelves.len() <= index {
            self.shelves.resize_with(index + 1, || Lookup::NotYet);
        }
        if matches!(self.shelves[index], Lookup::NotYet) {
            self.effort += ASKING;
            self.shelves[index] = self.shelf(shelf).map_or(Lookup::Unwanted, Lookup::Wanted);
        }
        matches!(self.shelves[index], Lookup::Wanted(_))
    }

    fn wants_user(&mut self, number: u32, user: &str) -> bool {
        let index = number as usize;
        if self.users.len() <= index {
            self.users.resize_with(index + 1, || Lookup::NotYet);
        }
        if matches!(self.users[index], Lookup::NotYet) {
            let is_wanted = self.asked.may_be_by(user);
            self.users[index] = if is_wanted { Lookup::Wanted(Actor::of(user)) } else { Lookup::Unwanted };
        }
        matches!(self.users[index], Lookup::Wanted(_))
    }

    fn wants(&mut self, seen: &Seen<'_>) -> bool {
        let shelf = self.shelves.get(seen.shelf as usize);
        let user = self.users.get(seen.user as usize);
        let (Some(Lookup::Wanted(shelf)), Some(Lookup::Wanted(actor))) = (shelf, user) else { return false };
        if self.what.is_some_and(|what| what != seen.what)
            || self.names.iter().any(|name| *name != seen.name)
            || self.life.is_some_and(|life| life != seen.life)
            // What parts of the system do is told by no policy that ships.
            || (shelf.is_shipped && actor.kind == "system")
        {
            return false;
        }
        if !shelf.is_seen {
            self.effort += ASKING;
            let of = Parts {
                plane: &shelf.plane,
                group: &shelf.group,
                plural: &shelf.plural,
                namespace: &shelf.namespace,
                name: seen.name,
            };
            if !self.sight.sees(&of) {
                return false;
            }
        }
        let asks = &self.asked.filter.asks;
        let has_to_be_tried = !self.asked.filter.is_equalities && !asks.what_is_unknown;
        if self.asked.words.is_empty() && !has_to_be_tried {
            return true;
        }
        let is_said = !self.asked.words.is_empty() || (has_to_be_tried && asks.summary);
        let sentence = match is_said && shelf.is_shipped {
            true => sentences::plain(&shelf.kind, &actor.name, seen.what, seen.name, &shelf.namespace),
            false => None,
        };
        self.effort += if is_said { SAYING } else { 0 };
        if let Some(sentence) = sentence.as_ref().filter(|_| !self.asked.words.is_empty()) {
            let sentence = sentence.to_lowercase();
            if !self.asked.words.iter().all(|word| sentence.contains(word)) {
                return false;
            }
        }
        // What the object says has to be read.
        if !has_to_be_tried || (asks.summary && sentence.is_none()) {
            return true;
        }
        let by_shelf_and_user = (seen.shelf, seen.user);
        if let Some(judged) = self.judged.get(&by_shelf_and_user) {
            return *judged;
        }
        self.effort += TRYING;
        let version = seen.at.version.to_string();
        let outline = json!({
            "metadata": {
                "name": if asks.id { compose::name(Origin::Audit, &version, &shelf.group, &shelf.kind.names.kind) } else { String::new() },
                "namespace": shelf.namespace,
            },
            "spec": {
                "changeSource": actor.change_source(), "summary": sentence.unwrap_or_default(),
                "actor": { "name": actor.name, "type": actor.kind, "uid": "" },
                "resource": {
                    "apiGroup": shelf.group, "kind": shelf.kind.names.kind, "name": seen.name,
                    "namespace": shelf.namespace, "uid": "",
                },
                "origin": { "type": Origin::Audit.as_str() },
            },
        });
        let holds = self.asked.filter.holds_of(&outline);
        if !asks.summary && !asks.id && !asks.name {
            self.judged.insert(by_shelf_and_user, holds);
        }
        holds
    }

    fn is_tired(&mut self, passed: usize) -> bool {
        self.effort += passed;
        self.effort >= self.most
    }
}

//! The policies in effect: those in the store, and the built-in one for kinds without any.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use apiserver::api::Api;
use apiserver::encode;
use apiserver::keys;
use apiserver::plane::Plane;
use krm::field::Path;
use krm::kind::Kind;
use serde_json::Value;
use store::Version;

use super::policy::Policy;
use super::sentences::shipped;
use super::{GROUP, shipping};

/// Where policies are.
pub const PLURAL: &str = "activitypolicies";

/// Group and kind.
type KindName = (String, String);
/// The policies of each kind, in the order they are tried.
type ByKind = HashMap<KindName, Vec<Arc<Policy>>>;

/// All policies, each read once.
#[derive(Default)]
pub struct Policies {
    written: Mutex<Written>,
    shipped: Mutex<HashMap<KindName, Option<Arc<Policy>>>>,
}

#[derive(Default)]
struct Written {
    /// The versions of all that were read.
    seen: Vec<Version>,
    by_kind: Arc<ByKind>,
}

/// The policies of one moment.
pub struct InForce<'a> {
    policies: &'a Policies,
    written: Arc<ByKind>,
}

impl Policies {
    /// Those that count now.
    pub fn in_force(&self, api: &Api) -> InForce<'_> {
        let snapshot = api.store().latest();
        let prefix = keys::of_kind(&Plane::root(), GROUP, PLURAL);
        let seen: Vec<Version> = snapshot.list(prefix.as_bytes()).map(|(_, entry)| entry.version()).collect();
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        if written.seen != seen {
            // One of somebody's own goes before one that ships and was changed.
            let (mut own, mut changed) = (ByKind::new(), ByKind::new());
            for (key, entry) in snapshot.list(prefix.as_bytes()) {
                let object = api.reveal(key, entry).ok().and_then(|bytes| encode::read(&bytes).ok());
                let Some(object) = object else { continue };
                let Some(spec) = object.get("spec") else { continue };
                let text = |field: &str| spec["resource"][field].as_str().unwrap_or_default().to_owned();
                let of = (text("apiGroup"), text("kind"));
                let ships = shipping::is_marked(&object);
                if ships && kind_of(api, &of).is_some_and(|kind| shipping::is_as_shipped(&object, &kind)) {
                    continue;
                }
                // What is wrong with one that is not ready stands in its status.
                let Ok(policy) = Policy::read(spec, &Path::of("spec")) else { continue };
                let list = if ships { &mut changed } else { &mut own };
                list.entry(of).or_default().push(Arc::new(policy));
            }
            changed.extend(own);
            let by_kind = changed;
            *written = Written { seen, by_kind: Arc::new(by_kind) };
        }
        InForce { policies: self, written: written.by_kind.clone() }
    }

    fn shipped(&self, kind: &Kind) -> Option<Arc<Policy>> {
        let of = (kind.group.clone(), kind.names.kind.clone());
        let mut known = self.shipped.lock().unwrap_or_else(PoisonError::into_inner);
        known
            .entry(of)
            .or_insert_with(|| Policy::read(&shipped(kind), &Path::of("spec")).ok().map(Arc::new))
            .clone()
    }
}

/// A kind that is served in the root or in projects.
fn kind_of(api: &Api, (group, kind): &KindName) -> Option<Arc<Kind>> {
    let (root, project) = (api.kinds().of(&Plane::root()), api.kinds().of(&Plane::project("-")));
    root.kind(group, kind).or_else(|| project.kind(group, kind)).cloned()
}

impl InForce<'_> {
    /// The policies for a kind, in the order they are tried.
    pub fn of(&self, kind: &Kind) -> Vec<Arc<Policy>> {
        match self.written.get(&(kind.group.clone(), kind.names.kind.clone())) {
            Some(written) => written.clone(),
            None => self.policies.shipped(kind).into_iter().collect(),
        }
    }

    /// Whether somebody wrote one for it.
    pub fn is_written(&self, kind: &Kind) -> bool {
        self.written.contains_key(&(kind.group.clone(), kind.names.kind.clone()))
    }

    /// Whether a policy that somebody wrote tells of events.
    pub fn tell_of_events(&self) -> bool {
        self.written.values().flatten().any(|policy| policy.tells_of_events())
    }

    /// What the policies for a kind say of a record.
    pub fn tell(
        &self,
        kind: &Kind,
        origin: super::policy::Origin,
        values: &Value,
    ) -> Option<krm::cel::Linked> {
        for policy in self.of(kind) {
            match policy.tell(origin, values) {
                Ok(Some((_, said))) => return Some(said),
                Ok(None) => {}
                Err(why) => {
                    tracing::debug!(
                        kind = kind.names.kind,
                        why,
                        "failed to evaluate an ActivityPolicy on a record"
                    );
                    return None;
                }
            }
        }
        None
    }
}

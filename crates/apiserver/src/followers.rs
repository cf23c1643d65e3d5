//! State derived from a watch on the store: custom resources, RBAC and authorizer plugins.

mod reached;

use std::sync::Arc;
use std::time::Duration;

use krm::Object;
use krm::kind::EffectPlugin;
use store::{Key, Snapshot, Version, Watch};
use tokio::sync::Notify;

use self::reached::Reached;
use crate::api::Api;
use crate::definitions::Definitions;
use crate::encode;
use crate::keys;
use crate::population::Population;
use crate::retention::Policies;
use crate::rights::Rights;

/// After this it is looked again whether a commit was handed on.
const HANDED_ON: Duration = Duration::from_millis(5);

/// Everything that follows the store.
pub struct Followers {
    /// Kinds that users defined.
    pub definitions: Definitions,
    /// Who may do what.
    pub rights: Rights,
    /// How much there is in each project.
    pub population: Population,
    /// Effects on changes of any kind.
    pub effects: Vec<Arc<dyn EffectPlugin>>,
    /// Everything up to here was taken in.
    reached: Reached,
    /// Somebody waits for more to be taken in.
    wanted: Notify,
}

impl Default for Followers {
    fn default() -> Followers {
        Followers::with(Rights::default(), Vec::new())
    }
}

impl Followers {
    /// With these rights and effects, which know of nothing yet.
    pub fn with(rights: Rights, effects: Vec<Arc<dyn EffectPlugin>>) -> Followers {
        Followers {
            definitions: Definitions::default(),
            rights,
            population: Population::default(),
            effects,
            reached: Reached::default(),
            wanted: Notify::new(),
        }
    }

    /// Whether anything here depends on objects of this group.
    pub fn follows(&self, group: &str) -> bool {
        follows(group)
            || self.rights.others().iter().any(|other| other.settles(group))
            || self.effects.iter().any(|plugin| plugin.follows().iter().any(|(of, _)| *of == group))
    }

    fn is_of_interest(&self, key: &Key) -> bool {
        keys::parts(key).is_some_and(|parts| {
            follows(parts.group)
                || Policies::is_one(&parts)
                || self.rights.others().iter().any(|other| other.wants(&parts))
                || self.effects.iter().any(|plugin| follows_kind(&**plugin, &parts))
        })
    }

    /// Takes in everything that is there.
    pub async fn load(&self, api: &Api, snapshot: &Snapshot) {
        self.population.load(snapshot);
        for (key, entry) in snapshot.list(b"") {
            if self.is_of_interest(key)
                && let Ok(object) = api.reveal(key, entry).and_then(|bytes| encode::read(&bytes))
            {
                self.take_in(api, key, Some((&object, entry.version()))).await;
            }
        }
        self.reached.set(snapshot.version().get());
    }

    /// Follows the store until it is closed.
    pub async fn follow(&self, api: &Api, mut watch: Watch) -> store::Result<()> {
        loop {
            let events = tokio::select! {
                // In this order, not in one drawn at random: a simulation repeats itself.
                biased;
                events = watch.next() => events?,
                // A commit that changes no object, such as one of a lease, wakes nobody: it is passed when asked for.
                () = self.wanted.notified() => watch.ready()?,
            };
            for event in events {
                if event.before().is_some() != event.after().is_some() {
                    self.population.count(event.key(), event.after().is_some());
                }
                if !self.is_of_interest(event.key()) {
                    continue;
                }
                let after = event.after().and_then(|entry| {
                    let bytes = api.reveal(event.key(), entry).ok()?;
                    Some((encode::read(&bytes).ok()?, entry.version()))
                });
                self.take_in(api, event.key(), after.as_ref().map(|(object, version)| (object, *version)))
                    .await;
            }
            self.reached.set(watch.position().get());
        }
    }

    /// Nothing more will be taken in: nobody waits for it any longer.
    pub fn stop(&self) {
        self.reached.set(u64::MAX);
    }

    /// Waits until everything up to a version was taken in.
    pub async fn caught_up(&self, version: Version) {
        while !self.reached.is(version.get()) {
            self.wanted.notify_one();
            // What was committed may take a moment to be handed on.
            let _ = tokio::time::timeout(HANDED_ON, self.reached.wait_for(version.get())).await;
        }
    }

    async fn take_in(&self, api: &Api, key: &Key, after: Option<(&Object, Version)>) {
        let Some(parts) = keys::parts(key) else { return };
        self.rights.take_in(api, &parts, after.map(|(object, _)| object));
        for plugin in self.effects.iter().filter(|plugin| follows_kind(&***plugin, &parts)) {
            let project = Some(parts.plane).filter(|plane| !plane.is_empty());
            plugin.take_in(project, &parts.address(), after.map(|(object, _)| object));
        }
        api.kinds().retention.take_in(&parts, after.map(|(object, _)| object));
        self.definitions.take_in(api, &parts, after.map(|(object, version)| (object, version.get()))).await;
    }
}

fn follows_kind(plugin: &dyn EffectPlugin, parts: &keys::Parts<'_>) -> bool {
    plugin.follows().contains(&(parts.group, parts.plural))
}

fn follows(group: &str) -> bool {
    matches!(group, crate::authz::RBAC_GROUP | crate::definitions::GROUP)
}

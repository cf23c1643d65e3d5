//! State derived from a watch on the store: custom resources, RBAC and authorizer plugins.

use std::time::Duration;

use krm::Object;
use store::{Key, Snapshot, Version, Watch};
use tokio::sync::{Notify, watch};

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
    /// Everything up to here was taken in.
    reached: watch::Sender<u64>,
    /// Somebody waits for more to be taken in.
    wanted: Notify,
}

impl Default for Followers {
    fn default() -> Followers {
        Followers::with(Rights::default())
    }
}

impl Followers {
    /// With these rights, which know of nothing yet.
    pub fn with(rights: Rights) -> Followers {
        Followers {
            definitions: Definitions::default(),
            rights,
            population: Population::default(),
            reached: watch::Sender::new(0),
            wanted: Notify::new(),
        }
    }

    /// Whether anything here depends on objects of this group.
    pub fn follows(&self, group: &str) -> bool {
        follows(group) || self.rights.others().iter().any(|other| other.settles(group))
    }

    fn is_of_interest(&self, key: &Key) -> bool {
        keys::parts(key).is_some_and(|parts| {
            follows(parts.group)
                || Policies::is_one(&parts)
                || self.rights.others().iter().any(|other| other.wants(&parts))
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
        self.reached.send_replace(snapshot.version().get());
    }

    /// Follows the store until it is closed.
    pub async fn follow(&self, api: &Api, mut watch: Watch) -> store::Result<()> {
        loop {
            let events = tokio::select! {
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
            self.reached.send_replace(watch.position().get());
        }
    }

    /// Nothing more will be taken in: nobody waits for it any longer.
    pub fn stop(&self) {
        self.reached.send_replace(u64::MAX);
    }

    /// Waits until everything up to a version was taken in.
    pub async fn caught_up(&self, version: Version) {
        let mut reached = self.reached.subscribe();
        while *reached.borrow_and_update() < version.get() {
            self.wanted.notify_one();
            // The sender lives as long as this does; what was committed may take a moment to be handed on.
            let arrived = reached.wait_for(|reached| *reached >= version.get());
            let _ = tokio::time::timeout(HANDED_ON, arrived).await;
        }
    }

    async fn take_in(&self, api: &Api, key: &Key, after: Option<(&Object, Version)>) {
        let Some(parts) = keys::parts(key) else { return };
        self.rights.take_in(api, &parts, after.map(|(object, _)| object));
        api.kinds().retention.take_in(&parts, after.map(|(object, _)| object));
        self.definitions.take_in(api, &parts, after.map(|(object, version)| (object, version.get()))).await;
    }
}

fn follows(group: &str) -> bool {
    matches!(group, crate::authz::RBAC_GROUP | crate::definitions::GROUP)
}

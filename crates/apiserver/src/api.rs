//! The API server without its sockets: the store, the kinds and what every request needs of them.

use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt;
use krm::status::Status;
use krm::time::Moment;
use reconcile::backoff::Backoff;
use reconcile::feature::FeatureGates;
use store::{Entry, Key, Revision, Store, Version};
use tokio::task::JoinHandle;

use crate::catalog::Kinds;
use crate::controllers::running::Controllers;
use crate::followers::Followers;
use crate::in_process::PublicApi;
use crate::outgoing::Outgoing;
use crate::read::answers::KeptAnswers;
use crate::read::parsed::ParsedObjects;
use crate::read::shown::Shown;
use crate::rights::Rights;
use crate::server_module::Plugins;
use crate::write::effects::amended::Amended;
use crate::write::{self, fence};

/// The first pauses of the back-off are made for events in one process; a store is left alone for longer: 160 ms at first.
const FIRST_PAUSE: u32 = 5;
/// The pauses grow up to ten seconds.
const LONGEST_PAUSE: u32 = 7;

/// What all requests share.
#[derive(Clone)]
pub struct Api(Arc<Shared>);

struct Shared {
    store: Arc<dyn Store>,
    kinds: Arc<Kinds>,
    followers: Followers,
    is_following: AtomicBool,
    shown: Shown,
    parsed: ParsedObjects,
    answers: KeptAnswers,
    amended: Arc<Amended>,
    controllers: Controllers,
    key_files: OnceLock<Vec<store::KeyNote>>,
    gates: OnceLock<FeatureGates>,
    token_issuers: OnceLock<Vec<String>>,
    shortcomings: OnceLock<Vec<String>>,
    public: OnceLock<PublicApi>,
    outgoing: OnceLock<Arc<Outgoing>>,
    checkpoints: OnceLock<Arc<dyn store::CheckpointKeeper>>,
}

impl Api {
    /// A server on this store, whose model must be [`crate::index::Index`] over the same kinds. It knows all that is
    /// there, and the task that comes with it keeps it so until the store is closed.
    pub async fn start(store: Arc<dyn Store>, kinds: Arc<Kinds>) -> store::Result<(Api, JoinHandle<()>)> {
        Api::start_beside(store, kinds, Plugins::default()).await
    }

    /// The same with plugins of modules.
    pub async fn start_beside(
        store: Arc<dyn Store>,
        kinds: Arc<Kinds>,
        plugins: Plugins,
    ) -> store::Result<(Api, JoinHandle<()>)> {
        let api = Api(Arc::new(Shared {
            store,
            kinds,
            followers: Followers::with(Rights::with_plugins(plugins.authorizers), plugins.effects),
            is_following: AtomicBool::new(true),
            shown: Shown::default(),
            parsed: ParsedObjects::default(),
            answers: KeptAnswers::default(),
            amended: Arc::default(),
            controllers: Controllers::default(),
            key_files: OnceLock::new(),
            gates: OnceLock::new(),
            token_issuers: OnceLock::new(),
            shortcomings: OnceLock::new(),
            public: OnceLock::new(),
            outgoing: OnceLock::new(),
            checkpoints: OnceLock::new(),
        }));
        let snapshot = api.store().current().await?;
        api.0.followers.load(&api, &snapshot).await;
        let watch = api.store().watch(b"", snapshot.version())?;
        let following = api.clone();
        let task = tokio::spawn(async move {
            // What it shares is changed by single steps; nobody decides by it after this.
            if AssertUnwindSafe(following.follow(watch)).catch_unwind().await.is_err() {
                tracing::error!("the watch on custom resource definitions and access rules panicked");
            }
            following.0.is_following.store(false, Ordering::Relaxed);
            following.0.followers.stop();
        });
        Ok((api, task))
    }

    /// Follows the store; what was missed while it could not be followed is read again.
    async fn follow(&self, mut watch: store::Watch) {
        loop {
            match self.0.followers.follow(self, watch).await {
                Ok(()) | Err(store::Error::Closed) => return,
                Err(error) => {
                    tracing::warn!(%error, "lost the watch on the store; reloading custom resource definitions and access rules")
                }
            }
            let Some(resumed) = self.resumed().await else { return };
            watch = resumed;
        }
    }

    /// Reads everything anew and watches from there, however long the store can't be read; `None` once it is closed. A server
    /// that stopped following would decide by outdated definitions and permissions for ever.
    async fn resumed(&self) -> Option<store::Watch> {
        let (pauses, mut attempts) = (Backoff::without_jitter(), 0);
        loop {
            let watch = match self.store().current().await {
                Ok(snapshot) => {
                    self.0.followers.load(self, &snapshot).await;
                    self.store().watch(b"", snapshot.version())
                }
                Err(error) => Err(error),
            };
            match watch {
                Ok(watch) => return Some(watch),
                Err(store::Error::Closed) => return None,
                Err(error) => {
                    tracing::warn!(%error, "can't read the store to follow it again; trying again");
                }
            }
            attempts += 1;
            tokio::time::sleep(pauses.pause(FIRST_PAUSE + attempts.min(LONGEST_PAUSE))).await;
        }
    }

    /// Says which key files the server has besides those of the store. Backups name them.
    pub fn name_key_files(&self, files: Vec<store::KeyNote>) {
        let _ = self.0.key_files.set(files);
    }

    /// Says which feature gates the server has, and which are open.
    pub fn set_feature_gates(&self, gates: FeatureGates) {
        let _ = self.0.gates.set(gates);
    }

    /// Says what the machine of the server lacks, a sentence for each, with the next step. The server works without it.
    pub fn name_shortcomings(&self, shortcomings: Vec<String>) {
        let _ = self.0.shortcomings.set(shortcomings);
    }

    /// What the machine of the server lacks.
    pub fn shortcomings(&self) -> &[String] {
        self.0.shortcomings.get().map_or(&[], Vec::as_slice)
    }

    /// Says what answers requests of the public API that are made in this process.
    pub fn serve_in_process(&self, public: PublicApi) {
        let _ = self.0.public.set(public);
    }

    /// The public API, for faces of this server. There is none before the server listens.
    pub fn public(&self) -> Option<&PublicApi> {
        self.0.public.get()
    }

    /// Says where the newest checkpoint of the history is kept besides in the store.
    pub fn keep_checkpoints_at(&self, keeper: Arc<dyn store::CheckpointKeeper>) {
        let _ = self.0.checkpoints.set(keeper);
    }

    /// Where the newest checkpoint of the history is kept besides in the store.
    pub fn checkpoint_keeper(&self) -> Option<&Arc<dyn store::CheckpointKeeper>> {
        self.0.checkpoints.get()
    }

    /// Says what may be called for projects.
    pub fn set_outgoing(&self, outgoing: Outgoing) {
        let _ = self.0.outgoing.set(Arc::new(outgoing));
    }

    /// What may be called for projects.
    pub fn outgoing(&self) -> Arc<Outgoing> {
        self.0.outgoing.get().cloned().unwrap_or_default()
    }

    /// Says which issuers of tokens the server trusts, besides itself. Clients learn it to log in.
    pub fn name_token_issuers(&self, mut issuers: Vec<String>) {
        issuers.sort();
        issuers.dedup();
        let _ = self.0.token_issuers.set(issuers);
    }

    /// The issuers of tokens that the server trusts, sorted.
    pub fn token_issuers(&self) -> &[String] {
        self.0.token_issuers.get().map_or(&[], Vec::as_slice)
    }

    /// The feature gates of the server.
    pub fn feature_gates(&self) -> FeatureGates {
        self.0.gates.get().cloned().unwrap_or_default()
    }

    /// The key files that the server has besides those of the store.
    pub fn key_files(&self) -> &[store::KeyNote] {
        self.0.key_files.get().map_or(&[], Vec::as_slice)
    }

    /// The store.
    pub fn store(&self) -> &dyn Store {
        &*self.0.store
    }

    /// The kinds.
    pub fn kinds(&self) -> &Arc<Kinds> {
        &self.0.kinds
    }

    /// What watches were shown last.
    pub fn shown(&self) -> &Shown {
        &self.0.shown
    }

    /// The controllers that run in this process.
    pub fn controllers(&self) -> &Controllers {
        &self.0.controllers
    }

    /// What questions have read last.
    pub fn parsed(&self) -> &ParsedObjects {
        &self.0.parsed
    }

    /// What answers have computed last.
    pub fn answers(&self) -> &KeptAnswers {
        &self.0.answers
    }

    /// The objects that were amended last.
    pub fn amended(&self) -> &Arc<Amended> {
        &self.0.amended
    }

    /// Whether definitions and rights are still followed.
    pub fn is_following(&self) -> bool {
        self.0.is_following.load(Ordering::Relaxed)
    }

    /// What is kept in mind of the store's content.
    pub fn followers(&self) -> &Followers {
        &self.0.followers
    }

    /// Waits until a change of a definition or of rights counts here, so that it holds on the next request.
    pub async fn settle(&self, group: &str, revision: Revision) {
        if self.0.followers.follows(group) || self.kinds().has_planes(group) {
            self.0.followers.caught_up(revision.end()).await;
        }
    }

    /// Whether the server keeps any of these in mind, so that whoever wrote them has to wait until they count.
    pub fn follows_any<'a>(&self, mut keys: impl Iterator<Item = &'a Key>) -> bool {
        keys.any(|key| {
            let group = crate::keys::parts(key).map(|parts| parts.group);
            group.is_some_and(|group| self.0.followers.follows(group) || self.kinds().has_planes(group))
        })
    }

    /// Waits until everything up to a version counts here.
    pub async fn caught_up(&self, version: Version) {
        self.0.followers.caught_up(version).await;
    }

    /// Waits until everything that any server has written by now counts here.
    pub async fn know_all(&self) -> Result<(), Status> {
        let now = self.store().current().await.map_err(|error| store_failure(&error))?;
        self.caught_up(now.version()).await;
        Ok(())
    }

    /// The bytes of a stored object, opened when they are sealed.
    pub fn reveal(&self, key: &Key, entry: &Entry) -> Result<Bytes, Status> {
        if !entry.is_sealed() {
            return Ok(entry.bytes().clone());
        }
        self.0.store.reveal(key, entry).map_err(|error| store_failure(&error))
    }

    /// What time it is, by the clock of the store's environment.
    pub fn now(&self) -> Moment {
        let since = Duration::from_micros(self.store().environment().clock.now());
        Moment {
            seconds: i64::try_from(since.as_secs()).unwrap_or(i64::MAX),
            nanoseconds: since.subsec_nanos(),
        }
    }

    /// Random bytes of the store's environment: those of the operating system, except in a simulation.
    pub fn random<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        // Without randomness nothing else works either; what is left unset is at worst not unique, which the store
        // notices.
        let _ = self.store().environment().randomness.fill(&mut bytes);
        bytes
    }

    /// A new identity for a request or an operation: a random UUID.
    pub fn new_uid(&self) -> String {
        write::uuid(self.random())
    }

    /// A new identity for an object. Without randomness there is none: two objects must never share one.
    pub fn new_object_uid(&self) -> Result<String, Status> {
        let mut bytes = [0; 16];
        let drawn = self.store().environment().randomness.fill(&mut bytes);
        drawn.map_err(|error| Status::internal(format_args!("no identity for a new object: {error}")))?;
        Ok(write::uuid(bytes))
    }
}

/// What a client is told when the store could not.
pub fn store_failure(error: &store::Error) -> Status {
    use store::{Conflict, Error};
    match error {
        Error::Conflict(conflict @ Conflict::LeaseLost(name)) => {
            fence::not_held(name, &format!("{conflict}; nothing was written"))
        }
        Error::Conflict(conflict) => Status::failure(409, "Conflict", conflict.to_string()),
        Error::Contended { .. } => Status::too_many_requests(error.to_string(), 1),
        Error::Gone { .. } => Status::expired(error.to_string()),
        Error::Future { .. } => Status::timeout(error, 1),
        // Without a time to retry after: a client that repeats the write by itself might make it twice.
        Error::Unknown(_) => Status::failure(504, "Timeout", error.to_string()),
        Error::TooLarge { .. } => Status::too_large(error.to_string()),
        Error::Full(_) | Error::Unavailable(_) | Error::ReadOnly(_) | Error::Closed => {
            Status::unavailable(error.to_string())
        }
        Error::Invalid(why) => Status::bad_request(why.clone()),
        other => Status::internal(other),
    }
}

//! Keeps memory in step with etcd: one watch over everything live, applied revision by revision.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{mpsc, oneshot};

use super::client::wire::event::EventType;
use super::client::wire::{Event as WireEvent, WatchCreateRequest};
use super::client::{self};
use super::layout::{Live, end_of};
use super::load;
use super::shared::{Shared, failed, read_mark};
use crate::error::{Error, Result};
use crate::history::record::Head;
use crate::key::Key;
use crate::memory::Published;
use crate::memory::recent::{Commit, Event, Recent, Window};
use crate::memory::state::State;
use crate::version::{Revision, Version};

/// What others ask of the follower, which alone changes memory.
pub(crate) enum Ask {
    Compact(Revision, oneshot::Sender<()>),
    Reindex(oneshot::Sender<()>),
}

pub(crate) struct Follower {
    pub shared: Arc<Shared>,
    pub state: State,
    pub recent: Recent,
    pub window: Window,
    /// The revision of etcd that memory shows.
    pub reached: i64,
}

/// Between two tries to watch again.
const PAUSE: Duration = Duration::from_millis(100);
/// Between two tries to read everything anew.
const LONG_PAUSE: Duration = Duration::from_secs(2);

/// Why memory does not follow for now.
enum Lost {
    /// The watch ended.
    Watch(client::Error),
    /// A change can't be read. To leave it out would show what was never stored.
    Unreadable { revision: i64, error: Error },
}

impl Follower {
    /// Follows for ever: after an error from where it was, after a compaction from a new start.
    pub async fn run(mut self, mut asks: mpsc::Receiver<Ask>) {
        loop {
            let Err(lost) = self.follow(&mut asks).await;
            match lost {
                Lost::Watch(client::Error::Compacted { .. }) => {
                    tracing::warn!(
                        "etcd has compacted revisions that this server had not read yet: reloading everything"
                    );
                    if let Err(error) = self.start_anew().await {
                        tracing::warn!(%error, "etcd can't be read");
                    }
                }
                Lost::Watch(error) => tracing::warn!(%error, "lost touch with etcd"),
                Lost::Unreadable { revision, error } => self.reload_after(revision, &error).await,
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Reads everything as it is now, for as long as that fails. Until then the server says that it is not up to date.
    async fn reload_after(&mut self, revision: i64, error: &Error) {
        tracing::error!(revision, %error, "a change in etcd can't be read: reloading everything");
        self.shared.note_unreadable(Some(format!("revision {revision} of etcd can't be read: {error}")));
        while let Err(error) = self.start_anew().await {
            tracing::error!(%error, "etcd can't be read");
            self.shared.note_unreadable(Some(format!("what is stored in etcd can't be read: {error}")));
            tokio::time::sleep(LONG_PAUSE).await;
        }
        self.shared.note_unreadable(None);
    }

    async fn follow(&mut self, asks: &mut mpsc::Receiver<Ask>) -> Result<std::convert::Infallible, Lost> {
        let live = self.shared.layout.live();
        let request = WatchCreateRequest {
            range_end: end_of(&live),
            key: live,
            start_revision: self.reached + 1,
            ..WatchCreateRequest::default()
        };
        let mut watcher = self.shared.client.watch(request).await.map_err(Lost::Watch)?;
        loop {
            tokio::select! {
                response = watcher.next() => match response.map_err(Lost::Watch)? {
                    Some(response) => self.apply(&response.events)?,
                    None => return Err(Lost::Watch(ended())),
                },
                Some(ask) = asks.recv() => self.answer(ask),
            }
        }
    }

    /// Applies whole revisions, as the watcher hands them out.
    fn apply(&mut self, events: &[WireEvent]) -> Result<(), Lost> {
        for events in events.chunk_by(|a, b| revision_of(a) == revision_of(b)) {
            if let Some(revision) = events.first().map(revision_of)
                && revision > self.reached
            {
                self.apply_revision(revision, events)
                    .map_err(|error| Lost::Unreadable { revision, error })?;
                self.reached = revision;
            }
        }
        self.publish();
        Ok(())
    }

    fn apply_revision(&mut self, number: i64, events: &[WireEvent]) -> Result<()> {
        let revision = self.shared.revision(number);
        let indexer = &self.shared.memory.indexer;
        let mut changes = Vec::new();
        let mut time = 0;
        for event in events {
            let Some(kv) = &event.kv else { continue };
            match self.shared.layout.read_live(&kv.key) {
                Live::Object(key) => {
                    let key = Key::new(key)?;
                    // Deletions carry no value; writes of a commit come in its order, so the count is the place.
                    let version = Version::of(revision, changes.len() as u16);
                    let after = match event.r#type() {
                        EventType::Put => {
                            let (head, body) = Head::decode(&kv.value)?;
                            let head = Head { version, ..head };
                            // A copy: a slice would keep the whole answer in memory.
                            Some(Arc::new(head.entry(Bytes::copy_from_slice(body))))
                        }
                        EventType::Delete => None,
                    };
                    let before = self.state.set(indexer, &key, after.clone());
                    if before.is_some() || after.is_some() {
                        changes.push(Arc::new(Event::new(version, key, before, after)));
                    }
                }
                Live::Mark if event.r#type() == EventType::Put => {
                    if let Some((id, at)) = read_mark(&kv.value) {
                        time = at;
                        self.shared.saw_time(at);
                        self.shared.marks.seen(&id, number);
                    }
                }
                Live::Mark | Live::Other => {}
            }
        }
        self.state.revision = revision;
        if !changes.is_empty() {
            let time = if time == 0 { crate::clock::now() } else { time };
            self.recent.push(Commit { revision, time, events: changes });
        }
        Ok(())
    }

    fn answer(&mut self, ask: Ask) {
        match ask {
            Ask::Compact(through, done) => {
                self.shared.memory.drop_through(&mut self.recent, through.min(self.state.revision));
                self.publish();
                let _ = done.send(());
            }
            Ask::Reindex(done) => {
                self.state.reindex(&self.shared.memory.indexer);
                self.publish();
                self.shared.memory.forget_older();
                let _ = done.send(());
            }
        }
    }

    fn publish(&mut self) {
        self.shared.memory.trim(&mut self.recent, &self.window, crate::clock::now());
        let state = Arc::new(self.state.clone());
        self.shared.memory.publish(Published { state, recent: self.recent.clone() });
        self.shared.applied.send_replace(self.reached);
    }

    /// Reads everything as it is now. What happened in between nobody can tell, so older watches are gone.
    async fn start_anew(&mut self) -> Result<()> {
        let indexer = &self.shared.memory.indexer;
        let (state, reached) =
            load::present(&self.shared.client, &self.shared.layout, self.shared.offset, indexer).await?;
        self.shared.memory.forget_overflow();
        self.recent = Recent::after(state.revision);
        self.state = state;
        self.reached = reached;
        self.publish();
        Ok(())
    }
}

fn revision_of(event: &WireEvent) -> i64 {
    event.kv.as_ref().map_or(0, |kv| kv.mod_revision)
}

fn ended() -> client::Error {
    client::Error::Unreachable { endpoint: "the cluster".into(), cause: "the watch ended".into() }
}

impl From<client::Error> for Error {
    fn from(error: client::Error) -> Error {
        failed(error)
    }
}

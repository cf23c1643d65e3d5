//! A watch that goes on: across lost connections, restarts of the server and revisions that it no longer has.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use reconcile::backoff::{Backoff, Randomness, system_randomness};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::Instant;

use crate::error::{Error, Refusal, Result};
use crate::lines::Lines;
use crate::pages::{ListOptions, Pages, read};
use crate::planes;
use crate::sending::Client;

/// How long the server is asked to go on with a watch; up to half of it is added by chance.
const LASTS: Duration = Duration::from_secs(240);
/// How long a watch may say nothing before its connection is taken for dead: more than two bookmarks.
const SILENCE: Duration = Duration::from_secs(150);
/// The first pauses of the back-off are made for events in one process; a server is left alone for longer.
const FIRST_ATTEMPT: u32 = 5;
/// The pauses grow up to about twenty seconds.
const MOST_ATTEMPTS: u32 = 12;

/// Which object an event is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// The project whose control plane it is in, where all are watched; empty for the root and otherwise.
    pub project: String,
    /// Its namespace; empty if it has none.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

impl Key {
    fn of(object: &Value, is_across: bool) -> Key {
        let text = |field: &str| object["metadata"][field].as_str().unwrap_or("").to_owned();
        let project = if is_across { planes::of(object).to_owned() } else { String::new() };
        Key { project, namespace: text("namespace"), name: text("name") }
    }
}

/// What a watch tells.
#[derive(Debug, Clone, PartialEq)]
pub enum Event<T> {
    /// An object that was not there, or not told of, before.
    Added(T),
    /// An object in another state than the one that was told last.
    Changed(T),
    /// An object that is no longer there, or no longer selected.
    Deleted {
        /// Which one.
        key: Key,
        /// How it was last. `None` when it went while the watch could not see it.
        last: Option<T>,
    },
    /// Everything that there is has been told. It comes again whenever the watch had to list everything anew.
    Synced,
}

/// A watch of a collection: first all objects, then every change, in order.
///
/// It resumes after a lost connection at the version that it was at. When the server no longer has that version, it lists
/// everything again and tells the difference, deletions too. All it keeps is the version of each object.
///
/// Dropping it ends it.
pub struct Watch<T> {
    client: Client,
    path: String,
    options: ListOptions,
    /// Whether it is of all control planes.
    is_across: bool,
    phase: Phase,
    /// The version up to which everything was told.
    version: String,
    known: HashMap<Key, Known>,
    /// Counts lists, to find what is in none any more.
    round: u64,
    told: VecDeque<Result<Event<T>>>,
    failures: u32,
    paused_until: Option<Instant>,
    backoff: Backoff,
    randomness: Randomness,
}

struct Known {
    version: Box<str>,
    round: u64,
}

enum Phase {
    Listing(Pages<Value>),
    Opening,
    Watching { lines: Lines, silent_until: Instant, has_told: bool },
}

impl<T: DeserializeOwned> Watch<T> {
    pub(crate) fn new(client: Client, path: String, options: ListOptions) -> Watch<T> {
        let randomness = system_randomness();
        Watch {
            phase: Phase::Listing(Pages::new(client.clone(), path.clone(), options.clone())),
            client,
            path,
            options,
            is_across: false,
            version: String::new(),
            known: HashMap::new(),
            round: 0,
            told: VecDeque::new(),
            failures: 0,
            paused_until: None,
            backoff: Backoff::with_jitter(randomness.clone()),
            randomness,
        }
    }

    /// A watch of all control planes.
    pub(crate) fn across_planes(client: Client, path: String, options: ListOptions) -> Watch<T> {
        Watch { is_across: true, ..Watch::new(client, path, options) }
    }

    /// The resource version up to which everything was told; `None` while it lists, or has more to tell of what it has read.
    pub fn version(&self) -> Option<&str> {
        let is_listing = matches!(self.phase, Phase::Listing(_));
        (!is_listing && self.told.is_empty()).then_some(self.version.as_str())
    }

    /// The next event. It waits for as long as it takes: lost connections and servers that are away are no errors.
    ///
    /// An error is the server's refusal, or an object that is not of the type. The watch goes on when the next event is
    /// asked for.
    ///
    /// Cancel safe: no event is lost when the future is dropped.
    pub async fn next(&mut self) -> Result<Event<T>> {
        loop {
            if let Some(event) = self.told.pop_front() {
                return event;
            }
            if let Some(until) = self.paused_until {
                tokio::time::sleep_until(until).await;
                self.paused_until = None;
            }
            match &mut self.phase {
                Phase::Listing(pages) => {
                    let page = pages.next().await;
                    self.listed(page)?;
                }
                Phase::Opening => self.open().await?,
                Phase::Watching { lines, silent_until, .. } => {
                    let line = tokio::time::timeout_at(*silent_until, lines.next()).await;
                    match line {
                        Ok(Ok(Some(line))) => self.line(line)?,
                        Ok(Err(error)) => self.failed(error, Phase::Opening)?,
                        Ok(Ok(None)) | Err(_) => self.ended(),
                    }
                }
            }
        }
    }

    fn listed(&mut self, page: Result<Option<crate::pages::Page<Value>>>) -> Result<()> {
        match page {
            Ok(Some(page)) => {
                self.failures = 0;
                if page.is_first {
                    self.round += 1;
                }
                self.version = page.resource_version;
                for item in page.items {
                    self.found(item);
                }
                Ok(())
            }
            Ok(None) => {
                let round = self.round;
                let gone = self.known.extract_if(|_, known| known.round != round);
                self.told.extend(gone.map(|(key, _)| Ok(Event::Deleted { key, last: None })));
                self.told.push_back(Ok(Event::Synced));
                self.phase = Phase::Opening;
                Ok(())
            }
            Err(error) => {
                let again = self.pages();
                self.failed(error, Phase::Listing(again))
            }
        }
    }

    fn pages(&self) -> Pages<Value> {
        Pages::new(self.client.clone(), self.path.clone(), self.options.clone())
    }

    async fn open(&mut self) -> Result<()> {
        let part = f64::from(u16::try_from((self.randomness)() >> 48).unwrap_or(0)) / f64::from(u16::MAX);
        let lasts = LASTS.mul_f64(1.0 + part / 2.0);
        let request = self
            .options
            .request(&self.path)
            .query("watch", "true")
            .query("allowWatchBookmarks", "true")
            .query("resourceVersion", self.version.as_str())
            .query("timeoutSeconds", lasts.as_secs().to_string());
        match self.client.lines(&request).await {
            Ok(lines) => {
                let silent_until = Instant::now() + SILENCE;
                self.phase = Phase::Watching { lines, silent_until, has_told: false };
                Ok(())
            }
            Err(error) if error.is_expired() => {
                self.phase = Phase::Listing(self.pages());
                Ok(())
            }
            Err(error) => self.failed(error, Phase::Opening),
        }
    }

    /// The server ended it, or the connection broke.
    fn ended(&mut self) {
        let had_told = matches!(self.phase, Phase::Watching { has_told: true, .. });
        self.phase = Phase::Opening;
        // One that ends before it has told anything is not asked for again at once.
        match had_told {
            true => self.failures = 0,
            false => self.pause(),
        }
    }

    fn pause(&mut self) {
        self.failures = self.failures.saturating_add(1).min(MOST_ATTEMPTS - FIRST_ATTEMPT);
        self.paused_until = Some(Instant::now() + self.backoff.pause(FIRST_ATTEMPT + self.failures));
    }

    /// Tries again later. What does not pass by itself is told.
    fn failed(&mut self, error: Error, next: Phase) -> Result<()> {
        self.pause();
        self.phase = next;
        match error.is_passing() {
            true => {
                tracing::debug!(path = self.path, %error, "a watch is interrupted; trying again");
                Ok(())
            }
            false => Err(error),
        }
    }

    fn line(&mut self, mut line: Value) -> Result<()> {
        let object = line["object"].take();
        let version = object["metadata"]["resourceVersion"].as_str().unwrap_or("").to_owned();
        match line["type"].as_str().unwrap_or("") {
            "ADDED" | "MODIFIED" => self.found(object),
            "DELETED" => {
                let key = Key::of(&object, self.is_across);
                if self.known.remove(&key).is_some() {
                    let last = read(object, &self.path);
                    self.told.push_back(last.map(|last| Event::Deleted { key, last: Some(last) }));
                }
            }
            "BOOKMARK" => {}
            "ERROR" if object["code"] == 410 => {
                self.phase = Phase::Listing(self.pages());
                return Ok(());
            }
            "ERROR" => {
                let refusal = Refusal { status: object, hint: None };
                return self.failed(refusal.into(), Phase::Opening);
            }
            other => {
                let why = format!("{}: a watch event of the unknown type {other:?}", self.path);
                return self.failed(Error::Unreadable(why), Phase::Opening);
            }
        }
        self.version = version;
        if let Phase::Watching { has_told, silent_until, .. } = &mut self.phase {
            *has_told = true;
            *silent_until = Instant::now() + SILENCE;
        }
        Ok(())
    }

    /// Tells of an object, unless it was told in this state.
    fn found(&mut self, object: Value) {
        let key = Key::of(&object, self.is_across);
        let version = object["metadata"]["resourceVersion"].as_str().unwrap_or("").into();
        let round = self.round;
        let before = self.known.insert(key, Known { version, round });
        let is_known = before.is_some();
        if before.is_some_and(|before| object["metadata"]["resourceVersion"] == *before.version) {
            return;
        }
        let object = read(object, &self.path);
        self.told.push_back(object.map(if is_known { Event::Changed } else { Event::Added }));
    }
}

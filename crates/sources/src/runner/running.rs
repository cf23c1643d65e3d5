//! The life of a synchronizer: one of several processes holds the lease, and looks at the source when it is time or when it hears of
//! a change.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use client::{Client, ControllerLease};
use futures_util::StreamExt;
use reconcile::lease::{self, Terms};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::cycle::{Cycle, CycleError, Outcome, jittered, now};
use super::{Metrics, Server, status};
use crate::adapter::{Adapter, Change};
use crate::adapters;
use crate::http::Credentials;
use crate::kinds::source::{EventMode, Source};
use crate::sync::Memory;

/// How long changes are gathered before they are looked at.
const GATHERED: Duration = Duration::from_millis(20);
/// More changed hosts than this are looked at by listing everything.
const MOST: usize = 50;
/// The longest pause after failures.
const LONGEST: Duration = Duration::from_secs(300);
/// How often the Source is looked at, to see changes of its specification.
const LOOK: Duration = Duration::from_secs(5);

/// How a synchronizer runs.
pub struct Settings {
    /// Name of the Source.
    pub name: String,
    /// Credentials that count before those of the Source.
    pub credentials: Credentials,
    /// Changes that others tell of, such as a webhook.
    pub told: Option<mpsc::Receiver<serde_json::Value>>,
    /// The adapter, instead of the one that the Source names.
    pub adapter: Option<Arc<dyn Adapter>>,
    /// Whether it ends after one look.
    pub once: bool,
    /// Endpoint that counts before that of the Source.
    pub endpoint: Option<String>,
    /// Interval that counts before that of the Source.
    pub interval: Option<String>,
}

/// Runs until it is stopped. With `once`, gives what the look came to.
pub async fn run(
    client: &Client,
    settings: Settings,
    metrics: Arc<Metrics>,
    stop: CancellationToken,
) -> Option<Result<Outcome, CycleError>> {
    let name = settings.name.clone();
    let holder = format!("{}-{}-{:x}", host_name(), std::process::id(), now().seconds);
    let keeper = ControllerLease::new(client, &format!("source.{name}"), &holder);
    let server = Server::new(client, &name);
    let ended = Arc::new(std::sync::Mutex::new(None));
    let settings = Arc::new(tokio::sync::Mutex::new(settings));
    let work = |fence: client::Fence, cancelled: CancellationToken| {
        let (server, settings, metrics) = (server.fenced(&fence), settings.clone(), metrics.clone());
        let (ended, stop) = (ended.clone(), stop.clone());
        async move {
            let mut settings = settings.lock().await;
            let is_once = settings.once;
            let running =
                Running { server, settings: &mut settings, metrics: &metrics, memory: Memory::default() };
            let last = tokio::select! {
                () = cancelled.cancelled() => None,
                last = running.work() => last,
            };
            if is_once && last.is_some() {
                *ended.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = last;
                stop.cancel();
            }
        }
    };
    lease::hold(&format!("source.{name}"), &keeper, Terms::default(), &stop, work).await;
    let mut ended = ended.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    ended.take()
}

fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = name.trim();
    if name.is_empty() { "host".to_owned() } else { name.to_owned() }
}

struct Running<'a> {
    server: Server,
    settings: &'a mut Settings,
    metrics: &'a Metrics,
    memory: Memory,
}

/// Why a look is taken.
enum Reason {
    Time,
    Changed(BTreeSet<String>),
    Everything,
    SourceChanged,
}

impl Running<'_> {
    async fn work(mut self) -> Option<Result<Outcome, CycleError>> {
        let mut failures = 0;
        loop {
            let source = match self.source().await {
                Ok(source) => source,
                Err(error) => {
                    tracing::warn!(source = self.settings.name, %error, "the Source can't be read; trying again");
                    failures += 1;
                    tokio::time::sleep(pause(failures)).await;
                    continue;
                }
            };
            if source.spec.paused && !self.settings.once {
                tokio::time::sleep(LOOK).await;
                continue;
            }
            let credentials = match self.credentials(&source).await {
                Ok(credentials) => credentials,
                Err(error) => {
                    tracing::warn!(source = self.settings.name, %error, "the credentials can't be read; trying again");
                    failures += 1;
                    tokio::time::sleep(pause(failures)).await;
                    continue;
                }
            };
            let made = match &self.settings.adapter {
                Some(own) => Ok(own.clone()),
                None => adapters::of(&source.metadata.name, &source.spec, &credentials),
            };
            let adapter = match made {
                Ok(adapter) => adapter,
                Err(fault) => {
                    let ended = Err(CycleError::Source(fault));
                    self.tell(&source, &ended, None, None).await;
                    if self.settings.once {
                        return Some(ended);
                    }
                    tokio::time::sleep(LOOK).await;
                    continue;
                }
            };
            if let Some(ended) = self.with(source, &*adapter, &mut failures).await {
                return Some(ended);
            }
        }
    }

    async fn source(&self) -> Result<Source, client::Error> {
        let mut source = self.server.source().await?;
        if let Some(endpoint) = &self.settings.endpoint {
            source.spec.endpoint.clone_from(endpoint);
        }
        if self.settings.interval.is_some() {
            source.spec.interval.clone_from(&self.settings.interval);
        }
        Ok(source)
    }

    async fn credentials(&self, source: &Source) -> Result<Credentials, client::Error> {
        let mut credentials = self.server.credentials(source).await?;
        credentials.overlay(&self.settings.credentials);
        Ok(credentials)
    }

    /// Works with one version of the Source, until it changes.
    async fn with(
        &mut self,
        mut source: Source,
        adapter: &dyn Adapter,
        failures: &mut u32,
    ) -> Option<Result<Outcome, CycleError>> {
        let wants_events = source.spec.events.unwrap_or(EventMode::Auto) == EventMode::Auto;
        let mut changes = if wants_events { adapter.changes() } else { None };
        let system = adapter.probe().await.ok().map(|probe| probe.version);
        let mut reason = Reason::Everything;
        loop {
            let begun = Instant::now();
            let (mode, ended) = match &reason {
                Reason::Changed(ids) if ids.len() <= MOST => {
                    let ids: Vec<String> = ids.iter().cloned().collect();
                    let cycle = cycle(&self.server, self.metrics, &source, adapter);
                    match cycle.some(&ids, &mut self.memory).await {
                        Ok(None) => {
                            reason = Reason::Everything;
                            continue;
                        }
                        Ok(Some(outcome)) => ("event", Ok(outcome)),
                        Err(error) => ("event", Err(error)),
                    }
                }
                _ => {
                    let cycle = cycle(&self.server, self.metrics, &source, adapter);
                    ("full", cycle.everything(&mut self.memory).await)
                }
            };
            let is_believed = ended.as_ref().is_ok_and(|outcome| outcome.doubts.is_none());
            let counts = ended.as_ref().ok().map(|outcome| &outcome.counts);
            self.metrics.looked(mode, counts, is_believed, begun.elapsed(), now().seconds);
            match &ended {
                Err(error) => {
                    *failures += 1;
                    let reason = status::reason(error);
                    tracing::warn!(source = self.settings.name, reason, %error, "the source was not synchronized");
                }
                Ok(outcome) => {
                    *failures = 0;
                    let (written, observed) = (outcome.written, outcome.counts.observed);
                    tracing::info!(source = self.settings.name, mode, observed, written, "synchronized");
                }
            }
            if mode == "full" || ended.is_err() {
                let is_listening = Some(changes.is_some());
                self.tell(&source, &ended, system.as_deref(), is_listening).await;
                self.metrics.listens(changes.is_some());
            }
            if self.settings.once {
                return Some(ended);
            }
            let interval = match &ended {
                Ok(_) => source.spec.interval(changes.is_some()).saturating_sub(begun.elapsed()),
                Err(_) => pause(*failures),
            };
            reason = self.wait(&source, adapter, &mut changes, interval).await;
            match reason {
                Reason::SourceChanged => return None,
                _ => {
                    if let Ok(now) = self.source().await {
                        source.status = now.status;
                    }
                }
            }
            if matches!(reason, Reason::Everything) && changes.is_none() && wants_events {
                changes = adapter.changes();
            }
        }
    }

    async fn tell(
        &self,
        source: &Source,
        ended: &Result<Outcome, CycleError>,
        system: Option<&str>,
        is_listening: Option<bool>,
    ) {
        let Some(new) = status::after(source, ended, system, is_listening, now()) else { return };
        if let Err(error) = self.server.tell(&new).await {
            tracing::warn!(source = self.settings.name, %error, "the status of the Source can't be written");
        }
    }

    /// Waits until there is a reason for the next look.
    async fn wait(
        &mut self,
        source: &Source,
        adapter: &dyn Adapter,
        changes: &mut Option<crate::adapter::Changes>,
        interval: Duration,
    ) -> Reason {
        let time = tokio::time::sleep(interval);
        tokio::pin!(time);
        let mut look = tokio::time::interval(LOOK);
        look.tick().await;
        let mut ids: BTreeSet<String> = BTreeSet::new();
        let mut deadline: Option<tokio::time::Instant> = None;
        loop {
            let gathered = async {
                match deadline {
                    Some(deadline) => tokio::time::sleep_until(deadline).await,
                    None => std::future::pending().await,
                }
            };
            let change = async {
                match changes {
                    Some(changes) => changes.next().await,
                    None => std::future::pending().await,
                }
            };
            let told = async {
                match &mut self.settings.told {
                    Some(told) => told.recv().await,
                    None => std::future::pending().await,
                }
            };
            let heard = tokio::select! {
                () = &mut time => return Reason::Time,
                () = gathered => return Reason::Changed(ids),
                _ = look.tick() => {
                    match self.source().await {
                        Ok(now) if now.spec != source.spec || now.metadata.uid != source.metadata.uid => return Reason::SourceChanged,
                        _ => continue,
                    }
                }
                change = change => match change {
                    Some(Ok(change)) => Some(change),
                    Some(Err(fault)) => {
                        tracing::warn!(source = self.settings.name, %fault, "changes are no longer heard of; listing everything");
                        *changes = None;
                        self.metrics.listens(false);
                        tokio::time::sleep(jittered(Duration::from_secs(1))).await;
                        return Reason::Everything;
                    }
                    None => {
                        *changes = None;
                        return Reason::Everything;
                    }
                },
                body = told => match body {
                    Some(body) => adapter.notified(&body),
                    None => { self.settings.told = None; None }
                },
            };
            match heard {
                Some(Change::Host(id)) => {
                    self.metrics.heard("host");
                    ids.insert(id);
                    deadline.get_or_insert_with(|| tokio::time::Instant::now() + GATHERED);
                }
                Some(Change::Removed(_)) => {
                    self.metrics.heard("removed");
                    return Reason::Everything;
                }
                Some(Change::Everything) => {
                    self.metrics.heard("everything");
                    return Reason::Everything;
                }
                Some(Change::Alive) | None => {}
            }
        }
    }
}

fn cycle<'a>(
    server: &'a Server,
    metrics: &'a Metrics,
    source: &'a Source,
    adapter: &'a dyn Adapter,
) -> Cycle<'a> {
    Cycle { server, source, adapter, metrics, is_rehearsal: false }
}

fn pause(failures: u32) -> Duration {
    let doubled = Duration::from_secs(1).saturating_mul(1 << failures.min(9));
    jittered(doubled.min(LONGEST))
}

//! One look at the source: list or fetch, plan, write.

use std::time::Duration;

use krm::time::Moment;

use super::server::{self, Done, Server, Written};
use super::{Metrics, wire};
use crate::adapter::{Adapter, Fault};
use crate::kinds::source::{Counts, Doubts, HostError, Source};
use crate::kinds::source_finding::SourceFindingSpec;
use crate::sync::{Listing, Memory, Plan, Planner, Policy, Write};

/// How often a page is asked for again.
const TRIES: u32 = 5;

/// One look at a source.
pub struct Cycle<'a> {
    /// The server.
    pub server: &'a Server,
    /// The Source.
    pub source: &'a Source,
    /// Its adapter.
    pub adapter: &'a dyn Adapter,
    /// Numbers for monitoring.
    pub metrics: &'a Metrics,
    /// Whether nothing is stored.
    pub is_rehearsal: bool,
}

/// What a look came to.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Numbers of hosts.
    pub counts: Counts,
    /// What is not believed.
    pub doubts: Option<Doubts>,
    /// Hosts that could not be read or written.
    pub errors: Vec<HostError>,
    /// What would be made, changed, marked or deleted, for people; of rehearsals.
    pub lines: Vec<String>,
    /// Hosts and classes that were created, changed or deleted.
    pub written: usize,
}

/// Why a look failed.
#[derive(Debug, thiserror::Error)]
pub enum CycleError {
    /// The source could not be read.
    #[error("{0}")]
    Source(#[from] Fault),
    /// The server could not be asked.
    #[error("{0}")]
    Server(#[from] client::Error),
    /// The server refused what was written.
    #[error("{0}")]
    Call(#[from] super::grpc::CallError),
}

impl Cycle<'_> {
    /// Lists everything, and writes what differs.
    pub async fn everything(&self, memory: &mut Memory) -> Result<Outcome, CycleError> {
        let listing = self.list().await?;
        let policy = self.policy();
        let known = self.server.findings().await?;
        let now = now();
        let begun: &Memory = memory;
        let planner = self.server.show_all(|| Planner::new(&policy, &listing, begun, now)).await?;
        let plan = planner.finish(&known);
        self.execute(&policy, &listing, plan, &known, memory, now).await
    }

    /// Fetches some hosts, and writes what differs. `None` if everything has to be listed.
    pub async fn some(&self, ids: &[String], memory: &mut Memory) -> Result<Option<Outcome>, CycleError> {
        let mut listing = Listing::default();
        for id in ids {
            let Some(record) = self.adapter.fetch(id).await? else { return Ok(None) };
            // A class that nobody has written yet comes with everything.
            listing.take_in(crate::adapter::Page { hosts: vec![record], ..Default::default() });
        }
        let policy = self.policy();
        let known = self.server.findings().await?;
        let now = now();
        let mut planner = Planner::new(&policy, &listing, memory, now);
        self.server.show_some(&listing, &mut planner).await?;
        let plan = planner.finish(&known);
        if plan.doubts.is_some() {
            return Ok(None);
        }
        self.execute(&policy, &listing, plan, &known, memory, now).await.map(Some)
    }

    fn policy(&self) -> Policy {
        Policy::of(&self.source.metadata.name, &self.source.spec)
    }

    async fn list(&self) -> Result<Listing, Fault> {
        let mut listing = Listing::default();
        let mut after: Option<String> = None;
        loop {
            let page = self.page(after.as_deref()).await?;
            let next = page.next.clone();
            listing.take_in(page);
            match next {
                None => break,
                Some(next) => after = Some(next),
            }
        }
        listing.is_complete = true;
        Ok(listing)
    }

    /// A page; what passes is tried again, from where it was cut.
    async fn page(&self, after: Option<&str>) -> Result<crate::adapter::Page, Fault> {
        let mut pause = Duration::from_millis(200);
        for attempt in 1.. {
            let begun = std::time::Instant::now();
            let page = self.adapter.page(after).await;
            self.metrics.asked("page", page.as_ref().err().map(|fault| fault.kind), begun.elapsed());
            match page {
                Err(fault) if fault.is_passing() && attempt < TRIES => {
                    tracing::debug!(source = self.source.metadata.name, %fault, "a page failed; trying again");
                    tokio::time::sleep(jittered(pause)).await;
                    pause *= 3;
                }
                page => return page,
            }
        }
        Err(Fault::new(crate::adapter::FaultKind::TimedOut, "the list was given up"))
    }

    async fn execute(
        &self,
        policy: &Policy,
        listing: &Listing,
        plan: Plan,
        known: &std::collections::BTreeMap<String, crate::kinds::SourceFinding>,
        memory: &mut Memory,
        now: Moment,
    ) -> Result<Outcome, CycleError> {
        memory.saw(&plan, now);
        let mut outcome = Outcome { counts: plan.counts, doubts: plan.doubts.clone(), ..Outcome::default() };
        let unreadable = listing
            .unreadable
            .iter()
            .map(|(host, why)| HostError { host: host.clone(), message: why.clone() });
        outcome.errors.extend(unreadable);
        if self.is_rehearsal {
            outcome.lines = lines(listing, &plan);
        }
        if plan.doubts.is_some() {
            outcome.counts.failed = outcome.errors.len() as i64;
            return Ok(outcome);
        }
        if !self.is_rehearsal {
            outcome.written += self.server.write_classes(policy, &listing.classes).await?;
        }
        let (mut usual, mut forced, mut deletions) = (Vec::new(), Vec::new(), Vec::new());
        let mut passwords = Vec::new();
        let time = now.to_string();
        for write in &plan.writes {
            match write {
                Write::Create(place) => {
                    usual.push(server::creation(policy, listing, *place));
                    passwords.push((listing.hosts[*place].id.clone(), *place));
                }
                Write::Update(update) => {
                    let request = server::change(policy, listing, update);
                    if update.is_forced {
                        forced.push(request)
                    } else {
                        usual.push(request)
                    }
                    if update.with_password {
                        passwords.push((update.host.clone(), update.record));
                    }
                }
                Write::Missing { host, is_labelled } => {
                    usual.push(server::missing(host, *is_labelled, &time))
                }
                Write::Delete { name, version } => deletions.push((name, version)),
            }
        }
        // Rehearsals of hosts whose classes don't exist yet would all be refused.
        let is_checked = !self.is_rehearsal;
        for (requests, is_forced) in [(usual, false), (forced, true)] {
            if is_checked && !requests.is_empty() {
                let written = self.send(&requests, is_forced).await?;
                self.note(&written, &mut outcome);
            }
        }
        let failed: std::collections::BTreeSet<&str> =
            outcome.errors.iter().map(|error| error.host.as_str()).collect();
        if is_checked {
            for (host, place) in passwords.iter().filter(|(host, _)| !failed.contains(host.as_str())) {
                if let Some(password) = &listing.hosts[*place].bmc.password {
                    memory.sent(host, password);
                }
            }
            for (name, version) in deletions {
                match self.server.delete(name, version).await {
                    Ok(()) => outcome.written += 1,
                    Err(error) if error.is_conflict() || error.code() == 403 => {
                        outcome
                            .errors
                            .push(HostError { host: name.clone(), message: cut(&error.to_string()) });
                    }
                    Err(error) => return Err(error.into()),
                }
            }
            self.write_findings(&plan.findings, &plan.settled, known).await?;
        }
        outcome.counts.failed = outcome.errors.len() as i64;
        Ok(outcome)
    }

    async fn send(
        &self,
        requests: &[wire::SyncRequest],
        is_forced: bool,
    ) -> Result<Vec<Written>, CycleError> {
        Ok(self.server.sync(requests, is_forced, false).await?)
    }

    async fn write_findings(
        &self,
        findings: &[SourceFindingSpec],
        settled: &[String],
        known: &std::collections::BTreeMap<String, crate::kinds::SourceFinding>,
    ) -> Result<(), CycleError> {
        for finding in findings.iter().take(1000) {
            self.server.find(finding, known.get(&finding.host)).await?;
        }
        for name in settled {
            self.server.settle(name).await?;
        }
        Ok(())
    }

    fn note(&self, written: &[Written], outcome: &mut Outcome) {
        for one in written {
            let word = match &one.outcome {
                Ok(Done::Created) => "create",
                Ok(Done::Updated) => "update",
                Ok(Done::Unchanged) => "skip",
                Err(why) => {
                    tracing::warn!(
                        source = self.source.metadata.name,
                        host = one.host,
                        why,
                        "the host was not written"
                    );
                    outcome.errors.push(HostError { host: one.host.clone(), message: cut(why) });
                    "refused"
                }
            };
            outcome.written += usize::from(matches!(one.outcome, Ok(Done::Created | Done::Updated)));
            outcome.counts.owned += i64::from(one.outcome == Ok(Done::Created));
            self.metrics.wrote(word);
        }
    }
}

fn lines(listing: &Listing, plan: &Plan) -> Vec<String> {
    let mut lines = Vec::new();
    for write in &plan.writes {
        lines.push(match write {
            Write::Create(place) => {
                let record = &listing.hosts[*place];
                format!("create   {} ({})", record.id, record.name)
            }
            Write::Update(update) => {
                let mut what: Vec<&str> = update.fields.iter().map(|field| field.stored).collect();
                let more = [
                    (update.with_password, "password"),
                    (update.is_back, "is back"),
                    (update.changes_hold, "held back"),
                    (update.notes_id, "identifier"),
                ];
                what.extend(more.iter().filter(|(is_so, _)| *is_so).map(|(_, word)| *word));
                format!("change   {}: {}", update.host, what.join(", "))
            }
            Write::Missing { host, .. } => format!("missing  {host}"),
            Write::Delete { name, .. } => format!("delete   {name}"),
        });
    }
    for finding in &plan.findings {
        let fields: Vec<&str> = finding.fields.iter().map(|field| field.field.as_str()).collect();
        lines.push(format!("leave    {}: {:?} ({})", finding.host, finding.reason, fields.join(", ")));
    }
    lines
}

fn cut(text: &str) -> String {
    text.chars().take(1000).collect()
}

/// The time.
pub fn now() -> Moment {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Moment::of_seconds(i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
}

/// A pause with half of it left to chance.
pub fn jittered(pause: Duration) -> Duration {
    use std::hash::{BuildHasher, RandomState};
    let chance = RandomState::new().hash_one(std::time::SystemTime::now()) % 1000;
    pause / 2 + pause.mul_f64(chance as f64 / 2000.0)
}

//! Turns a transaction into one `Txn` of etcd, and finds out what became of it.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use prost::Message;

use super::client::wire::{Compare, RequestOp, TxnRequest, TxnResponse, response_op::Response};
use super::layout::{created_before, delete, exists, look, put, written_at, written_before};
use super::shared::{CommitId, Shared, failed, mark_value, random_id};
use super::{Etcd, quorum::Quorum};
use crate::entry::Entry;
use crate::error::{Conflict, Error, Result};
use crate::history::Level;
use crate::history::archive::{LogEntry, RowId};
use crate::history::draft::Draft;
use crate::memory::recent::Event;
use crate::memory::state::Terms;
use crate::snapshot::Snapshot;
use crate::transaction::{Committed, Guard, Transaction};
use crate::version::{Revision, Version};

/// Tries when only what is to be written has changed, not what a guard named.
const TRIES: u32 = 32;

/// A transaction worked out on one snapshot.
struct Plan {
    /// What was compared, in the order of the compares: a guard, or nothing for a key that is merely written.
    compared: Vec<Option<Guard>>,
    request: TxnRequest,
    drafts: Vec<Result<Draft, Option<Arc<Entry>>>>,
    id: CommitId,
}

/// What etcd answered.
enum Verdict {
    Landed(i64),
    /// Something was not as compared, as of this revision of etcd.
    Refused(Vec<usize>, i64),
}

pub(crate) async fn commit(engine: &Etcd, transaction: Transaction) -> Result<Committed> {
    let shared = &*engine.shared;
    let newest_read = transaction.guards.iter().map(read_at).max().unwrap_or_default();
    if newest_read > shared.memory.revision() {
        engine.quorum.current().await?;
    }
    for _ in 0..TRIES {
        let snapshot = shared.memory.latest();
        let plan = plan(engine, &transaction, &snapshot)?;
        match send(shared, &engine.quorum, &plan).await? {
            // Nothing was written, so there is nothing that memory could be waited for to show.
            Verdict::Landed(_) if plan.request.success.is_empty() => {
                return Ok(plan.committed(snapshot.revision()));
            }
            Verdict::Landed(number) => {
                // It is written, whatever this server can show: "not available" would say that it is not.
                shared.reached(number).await.map_err(Error::unknown)?;
                return Ok(plan.committed(shared.revision(number)));
            }
            Verdict::Refused(failed, number) => {
                if let Some(conflict) = plan.conflict(&failed) {
                    return Err(conflict.into());
                }
                // Another server wrote the same key: work it out again on what it made.
                shared.reached_soon(number).await?;
            }
        }
    }
    Err(Error::Contended { tries: TRIES })
}

/// The revision at which a guard's maker saw what it guards.
fn read_at(guard: &Guard) -> Revision {
    match guard {
        Guard::At { version, .. } => version.revision(),
        Guard::Bucket { at, .. } => *at,
        Guard::Exists(_) | Guard::Life { .. } | Guard::Lease(_) => Revision::ZERO,
    }
}

fn plan(engine: &Etcd, transaction: &Transaction, snapshot: &Snapshot) -> Result<Plan> {
    let shared = &*engine.shared;
    let layout = &shared.layout;
    let mut compare: Vec<Compare> = Vec::new();
    let mut compared = Vec::new();
    let mut named = BTreeSet::new();
    let mut cleared = BTreeSet::new();
    for guard in &transaction.guards {
        let condition = match guard {
            Guard::At { key, version } => {
                let found = snapshot.get(key).map_or(Version::ZERO, |entry| entry.version());
                // Memory has passed the guard's revision, so it knows; only "unchanged" is for etcd to confirm.
                if found != *version {
                    return Err(Conflict::Changed { key: key.clone(), expected: *version, found }.into());
                }
                named.insert(key.clone());
                written_at(layout.object(key), shared.etcd_revision(version.revision()))
            }
            Guard::Exists(key) => exists(layout.object(key)),
            Guard::Life { key, uid } => {
                match snapshot.get(key) {
                    None => return Err(Conflict::Missing(key.clone()).into()),
                    Some(entry) if entry.uid() != *uid => return Err(Conflict::Reborn(key.clone()).into()),
                    Some(_) => {}
                }
                // Memory knows the life as of its revision; that it goes on since then is for etcd to confirm.
                let known = shared.etcd_revision(snapshot.revision());
                compare.push(created_before(layout.object(key), known + 1));
                compared.push(Some(guard.clone()));
                exists(layout.object(key))
            }
            Guard::Bucket { term, at } => {
                // Clearing away empty buckets would hide that one was touched before.
                if cleared.insert(*at) {
                    compare.push(written_before(layout.cleared(), shared.etcd_revision(*at) + 1));
                    compared.push(Some(guard.clone()));
                }
                written_before(layout.bucket(term), shared.etcd_revision(*at) + 1)
            }
            Guard::Lease(fence) => {
                written_at(layout.lease(&fence.name), shared.etcd_revision(fence.taken.revision()))
            }
        };
        compare.push(condition);
        compared.push(Some(guard.clone()));
    }

    let time = shared.tick();
    let mut drafts = Vec::with_capacity(transaction.writes.len());
    for write in &transaction.writes {
        let before = snapshot.get(write.key());
        if named.insert(write.key().clone()) {
            let number = before.map_or(0, |entry| shared.etcd_revision(entry.version().revision()));
            compare.push(written_at(layout.object(write.key()), number));
            compared.push(None);
        }
        let draft = Draft::of(write.clone(), before, &transaction.author, time)?;
        drafts.push(draft.ok_or_else(|| before.cloned()));
    }

    let id = random_id()?;
    let mut success = operations(engine, &drafts, time, &id)?;
    if !success.is_empty() {
        success.push(put(layout.mark(&shared.server), mark_value(&id, time)));
    }
    // On a conflict etcd tells where the keys stand, so that we can tell which guard it was.
    let failure = compare.iter().map(|compare| look(compare.key.clone())).collect();
    let request = TxnRequest { compare, success, failure };
    check_size(engine, &request)?;
    Ok(Plan { compared, request, drafts, id })
}

fn operations(
    engine: &Etcd,
    drafts: &[Result<Draft, Option<Arc<Entry>>>],
    time: u64,
    id: &CommitId,
) -> Result<Vec<RequestOp>> {
    let shared = &*engine.shared;
    let (layout, indexer) = (&shared.layout, &shared.memory.indexer);
    let mut operations = Vec::new();
    let mut lines = Vec::new();
    let mut buckets = BTreeSet::new();
    for (position, draft) in drafts.iter().flatten().enumerate() {
        // The revision is not known yet: only the place inside it.
        let version = Version::of(Revision::ZERO, position as u16);
        let key = layout.object(&draft.key);
        match &draft.after {
            Some((head, stored)) => {
                let head = crate::history::record::Head { version, ..head.clone() };
                operations.push(put(key, head.encode(stored)?));
            }
            None => operations.push(delete(key)),
        }
        if indexer.has_terms() {
            let after = draft.entry(version);
            let terms = Terms::of(indexer, &draft.key, draft.before.as_deref(), after.as_deref());
            buckets.extend(terms.buckets().cloned());
        }
        if draft.record.level != Level::None {
            let record = crate::history::record::Record { version, ..draft.record.clone() };
            operations.push(put(layout.record(&draft.key, draft.place), postcard::to_stdvec(&record)?));
            lines.push(LogEntry {
                version,
                time,
                key: draft.key.clone(),
                place: draft.place,
                level: record.level,
                hash: record.hash,
            });
        }
    }
    operations.extend(buckets.into_iter().map(|term| put(layout.bucket(&term), Bytes::new())));
    if !lines.is_empty() {
        operations.push(put(layout.row(&row_id(time, id)), postcard::to_stdvec(&lines)?));
    }
    Ok(operations)
}

/// Rows sort by time; what the servers' clocks can't order, the commit's id tells apart.
pub(crate) fn row_id(time: u64, id: &[u8]) -> RowId {
    let mut bytes = time.to_be_bytes().to_vec();
    bytes.extend_from_slice(&id[..8.min(id.len())]);
    RowId(bytes.into())
}

fn check_size(engine: &Etcd, request: &TxnRequest) -> Result<()> {
    let limit = engine.max_operations;
    let found = request.compare.len().max(request.success.len());
    if found > limit {
        let hint = "make several transactions of it, or raise --max-txn-ops of etcd and of this server";
        return Err(Error::TooLarge { what: "operations", found, limit, hint });
    }
    let limit = engine.max_bytes;
    let found = request.encoded_len();
    if found > limit {
        let hint = "make several transactions of it, or raise --max-request-bytes of etcd and of this server";
        return Err(Error::TooLarge { what: "bytes", found, limit, hint });
    }
    Ok(())
}

async fn send(shared: &Shared, quorum: &Quorum, plan: &Plan) -> Result<Verdict> {
    let look_out = shared.marks.look_out(plan.id);
    let error = match shared.client.txn(plan.request.clone()).await {
        Ok(response) => return Ok(verdict(plan, &response)),
        Err(error) => error,
    };
    if !error.may_have_applied() {
        return Err(match error {
            super::client::Error::TooLarge { .. } => Error::Invalid(error.to_string()),
            other => failed(other),
        });
    }
    if plan.request.success.is_empty() {
        return Err(Error::Unavailable(error.to_string()));
    }
    // Wait until memory has seen everything that a quorum has: if it landed by then, its mark was seen.
    let _ = quorum.current().await;
    match look_out.landed() {
        Some(number) => Ok(Verdict::Landed(number)),
        None if matches!(error, super::client::Error::NoSpace { .. }) => Err(Error::Full(error.to_string())),
        None => Err(Error::unknown(error)),
    }
}

fn verdict(plan: &Plan, response: &TxnResponse) -> Verdict {
    let number = response.header.as_ref().map_or(0, |header| header.revision);
    if response.succeeded {
        return Verdict::Landed(number);
    }
    let looks = response.responses.iter().map(|answer| match &answer.response {
        Some(Response::ResponseRange(range)) => {
            range.kvs.first().map_or((0, 0), |kv| (kv.create_revision, kv.mod_revision))
        }
        _ => (0, 0),
    });
    let broken = |((index, compare), (created, written)): ((usize, &Compare), (i64, i64))| {
        (!holds(compare, created, written)).then_some(index)
    };
    let failed = plan.request.compare.iter().enumerate().zip(looks).filter_map(broken).collect();
    Verdict::Refused(failed, number)
}

/// Whether a compare of ours holds for a key with these revisions.
fn holds(compare: &Compare, created: i64, written: i64) -> bool {
    use super::client::wire::compare::{CompareResult, TargetUnion};
    let (found, expected) = match compare.target_union {
        Some(TargetUnion::ModRevision(expected)) => (written, expected),
        Some(TargetUnion::CreateRevision(expected)) => (created, expected),
        _ => return false,
    };
    match compare.result() {
        CompareResult::Equal => found == expected,
        CompareResult::Greater => found > expected,
        CompareResult::Less => found < expected,
        CompareResult::NotEqual => found != expected,
    }
}

impl Plan {
    /// The guard that failed; `None` when only keys that are merely written had changed.
    fn conflict(&self, failed: &[usize]) -> Option<Conflict> {
        let guard = failed.iter().find_map(|index| self.compared.get(*index)?.as_ref())?;
        Some(match guard {
            // Memory had it so, or it would not have been sent: etcd has what memory has not seen yet.
            Guard::At { key, .. } => Conflict::Overtaken(key.clone()),
            Guard::Exists(key) => Conflict::Missing(key.clone()),
            Guard::Life { key, .. } => Conflict::Reborn(key.clone()),
            Guard::Bucket { term, .. } => Conflict::Bucket(String::from_utf8_lossy(term).into_owned()),
            Guard::Lease(fence) => Conflict::LeaseLost(fence.name.clone()),
        })
    }

    fn committed(self, revision: Revision) -> Committed {
        let mut position = 0;
        let entries = self.drafts.into_iter().map(|draft| match draft {
            Err(unchanged) => unchanged,
            Ok(draft) => {
                let version = Version::of(revision, position);
                position += 1;
                let after = draft.entry(version);
                Some(Event::new(version, draft.key, draft.before, after).shown().clone())
            }
        });
        Committed { entries: entries.collect(), revision }
    }
}

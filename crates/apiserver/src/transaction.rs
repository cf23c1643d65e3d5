//! Many objects in one commit: all of it lands, or none of it.
//!
//! Every item is first written into the transaction's view, then everything is checked against the outcome: rules see
//! where it leads, not a step on the way, and all that is wrong is told at once.

pub mod decide;
mod event;
pub mod item;
pub mod operations;
pub mod order;
pub mod plan;
pub mod preconditions;
pub mod report;
pub mod undo_many;

use std::sync::Arc;
use std::time::Duration;

use krm::status::Status;
use serde_json::Value;
use store::{Key, Refused, Revision, View};
use tokio::time::Instant;

use crate::api::store_failure;
use crate::call::Call;
use crate::later;
use crate::planes;
use crate::request::query::WriteOptions;
use crate::write;
use crate::write::admit::STALE_KIND;
use decide::{Tried, decide};
use item::Item;
use plan::Guard;
use undo_many::Skipped;

/// The group of what the server has beyond Kubernetes.
pub const GROUP: &str = "groundplane.dev";
/// Its version.
pub const API_VERSION: &str = "groundplane.dev/v1alpha1";
/// Items of one transaction, at most.
pub const MOST_ITEMS: usize = 20_000;
/// Bytes of the body of one, at most.
pub const MOST_BYTES: usize = 64 << 20;
/// How long it goes on trying while others keep changing what it depends on.
const PATIENCE: Duration = Duration::from_secs(20);

/// What is to be done in one commit.
pub struct Work {
    /// In whose name, in which plane, and why.
    pub call: Arc<Call>,
    /// The items, in the order in which they came.
    pub items: Vec<Item>,
    /// How they are written.
    pub options: WriteOptions,
}

/// What came of it.
pub struct Ended {
    /// The commit; of a rehearsal the revision that it was tried on.
    pub revision: Revision,
    /// What came of each item, in the order in which they came.
    pub tried: Vec<Tried>,
    /// What a rehearsal was decided on.
    pub guards: Vec<Guard>,
}

impl Ended {
    /// Whether some item can't be done.
    pub fn is_refused(&self) -> bool {
        self.tried.iter().any(|tried| tried.outcome.is_err())
    }
}

/// What has to hold besides, and what is written along.
pub type Along = Arc<dyn Fn(&mut View) -> Result<(), Status> + Send + Sync>;

/// Commits all of it, or finds out what would come of it when it is a rehearsal. Items that can't be done are an error
/// unless it is one.
pub async fn run(work: Arc<Work>, along: Option<Along>) -> Result<Ended, Status> {
    let call = work.call.clone();
    let author = call.author(&work.options.manager);
    let dry_run = work.options.dry_run;
    let deciding = {
        let work = work.clone();
        move |view: &mut View| -> Result<(Vec<Tried>, Vec<Key>), Stop> {
            planes::guard(&work.call, view)?;
            if let Some(along) = &along {
                along(view)?;
            }
            if let Some(held) = &work.call.held {
                held.check(view)?;
            }
            let tried = decide(&work, view);
            if let Some(stale) = tried.iter().find_map(Tried::is_behind) {
                return Err(stale.into());
            }
            if dry_run || tried.iter().any(|tried| tried.outcome.is_err()) {
                let guards = Guard::all(view, &work.call.plane);
                return Err(Stop::Tried(Box::new(Ended { revision: view.revision(), tried, guards })));
            }
            Ok((tried, view.written_keys().cloned().collect()))
        }
    };
    let budget = call.budget.clone();
    let given_up = write::GivenUp::on_drop(&budget);
    let deciding = Arc::new(move |view: &mut View| budget.run(|| deciding(view)));
    let begun = Instant::now();
    let ended = loop {
        let deciding = deciding.clone();
        match call.api.store().transact_apart(author.clone(), move |view: &mut View| deciding(view)).await {
            Err(Refused::Store(store::Error::Contended { .. })) if begun.elapsed() < PATIENCE => {}
            ended => break ended,
        }
    };
    given_up.decided();
    later::free((work, deciding));
    match ended {
        Ok(((mut tried, keys), committed)) => {
            let is_followed = call.api.follows_any(keys.iter());
            let entries = keys.into_iter().zip(committed.entries);
            let entries = entries.filter_map(|(key, entry)| Some((key, entry?))).collect();
            for one in &mut tried {
                one.committed(&entries);
            }
            if is_followed {
                call.api.caught_up(committed.revision.end()).await;
            }
            Ok(Ended { revision: committed.revision, tried, guards: Vec::new() })
        }
        Err(Refused::Store(error)) => Err(store_failure(&error)),
        Err(Refused::Decision(Stop::Refused(status))) => Err(*status),
        Err(Refused::Decision(Stop::Tried(ended))) if dry_run => Ok(*ended),
        Err(Refused::Decision(Stop::Tried(ended))) => Err(report::failure(&ended.tried)),
    }
}

/// Why a decision did not come to a commit.
enum Stop {
    Refused(Box<Status>),
    Tried(Box<Ended>),
}

impl From<Status> for Stop {
    fn from(status: Status) -> Stop {
        Stop::Refused(Box::new(status))
    }
}

impl Tried {
    /// The refusal that means that this server's reading of a kind is behind.
    fn is_behind(&self) -> Option<Status> {
        let status = self.outcome.as_ref().err()?;
        (status.reason == STALE_KIND).then(|| status.clone())
    }
}

/// What a body of a transaction or plan asks for.
pub struct Spec(pub Value);

impl Spec {
    /// The items that are to be done, each read as far as it can be.
    ///
    /// With them, what an undo leaves out because too little is known of it.
    pub async fn items(
        mut self,
        call: &Arc<Call>,
        options: &WriteOptions,
    ) -> Result<(Vec<Item>, Vec<Skipped>), Status> {
        let items = self.0.get_mut("items").map(Value::take);
        let undo = self.0.get("undo").filter(|undo| !undo.is_null());
        let is_undo = undo.is_some();
        let (items, skipped) = match (items, undo) {
            (Some(Value::Array(items)), None) => (item::read_all(call, items, options).await?, Vec::new()),
            (None | Some(Value::Null), Some(undo)) => undo_many::items(call, undo, options).await?,
            (Some(Value::Array(_)), Some(_)) => {
                return Err(Status::bad_request("spec: items and undo are mutually exclusive"));
            }
            _ => return Err(Status::bad_request("spec.items: must be a list of operations")),
        };
        match items.len() {
            0 if is_undo => Err(Status::bad_request("spec.undo: no change matches")),
            0 => Err(Status::bad_request("spec.items: must contain at least one item")),
            many if many > MOST_ITEMS => Err(Status::too_large(format!(
                "the transaction has {many} items; at most {MOST_ITEMS} are allowed"
            ))),
            _ => Ok((items, skipped)),
        }
    }
}

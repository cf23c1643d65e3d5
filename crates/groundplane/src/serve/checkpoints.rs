//! The newest checkpoint of the history, kept besides in the store: a store that was rolled back is noticed at the next start.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use apiserver::api::Api;
use store::{Checkpoint, CheckpointKeeper, FileKeeper};

use crate::failure::Failure;

/// How often it is looked for a newer one.
const EVERY: Duration = Duration::from_secs(10);

/// Compares what was kept with the store, refuses one that was rolled back, and keeps what comes.
pub async fn keep(api: &Api, file: PathBuf) -> Result<(), Failure> {
    let keeper: Arc<dyn CheckpointKeeper> = Arc::new(FileKeeper::at(file));
    let failed = |why: &dyn std::fmt::Display| {
        Failure::new(format_args!("comparing the store with the checkpoint in {}", keeper.place()), why)
    };
    let kept = keeper.kept().map_err(|error| {
        failed(&format_args!("{error}; if the file is damaged, remove it: the next checkpoint is kept again"))
    })?;
    if let Some(kept) = &kept
        && !api.store().has_checkpoint(kept).await.map_err(|error| failed(&error))?
    {
        return Err(failed(&format_args!(
            "checkpoint {} is not in the history: the store is older than this checkpoint, was replaced, or lost its data. Put \
             the right store back; if you went back to an older state on purpose, remove the file and start again",
            kept.index
        )));
    }
    api.keep_checkpoints_at(keeper.clone());
    tokio::spawn(follow(api.clone(), keeper, kept));
    Ok(())
}

async fn follow(api: Api, keeper: Arc<dyn CheckpointKeeper>, mut last: Option<Checkpoint>) {
    let mut seen = None;
    loop {
        tokio::time::sleep(EVERY).await;
        let version = api.store().latest().version();
        if seen == Some(version) {
            continue;
        }
        let newest = match api.store().checkpoint().await {
            Ok(newest) => newest,
            // The store was closed.
            Err(_) => return,
        };
        let Some(newest) = newest.filter(|newest| last.as_ref() != Some(newest)) else { continue };
        seen = Some(version);
        let (place, keeping) = (keeper.clone(), newest.clone());
        let kept = tokio::task::spawn_blocking(move || place.keep(&keeping)).await;
        match kept.map_err(std::io::Error::other).and_then(|kept| kept) {
            Ok(()) => last = Some(newest),
            Err(error) => {
                tracing::warn!(%error, file = keeper.place(), "the newest checkpoint can't be kept")
            }
        }
    }
}

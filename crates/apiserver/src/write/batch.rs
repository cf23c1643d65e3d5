//! Many changes in as few commits as the store takes: batches are cut where the store's limits are.

use std::sync::Arc;

use krm::status::Status;
use store::{Author, Limits, Refused, View};

use crate::api::{Api, store_failure};

/// Items of one batch, at most.
const MOST: usize = 256;

/// Changes something for each item, in order, as many in one commit as fit into a transaction of the store. `begin` is
/// called first in every commit, for what has to hold in all of them.
///
/// Both may be called again for a transaction that is decided again: they must do nothing but read the view and write to it.
pub async fn in_batches<T: Send + Sync + 'static>(
    api: &Api,
    author: &Author,
    items: Vec<T>,
    begin: impl Fn(&mut View) -> Result<(), Status> + Send + Sync + 'static,
    step: impl Fn(&mut View, &T) -> Result<(), Status> + Send + Sync + 'static,
) -> Result<(), Status> {
    let work = Arc::new((items, begin, step));
    let limits = api.store().limits();
    let mut done = 0;
    while done < work.0.len() {
        let deciding = work.clone();
        let written = api.store().transact(author.clone(), move |view| {
            let (items, begin, step) = &*deciding;
            let items = items.get(done..).unwrap_or_default();
            fill(view, &limits, items, begin, step)
        });
        done += match written.await {
            Ok((count, _)) => count,
            Err(Refused::Store(error)) => return Err(store_failure(&error)),
            Err(Refused::Decision(status)) => return Err(status),
        };
    }
    Ok(())
}

/// Does as many of the items as fit, and the first in any case; how many that were.
fn fill<T>(
    view: &mut View,
    limits: &Limits,
    items: &[T],
    begin: impl Fn(&mut View) -> Result<(), Status>,
    step: impl Fn(&mut View, &T) -> Result<(), Status>,
) -> Result<usize, Status> {
    begin(view)?;
    let mut fitting = 0;
    for item in items.iter().take(MOST) {
        step(view, item)?;
        if fitting > 0 && !limits.take(view) {
            // The last one was too much: without it, from the beginning.
            view.restart();
            begin(view)?;
            items.iter().take(fitting).try_for_each(|item| step(view, item))?;
            break;
        }
        fitting += 1;
    }
    Ok(fitting)
}

//! Which objects may need attention: an index over conditions, like that of search. It is only a hint where to look: what a page
//! shows is read through the API in the viewer's name.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use apiserver::api::Api;
use serde_json::Value;
use store::{Entry, Key};

use crate::text;

/// Conditions that are True while all is well.
const WELL: [&str; 18] = [
    "Ready",
    "Available",
    "Accepted",
    "Valid",
    "Validated",
    "Synced",
    "Healthy",
    "Programmed",
    "EndpointsResolved",
    "ServiceResolved",
    "PowerWithinRating",
    "PowerRedundant",
    "MACAddressUnique",
    "NameUnique",
    "WithinCapacity",
    "Granted",
    "Connected",
    "Believed",
];
/// Conditions that are True while something is wrong.
const ILL: [&str; 8] =
    ["Stalled", "Degraded", "Conflict", "Conflicted", "NotBelieved", "Failed", "Failing", "DeletionBlocked"];

/// The condition of an object that needs attention, if one does: the first one that says so.
pub fn trouble(object: &Value) -> Option<&Value> {
    text::items(object, "/status/conditions").iter().find(|condition| {
        let (kind, status) = (text::at(condition, "/type"), text::at(condition, "/status"));
        let is_late = kind == "Progressing" && text::at(condition, "/reason") == "DeadlineExceeded";
        is_late || (status == "False" && WELL.contains(&kind)) || (status == "True" && ILL.contains(&kind))
    })
}

/// The index, which follows the store from the first time that it is asked.
#[derive(Default)]
pub struct Attention {
    begun: OnceLock<()>,
    keys: Arc<Mutex<BTreeSet<Key>>>,
}

impl Attention {
    /// The keys of objects that may need attention.
    pub async fn keys(&self, api: &Api) -> Vec<Key> {
        if self.begun.set(()).is_ok() {
            let (keys, followed) = (self.keys.clone(), api.clone());
            let (read, is_read) = tokio::sync::oneshot::channel();
            tokio::spawn(async move { follow(&followed, &keys, read).await });
            // The first who asks waits until everything was looked at once.
            let _ = is_read.await;
        }
        self.keys.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}

/// Looks at everything, and then at every change. What was missed is looked at again.
async fn follow(api: &Api, keys: &Mutex<BTreeSet<Key>>, read: tokio::sync::oneshot::Sender<()>) {
    let mut read = Some(read);
    loop {
        let snapshot = api.store().latest();
        let version = snapshot.version();
        let found: Option<BTreeSet<Key>> = tokio::task::spawn_blocking(move || {
            snapshot
                .list(b"")
                .filter(|(_, entry)| may_need_attention(entry))
                .map(|(key, _)| key.clone())
                .collect()
        })
        .await
        .ok();
        *keys.lock().unwrap_or_else(PoisonError::into_inner) = found.unwrap_or_default();
        if let Some(read) = read.take() {
            let _ = read.send(());
        }
        let Ok(mut watch) = api.store().watch(b"", version) else { return };
        loop {
            match watch.next().await {
                Ok(events) => {
                    let mut keys = keys.lock().unwrap_or_else(PoisonError::into_inner);
                    for event in events {
                        match event.after().is_some_and(|entry| may_need_attention(entry)) {
                            true => drop(keys.insert(event.key().clone())),
                            false => drop(keys.remove(event.key())),
                        }
                    }
                }
                Err(store::Error::Closed) => return,
                Err(_) => break,
            }
        }
    }
}

fn may_need_attention(entry: &Entry) -> bool {
    if entry.is_sealed() {
        return false;
    }
    let bytes = entry.bytes();
    // Most objects have no such condition, and need not be read to know it.
    let mentions = |words: &str| bytes.windows(words.len()).any(|window| window == words.as_bytes());
    if !mentions("\"conditions\"") {
        return false;
    }
    serde_json::from_slice::<Value>(bytes).is_ok_and(|object| trouble(&object).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_condition_is_judged_by_what_it_means() {
        let with = |kind: &str, status: &str, reason: &str| json!({"status": {"conditions": [{"type": kind, "status": status, "reason": reason}]}});
        assert!(trouble(&with("Ready", "False", "SiteNotFound")).is_some());
        assert!(trouble(&with("Ready", "True", "Accepted")).is_none());
        assert!(trouble(&with("Progressing", "False", "Done")).is_none());
        assert!(trouble(&with("Progressing", "True", "DeadlineExceeded")).is_some());
        assert!(trouble(&with("Degraded", "True", "X")).is_some());
        assert!(trouble(&with("Unheard", "False", "X")).is_none());
    }
}

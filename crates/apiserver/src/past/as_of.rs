//! Reads objects as of a time or a revision.

use std::collections::BTreeMap;
use std::sync::Arc;

use krm::kind::History;
use krm::status::{Details, Status};
use krm::time::Moment;
use store::{At, Entry, Key, Revision, Snapshot, Touched, Version};

use super::failure;
use crate::api::store_failure;
use crate::call::Call;
use crate::handle::question::shown_in_root;
use crate::planes;

/// Objects of the root that questions of a project may be answered from, as they were.
pub type Shown = BTreeMap<Key, Arc<Entry>>;

/// A point in the past, and what the client called it.
#[derive(Debug, Clone)]
pub struct AsOf {
    at: At,
    said: String,
}

impl AsOf {
    /// Reads what a client asks for: a revision, or a time that has been.
    pub fn parse(text: &str, now: Moment) -> Result<AsOf, Status> {
        let said = text.to_owned();
        if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
            let version: Version = text
                .parse()
                .map_err(|_| Status::bad_request(format!("asOf: {text} is not a valid revision")))?;
            return Ok(AsOf { at: At::Revision(version.revision()), said });
        }
        let Ok(time) = Moment::parse(text) else {
            let why = format!("asOf: {text:?} must be a revision or a time such as {now}");
            return Err(Status::bad_request(why));
        };
        if time > now {
            return Err(Status::bad_request(format!(
                "asOf: {text:?} is in the future; the current time is {now}"
            )));
        }
        let micros =
            u64::try_from(time.seconds).unwrap_or(0) * 1_000_000 + u64::from(time.nanoseconds / 1000);
        Ok(AsOf { at: At::Time(micros), said })
    }

    /// Right after a revision.
    pub fn revision(revision: Revision) -> AsOf {
        AsOf { at: At::Revision(revision), said: revision.end().to_string() }
    }

    /// The object of the call as it was.
    pub async fn object(&self, call: &Call) -> Result<Option<Arc<Entry>>, Status> {
        self.is_kept(call).await?;
        self.entry(call, &call.key()?).await
    }

    /// An object as it was.
    pub async fn entry(&self, call: &Call, key: &Key) -> Result<Option<Arc<Entry>>, Status> {
        let found = call.api.store().object_at(key, self.at).await;
        found.map_err(|error| failure(&self.said, &error))
    }

    /// The collection of the call as it was.
    pub async fn list(&self, call: &Call) -> Result<Snapshot, Status> {
        self.is_kept(call).await?;
        self.under(call, call.prefix().as_bytes()).await
    }

    /// Everything under a prefix as it was.
    pub async fn under(&self, call: &Call, prefix: &[u8]) -> Result<Snapshot, Status> {
        let listed = call.api.store().list_at(prefix, self.at).await;
        listed.map_err(|error| failure(&self.said, &error))
    }

    /// The whole plane of the call as it was, and the objects of the root that its questions may be answered from.
    pub async fn plane(&self, call: &Call) -> Result<(Snapshot, Shown), Status> {
        self.plane_was_there(call).await?;
        let prefix = format!("{}/", call.plane.as_str());
        let snapshot = self.under(call, prefix.as_bytes()).await?;
        let mut shown = Shown::new();
        for key in shown_in_root(&present(call).await?, &call.plane) {
            // A kind without history has nothing to tell of then.
            if let Some(entry) = self.entry(call, &key).await.ok().flatten() {
                shown.insert(key, entry);
            }
        }
        Ok((snapshot, shown))
    }

    /// What was changed since under a prefix.
    pub async fn touched(&self, call: &Call, prefix: &[u8]) -> Result<Touched, Status> {
        let touched = call.api.store().touched(prefix, self.at).await;
        touched.map_err(|error| failure(&self.said, &error))
    }

    /// What the client called it.
    pub fn said(&self) -> &str {
        &self.said
    }

    /// Something must be kept of the kind, and the plane must have been there.
    async fn is_kept(&self, call: &Call) -> Result<(), Status> {
        kept(call)?;
        self.plane_was_there(call).await
    }

    /// What an earlier project of the same name had is not told.
    async fn plane_was_there(&self, call: &Call) -> Result<(), Status> {
        if let Some((key, uid)) = planes::project_of(&call.api, &call.plane) {
            let then = self.entry(call, &key).await?;
            if then.is_none_or(|then| then.uid() != uid) {
                let why = format!("project {} did not exist at {}", call.plane, self.said);
                return Err(Status::expired(why));
            }
        }
        Ok(())
    }
}

/// Refuses to tell of the past of a kind that has none.
pub fn kept(call: &Call) -> Result<(), Status> {
    if call.kind.history != History::None && call.kind.mirror.is_none() {
        return Ok(());
    }
    let resource = call.kind.resource();
    let why = format!("{resource} has no history");
    Err(Status::failure(405, "MethodNotAllowed", why).about(Details {
        group: resource.group,
        kind: resource.resource,
        ..Details::default()
    }))
}

/// Everything as it is now, every acknowledged write included.
pub async fn present(call: &Call) -> Result<Snapshot, Status> {
    call.api.store().current().await.map_err(|error| store_failure(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_in_the_past_is_a_revision_or_a_time() {
        let now = Moment::parse("2026-11-16T07:41:00Z").unwrap();
        assert_eq!(AsOf::parse("458752", now).unwrap().at, At::Revision(Revision::new(7)));
        let then = AsOf::parse("2026-11-16T08:40:59.5+01:00", now).unwrap();
        assert_eq!(then.at, At::Time(1_794_814_859_500_000));
        for (text, why) in [
            ("2031-01-01T00:00:00Z", "in the future"),
            ("yesterday", "must be a revision or a time"),
            ("", "must be a revision or a time"),
            ("99999999999999999999999", "not a valid revision"),
        ] {
            let refused = AsOf::parse(text, now).unwrap_err();
            assert_eq!(refused.code, 400);
            assert!(refused.message.contains(why), "{}", refused.message);
        }
    }
}

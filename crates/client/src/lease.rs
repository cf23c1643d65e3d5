//! Leases, and writes that are refused once a lease is lost.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use krm::Object;
use krm::time::Moment;
use reconcile::lease::{Acquired, Keeper, Later};
use serde_json::json;
use tokio::time::Instant;

use crate::collection::Collection;
use crate::error::{Error, Result};
use crate::request::in_header;
use crate::sending::Client;

/// The header of a write that must not land unless a lease is held.
pub(crate) const FENCE_HEADER: &str = "groundplane-fence";

/// How often a renewal is tried again because the lease changed in between.
const TRIES: usize = 4;

/// A `Lease` object that one of several programs holds at a time.
///
/// Whether another holder is alive is judged by changes of the object, not by the times in it: clocks differ.
pub struct Lease {
    leases: Collection<Object>,
    project: Option<String>,
    namespace: String,
    name: String,
    identity: String,
    /// The version that was seen last, and since when.
    seen: Mutex<Option<(String, Instant)>>,
}

/// Proof that a lease was taken: it holds until somebody takes the lease again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fence(Proof);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Proof {
    Object(HeldObject),
    Controller { name: String, number: String },
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct HeldObject {
    project: Option<String>,
    namespace: String,
    name: String,
    uid: String,
    holder: String,
    transitions: i64,
}

impl Fence {
    /// That the lease of a controller was taken, with the number that this taking has.
    pub(crate) fn of_controller(name: &str, number: &str) -> Fence {
        Fence(Proof::Controller { name: name.to_owned(), number: number.to_owned() })
    }

    /// As the header of a write.
    pub(crate) fn header(&self) -> String {
        match &self.0 {
            Proof::Object(held) => held.header(),
            Proof::Controller { name, number } => {
                format!("controllers.groundplane.dev/{name}; number={number}")
            }
        }
    }

    /// The number of a controller's lease.
    pub(crate) fn number(&self) -> Option<&str> {
        match &self.0 {
            Proof::Controller { number, .. } => Some(number),
            Proof::Object(_) => None,
        }
    }

    fn is_held_in(&self, lease: &Object) -> bool {
        matches!(&self.0, Proof::Object(held) if held.is_held_in(lease))
    }
}

impl HeldObject {
    fn header(&self) -> String {
        let HeldObject { namespace, name, uid, transitions, .. } = self;
        let holder = in_header(&self.holder).replace(';', "%3B");
        let mut header = format!("{namespace}/{name}; uid={uid}; transitions={transitions}; holder={holder}");
        if let Some(project) = &self.project {
            header += &format!("; project={project}");
        }
        header
    }

    fn is_held_in(&self, lease: &Object) -> bool {
        lease.uid() == self.uid && holder(lease) == self.holder && transitions(lease) == self.transitions
    }
}

fn holder(lease: &Object) -> &str {
    lease.at("spec.holderIdentity").and_then(|holder| holder.as_str()).unwrap_or("")
}

fn transitions(lease: &Object) -> i64 {
    lease.at("spec.leaseTransitions").and_then(|count| count.as_i64()).unwrap_or(0)
}

impl Lease {
    /// The lease of this name in the plane of `client`, for a holder whose identity no other one has.
    pub fn new(client: &Client, namespace: &str, name: &str, identity: &str) -> Lease {
        Lease {
            leases: client.resource("coordination.k8s.io/v1", "leases").in_namespace(namespace),
            project: client.project().map(str::to_owned),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            identity: identity.to_owned(),
            seen: Mutex::default(),
        }
    }

    async fn take(&self, lasts: Duration) -> Result<Acquired<Fence>> {
        let Some(mut lease) = self.leases.find(&self.name).await? else {
            let mut lease = Object::new("coordination.k8s.io/v1", "Lease");
            lease.set_meta("name", Some(self.name.as_str().into()));
            return self.taken(self.leases.create(&self.held(lease, lasts)).await);
        };
        if let Some(left) = self.left(&lease) {
            return Ok(Acquired::HeldElsewhere(left));
        }
        lease = self.held(lease, lasts);
        self.taken(self.leases.replace(&lease).await)
    }

    /// How long somebody else may still hold it.
    fn left(&self, lease: &Object) -> Option<Duration> {
        if holder(lease).is_empty() || holder(lease) == self.identity {
            return None;
        }
        let seconds = lease.at("spec.leaseDurationSeconds").and_then(|seconds| seconds.as_u64());
        let lasts = Duration::from_secs(seconds.unwrap_or(1).max(1));
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let since = match seen.as_ref() {
            Some((version, since)) if version == lease.resource_version() => *since,
            _ => {
                let now = Instant::now();
                *seen = Some((lease.resource_version().to_owned(), now));
                now
            }
        };
        let left = (since + lasts).saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }

    /// The lease as this holder's, from now on. The count of transitions grows also when the holder had it before: what it
    /// began then must not go on.
    fn held(&self, mut lease: Object, lasts: Duration) -> Object {
        let count = if lease.get("spec").is_some() { transitions(&lease) + 1 } else { 0 };
        let seconds = lasts.as_secs() + u64::from(lasts.subsec_nanos() > 0);
        let now = now();
        lease.set(
            "spec",
            Some(json!({
                "holderIdentity": self.identity, "leaseDurationSeconds": seconds.max(1),
                "acquireTime": now, "renewTime": now, "leaseTransitions": count,
            })),
        );
        lease
    }

    fn taken(&self, written: Result<Object>) -> Result<Acquired<Fence>> {
        match written {
            Ok(lease) => Ok(Acquired::Taken(Fence(Proof::Object(HeldObject {
                project: self.project.clone(),
                namespace: self.namespace.clone(),
                name: self.name.clone(),
                uid: lease.uid().to_owned(),
                holder: self.identity.clone(),
                transitions: transitions(&lease),
            })))),
            // Somebody else was faster.
            Err(error) if error.code() == 409 => Ok(Acquired::HeldElsewhere(Duration::from_secs(1))),
            Err(error) => Err(error),
        }
    }

    /// Changes the lease while it is held; `false` when it no longer is.
    async fn change(&self, fence: &Fence, change: impl Fn(&mut Object)) -> Result<bool> {
        let mut conflict = None;
        for _ in 0..TRIES {
            let Some(mut lease) = self.leases.find(&self.name).await? else { return Ok(false) };
            if !fence.is_held_in(&lease) {
                return Ok(false);
            }
            change(&mut lease);
            match self.leases.replace(&lease).await {
                Ok(_) => return Ok(true),
                Err(error) if error.is_conflict() => conflict = Some(error),
                Err(error) => return Err(error),
            }
        }
        conflict.map_or(Ok(false), Err)
    }
}

fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = i64::try_from(since.as_secs()).unwrap_or(i64::MAX);
    Moment { seconds, nanoseconds: since.subsec_nanos() }.to_micros()
}

fn set(lease: &mut Object, field: &str, value: serde_json::Value) {
    let spec = lease.0.get_mut("spec").and_then(|spec| spec.as_object_mut());
    if let Some(spec) = spec {
        spec.insert(field.to_owned(), value);
    }
}

impl Keeper for Lease {
    type Fence = Fence;
    type Error = Error;

    fn acquire(&self, lasts: Duration) -> Later<'_, Result<Acquired<Fence>>> {
        Box::pin(self.take(lasts))
    }

    fn renew<'a>(&'a self, fence: &'a Fence) -> Later<'a, Result<bool>> {
        Box::pin(self.change(fence, |lease| set(lease, "renewTime", now().into())))
    }

    fn release<'a>(&'a self, fence: &'a Fence) -> Later<'a, ()> {
        Box::pin(async move {
            let released = self.change(fence, |lease| set(lease, "holderIdentity", "".into())).await;
            if let Err(error) = released {
                // It ends by itself, later.
                tracing::debug!(lease = self.name, %error, "can't be released");
            }
        })
    }

    fn is_closed(&self, _: &Error) -> bool {
        false
    }
}

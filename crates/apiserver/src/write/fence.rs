//! Fences: a write that lands only while its sender holds a lease.
//!
//! The header `Groundplane-Fence` names a `Lease` object, and its holder and number of transitions as the sender has
//! last seen them: `kube-system/sync; transitions=3; holder=host-1`. The object is read inside the transaction, so it is
//! a guard of the commit. A renewal changes neither holder nor transitions, and costs at most another try.
//!
//! A controller that runs beside the server names the lease that controllers in the server take too, by the number that it
//! was told when it took it: `controllers.groundplane.dev/inventory-controller; number=42`.

use http::HeaderMap;
use krm::kind::Address;
use krm::status::{Cause, Status, Subject};
use store::View;

use super::guarded::Guarded;
use crate::api::Api;
use crate::authn::service_account_of;
use crate::authz::Attributes;
use crate::handle::controller_lease;
use crate::identity::Identity;
use crate::keys;
use crate::plane::Plane;
use crate::planes;
use crate::request::path::decode;

const HEADER: &str = "groundplane-fence";
const GROUP: &str = "coordination.k8s.io";
const PLURAL: &str = "leases";
/// The reason of the cause in the refusal, for programs.
const NOT_HELD: &str = "LeaseNotHeld";

/// What stands for the namespace where the lease is that of a controller.
const CONTROLLERS: &str = "controllers.groundplane.dev";

/// A lease as the sender of a write believes to hold it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeldLease {
    /// A `Lease` object.
    Object(HeldObject),
    /// The lease of a controller, in the store.
    Controller {
        /// Name of the controller.
        name: String,
        /// Number of the taking.
        number: u64,
    },
}

/// A `Lease` object as the sender of a write believes to hold it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldObject {
    plane: Plane,
    namespace: String,
    name: String,
    uid: Option<String>,
    holder: String,
    transitions: i64,
}

impl HeldLease {
    /// The lease that a request names, if it names one.
    pub fn read(headers: &HeaderMap) -> Result<Option<HeldLease>, Status> {
        let Some(value) = headers.get(HEADER) else { return Ok(None) };
        let wrong = || {
            Status::bad_request(
                "the header Groundplane-Fence must be \"NAMESPACE/NAME; transitions=NUMBER; holder=IDENTITY\", with \
                 \"uid=UID\" and \"project=NAME\" if needed; the identity is percent-encoded; or \
                 \"controllers.groundplane.dev/NAME; number=NUMBER\"",
            )
        };
        let mut parts = value.to_str().map_err(|_| wrong())?.split(';').map(str::trim);
        let (namespace, name) = parts.next().and_then(|lease| lease.split_once('/')).ok_or_else(wrong)?;
        if namespace == CONTROLLERS {
            let number = parts.next().and_then(|part| part.strip_prefix("number=")?.parse().ok());
            let (Some(number), None, false) = (number, parts.next(), name.is_empty()) else {
                return Err(wrong());
            };
            return Ok(Some(HeldLease::Controller { name: name.to_owned(), number }));
        }
        let mut held = HeldObject {
            plane: Plane::root(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            uid: None,
            holder: String::new(),
            transitions: -1,
        };
        for part in parts {
            let (field, value) = part.split_once('=').ok_or_else(wrong)?;
            match field {
                "transitions" => held.transitions = value.parse().map_err(|_| wrong())?,
                "holder" => held.holder = decode(value).ok_or_else(wrong)?,
                "uid" => held.uid = Some(value.to_owned()),
                "project" => held.plane = Plane::project(value),
                _ => return Err(wrong()),
            }
        }
        let is_whole = !namespace.is_empty() && !name.is_empty() && !held.holder.is_empty();
        match is_whole && held.transitions >= 0 {
            true => Ok(Some(HeldLease::Object(held))),
            false => Err(wrong()),
        }
    }

    /// Whether the sender may know about the lease. `plane` is the one of the request.
    pub fn may_be_named(&self, api: &Api, plane: &Plane, who: &Identity) -> Result<(), Status> {
        let root = Plane::root();
        let (of, needed) = match self {
            HeldLease::Object(held) => {
                let get = Attributes::resource("get", GROUP, PLURAL);
                (&held.plane, get.in_namespace(&held.namespace).named(&held.name))
            }
            HeldLease::Controller { name, .. } => (&root, controller_lease::right(name)),
        };
        // A service account is one of a plane: in another one its name is somebody else's.
        if of != plane && service_account_of(&who.user).is_some() {
            return Err(needed.forbidden(who, "a service account can't use a lease of another control plane"));
        }
        // What somebody may do in the project of the request says nothing of the lease's control plane.
        let mut there = who.clone();
        planes::put_in_context(api.kinds(), of, &mut there);
        let decision = api.followers().rights.decide(of, &there, &needed);
        match decision.allowed {
            true => Ok(()),
            false => Err(needed.forbidden(who, &decision.reason)),
        }
    }

    /// Refuses the write unless the lease is held as it was; the lease becomes a guard of the commit.
    pub fn check(&self, view: &mut View) -> Result<(), Status> {
        match self {
            HeldLease::Object(held) => held.check(view),
            HeldLease::Controller { name, number } => {
                // Only the store knows whether it is held, at the moment of the commit.
                view.guard(controller_lease::fence(name, *number).guard());
                Ok(())
            }
        }
    }
}

/// What is told whoever writes without the lease that the write depends on.
pub(crate) fn not_held(name: &str, why: &str) -> Status {
    let mut status = Status::conflict(&Subject::new(GROUP, PLURAL), name, why);
    if let Some(details) = &mut status.details {
        let (reason, message) = (NOT_HELD.to_owned(), why.to_owned());
        details.causes.push(Cause { reason, message, field: "Groundplane-Fence".to_owned() });
    }
    status
}

impl HeldObject {
    fn check(&self, view: &mut View) -> Result<(), Status> {
        let at = Address {
            group: GROUP.to_owned(),
            plural: PLURAL.to_owned(),
            namespace: self.namespace.clone(),
            name: self.name.clone(),
        };
        let key = keys::object(&self.plane, &at).map_err(|error| Status::bad_request(error.to_string()))?;
        let Some((_, lease)) = Guarded::new(view, &self.plane).entry(&key)? else {
            return Err(self.lost("the lease does not exist"));
        };
        let holder = lease.at("spec.holderIdentity").and_then(|holder| holder.as_str()).unwrap_or("");
        let transitions = lease.at("spec.leaseTransitions").and_then(|count| count.as_i64()).unwrap_or(0);
        if self.uid.as_ref().is_some_and(|uid| uid != lease.uid()) {
            return Err(self.lost("the lease was deleted and created again"));
        }
        match (holder, transitions) == (self.holder.as_str(), self.transitions) {
            true => Ok(()),
            false if holder.is_empty() => Err(self.lost("nobody holds the lease")),
            false => Err(self.lost(&format!("the lease is held by {holder:?} (transition {transitions})"))),
        }
    }

    fn lost(&self, why: &str) -> Status {
        let HeldObject { namespace, holder, transitions, .. } = self;
        let why = format!(
            "{why}, not by {holder:?} (transition {transitions}) in namespace {namespace:?}; nothing was written"
        );
        not_held(&self.name, &why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Option<HeldLease>, Status> {
        let mut headers = HeaderMap::new();
        headers.insert(HEADER, text.parse().unwrap());
        HeldLease::read(&headers)
    }

    #[test]
    fn a_lease_is_read_from_its_header() {
        let held = read("kube-system/sync; uid=u-1; transitions=3; holder=host%3B1; project=p").unwrap();
        let expected = HeldObject {
            plane: Plane::project("p"),
            namespace: "kube-system".into(),
            name: "sync".into(),
            uid: Some("u-1".into()),
            holder: "host;1".into(),
            transitions: 3,
        };
        assert_eq!(held, Some(HeldLease::Object(expected)));
        let held = read("controllers.groundplane.dev/inventory; number=7").unwrap();
        assert_eq!(held, Some(HeldLease::Controller { name: "inventory".into(), number: 7 }));
        assert_eq!(HeldLease::read(&HeaderMap::new()), Ok(None));
    }

    #[test]
    fn half_a_fence_is_none() {
        for text in ["", "a", "a/b", "a/b; holder=x", "a/b; transitions=1", "a/b; transitions=-1; holder=x"] {
            assert_eq!(read(text).unwrap_err().code, 400, "{text}");
        }
        assert_eq!(read("a/b; transitions=1; holder=x; colour=red").unwrap_err().code, 400);
        for text in ["/x", "/; number=1", "/x; number=no", "/x; number=1; holder=y"] {
            assert_eq!(read(&format!("{CONTROLLERS}{text}")).unwrap_err().code, 400, "{text}");
        }
    }
}

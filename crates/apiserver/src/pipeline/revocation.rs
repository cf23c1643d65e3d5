//! Watching over a request that goes on: its caller may lose the right to it, and credentials expire.

use std::time::{Duration, SystemTime};

use krm::status::Status;
use store::Uid;

use super::InPlane;
use crate::api::Api;
use crate::authn::Impersonation;
use crate::authz::{Authorizer, OwnedAttributes};
use crate::identity::Identity;
use crate::plane::Plane;
use crate::planes;

/// How long is waited before the wall clock is looked at again.
const LONGEST: Duration = Duration::from_secs(60);

/// What a request was allowed by.
pub(super) struct Revocation {
    pub(super) api: Api,
    pub(super) plane: Plane,
    pub(super) project: Option<Uid>,
    pub(super) who: Identity,
    /// Who acts as the caller, and what was asked for.
    pub(super) impersonation: Option<(Identity, Impersonation)>,
    /// What the request does; `None` if no right to it is needed.
    pub(super) needs: Option<OwnedAttributes>,
    /// What the request does, for deciding about impersonation.
    pub(super) does: OwnedAttributes,
}

impl Revocation {
    /// Waits until the request may no longer go on, and says why.
    pub(super) async fn happens(self) -> Status {
        let expires = self.who.expires;
        tokio::select! {
            biased;
            status = self.loses_its_right() => status,
            () = expiry(expires) => Status::failure(401, "Unauthorized", "the credentials have expired"),
        }
    }

    async fn loses_its_right(self) -> Status {
        let mut changes = self.api.followers().rights.changes();
        // What changed while the request was on its way here counts too.
        changes.mark_changed();
        while changes.changed().await.is_ok() {
            if let Err(refused) = self.check() {
                return refused;
            }
        }
        std::future::pending().await
    }

    fn check(&self) -> Result<(), Status> {
        let rights = InPlane { api: &self.api, plane: &self.plane };
        if let Some((really, impersonation)) = &self.impersonation {
            self.stands(really)?;
            impersonation.decide(&rights, really, &self.does.borrowed())?;
        }
        self.stands(&self.who)?;
        if planes::admit(&self.api, &self.plane, &self.who)? != self.project {
            return Err(planes::missing(self.api.kinds(), &self.plane));
        }
        let Some(needs) = &self.needs else { return Ok(()) };
        let decision = rights.decide(&self.who, &needs.borrowed());
        match decision.allowed {
            true => Ok(()),
            false => Err(needs.borrowed().forbidden(&self.who, &decision.reason)),
        }
    }

    fn stands(&self, who: &Identity) -> Result<(), Status> {
        match self.api.followers().rights.standing(&self.plane, who).refusal {
            Some(refusal) => Err(Status::failure(403, "Forbidden", refusal)),
            None => Ok(()),
        }
    }
}

/// Waits until credentials expire; for ever if they do not.
pub(super) async fn expiry(at: Option<SystemTime>) {
    let Some(at) = at else { return std::future::pending().await };
    // By the wall clock, as the credentials are: it may be set while this waits.
    while let Ok(left) = at.duration_since(SystemTime::now()) {
        tokio::time::sleep(left.min(LONGEST)).await;
    }
}

//! Who leads: contenders share a lease, the leader goes silent, another takes over.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use k8s_openapi::jiff::Timestamp;
use kube::api::{Api, PostParams};
use kube::core::ObjectMeta;
use kube::{Client, Error};

const CONTENDERS: usize = 6;
const TERMS: usize = 8;
const DURATION: Duration = Duration::from_secs(1);

/// Who won which term, as the winners themselves saw it.
type Winners = Arc<Mutex<BTreeMap<i32, String>>>;

/// Tries to take the lease; the lease as taken, or nothing when somebody else has it.
async fn take(leases: &Api<Lease>, name: &str) -> Result<Option<Lease>, Error> {
    let now = MicroTime(Timestamp::now());
    let spec = LeaseSpec {
        holder_identity: Some(name.to_owned()),
        lease_duration_seconds: Some(1),
        acquire_time: Some(now.clone()),
        renew_time: Some(now.clone()),
        lease_transitions: Some(0),
        ..LeaseSpec::default()
    };
    let Some(mut lease) = leases.get_opt("helm").await? else {
        let metadata = ObjectMeta { name: Some("helm".to_owned()), ..ObjectMeta::default() };
        return won(leases.create(&PostParams::default(), &Lease { metadata, spec: Some(spec) }).await);
    };
    let held = lease.spec.clone().unwrap_or_default();
    let is_held = held.holder_identity.as_deref().is_some_and(|holder| !holder.is_empty());
    let until = held.renew_time.and_then(|at| at.0.checked_add(DURATION).ok());
    if is_held && until.is_some_and(|until| until > now.0) {
        return Ok(None);
    }
    lease.spec = Some(LeaseSpec { lease_transitions: held.lease_transitions.map(|count| count + 1), ..spec });
    won(leases.replace("helm", &PostParams::default(), &lease).await)
}

/// Whoever was slower is told so, and has not won.
fn won(written: Result<Lease, Error>) -> Result<Option<Lease>, Error> {
    match written {
        Ok(lease) => Ok(Some(lease)),
        Err(Error::Api(status)) if status.is_conflict() || status.is_already_exists() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Keeps the lease for a while; nothing when it was lost on the way.
async fn renewed(leases: &Api<Lease>, mut lease: Lease) -> Result<Option<Lease>, Error> {
    for _ in 0..3 {
        lease.spec.as_mut().unwrap().renew_time = Some(MicroTime(Timestamp::now()));
        match won(leases.replace("helm", &PostParams::default(), &lease).await)? {
            Some(kept) => lease = kept,
            None => return Ok(None),
        }
    }
    Ok(Some(lease))
}

async fn contend(client: Client, name: String, winners: Winners) {
    let leases: Api<Lease> = Api::default_namespaced(client);
    while winners.lock().unwrap().len() < TERMS {
        let Some(lease) = take(&leases, &name).await.unwrap() else {
            tokio::time::sleep(Duration::from_millis(5)).await;
            continue;
        };
        let term = lease.spec.as_ref().unwrap().lease_transitions.unwrap();
        let before = winners.lock().unwrap().insert(term, name.clone());
        assert_eq!(before, None, "term {term} was won before");
        let Some(mut lease) = renewed(&leases, lease).await.unwrap() else { continue };
        // Every other leader steps down; the rest fall silent, and are waited for.
        if term % 2 == 0 {
            lease.spec.as_mut().unwrap().holder_identity = None;
            won(leases.replace("helm", &PostParams::default(), &lease).await).unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_term_has_one_leader() {
    let Some((_server, client)) = crate::start().await else { return };
    let winners = Winners::default();
    let contenders =
        (0..CONTENDERS).map(|number| contend(client.clone(), format!("contender-{number}"), winners.clone()));
    let contenders: Vec<_> = contenders.map(tokio::spawn).collect();
    for contender in contenders {
        contender.await.unwrap();
    }
    let won: Vec<i32> = winners.lock().unwrap().keys().copied().collect();
    assert_eq!(won, (0..won.len() as i32).collect::<Vec<_>>(), "every change of hands is counted");
    let lease = Api::<Lease>::default_namespaced(client).get("helm").await.unwrap();
    assert_eq!(lease.spec.unwrap().lease_transitions, won.last().copied());
}

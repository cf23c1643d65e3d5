//! The names of clusters in DNS: written, verified at the authoritative server, tried again.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dns::{Addresses, Algorithm, DnsName, Exec, Manual, Provider, Rfc2136, Settings, TsigKey};
use krm::condition::Finding;
use krm::kind::QueryContext;
use reconcile::plan::Action;
use reconcile::reconciler::{Bell, Outcome};
use reconcile::target::Target;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::placements::AGAIN;
use super::reach::sealed;
use crate::kinds::DnsZone;
use crate::kinds::dns_zone::{DnsProvider, DnsZoneSpec, KeyAlgorithm};

/// Action that writes names.
const NAME: &str = "name";
/// First pause after a failure; it doubles up to [`LONGEST`].
const FIRST: Duration = Duration::from_secs(2);
const LONGEST: Duration = Duration::from_secs(60);
/// How long all of it may take, less than an action may.
const LIMIT: Duration = Duration::from_secs(9);
/// Where the programs of operators are.
const PROGRAMS: &str = "GROUNDPLANE_DNS_PROGRAMS";
/// How long a program may take.
const PROGRAM: Duration = Duration::from_secs(8);

/// What came of writing the names of each cluster, by its identifier.
#[derive(Default)]
pub struct Naming {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    known: BTreeMap<String, Known>,
    bell: Option<Bell>,
}

struct Known {
    records: Vec<Addresses>,
    outcome: Result<(), String>,
    at: Instant,
    failures: u32,
}

/// What is known of the names of a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Named {
    /// Nothing about these addresses.
    Unknown,
    /// They resolve as wanted.
    AsWanted,
    /// They did, and are to be looked at again.
    Old,
    /// They do not, for this reason; they are tried again after the pause.
    Failed(String, Duration),
}

impl Naming {
    /// Rings when something is known.
    pub fn attach(&self, bell: Bell) {
        self.lock().bell = Some(bell);
    }

    /// What is known of these names.
    pub fn known(&self, cluster: &str, records: &[Addresses]) -> Named {
        let inner = self.lock();
        let Some(known) = inner.known.get(cluster).filter(|known| known.records == records) else {
            return Named::Unknown;
        };
        match &known.outcome {
            Ok(()) if known.at.elapsed() < AGAIN => Named::AsWanted,
            Ok(()) => Named::Old,
            Err(why) => {
                let pause = FIRST.saturating_mul(1 << known.failures.min(6).saturating_sub(1)).min(LONGEST);
                Named::Failed(why.clone(), pause.saturating_sub(known.at.elapsed()))
            }
        }
    }

    /// Forgets a cluster.
    pub fn forget(&self, cluster: &str) {
        self.lock().known.remove(cluster);
    }

    /// Executes the action of this file.
    pub async fn execute(&self, action: &Action, target: &Target) -> Option<Outcome> {
        if action.name != NAME {
            return None;
        }
        let cluster = target.at.name.clone();
        let Ok(records) = serde_json::from_value::<Vec<Addresses>>(action.parameters["records"].clone())
        else {
            return Some(Outcome::Failed("the records can't be read".to_owned()));
        };
        let spec = serde_json::from_value::<DnsZoneSpec>(action.parameters["zone"].clone());
        let secret = action.parameters["secret"].as_str().unwrap_or_default();
        let provider =
            spec.map_err(|_| "the zone can't be read".to_owned()).and_then(|spec| provider(&spec, secret));
        let outcome = match provider {
            Err(why) => Err(why),
            Ok(provider) => match tokio::time::timeout(LIMIT, settle(&*provider, &records)).await {
                Ok(outcome) => outcome,
                Err(_) => Err(format!("the name server took longer than {} s", LIMIT.as_secs())),
            },
        };
        let bell = {
            let mut inner = self.lock();
            let before = inner.known.get(&cluster).filter(|known| known.records == records);
            let failures = before.map_or(0, |before| before.failures);
            let failures = if outcome.is_err() { failures.saturating_add(1) } else { 0 };
            if outcome.is_err() {
                metrics_failed(&cluster, failures);
            }
            inner.known.insert(cluster, Known { records, outcome, at: Instant::now(), failures });
            inner.bell.clone()
        };
        if let Some(bell) = bell {
            bell(target);
        }
        Some(Outcome::Done(Value::Null))
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn metrics_failed(cluster: &str, failures: u32) {
    tracing::warn!(cluster, failures, "the names of a cluster could not be written or do not resolve");
}

impl Named {
    /// What the condition of the placement says; nothing as long as nothing is known.
    pub fn finding(&self) -> Option<Finding> {
        match self {
            Named::Unknown => None,
            Named::AsWanted | Named::Old => Some(Finding::holds("Resolves", "Verified", "")),
            Named::Failed(why, _) => Some(Finding::fails("Resolves", "DnsFailed", why.clone())),
        }
    }

    /// When it is looked at again.
    pub fn pause(&self) -> Duration {
        match self {
            Named::Failed(_, pause) => (*pause).max(Duration::from_millis(100)),
            _ => AGAIN,
        }
    }

    /// The action that writes the names, if it is time.
    pub fn action(&self, zone: &DnsZone, records: &[Addresses], root: &dyn QueryContext) -> Option<Action> {
        let is_time = match self {
            Named::Unknown | Named::Old => true,
            Named::AsWanted => false,
            Named::Failed(_, pause) => pause.is_zero(),
        };
        let secret = sealed(zone.spec.key_secret_ref.as_ref(), root).unwrap_or_default();
        let parameters = json!({"zone": zone.spec, "secret": secret, "records": records});
        is_time.then(|| Action { name: NAME.to_owned(), parameters, is_external: false })
    }
}

/// Writes names, those without addresses are removed, and resolves them.
async fn settle(provider: &dyn Provider, records: &[Addresses]) -> Result<(), String> {
    let (gone, wanted): (Vec<Addresses>, Vec<Addresses>) =
        records.iter().cloned().partition(|record| record.addresses.is_empty());
    let told = |error: dns::Error| error.to_string();
    if !gone.is_empty() {
        let names: Vec<DnsName> = gone.into_iter().map(|record| record.name).collect();
        provider.remove(&names).await.map_err(told)?;
    }
    if wanted.is_empty() {
        return Ok(());
    }
    provider.ensure(&wanted).await.map_err(told)?;
    match dns::verify(provider, &wanted).await {
        Err(dns::Error::NoProvider { .. }) => Ok(()),
        Err(error) => Err(error.to_string()),
        Ok(mismatches) => match mismatches.first() {
            None => Ok(()),
            Some(first) => Err(format!("{} does not resolve to what was written", first.wanted.name)),
        },
    }
}

/// What writes to a zone.
pub fn provider(spec: &DnsZoneSpec, secret: &str) -> Result<Arc<dyn Provider>, String> {
    let zone: DnsName = spec.domain.parse().map_err(|invalid: dns::InvalidName| invalid.to_string())?;
    match spec.provider() {
        DnsProvider::None => Ok(Arc::new(Manual)),
        DnsProvider::Program => {
            let folder = std::env::var_os(PROGRAMS).map(PathBuf::from);
            let folder = folder.ok_or_else(|| {
                format!("the server runs no programs for DNS: start it with {PROGRAMS} set to the folder that has them")
            })?;
            let program = folder.join(spec.program.as_deref().unwrap_or_default());
            Ok(Arc::new(Exec::new(program, zone, PROGRAM)))
        }
        DnsProvider::RFC2136 => {
            let algorithm = match spec.key_algorithm.unwrap_or_default() {
                KeyAlgorithm::HmacSha256 => Algorithm::HmacSha256,
                KeyAlgorithm::HmacSha384 => Algorithm::HmacSha384,
                KeyAlgorithm::HmacSha512 => Algorithm::HmacSha512,
            };
            let name = spec.key_name.as_deref().unwrap_or_default().parse();
            let name: DnsName = name.map_err(|invalid: dns::InvalidName| invalid.to_string())?;
            let key = TsigKey::from_base64(name, algorithm, secret.trim())
                .map_err(|invalid| invalid.to_string())?;
            let server = spec.server.clone().unwrap_or_default();
            let has_port = server.rsplit_once(':').is_some_and(|(host, port)| {
                port.parse::<u16>().is_ok() && (!host.contains(':') || host.ends_with(']'))
            });
            let server = if has_port { server } else { format!("{server}:53") };
            let mut settings = Settings::new(server, zone, key);
            settings.ttl = spec.ttl_seconds.and_then(|ttl| u32::try_from(ttl).ok()).unwrap_or(60);
            settings.timeout = Duration::from_secs(3);
            Ok(Arc::new(Rfc2136::new(settings)))
        }
    }
}

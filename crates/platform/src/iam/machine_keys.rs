//! Index of machine account keys.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use apiserver::authn::PublicKey;
use krm::Object;
use krm::time::Moment;
use serde_json::Value;

use super::roles::At;

/// A key that is there.
#[derive(Debug, Clone)]
struct Kept {
    account: At,
    /// Which account of that name: a key does not pass to another that comes after it.
    account_uid: Arc<str>,
    until: Option<SystemTime>,
    key: PublicKey,
}

/// All keys of all planes.
#[derive(Debug, Default)]
pub struct MachineKeys {
    keys: HashMap<At, Kept>,
    /// By account and the id that tokens name, the keys.
    by_id: HashMap<(At, String), BTreeMap<At, ()>>,
}

impl MachineKeys {
    /// Takes in a key as it is now.
    pub fn take_in(&mut self, at: &At, object: Option<&Object>) {
        if let Some(old) = self.keys.remove(at) {
            let id = (old.account, old.key.id().to_owned());
            if let Some(keys) = self.by_id.get_mut(&id) {
                keys.remove(at);
                if keys.is_empty() {
                    self.by_id.remove(&id);
                }
            }
        }
        let Some(kept) = object.and_then(|object| Kept::read(at, object)) else { return };
        let id = (kept.account.clone(), kept.key.id().to_owned());
        self.by_id.entry(id).or_default().insert(at.clone(), ());
        self.keys.insert(at.clone(), kept);
    }

    /// The key of an account that tokens call so, if it is good now; an error says why there is none.
    pub fn find(
        &self,
        account: &At,
        uid: &str,
        id: &str,
        now: SystemTime,
    ) -> Result<&PublicKey, &'static str> {
        let found = self.by_id.get(&(account.clone(), id.to_owned())).into_iter().flatten();
        let mut why = "the MachineAccount has no key with this id";
        for kept in found.filter_map(|(at, ())| self.keys.get(at)) {
            match kept.until {
                _ if *kept.account_uid != *uid => {
                    why = "the key belongs to a deleted MachineAccount of the same name"
                }
                Some(until) if until <= now => why = "the key has expired",
                _ => return Ok(&kept.key),
            }
        }
        Err(why)
    }
}

impl Kept {
    fn read(at: &At, object: &Object) -> Option<Kept> {
        let text = |path: &str| object.at(path).and_then(Value::as_str).unwrap_or_default();
        Some(Kept {
            account: At { name: text("spec.machineAccountName").into(), ..at.clone() },
            account_uid: owner(object)?.into(),
            // A time that can't be read is one that has passed.
            until: match object.at("spec.expirationDate") {
                None | Some(Value::Null) => None,
                Some(_) => Some(expiry(object).unwrap_or(UNIX_EPOCH)),
            },
            key: PublicKey::from_pem(text("spec.publicKey")).ok()?,
        })
    }
}

/// When a key is no longer good.
pub fn expiry(key: &Object) -> Option<SystemTime> {
    let moment = Moment::parse(key.at("spec.expirationDate")?.as_str()?).ok()?;
    Some(UNIX_EPOCH + Duration::from_secs(u64::try_from(moment.seconds).ok()?))
}

/// The uid of the machine account that a key goes with.
pub fn owner(key: &Object) -> Option<&str> {
    let owners = key.meta("ownerReferences").and_then(Value::as_array)?;
    let is_account = |owner: &&Value| {
        owner["kind"] == "MachineAccount"
            && owner["apiVersion"].as_str().is_some_and(|version| version.starts_with(super::GROUP))
    };
    owners.iter().find(is_account)?.get("uid")?.as_str()
}

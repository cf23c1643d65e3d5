//! The count of failed logins, in BMCLogin objects that all processes share.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bmc::ledger::{Denied, Ending, LoginLedger, Recorded};
use krm::Object;
use krm::kind::Resource;
use reconcile::objects::Objects;
use reconcile::plan::Write;
use reconcile::target::Target;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::kinds::BmcLogin;

/// How often a record is changed again because somebody else was first.
const TRIES: usize = 64;

/// Attempts of one controller, in the store.
pub struct StoredLedger {
    by: &'static str,
    /// Those of the last action: its controller holds its lease now.
    objects: Mutex<Option<Arc<dyn Objects>>>,
}

impl StoredLedger {
    /// For a controller.
    pub fn new(by: &'static str) -> StoredLedger {
        StoredLedger { by, objects: Mutex::default() }
    }

    /// Writes through these objects from now on.
    pub fn use_objects(&self, objects: &Arc<dyn Objects>) {
        *self.objects.lock().unwrap_or_else(PoisonError::into_inner) = Some(objects.clone());
    }

    async fn change<T>(
        &self,
        bmc: &str,
        mut change: impl FnMut(&mut BmcLogin) -> T + Send,
    ) -> Result<T, String> {
        let objects = self.objects.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let objects = objects.ok_or("no action has been executed yet")?;
        let mut why = String::new();
        for _ in 0..TRIES {
            let target = Target::new("", BmcLogin::address("", &BmcLogin::at(bmc).metadata.name));
            let found = objects.get(&target).await.map_err(|status| status.to_string())?;
            let old = found.as_ref().and_then(|it| BmcLogin::deserialize(&Value::Object(it.0.clone())).ok());
            let mut login = old.clone().unwrap_or_else(|| BmcLogin::at(bmc));
            let answer = change(&mut login);
            if old.as_ref().is_some_and(|old| old.spec == login.spec)
                || (old.is_none() && login.spec.attempts.is_empty())
            {
                return Ok(answer);
            }
            let mut object = found.as_deref().cloned().unwrap_or_else(|| {
                let mut object =
                    Object::new(&format!("{}/{}", BmcLogin::GROUP, BmcLogin::VERSION), BmcLogin::KIND);
                object.set_meta("name", Some(login.metadata.name.as_str().into()));
                object
            });
            object.set("spec", Some(json!(login.spec)));
            let write = match found {
                Some(_) => Write::Update(String::new(), object),
                None => Write::Create(String::new(), object),
            };
            match objects.commit(vec![write]).await {
                Ok(()) => return Ok(answer),
                // Somebody else was first: the record is read again.
                Err(status) if status.code == 409 => why = status.to_string(),
                Err(status) => return Err(status.to_string()),
            }
        }
        Err(why)
    }
}

impl LoginLedger for StoredLedger {
    fn reserve<'a>(&'a self, bmc: &'a str, attempt: u64, now: Duration) -> Recorded<'a, Result<(), Denied>> {
        Box::pin(self.change(bmc, move |login| login.reserve(attempt, self.by, now)))
    }

    fn settle<'a>(&'a self, bmc: &'a str, attempt: u64, ending: Ending, now: Duration) -> Recorded<'a, ()> {
        Box::pin(self.change(bmc, move |login| login.settle(attempt, self.by, ending, now)))
    }
}

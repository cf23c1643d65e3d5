//! The change of a BMC password, as a step of an operation.
//!
//! The record of the change and both passwords are in the status of the operation, the passwords sealed. The new one becomes
//! that of the Host in one write, after a login with it succeeded.

use std::sync::Arc;

use bmc::rotation::{Dial, Phase, Rotation, Safe};
use bmc::{Answer, Bmc, Cause, Credentials, Error, Password};
use krm::Object;
use krm::kind::{Address as At, Resource, SEALED_NAMESPACE, secret_of};
use krm::status::Status;
use reconcile::plan::Write;
use reconcile::target::Target;
use serde_json::{Value, json};

use crate::bmcs::{Access, Bmcs, Connection, Failure, Opened, Under};
use crate::kinds::{Host, HostOperation};

/// Changes the password, or goes on with a change that was begun. `Ok(true)` when the new one is proven.
pub async fn run(
    operation: &str,
    host: &str,
    under: &Under,
    begun_before: bool,
    bmcs: &Arc<Bmcs>,
    access: &Access,
) -> Result<bool, Failure> {
    let driven = bmcs.drive(host, under, access).await?;
    let connection = driven.connection().clone();
    let Some(credentials) = connection.credentials.clone() else { return Err(Failure::NoCredentials) };
    let kept = read(operation, access).await?;
    let rotation = &kept.rotation;
    let (record, old, new) = match (rotation, kept.old, kept.new) {
        (Some(record), Some(old), Some(new)) => {
            // A process before this one may have been in the middle.
            let record = if begun_before { record.clone().resumed() } else { record.clone() };
            (record, old, new)
        }
        _ => {
            let new = bmc::credentials::generate(&bmc::SystemRandom);
            (Rotation::new(credentials.user.clone()), credentials.password.clone(), new)
        }
    };
    let dial = Dialing { bmcs: bmcs.clone(), connection: connection.clone() };
    let mut safe = Keeping {
        operation: operation.to_owned(),
        host: host.to_owned(),
        access: access.clone(),
        connection,
        old: old.clone(),
        new: new.clone(),
        stored: credentials.password.clone(),
    };
    if rotation.is_none() {
        // Both passwords are kept before the BMC hears of the new one.
        safe.save(&record).await?;
    }
    let ended = bmc::rotation::run(record, &old, &new, &dial, &mut safe).await;
    driven.finished(&ended);
    let ended = ended?;
    match ended.phase {
        Phase::Done => Ok(true),
        _ => {
            let why = ended.reason.unwrap_or_else(|| "the password was not changed".to_owned());
            Err(Failure::Claim(why))
        }
    }
}

/// What the operation keeps.
struct Kept {
    rotation: Option<Rotation>,
    old: Option<Password>,
    new: Option<Password>,
}

async fn read(operation: &str, access: &Access) -> Result<Kept, Failure> {
    let found = object(operation, access).await?;
    let at = At {
        group: String::new(),
        plural: "secrets".to_owned(),
        namespace: SEALED_NAMESPACE.to_owned(),
        name: secret_of("hostoperation", operation),
    };
    let secret = access.objects().get(&Target::new("", at)).await.map_err(Failure::Store)?;
    let password = |key: &str| {
        let text = secret.as_ref()?.at("data")?.get(key)?.as_str()?;
        Some(Password::new(String::from_utf8(krm::base64::decode(text).ok()?).ok()?))
    };
    let status = found.at("status.rotation").cloned().unwrap_or_default();
    let rotation = serde_json::from_value(json!({
        "user": status["user"], "phase": status["phase"], "attempts": status["attempts"], "reason": null,
    }));
    Ok(Kept { rotation: rotation.ok(), old: password("oldPassword"), new: password("newPassword") })
}

async fn object(operation: &str, access: &Access) -> Result<Object, Failure> {
    let target = Target::new("", HostOperation::address("", operation));
    let found = access.objects().get(&target).await.map_err(Failure::Store)?;
    found.map(|found| Object::clone(&found)).ok_or_else(|| Failure::Claim("the operation is gone".to_owned()))
}

/// Opens drivers with either password. The turn at the BMC is the one of the step.
struct Dialing {
    bmcs: Arc<Bmcs>,
    connection: Connection,
}

impl Dial for Dialing {
    fn dial(&self, credentials: &Credentials) -> bmc::Result<Box<dyn Bmc>> {
        let opened = self.bmcs.dial(&self.connection, credentials)?;
        Ok(Box::new(opened))
    }
}

/// Keeps the record in the status of the operation, and the password in the Host.
struct Keeping {
    operation: String,
    host: String,
    access: Access,
    connection: Connection,
    old: Password,
    new: Password,
    stored: Password,
}

impl Keeping {
    async fn keep(&self, rotation: &Rotation) -> Result<(), Failure> {
        loop {
            let mut new = object(&self.operation, &self.access).await?;
            let is_over = rotation.phase == Phase::Done || rotation.phase == Phase::Refused;
            let status = new.0.entry("status").or_insert_with(|| json!({}));
            let record = status.as_object_mut().map(|status| status.entry("rotation").or_insert(json!({})));
            let Some(record) = record.and_then(Value::as_object_mut) else {
                return Err(Failure::Unreadable("the status of the operation can't be read".to_owned()));
            };
            record.insert("user".to_owned(), rotation.user.as_str().into());
            record.insert("phase".to_owned(), json!(rotation.phase));
            record.insert("attempts".to_owned(), rotation.attempts.into());
            // What is proven or was refused needs them no longer; an empty value removes a sealed one.
            let kept =
                |password: &Password| if is_over { String::new() } else { password.reveal().to_owned() };
            record.insert("oldPassword".to_owned(), kept(&self.old).into());
            record.insert("newPassword".to_owned(), kept(&self.new).into());
            match self.access.objects().commit(vec![Write::Status(String::new(), new)]).await {
                Err(status) if is_conflict(&status) => {}
                written => return written.map_err(Failure::Store),
            }
        }
    }

    fn failed(&self, failure: Failure) -> Error {
        match failure {
            Failure::Bmc(error) => error,
            other => {
                let why = other.to_string();
                Error::new(&self.connection.address, "keep the record of the change", Cause::Ledger { why })
            }
        }
    }
}

impl Safe for Keeping {
    fn save<'a>(&'a mut self, rotation: &'a Rotation) -> Answer<'a, ()> {
        Box::pin(async move { self.keep(rotation).await.map_err(|failure| self.failed(failure)) })
    }

    fn switch(&mut self) -> Answer<'_, ()> {
        Box::pin(async move {
            let target = Target::new("", Host::address("", &self.host));
            let patch = json!({"spec": {"bmc": {"password": self.new.reveal()}}});
            let written = self.access.objects().commit(vec![Write::Patch(target, patch)]).await;
            written.map_err(|status| self.failed(Failure::Store(status)))?;
            self.stored = self.new.clone();
            Ok(())
        })
    }

    fn stored(&self) -> Password {
        self.stored.clone()
    }
}

fn is_conflict(status: &Status) -> bool {
    status.code == 409 && status.reason == "Conflict"
}

impl Bmc for Opened {
    fn address(&self) -> &bmc::Address {
        self.bmc.address()
    }

    fn power(&self) -> Answer<'_, bmc::power::PowerState> {
        self.bmc.power()
    }

    fn set_power(&self, action: bmc::power::PowerAction) -> Answer<'_, bmc::Outcome> {
        self.bmc.set_power(action)
    }

    fn set_password<'a>(&'a self, user: &'a str, password: &'a Password) -> Answer<'a, ()> {
        self.bmc.set_password(user, password)
    }

    fn close(&self) -> Answer<'_, ()> {
        self.bmc.close()
    }
}

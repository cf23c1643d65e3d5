//! Authentication of machine accounts, and key pairs for new keys.

use std::sync::Arc;
use std::time::SystemTime;

use apiserver::Identity;
use apiserver::authn::{PublicKey, Signer, Signers};
use apiserver::call::Call;
use krm::{Object, base64};
use serde_json::{Value, json};

use super::authorizer::Iam;
use super::directory::{MACHINE_SUFFIX, machine_address};
use super::generated_key::Pair;
use super::machine_keys::owner;
use super::roles::At;
use super::{GROUP, VERSION};

/// The group of all machine accounts.
pub const EVERY_MACHINE: &str = "system:machineaccounts";
/// The type of the secrets that hold the private half of a key.
pub const SECRET_TYPE: &str = "iam.miloapis.com/machine-account-key";
/// Under which key such a secret holds the credential.
pub const CREDENTIALS: &str = "credentials.json";

impl Signers for Iam {
    fn are_called(&self, user: &str) -> bool {
        user.strip_suffix(MACHINE_SUFFIX).is_some_and(|rest| rest.ends_with('.') && rest.contains('@'))
    }

    fn signer(&self, user: &str, key_id: &str, now: SystemTime) -> Result<Signer, String> {
        let index = self.index();
        let (at, uid) =
            index.directory.machine_of(user).ok_or("no active MachineAccount of this name exists")?;
        let key = index.machine_keys.find(at, uid, key_id, now)?.clone();
        let plane = (!at.plane.is_empty()).then(|| at.plane.clone());
        let (user, uid) = (Arc::from(user), uid.clone());
        let groups = vec![EVERY_MACHINE.into()];
        Ok(Signer { identity: Identity { user, uid, groups, ..Identity::default() }, plane, key })
    }
}

/// Whether a call is about keys of machine accounts.
pub fn is_about_keys(call: &Call) -> bool {
    call.kind.group == GROUP && call.kind.names.plural == "machineaccountkeys" && call.subresource.is_empty()
}

/// Whether a call is about machine accounts.
pub fn is_about_accounts(call: &Call) -> bool {
    call.kind.group == GROUP && call.kind.names.plural == "machineaccounts" && call.subresource.is_empty()
}

/// An account says from the start under which name it signs in, and for whom.
pub fn name(iam: &Iam, call: &Call, account: &mut Object) {
    let Some(mut status) = account.get("status").cloned().filter(|status| status.get("email").is_none())
    else {
        return;
    };
    status["email"] = machine_address(call.plane.as_str(), &call.namespace, account.name()).into();
    status["audience"] = iam.audience().into();
    account.set("status", Some(status));
}

/// A key goes with its account, and gets a pair of its own where its maker brings none.
pub fn complete(iam: &Iam, call: &Call, key: &mut Object) {
    let Some(mut spec) = key.get("spec").cloned() else { return };
    let account = spec.get("machineAccountName").and_then(Value::as_str).unwrap_or_default().to_owned();
    let at = At::new(call.plane.as_str(), &call.namespace, &account);
    let uid = iam.index().directory.machine_uid(&at).cloned();
    if let Some(uid) = uid.filter(|_| owner(key).is_none()) {
        let mut owners = key.meta("ownerReferences").and_then(Value::as_array).cloned().unwrap_or_default();
        let api_version = format!("{GROUP}/{VERSION}");
        owners.push(
            json!({ "apiVersion": api_version, "kind": "MachineAccount", "name": account, "uid": &*uid }),
        );
        key.set_meta("ownerReferences", Some(owners.into()));
    }
    let is_given = spec.get("publicKey").and_then(Value::as_str).is_some_and(|key| !key.is_empty());
    if !is_given && let Some(pair) = iam.mint().pair(key.uid()) {
        spec["publicKey"] = pair.public.into();
        key.set("spec", Some(spec));
    }
}

/// The secret that comes with a key which the server has made: it goes when the key does.
pub fn companions(iam: &Iam, call: &Call, key: &Object) -> Vec<Object> {
    let Some(pair) = generated(iam, key) else { return Vec::new() };
    let account = key.at("spec.machineAccountName").and_then(Value::as_str).unwrap_or_default();
    let address = machine_address(call.plane.as_str(), &call.namespace, account);
    let Ok(public) = PublicKey::from_pem(&pair.public) else { return Vec::new() };
    let credentials = json!({
        "type": "groundplane_machine_account",
        "client_email": address,
        "client_id": address,
        "private_key_id": public.id(),
        "private_key": &*pair.private,
        "audience": iam.audience(),
        "project_id": call.plane.as_str(),
    });
    let mut secret = Object::new("v1", "Secret");
    secret.set_meta("name", Some(key.name().into()));
    secret.set_meta("namespace", Some(call.namespace.as_str().into()));
    let by = json!([{
        "apiVersion": format!("{GROUP}/{VERSION}"), "kind": "MachineAccountKey", "name": key.name(), "uid": key.uid(),
        "controller": true,
    }]);
    secret.set_meta("ownerReferences", Some(by));
    secret.set("type", Some(SECRET_TYPE.into()));
    secret.set("data", Some(json!({ CREDENTIALS: base64::encode(credentials.to_string().as_bytes()) })));
    vec![secret]
}

/// The pair of a key that the server has made just now.
pub fn generated(iam: &Iam, key: &Object) -> Option<Pair> {
    let public = key.at("spec.publicKey").and_then(Value::as_str)?;
    iam.mint().pair(key.uid()).filter(|pair| pair.public == public)
}

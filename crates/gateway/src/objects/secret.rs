//! Values that are kept sealed: shown only to who holds the right to them, and only in answers about one object.

use apiserver::encode;
use apiserver::plane::Plane;
use krm::Object;
use prost_reflect::{DynamicMessage, Value};
use serde_json::Value as Json;
use tonic::Code;

use super::{Found, Objects};
use crate::collection::Face;
use crate::failure::Failure;
use crate::view::Names;

/// The namespace of the Secrets that sealed values are kept in.
const NAMESPACE: &str = "groundplane-sealed";
/// The subresource that stands for the right to read them.
const CREDENTIALS: &str = "credentials";
/// Fields with sealed values, and where the resource says where the value is.
const SEALED: [(&str, &str, &str); 3] = [
    ("hosts", "spec.bmc.password", "spec.bmc.passwordRef"),
    ("hubs", "spec.kubeconfig", "spec.kubeconfigRef"),
    ("hubs", "spec.pull_secret", "spec.pullSecretRef"),
];

impl Objects {
    /// Adds the sealed values of an object, if the caller may read them.
    pub(super) fn reveal(&self, message: &mut DynamicMessage, found: &Found) -> Result<(), Failure> {
        let plural = self.view.collection.plural;
        if self.view.face != Face::Private || !SEALED.iter().any(|(of, ..)| *of == plural) {
            return Ok(());
        }
        if self.may_read_credentials(found)?.is_err() {
            return Ok(());
        }
        let object = encode::read(found.entry.bytes())?;
        for (_, field, reference) in SEALED.iter().filter(|(of, ..)| *of == plural) {
            if let Some(value) = self.sealed(&object, reference, &found.plane()) {
                set(message, field, value);
            }
        }
        Ok(())
    }

    fn may_read_credentials(&self, found: &Found) -> Result<Result<(), Failure>, Failure> {
        let kind = self.caller.kind(self.view.collection, &found.plane())?;
        let call = self.caller.call(&kind, &found.plane(), found.name());
        Ok(call.may_with("get", CREDENTIALS, found.name()).map_err(Failure::from))
    }

    /// A sealed value, by what a resource says about where it is.
    fn sealed(&self, object: &Object, reference: &str, plane: &Plane) -> Option<Vec<u8>> {
        let text = |field: &str| object.at(&format!("{reference}.{field}")).and_then(Json::as_str);
        let (name, key) = (text("name")?, text("key")?);
        let kind = self.caller.api.kinds().of(plane).resource("", "secrets").cloned()?;
        let secret = self.caller.system(plane).read(&kind, NAMESPACE, name)?;
        let data = secret.get("data")?.get(key)?.as_str()?;
        krm::base64::decode(data).ok()
    }

    /// The kubeconfig or the password of a cluster, by the field of its status that says where it is.
    pub async fn credential(&self, id: &str, reference: &str) -> Result<String, Failure> {
        let names = Names::at(self.caller.now().await?);
        let found = self.find(id, &names)?;
        self.may_read_credentials(&found)??;
        let object = encode::read(found.entry.bytes())?;
        let value = self.sealed(&object, &format!("status.{reference}"), &found.plane());
        let value = value.and_then(|value| String::from_utf8(value).ok());
        value.ok_or_else(|| {
            let why = format!("cluster '{id}' has none yet; try again when its state is CLUSTER_STATE_READY");
            Failure::new(Code::NotFound, why)
        })
    }
}

fn set(message: &mut DynamicMessage, path: &str, value: Vec<u8>) {
    let (parents, last) = path.rsplit_once('.').unwrap_or(("", path));
    let mut message = message;
    for name in parents.split('.').filter(|name| !name.is_empty()) {
        let Some(Value::Message(inner)) = message.get_field_by_name_mut(name) else { return };
        message = inner;
    }
    let Some(field) = prost_reflect::ReflectMessage::descriptor(message).get_field_by_name(last) else {
        return;
    };
    let value = match field.kind() {
        prost_reflect::Kind::Bytes => Some(Value::Bytes(value.into())),
        _ => String::from_utf8(value).ok().map(Value::String),
    };
    if let Some(value) = value {
        message.set_field(&field, value);
    }
}

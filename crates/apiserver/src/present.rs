//! Presents stored objects in a version of their kind.

use bytes::Bytes;
use krm::Object;
use krm::kind::{Kind, Version};
use krm::schema::Schema;
use krm::status::Status;
use serde_json::Value;
use store::{Entry, Key};

use crate::api::Api;
use crate::call::Call;
use crate::conversion::Conversions;
use crate::encode;
use crate::read::all_planes;
use crate::secrets;
use crate::transaction::plan;

/// Shows the objects of one kind at one version.
pub struct Presenter<'a> {
    api: &'a Api,
    kind: &'a Kind,
    version: usize,
    conversions: Option<&'a Conversions>,
    /// The request, where it may not be shown values of secrets.
    redacts: Option<&'a Call>,
    /// The request.
    call: Option<&'a Call>,
    /// Whether it says which plane an object is in.
    names_plane: bool,
}

impl<'a> Presenter<'a> {
    /// Shows them at the version with this index.
    pub fn new(api: &'a Api, kind: &'a Kind, version: usize) -> Presenter<'a> {
        Presenter { api, kind, version, conversions: None, redacts: None, call: None, names_plane: false }
    }

    /// Shows them as a request wants them.
    pub fn of(call: &'a Call) -> Presenter<'a> {
        let conversions = call.conversions.as_deref();
        let redacts = call.redacts.then_some(call);
        Presenter {
            conversions,
            redacts,
            call: Some(call),
            names_plane: call.all_planes,
            ..Presenter::new(&call.api, &call.kind, call.version)
        }
    }

    /// The bytes of an object: those that are stored, unless this version makes something else of them.
    pub fn bytes(&self, key: &Key, entry: &Entry) -> Result<Bytes, Status> {
        if self.hides(key) || self.names_plane || secrets::is_plan(self.kind) {
            return Ok(whole(&self.object(key, entry)?).into());
        }
        let bytes = self.api.reveal(key, entry)?;
        if self.is_as_stored(entry.version().get()) && self.is_in_version(&bytes) {
            return Ok(bytes);
        }
        Ok(whole(&self.converted(&bytes, entry)?).into())
    }

    /// The bytes of an object that is shown just as it is stored, without taking hold of them.
    pub fn stored<'e>(&self, entry: &'e Entry) -> Option<&'e [u8]> {
        let is_plain = !entry.is_sealed() && !self.names_plane && self.is_as_stored(entry.version().get());
        (is_plain && self.is_in_version(entry.bytes())).then(|| &entry.bytes()[..])
    }

    /// The object itself.
    pub fn object(&self, key: &Key, entry: &Entry) -> Result<Object, Status> {
        let mut object = self.converted(&self.api.reveal(key, entry)?, entry)?;
        if self.hides(key) {
            secrets::redact(&mut object);
        }
        if secrets::is_plan(self.kind) {
            secrets::redact_plan(&mut object);
            if let Some(parts) = crate::keys::parts(key) {
                crate::write::sealed::redact_plan(&self.api.kinds().of(&parts.plane()), &mut object);
            }
            if let Some(call) = self.call {
                plan::leave_out_withheld(call, &mut object);
            }
        }
        if self.names_plane {
            all_planes::annotate(key, &mut object);
        }
        Ok(object)
    }

    fn hides(&self, key: &Key) -> bool {
        self.redacts.is_some_and(|call| call.hides(key))
    }

    fn converted(&self, bytes: &[u8], entry: &Entry) -> Result<Object, Status> {
        convert(self.conversions, self.kind, self.version, encode::read(bytes)?, entry.version().get())
    }

    /// Whether stored bytes are in the version that is stored today. Kinds with conversions in Rust may have others, until
    /// they are written anew.
    fn is_in_version(&self, bytes: &[u8]) -> bool {
        self.kind.conversion.is_none() || is_in_storage_version(self.kind, bytes)
    }

    /// Whether an object that was written then is shown as it is stored.
    pub fn is_as_stored(&self, written_at: u64) -> bool {
        self.kind.mirror.is_none()
            && self.version == self.kind.storage
            && written_at >= self.kind.versions[self.version].since
    }
}

/// Whether stored bytes are in the version in which objects of the kind are stored today.
pub fn is_in_storage_version(kind: &Kind, bytes: &[u8]) -> bool {
    let api_version = kind.api_version(&kind.stored().name);
    bytes.starts_with(encode::beginning(&api_version, &kind.names.kind).as_bytes())
}

/// Makes a version of a stored object: what is stored gets what the schema of its own version adds today, and loses what
/// that drops; then it gets the type of the version that is asked for, and loses what that one does not know.
///
/// Where the kind has a webhook for it and the caller has conversions, that is what the webhook makes of it.
pub fn convert(
    conversions: Option<&Conversions>,
    kind: &Kind,
    version: usize,
    object: Object,
    written_at: u64,
) -> Result<Object, Status> {
    if let Some(mirror) = &kind.mirror {
        return Ok((mirror.show)(object));
    }
    let target = &kind.versions[version];
    if let Some(conversion) = &kind.conversion {
        return conversion.convert(object, &kind.api_version(&target.name)).map_err(Status::internal);
    }
    if version == kind.storage && written_at >= target.since {
        return Ok(object);
    }
    let is_of = |version: &&Version| kind.api_version(&version.name) == object.api_version();
    // One whose version is no longer declared is taken for what is asked for.
    let stored = kind.versions.iter().find(is_of).unwrap_or(target);
    let object = shaped(&stored.schema, object, true);
    if stored.name == target.name && object.api_version() == kind.api_version(&target.name) {
        return Ok(object);
    }
    retyped(conversions, kind, version, object, false)
}

/// An object of one version as another has it: its type, and what the schema of that one drops and, if wanted, adds.
pub fn retyped(
    conversions: Option<&Conversions>,
    kind: &Kind,
    version: usize,
    mut object: Object,
    defaults: bool,
) -> Result<Object, Status> {
    let target = &kind.versions[version];
    let api_version = kind.api_version(&target.name);
    if let (Some(conversions), Some(_)) = (conversions, &kind.converter)
        && object.api_version() != api_version
    {
        object = conversions.get(kind, version, object)?;
    }
    if let Some(conversion) = &kind.conversion {
        object = conversion.convert(object, &api_version).map_err(Status::internal)?;
    }
    object.set_type(&api_version, &kind.names.kind);
    Ok(shaped(&target.schema, object, defaults))
}

fn shaped(schema: &Schema, object: Object, defaults: bool) -> Object {
    let mut value = object.into_value();
    schema.prune(&mut value);
    if defaults {
        schema.default(&mut value);
    }
    Object::from_value(value).unwrap_or_default()
}

/// An object with its version in it, `apiVersion` and `kind` first as in stored bytes.
pub fn whole(object: &Object) -> Vec<u8> {
    let mut bytes = encode::beginning(object.api_version(), object.kind()).into_bytes();
    for (field, value) in &object.0 {
        if !matches!(field.as_str(), "apiVersion" | "kind") {
            bytes.push(b',');
            bytes.extend_from_slice(Value::from(field.as_str()).to_string().as_bytes());
            bytes.push(b':');
            bytes.extend_from_slice(&krm::encode::to_json(value));
        }
    }
    bytes.push(b'}');
    bytes
}

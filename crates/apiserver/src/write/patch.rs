//! Patch: computed on the current object, inside the transaction.

use std::sync::Arc;

use bytes::Bytes;
use krm::Object;
use krm::body::FieldValidation;
use krm::patch::{PatchError, json, merge, strategic};
use krm::status::Status;
use serde_json::Value;
use store::{Entry, View};

use super::{Decided, Proposal, admit, current, ownership, sealed, update};
use crate::call::Call;
use crate::request::query::WriteOptions;
use crate::secrets;

/// How a patch is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// RFC 6902.
    Json,
    /// RFC 7396.
    Merge,
    /// Kubernetes' own, for its own kinds.
    Strategic,
    /// Server-side apply.
    Apply,
}

impl Style {
    /// The style of a patch with this media type, if the kind takes it.
    pub fn of(media: Option<&str>, call: &Call) -> Result<Style, Status> {
        match media {
            Some("application/json-patch+json") => Ok(Style::Json),
            Some("application/merge-patch+json") => Ok(Style::Merge),
            Some("application/strategic-merge-patch+json") if call.kind.strategic => Ok(Style::Strategic),
            Some("application/apply-patch+yaml") => Ok(Style::Apply),
            _ if call.kind.strategic => {
                let status = Status::failure(415, "UnsupportedMediaType", "415: Unsupported Media Type");
                Err(status.about(krm::status::Details::default()))
            }
            _ => Err(Status::unsupported_media_type(
                "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
            )),
        }
    }
}

/// A patch that came in. What is wrong with it is told only once there is an object to apply it to.
pub enum Patch {
    /// RFC 6902.
    Json(Result<json::Patch, PatchError>),
    /// RFC 7396.
    Merge(Result<merge::Patch, PatchError>),
    /// Kubernetes' own.
    Strategic(Result<strategic::Patch, PatchError>),
    /// Server-side apply: what its manager wants to be there, and what is to be said about how it was written.
    Apply(Object, Vec<String>),
}

impl Patch {
    /// Reads one of the first three styles.
    pub fn read(style: Style, body: &Bytes, validation: FieldValidation) -> Patch {
        match style {
            Style::Json => Patch::Json(json::Patch::read(body, validation)),
            Style::Merge => Patch::Merge(merge::Patch::read(body, validation)),
            Style::Strategic | Style::Apply => Patch::Strategic(strategic::Patch::read(body)),
        }
    }

    /// What came out of it, as the answer to one that leads to nothing good shows it.
    pub fn shown(&self, api_version: &str, kind: &str, result: &Value) -> String {
        match self {
            Patch::Json(Ok(patch)) => patch.shown(result, api_version, kind),
            Patch::Merge(Ok(patch)) => patch.shown(result, api_version, kind),
            _ => result.to_string(),
        }
    }

    /// The object that the patch makes of `old`, and what a strict reader holds against the patch.
    pub fn changed(
        &self,
        call: &Call,
        old: &Object,
        validation: FieldValidation,
    ) -> Result<(Value, Vec<String>), PatchError> {
        let mut value = Value::Object(old.0.clone());
        match self {
            Patch::Json(patch) => {
                let patch = patch.as_ref().map_err(Clone::clone)?;
                patch.apply(&mut value)?;
                Ok((value, patch.complaints().to_vec()))
            }
            Patch::Merge(patch) => {
                let patch = patch.as_ref().map_err(Clone::clone)?;
                patch.apply(&mut value);
                Ok((value, patch.complaints().to_vec()))
            }
            Patch::Strategic(patch) => {
                let patch = patch.as_ref().map_err(Clone::clone)?;
                let layout = call.version().layout.as_ref();
                let layout = layout.ok_or_else(|| PatchError::Failed("the kind has no layout".to_owned()))?;
                // It is read into any value before it is read into the type.
                let (mut changed, complaints) = patch.apply(&value, layout, validation)?;
                krm::number::settle(&mut changed);
                Ok((changed, complaints))
            }
            Patch::Apply(..) => Ok((value, Vec::new())),
        }
    }
}

/// Decides on a patch.
pub fn decide(
    call: &Call,
    view: &mut View,
    options: &WriteOptions,
    patch: &Patch,
) -> Result<Decided, Status> {
    propose(call, view, options, patch)?.settle(call, view)
}

/// What a patch would make of the object.
pub fn propose(
    call: &Call,
    view: &mut View,
    options: &WriteOptions,
    patch: &Patch,
) -> Result<Proposal, Status> {
    let found = current(call, view)?;
    admit::kind_is_current(call, view, found.is_none().then_some(call.name.as_str()))?;
    if let Patch::Apply(wanted, warnings) = patch {
        return apply(call, view, options, found, wanted, warnings.clone());
    }
    let (entry, old) = found.ok_or_else(|| call.not_found())?;
    let (changed, complaints) =
        patch.changed(call, &old, options.validation).map_err(|error| error.status())?;
    let shown = || {
        let mut changed = changed.clone();
        if call.kind.secret {
            krm::diff::redact(&mut changed);
        }
        let shown = patch.shown(&call.api_version(), &call.kind.names.kind, &changed);
        sealed::without_values(&call.kind, &changed, &shown)
    };
    let bad = |why: String| PatchError::BadResult { shown: shown(), why }.status();
    let Some(object) = Object::from_value(changed.clone()) else {
        return Err(bad("the patch result is not an object".to_owned()));
    };
    if let Some(stray) = call.tokens.stray(&call.key()?, &object) {
        return Err(secrets::moves_a_value(call, &stray));
    }
    if object.kind().is_empty() && call.kind.shape.is_none() {
        return Err(bad(krm::decode::missing_kind(&shown())));
    }
    // A strategic merge patch is applied to the type itself, which can't change.
    let retypes = object.kind() != call.kind.names.kind || object.api_version() != call.api_version();
    if call.kind.shape.is_some() && retypes && !matches!(patch, Patch::Strategic(_)) {
        return Err(bad(admit::wrong_type(call, object.api_version(), object.kind())));
    }
    let (mut new, dropped) = admit::shape(call, object).map_err(bad)?;
    let mut warnings = Vec::new();
    let complaints: Vec<String> = complaints.into_iter().chain(dropped).collect();
    admit::complain(complaints, options.validation, &mut warnings).map_err(bad)?;
    let repeated = krm::meta::drop_duplicate_owners(&mut new);
    warnings.extend(krm::meta::duplicate_owners_warning(&repeated, true));
    admit::matches_path(call, &new, true)?;
    update::begin(call, view, options, (entry, old), new, "patch", warnings)
}

fn apply(
    call: &Call,
    view: &mut View,
    options: &WriteOptions,
    found: Option<(Arc<Entry>, Object)>,
    wanted: &Object,
    mut warnings: Vec<String>,
) -> Result<Proposal, Status> {
    if found.is_none() && !call.subresource.is_empty() {
        return Err(call.not_found());
    }
    let old = found.as_ref().map(|(_, old)| old);
    let mut wanted = wanted.clone();
    let mut sealing = sealed::take(call, view, old, &call.name, &mut wanted)?;
    warnings.append(&mut sealing.warnings);
    let merged = ownership::apply(call, old, &wanted, options)?;
    let (mut new, dropped) = admit::shape_applied(call, merged).map_err(|why| admit::unfit(call, &why))?;
    admit::complain(dropped, options.validation, &mut warnings).map_err(|why| admit::unfit(call, &why))?;
    let repeated = krm::meta::drop_duplicate_owners(&mut new);
    warnings.extend(krm::meta::duplicate_owners_warning(&repeated, true));
    admit::matches_path(call, &new, true)?;
    if let Some(old) = old.filter(|_| call.subresource.is_empty()) {
        sealed::may_move(call, old, &new, &sealing)?;
    }
    let proposal = match found {
        Some(found) => update::begin(call, view, options, found, new, "apply", warnings)?,
        None => {
            let mut new = new;
            if !new.uid().is_empty() {
                let why = format_args!(
                    "uid mismatch: the provided object specified uid {}, and no existing object was found",
                    new.uid()
                );
                return Err(Status::conflict(&call.kind.resource(), &call.name, why));
            }
            super::create::fill_in(call, &mut new)?;
            super::create::begin(call, view, new, "apply", warnings)?
        }
    };
    Ok(Proposal { sealing, ..proposal })
}

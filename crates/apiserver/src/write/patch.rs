//! Patching: changes to what is there, decided on what is there.

use std::sync::Arc;

use bytes::Bytes;
use krm::Object;
use krm::body::FieldValidation;
use krm::patch::{PatchError, json, merge, strategic};
use krm::status::Status;
use serde_json::Value;
use store::{Entry, View};

use super::{Decided, admit, current, ownership, update};
use crate::call::Call;
use crate::request::query::WriteOptions;

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
            _ if call.kind.strategic => Err(Status::unsupported_media_type(
                "application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json, \
                 application/apply-patch+yaml",
            )),
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
    /// Server-side apply: what its manager wants to be there.
    Apply(Object),
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
                patch.apply(&value, layout, validation)
            }
            Patch::Apply(_) => Ok((value, Vec::new())),
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
    let found = current(call, view)?;
    admit::kind_is_current(call, view, found.is_none())?;
    if let Patch::Apply(wanted) = patch {
        return apply(call, view, options, found, wanted);
    }
    let (entry, old) = found.ok_or_else(|| call.not_found())?;
    let (changed, complaints) =
        patch.changed(call, &old, options.validation).map_err(|error| error.status())?;
    let shown = changed.to_string();
    let bad = |why: String| PatchError::BadResult { shown: shown.clone(), why }.status();
    let Some(changed) = Object::from_value(changed) else {
        return Err(bad("the patch leaves no object".to_owned()));
    };
    let (new, dropped) = admit::shape(call, changed).map_err(bad)?;
    let mut warnings = Vec::new();
    let complaints: Vec<String> = complaints.into_iter().chain(dropped).collect();
    admit::complain(complaints, options.validation, &mut warnings).map_err(bad)?;
    type_stays(call, &new)?;
    admit::matches_path(call, &new, true)?;
    update::replace(call, view, options, &entry, &old, new, "patch", warnings)
}

fn type_stays(call: &Call, new: &Object) -> Result<(), Status> {
    let expected = call.api_version();
    if new.api_version() != expected {
        return Err(Status::bad_request(format!(
            "the API version in the data ({}) does not match the expected API version ({expected})",
            new.api_version()
        )));
    }
    Ok(())
}

fn apply(
    call: &Call,
    view: &mut View,
    options: &WriteOptions,
    found: Option<(Arc<Entry>, Object)>,
    wanted: &Object,
) -> Result<Decided, Status> {
    let mut warnings = Vec::new();
    let old = found.as_ref().map(|(_, old)| old);
    let merged = ownership::apply(call, old, wanted, options)?;
    let (new, dropped) = admit::shape(call, merged).map_err(|why| admit::unfit(call, &why))?;
    admit::complain(dropped, options.validation, &mut warnings).map_err(|why| admit::unfit(call, &why))?;
    match found {
        Some((entry, old)) => update::replace(call, view, options, &entry, &old, new, "apply", warnings),
        None => {
            let mut new = new;
            super::create::fill_in(call, &mut new);
            let fate = super::create::finish(call, view, new, "apply", &mut warnings)?;
            Ok(Decided { fate, warnings })
        }
    }
}

//! Where writes to objects of a kind come in, and what is known of the kind there.

use std::borrow::Cow;
use std::sync::Arc;

use super::apply::ApplyError;
use super::compare::{Change, compare};
use super::set::FieldSet;
use super::types::Type;
use super::validate::{Duplicates, validate};
use crate::kind::{Conversion, Unconvertible};
use crate::names::group_version;
use crate::object::Object;

/// The types of all versions of a kind.
#[derive(Debug, Clone)]
pub struct Versions {
    kind: String,
    origin: Origin,
    types: Vec<(String, Type)>,
    blank: Object,
    conversion: Option<Arc<Conversion>>,
}

/// Where a kind comes from, on which some corners of Kubernetes' behaviour depend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// It is part of Kubernetes: an entry of a version that is not known is forgotten.
    BuiltIn,
    /// A CustomResourceDefinition declares it: an entry of a version that is not known is an error.
    Custom,
}

impl Versions {
    /// A kind, so far without versions.
    pub fn new(kind: impl Into<String>, origin: Origin) -> Versions {
        Versions { kind: kind.into(), origin, types: Vec::new(), blank: Object::default(), conversion: None }
    }

    /// The same with another version, by its `apiVersion`.
    pub fn with(mut self, api_version: impl Into<String>, ty: Type) -> Versions {
        self.types.push((api_version.into(), ty));
        self
    }

    /// The same with what is in an object before anything is written to it. Built-in kinds have some fields always, so
    /// that whoever creates an object owns what is in them but not the fields themselves.
    pub fn blank(mut self, blank: Object) -> Versions {
        self.blank = blank;
        self
    }

    /// The same with conversions between the versions. Without any, an object is the same in all of them.
    pub fn converting(mut self, conversion: Option<Arc<Conversion>>) -> Versions {
        self.conversion = conversion;
        self
    }

    /// An object as a version has it.
    pub(super) fn convert<'o>(
        &self,
        object: &'o Object,
        version: &str,
    ) -> Result<Cow<'o, Object>, Unconvertible> {
        match &self.conversion {
            Some(conversion) if object.api_version() != version => {
                conversion.convert(object.clone(), version).map(Cow::Owned)
            }
            _ => Ok(Cow::Borrowed(object)),
        }
    }

    pub(super) fn kind(&self) -> &str {
        &self.kind
    }

    pub(super) fn origin(&self) -> Origin {
        self.origin
    }

    pub(super) fn blank_object(&self) -> &Object {
        &self.blank
    }

    /// The type of a version. Versions that are not known are an error, or `None` where they are to be forgotten.
    pub(super) fn find(&self, from: &str, version: &str) -> Result<Option<&Type>, ApplyError> {
        let known = self.types.iter().find(|(known, _)| known == version);
        match (known, self.origin) {
            (Some((_, ty)), _) => Ok(Some(ty)),
            (None, Origin::BuiltIn) => Ok(None),
            (None, Origin::Custom) => Err(ApplyError::Failed(match group_of(from) == group_of(version) {
                true => format!("request to convert CR to an invalid group/version: {version}"),
                false => format!(
                    "{from}, Kind={} is unstructured and is not suitable for converting to {}",
                    self.kind,
                    crate::field::quote(version)
                ),
            })),
        }
    }
}

fn group_of(api_version: &str) -> Option<&str> {
    group_version(api_version).map(|(group, _)| group)
}

/// A version of a kind, or a subresource of it, that writes come in at.
#[derive(Debug, Clone, Copy)]
pub struct Endpoint<'a> {
    /// The kind.
    pub versions: &'a Versions,
    /// The `apiVersion` that is written in. The live object is given in it, too.
    pub api_version: &'a str,
    /// The subresource that is written to; empty for the object itself.
    pub subresource: &'a str,
    /// Which fields writes here do not reach, by `apiVersion`: what a client sends in them is thrown away later, so
    /// nobody comes to own them by it. For a custom resource with a status these are, of the object itself, `status` in
    /// the version written, and of `status`, `metadata` and `spec` in every version.
    pub resets: &'a [(String, FieldSet)],
}

impl<'a> Endpoint<'a> {
    /// The type of what is written.
    pub(super) fn ty(&self) -> Result<&'a Type, ApplyError> {
        let found = self.versions.find(self.api_version, self.api_version)?;
        found.ok_or_else(|| {
            let gvk = describe_type(self.api_version, self.versions.kind());
            ApplyError::Failed(format!("no corresponding type for {gvk}"))
        })
    }

    /// Fields of a version that writes here do not reach.
    pub(super) fn reset(&self, version: &str) -> Option<&'a FieldSet> {
        self.resets.iter().find(|(of, _)| of == version).map(|(_, fields)| fields)
    }
}

/// What changed between two states of an object, seen in each version that is asked for.
pub(super) struct Changes<'a, 'v> {
    endpoint: Endpoint<'a>,
    old: &'v Object,
    new: &'v Object,
    seen: Vec<(&'a str, Change)>,
}

impl<'a, 'v> Changes<'a, 'v> {
    /// Compares two states that have been checked to be of the endpoint's type.
    pub(super) fn new(
        endpoint: Endpoint<'a>,
        ty: &Type,
        old: &'v Object,
        new: &'v Object,
    ) -> Changes<'a, 'v> {
        let change = compare(ty, old, new).without(endpoint.reset(endpoint.api_version));
        Changes { endpoint, old, new, seen: vec![(endpoint.api_version, change)] }
    }

    /// What changed, in a version; `None` if that is one to forget.
    pub(super) fn at(&mut self, version: &str) -> Result<Option<&Change>, ApplyError> {
        let at = match self.seen.iter().position(|(seen, _)| *seen == version) {
            Some(at) => at,
            None => {
                let endpoint = self.endpoint;
                let Some(ty) = endpoint.versions.find(endpoint.api_version, version)? else {
                    return Ok(None);
                };
                let seen = |object: &'v Object, which: &str| {
                    let failed = |why: &dyn std::fmt::Display| {
                        ApplyError::Failed(format!("failed to convert {which} object: {why}"))
                    };
                    let object = endpoint.versions.convert(object, version).map_err(|why| failed(&why))?;
                    validate(ty, &object, Duplicates::Refused).map_err(|errors| failed(&errors))?;
                    Ok::<_, ApplyError>(object)
                };
                let (old, new) = (seen(self.old, "old")?, seen(self.new, "new")?);
                let change = compare(ty, &old, &new).without(endpoint.reset(version));
                let name = endpoint.versions.types.iter().find(|(known, _)| known == version);
                self.seen.push((name.map_or("", |(known, _)| known.as_str()), change));
                self.seen.len() - 1
            }
        };
        Ok(Some(&self.seen[at].1))
    }

    /// What changed, in the endpoint's own version.
    pub(super) fn own(self) -> Change {
        self.seen.into_iter().next().map(|(_, change)| change).unwrap_or_default()
    }
}

/// An object's type as messages name it: `example.com/v1, Kind=Widget`, or `/v1, Kind=ConfigMap`.
pub(super) fn describe_type(api_version: &str, kind: &str) -> String {
    match group_version(api_version) {
        Some((group, version)) => format!("{group}/{version}, Kind={kind}"),
        // What is no group and version has no kind either.
        None => "/, Kind=".to_owned(),
    }
}

/// An object as messages name it: `namespace/name; example.com/v1, Kind=Widget`.
pub(super) fn describe(object: &Object) -> String {
    let what = describe_type(object.api_version(), object.kind());
    format!("{}/{}; {what}", object.namespace(), object.name())
}

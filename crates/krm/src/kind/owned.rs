//! Field ownership of a kind: which fields can be owned, through which endpoints.

use super::{Kind, Origin};
use crate::ownership::{self, Endpoint, FieldSet, Type, Versions};

/// What writes to a kind's objects need to know of its fields.
pub struct Owned {
    versions: Versions,
    /// What a write to the object itself does not reach, by `apiVersion`.
    beyond_object: Vec<(String, FieldSet)>,
    /// What a write to its status does not reach.
    beyond_status: Vec<(String, FieldSet)>,
}

impl Owned {
    pub(super) fn of(kind: &Kind) -> Owned {
        let (origin, beyond_status): (_, &[&[&str]]) = match kind.origin {
            Origin::BuiltIn => (ownership::Origin::BuiltIn, &[&["spec"]]),
            Origin::Custom { .. } => (ownership::Origin::Custom, &[&["metadata"], &["spec"]]),
        };
        let mut owned = Owned {
            versions: Versions::new(kind.names.kind.as_str(), origin)
                .blank(kind.blank.clone())
                .converting(kind.conversion.clone()),
            beyond_object: Vec::new(),
            beyond_status: Vec::new(),
        };
        for version in &kind.versions {
            let api_version = kind.api_version(&version.name);
            owned.versions = owned.versions.with(api_version.as_str(), Type::from_schema(&version.openapi));
            if version.has_status() {
                owned.beyond_object.push((api_version.clone(), FieldSet::of(&[&["status"]])));
                owned.beyond_status.push((api_version, FieldSet::of(beyond_status)));
            }
        }
        owned
    }

    /// Where writes in `api_version` come in, to the object itself or to a subresource.
    pub fn endpoint<'a>(&'a self, api_version: &'a str, subresource: &'a str) -> Endpoint<'a> {
        let resets = match subresource {
            "" => self.beyond_object.as_slice(),
            "status" => self.beyond_status.as_slice(),
            _ => &[],
        };
        Endpoint { versions: &self.versions, api_version, subresource, resets }
    }
}

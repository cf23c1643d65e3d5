//! Declaration of Kubernetes' kinds: a Go type and what that does not express.

use krm::kind::{History, Kind, MetadataChecks, Scope, Version};
use krm::object::Object;
use krm::schema::Schema;
use krm::shape::{Outline, Published, Shape, zero};
use serde_json::json;

use crate::openapi::names;

/// Nobody reads more errors about one object than this, and a request could ask for millions.
pub const MOST_ERRORS: usize = 1000;

/// A kind of Kubernetes, with everything as most of them have it.
///
/// # Panics
/// When the outline is no schema: a mistake in the kind's file, found by the first test that touches it.
pub fn core(
    group: &str,
    kind: &str,
    plural: &str,
    scope: Scope,
    shape: &'static Shape,
    outline: &Outline,
) -> Kind {
    let mut version = Version::new("v1", outline.openapi())
        .unwrap_or_else(|error| panic!("invalid schema of {kind}: {error}"));
    // The type says what is dropped and refused; the schema only tells clients about it.
    let anything = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    version.schema = Schema::parse(&anything).expect("it says that anything goes");
    version.layout = Some(outline.layout(kind));
    version.published = Some(Published::of(shape, outline, |name| names::go_type(group, "v1", name)));
    let mut declared = Kind::new(group, kind, plural, scope, version);
    declared.shape = Some(shape);
    declared.blank = Object::from_value(zero(shape)).unwrap_or_default();
    declared.strategic = true;
    declared.unconditional_update = true;
    declared.generations = false;
    declared.metadata_checks = MetadataChecks::CORE;
    declared
}

/// A question to the server: it takes no other verb than `create`, and is answered instead of stored.
pub fn review(
    group: &str,
    kind: &str,
    plural: &str,
    scope: Scope,
    shape: &'static Shape,
    outline: &Outline,
) -> Kind {
    let mut declared = core(group, kind, plural, scope, shape, outline);
    declared.verbs = vec!["create"];
    declared.history = History::None;
    declared
}

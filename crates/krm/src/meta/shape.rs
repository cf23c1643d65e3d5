//! Metadata as a Go type.

use serde_json::Value;

use crate::field::Path;
use crate::shape::{Field, INT64, LeftOut, STRING, STRING_LIST, STRING_MAP, Shape, Struct, conform};

const fn if_empty(name: &'static str, shape: Shape) -> Field {
    Field { name, shape, left_out: LeftOut::IfEmpty }
}

const fn if_absent(name: &'static str, shape: Shape) -> Field {
    Field { name, shape, left_out: LeftOut::IfAbsent }
}

const fn always(name: &'static str, shape: Shape) -> Field {
    Field { name, shape, left_out: LeftOut::Never }
}

const UID: Shape = Shape::Text("types.UID");

const OWNER_REFERENCE: Struct = Struct {
    name: "OwnerReference",
    type_name: "v1.OwnerReference",
    fields: &[
        always("apiVersion", STRING),
        always("kind", STRING),
        always("name", STRING),
        always("uid", UID),
        if_absent("controller", Shape::Flag),
        if_absent("blockOwnerDeletion", Shape::Flag),
    ],
};

const MANAGED_FIELDS_ENTRY: Struct = Struct {
    name: "ManagedFieldsEntry",
    type_name: "v1.ManagedFieldsEntry",
    fields: &[
        if_empty("manager", STRING),
        if_empty("operation", Shape::Text("v1.ManagedFieldsOperationType")),
        if_empty("apiVersion", STRING),
        if_absent("time", Shape::Time),
        if_empty("fieldsType", STRING),
        if_absent("fieldsV1", Shape::Anything),
        if_empty("subresource", STRING),
    ],
};

/// The type of the `metadata` of every object.
pub const OBJECT_META: Shape = Shape::Struct(&Struct {
    name: "ObjectMeta",
    type_name: "v1.ObjectMeta",
    fields: &[
        if_empty("name", STRING),
        if_empty("generateName", STRING),
        if_empty("namespace", STRING),
        if_empty("selfLink", STRING),
        if_empty("uid", UID),
        if_empty("resourceVersion", STRING),
        if_empty("generation", INT64),
        if_empty("creationTimestamp", Shape::Time),
        if_absent("deletionTimestamp", Shape::Time),
        if_absent("deletionGracePeriodSeconds", INT64),
        if_empty("labels", STRING_MAP),
        if_empty("annotations", STRING_MAP),
        if_empty("ownerReferences", Shape::List("[]v1.OwnerReference", &Shape::Struct(&OWNER_REFERENCE))),
        if_empty("finalizers", STRING_LIST),
        if_empty(
            "managedFields",
            Shape::List("[]v1.ManagedFieldsEntry", &Shape::Struct(&MANAGED_FIELDS_ENTRY)),
        ),
    ],
});

/// Gives metadata the form that decoding it gives: fields that metadata does not have are dropped and told in
/// `unknown`, and empty ones left out.
///
/// A field of a wrong type is an error, in Go's words: `json: cannot unmarshal number into Go struct field ObjectMeta.name of
/// type string`.
pub fn coerce(metadata: &mut Value, path: &Path<'_>, unknown: &mut Vec<String>) -> Result<(), String> {
    conform(metadata, &OBJECT_META, path, unknown)
}

//! Metadata as a Go type.

use serde_json::Value;

use crate::field::Path;
use crate::shape::{Field, INT64, STRING, STRING_LIST, STRING_MAP, Shape, Struct, conform};

const UID: Shape = Shape::Text("types.UID");

const OWNER_REFERENCE: Struct = Struct {
    name: "OwnerReference",
    type_name: "v1.OwnerReference",
    fields: &[
        Field::always("apiVersion", STRING),
        Field::always("kind", STRING),
        Field::always("name", STRING),
        Field::always("uid", UID),
        Field::if_absent("controller", Shape::Flag),
        Field::if_absent("blockOwnerDeletion", Shape::Flag),
    ],
};

const MANAGED_FIELDS_ENTRY: Struct = Struct {
    name: "ManagedFieldsEntry",
    type_name: "v1.ManagedFieldsEntry",
    fields: &[
        Field::if_empty("manager", STRING),
        Field::if_empty("operation", Shape::Text("v1.ManagedFieldsOperationType")),
        Field::if_empty("apiVersion", STRING),
        Field::if_absent("time", Shape::Time),
        Field::if_empty("fieldsType", STRING),
        Field::if_absent("fieldsV1", Shape::Anything),
        Field::if_empty("subresource", STRING),
    ],
};

/// The type of the `metadata` of every object.
pub const OBJECT_META: Shape = Shape::Struct(&Struct {
    name: "ObjectMeta",
    type_name: "v1.ObjectMeta",
    fields: &[
        Field::if_empty("name", STRING),
        Field::if_empty("generateName", STRING),
        Field::if_empty("namespace", STRING),
        Field::if_empty("selfLink", STRING),
        Field::if_empty("uid", UID),
        Field::if_empty("resourceVersion", STRING),
        Field::if_empty("generation", INT64),
        Field::if_empty("creationTimestamp", Shape::Time),
        Field::if_absent("deletionTimestamp", Shape::Time),
        Field::if_absent("deletionGracePeriodSeconds", INT64),
        Field::if_empty("labels", STRING_MAP),
        Field::if_empty("annotations", STRING_MAP),
        Field::if_empty(
            "ownerReferences",
            Shape::List("[]v1.OwnerReference", &Shape::Struct(&OWNER_REFERENCE)),
        ),
        Field::if_empty("finalizers", STRING_LIST),
        Field::if_empty(
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

//! A reference to any object, as Events and ServiceAccounts hold it.

use krm::shape::{Field, STRING, Shape, Struct};

/// `v1.ObjectReference`.
pub static OBJECT_REFERENCE: Struct = Struct {
    name: "ObjectReference",
    type_name: "v1.ObjectReference",
    fields: &[
        Field::if_empty("kind", STRING),
        Field::if_empty("namespace", STRING),
        Field::if_empty("name", STRING),
        Field::if_empty("uid", Shape::Text("types.UID")),
        Field::if_empty("apiVersion", STRING),
        Field::if_empty("resourceVersion", STRING),
        Field::if_empty("fieldPath", STRING),
    ],
};

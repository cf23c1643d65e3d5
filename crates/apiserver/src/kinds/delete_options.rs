//! DeleteOptions: the body of a delete request.

use krm::shape::{Field, INT64, STRING, STRING_LIST, Shape, Struct};

/// The type of the body of a DELETE.
pub static DELETE_OPTIONS: Shape = Shape::Struct(&Struct {
    name: "DeleteOptions",
    type_name: "v1.DeleteOptions",
    fields: &[
        Field::if_empty("apiVersion", STRING),
        Field::if_empty("kind", STRING),
        Field::if_absent("gracePeriodSeconds", INT64),
        Field::if_absent("preconditions", Shape::Struct(&PRECONDITIONS)),
        Field::if_absent("orphanDependents", Shape::Flag),
        Field::if_absent("propagationPolicy", Shape::Text("v1.DeletionPropagation")),
        Field::if_empty("dryRun", STRING_LIST),
        Field::if_absent("ignoreStoreReadErrorWithClusterBreakingPotential", Shape::Flag),
    ],
});

static PRECONDITIONS: Struct = Struct {
    name: "Preconditions",
    type_name: "v1.Preconditions",
    fields: &[Field::if_absent("uid", Shape::Text("types.UID")), Field::if_absent("resourceVersion", STRING)],
};

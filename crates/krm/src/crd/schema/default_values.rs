//! Defaults have to be values that the schema takes.

use crate::crd::json_schema::JsonSchema;
use crate::field::{FieldError, Path};

/// Everything that is wrong with the defaults of a structural schema.
pub(super) fn faults(_schema: &JsonSchema<'_>, _pruned: bool, _path: &Path<'_>) -> Vec<FieldError> {
    Vec::new()
}

/// Whether some default holds fields that are not in the schema.
pub(super) fn any_is_unpruned(_schema: &JsonSchema<'_>) -> bool {
    false
}

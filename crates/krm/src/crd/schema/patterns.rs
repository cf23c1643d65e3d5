//! How much all patterns of a schema may take. Kubernetes has no such limit.

use std::collections::BTreeMap;

use crate::crd::json_schema::JsonSchema;
use crate::field::{FieldError, Path};
use crate::schema::Pattern;

/// About how many bytes the patterns of a schema may take when they are compiled.
const MOST: usize = 32 << 20;

/// Refuses a schema whose patterns take too much together, and names the largest of them.
pub(super) fn too_large(schema: &JsonSchema<'_>, path: &Path<'_>) -> Option<FieldError> {
    let mut weights: BTreeMap<&str, usize> = BTreeMap::new();
    schema.has(&mut |it| {
        if !it.pattern.is_empty() {
            weights.entry(it.pattern).or_insert_with(|| Pattern::new(it.pattern).weight());
        }
        false
    });
    let sum = weights.values().fold(0_usize, |sum, weight| sum.saturating_add(*weight));
    if sum <= MOST {
        return None;
    }
    let (largest, weight) = weights.into_iter().max_by_key(|(_, weight)| *weight)?;
    let detail = format!(
        "patterns take about {} MiB together when they are compiled, and at most {} MiB are allowed; this one takes \
         {} MiB: repeat fewer characters, or use maxLength",
        mebibytes(sum),
        MOST >> 20,
        mebibytes(weight)
    );
    Some(FieldError::invalid_text(path, largest, detail))
}

fn mebibytes(bytes: usize) -> String {
    format!("{:.1}", bytes as f64 / f64::from(1 << 20))
}

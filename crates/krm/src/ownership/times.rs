//! Writes that would change nothing but times.

use serde_json::Value;

use super::managers::{MANAGED_FIELDS, declared_entries};
use crate::object::Object;

/// Gives the entries of `managedFields` back the times they had, when their times are all that `new` changes: applying
/// the same again is no write.
///
/// To be called when `new` is otherwise ready to be stored.
pub fn keep_times(live: &Object, new: &mut Object) {
    if differ_in_times_only(live, new)
        && let Some(entries) = live.meta(MANAGED_FIELDS)
    {
        new.set_meta(MANAGED_FIELDS, Some(entries.clone()));
    }
}

fn differ_in_times_only(live: &Object, new: &Object) -> bool {
    let (Some(before), Some(after)) = (declared_entries(live), declared_entries(new)) else { return false };
    before.len() == after.len()
        && !before.is_empty()
        && before.iter().zip(after).any(|(before, after)| before.get("time") != after.get("time"))
        && before.iter().zip(after).all(|(before, after)| same_but(before, after, "time"))
        && same_but_managed_fields(live, new)
}

/// Whether two objects are the same but for who owns them.
pub(super) fn same_but_managed_fields(live: &Object, new: &Object) -> bool {
    live.0.len() == new.0.len()
        && live.0.iter().zip(&new.0).all(|((name, before), (other, after))| {
            name == other
                && match name.as_str() {
                    "metadata" => same_but(before, after, MANAGED_FIELDS),
                    _ => before == after,
                }
        })
}

/// Whether two objects are the same but for one field.
fn same_but(left: &Value, right: &Value, but: &str) -> bool {
    let (Value::Object(left), Value::Object(right)) = (left, right) else { return left == right };
    let rest = |(name, _): &(&String, &Value)| name.as_str() != but;
    left.iter().filter(rest).eq(right.iter().filter(rest))
}

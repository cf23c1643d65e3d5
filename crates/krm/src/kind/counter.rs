//! Counters: sums in the status of an object, which effects add to under a limit.

use std::marker::PhantomData;

use serde_json::Value;

use super::{Effect, Refusal, Resource, View};
use crate::object::Object;

/// A counter that objects of a kind have in their status: how much of something is in use. It is never negative and, if
/// every addition names the limit, never above it, whoever else adds at the same time.
///
/// The additions of one transaction add up. A sum that is read instead of counted is a scan of everything that it is a sum
/// of, guarded by the whole of it.
pub struct Counter<T> {
    path: &'static str,
    of: PhantomData<fn() -> T>,
}

impl<T: Resource> Counter<T> {
    /// The counter at a path, such as `status.taken`. The schema of the kind has an integer there; absent means zero.
    pub const fn at(path: &'static str) -> Counter<T> {
        Counter { path, of: PhantomData }
    }

    /// What it says, as a guard. `None` if there is no such object.
    pub fn read(&self, view: &mut View<'_>, namespace: &str, name: &str) -> Option<i64> {
        let object = view.reader().get(&T::address(namespace, name))?;
        Some(count_of(&object, self.path))
    }

    /// Adds `by`, if the sum is within `limit`. If it is not, the change is refused in these words.
    pub fn add_within(&self, namespace: &str, name: &str, by: i64, limit: i64, full: Refusal) -> Effect {
        let addition = Addition { path: self.path, by, limit: Some((limit, full)) };
        Effect::count(T::address(namespace, name), addition)
    }

    /// Adds `by` without a limit.
    pub fn add(&self, namespace: &str, name: &str, by: i64) -> Effect {
        Effect::count(T::address(namespace, name), Addition { path: self.path, by, limit: None })
    }

    /// Gives back what was added. More than there is leaves zero.
    pub fn subtract(&self, namespace: &str, name: &str, by: i64) -> Effect {
        self.add(namespace, name, by.saturating_neg())
    }
}

/// What is added to a counter.
#[derive(Debug, Clone, PartialEq)]
pub struct Addition {
    path: &'static str,
    by: i64,
    limit: Option<(i64, Refusal)>,
}

/// What an addition comes to.
#[derive(Debug, Clone, PartialEq)]
pub enum Sum {
    /// The counter says this now.
    Counted(i64),
    /// More was given back than there was; the counter says zero now.
    Short(i64),
    /// It does not fit.
    Refused(Refusal),
}

impl Addition {
    /// Changes the counter in `object`, which stays as it is if the addition does not fit.
    pub fn apply(&self, object: &mut Object) -> Sum {
        let before = count_of(object, self.path);
        let over = || Refusal::Conflict(format!("{} cannot count that far", self.path));
        let Some(after) = before.checked_add(self.by) else { return Sum::Refused(over()) };
        if let Some((limit, full)) = &self.limit
            && self.by > 0
            && after > *limit
        {
            return Sum::Refused(full.clone());
        }
        object.set_at(self.path, Value::from(after.max(0)));
        if after < 0 { Sum::Short(after) } else { Sum::Counted(after) }
    }
}

fn count_of(object: &Object, path: &str) -> i64 {
    object.at(path).and_then(Value::as_i64).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const LIMIT: i64 = 100;

    fn addition(by: i64) -> Addition {
        let full = Refusal::Conflict("full".to_owned());
        Addition { path: "status.used", by, limit: Some((LIMIT, full)) }
    }

    #[test]
    fn a_counter_begins_at_zero_and_beside_what_else_is_in_the_status() {
        let mut object = Object::from_value(json!({"status": {"phase": "Active"}})).unwrap();
        assert_eq!(addition(3).apply(&mut object), Sum::Counted(3));
        assert_eq!(object.get("status"), Some(&json!({"phase": "Active", "used": 3})));
    }

    #[test]
    fn what_is_given_back_is_never_refused_though_a_lowered_limit_is_exceeded() {
        let mut object = Object::from_value(json!({"status": {"used": 120}})).unwrap();
        assert_eq!(addition(-5).apply(&mut object), Sum::Counted(115));
        assert!(matches!(addition(1).apply(&mut object), Sum::Refused(_)));
    }

    #[test]
    fn more_than_there_is_leaves_zero_and_says_so() {
        let mut object = Object::from_value(json!({"status": {"used": 2}})).unwrap();
        assert_eq!(addition(-5).apply(&mut object), Sum::Short(-3));
        assert_eq!(object.at("status.used"), Some(&json!(0)));
        assert!(matches!(addition(i64::MAX).apply(&mut object), Sum::Refused(_)));
    }

    proptest! {
        #[test]
        fn it_stays_between_zero_and_the_limit(steps in prop::collection::vec(-40i64..60, 0..60)) {
            let mut object = Object::default();
            let mut expected = 0;
            for step in steps {
                let fits = step <= 0 || expected + step <= LIMIT;
                if fits {
                    expected = (expected + step).max(0);
                }
                let sum = addition(step).apply(&mut object);
                prop_assert_eq!(matches!(sum, Sum::Refused(_)), !fits);
                prop_assert_eq!(count_of(&object, "status.used"), expected);
            }
        }
    }
}

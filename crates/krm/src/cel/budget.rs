//! What all rules of one request may cost together.
//!
//! Kubernetes bounds what the rules of one object cost. A transaction has thousands of objects, and is decided anew when something
//! it read has changed: whoever sends one must not have thousands of times as much. Whoever decides sets the budget of its request
//! for as long as it runs on a thread; without one, only the bounds of each object count.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::rules::BUDGET;
use super::value::MOST_STEPS;

/// So many times what one object may cost is had by all objects of a request together.
const OBJECTS: u64 = 3;

/// What is left for the rules of a request.
#[derive(Debug)]
pub struct RequestBudget {
    cost: AtomicU64,
    steps: AtomicU64,
    is_cancelled: AtomicBool,
}

impl Default for RequestBudget {
    fn default() -> RequestBudget {
        RequestBudget::of(OBJECTS * BUDGET, OBJECTS * MOST_STEPS)
    }
}

thread_local! {
    static CURRENT: RefCell<Option<Arc<RequestBudget>>> = const { RefCell::new(None) };
}

/// The budget that was set before, to be set again.
struct Before(Option<Arc<RequestBudget>>);

impl Drop for Before {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}

impl RequestBudget {
    fn of(cost: u64, steps: u64) -> RequestBudget {
        let (cost, steps) = (AtomicU64::new(cost), AtomicU64::new(steps));
        RequestBudget { cost, steps, is_cancelled: AtomicBool::new(false) }
    }

    /// Does some work of the request on this thread: what rules cost meanwhile is taken from this budget.
    pub fn run<T>(self: &Arc<Self>, work: impl FnOnce() -> T) -> T {
        let _before = Before(CURRENT.replace(Some(self.clone())));
        work()
    }

    /// Nobody waits for the outcome any more: no further rule is run.
    pub fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
    }

    /// Cost and steps that are left for one more object.
    pub(super) fn left(&self) -> (u64, u64) {
        match self.is_cancelled.load(Ordering::Relaxed) {
            true => (0, 0),
            false => (self.cost.load(Ordering::Relaxed), self.steps.load(Ordering::Relaxed)),
        }
    }

    /// Takes what an object has cost.
    pub(super) fn spend(&self, cost: u64, steps: u64) {
        for (left, spent) in [(&self.cost, cost), (&self.steps, steps)] {
            // Several threads may work for one request.
            let _ = left
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| Some(left.saturating_sub(spent)));
        }
    }
}

/// The budget of the request that this thread works for.
pub(super) fn current() -> Option<Arc<RequestBudget>> {
    CURRENT.with_borrow(Clone::clone)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::cel::Rules;
    use crate::schema::Schema;

    fn judged(budget: &Arc<RequestBudget>) -> Vec<String> {
        let rule = json!([{"rule": "self.all(x, self.all(y, x + y >= 0))"}]);
        let items = json!({"type": "array", "maxItems": 50, "items": {"type": "integer"}, "x-kubernetes-validations": rule});
        let schema = json!({"type": "object", "properties": {"items": items}});
        let (rules, schema) = (Rules::compile(&schema).unwrap(), Schema::parse(&schema).unwrap());
        let object: Value = json!({"items": vec![1; 20]});
        let verdict = budget.run(|| rules.check(&schema, &object, None));
        verdict.errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn all_objects_of_a_request_have_one_budget() {
        let plenty = Arc::new(RequestBudget::default());
        assert_eq!(judged(&plenty), Vec::<String>::new());
        let cost = OBJECTS * BUDGET - plenty.cost.load(Ordering::Relaxed);
        assert!(cost > 400, "{cost}");
        // Enough for two of them and a half.
        let budget = Arc::new(RequestBudget::of(cost * 5 / 2, MOST_STEPS));
        assert_eq!(judged(&budget), Vec::<String>::new());
        assert_eq!(judged(&budget), Vec::<String>::new());
        let refused = judged(&budget);
        assert!(refused[0].contains("running out of cost budget"), "{refused:?}");
        assert!(judged(&budget)[0].contains("running out of cost budget"), "what is spent stays spent");
        assert_eq!(judged(&Arc::new(RequestBudget::of(cost * 5 / 2, MOST_STEPS))), Vec::<String>::new());
    }

    #[test]
    fn no_rule_runs_for_a_request_that_nobody_waits_for() {
        let budget = Arc::new(RequestBudget::default());
        budget.cancel();
        assert!(judged(&budget)[0].contains("running out of cost budget"));
        assert_eq!(budget.cost.load(Ordering::Relaxed), OBJECTS * BUDGET, "nothing was spent");
        assert!(current().is_none(), "a thread works for nobody in between");
    }
}

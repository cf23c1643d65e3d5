//! Time limits per state: an object that stays in a state for too long says so, with the reason.

use std::time::Duration;

use krm::Object;
use krm::condition::Finding;
use krm::time::Moment;
use serde_json::Value;

use crate::plan::{Event, Plan, Write};
use crate::target::Target;

/// The condition that tells whether an object moves on.
pub const PROGRESSING: &str = "Progressing";
/// Its reason, and that of the Event, once a limit has passed; the one that Kubernetes has for Deployments is like it.
pub const DEADLINE_EXCEEDED: &str = "DeadlineExceeded";
/// Its reason when an object moves on after that.
const MOVES_ON: &str = "StateChanged";

/// A state that an object is in, and for how long it may be.
///
/// The time comes from the object, such as the last transition of a condition, not from memory: a restart or another server
/// changes nothing about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// Name of the state, for people: `Installing`.
    pub name: String,
    /// When the object got into it.
    pub since: Moment,
    /// For how long it may be in it.
    pub limit: Duration,
}

impl State {
    /// How long the object may still be in it; `None` once the limit has passed.
    pub fn left(&self, now: Moment) -> Option<Duration> {
        let elapsed = duration(now).saturating_sub(duration(self.since));
        self.limit.checked_sub(elapsed).filter(|left| !left.is_zero())
    }
}

fn duration(moment: Moment) -> Duration {
    Duration::new(u64::try_from(moment.seconds).unwrap_or_default(), moment.nanoseconds)
}

impl Plan {
    /// The same plan, for an object that is in a state with a time limit. The object is planned again when the limit
    /// passes. From then on, it has the condition `Progressing` with status `False` and reason `DeadlineExceeded`, an Event
    /// tells of it, and it is listed among those that wait. The kind needs conditions in its status.
    pub fn in_state(self, name: impl Into<String>, since: Moment, limit: Duration) -> Plan {
        Plan { state: Some(State { name: name.into(), since, limit }), ..self }
    }

    /// Adds what follows from the state of the object, which a host does before it carries the plan out. Whether the limit
    /// has passed.
    pub fn judge_state(&mut self, target: &Target, object: &Object, now: Moment) -> bool {
        let said = says_exceeded(object);
        let Some(state) = self.state.clone() else {
            if said {
                self.tell(target, object, now, &Finding::holds(PROGRESSING, MOVES_ON, ""));
            }
            return false;
        };
        if let Some(left) = state.left(now) {
            self.again_after(left);
            if said {
                let message = format!("the object is in the state {}", state.name);
                self.tell(target, object, now, &Finding::holds(PROGRESSING, MOVES_ON, message));
            }
            return false;
        }
        let message = format!("the object is in the state {} for longer than {:?}", state.name, state.limit);
        let waiting = self.waiting.take().map(|what| format!("{what}; {message}"));
        self.waiting = Some(waiting.unwrap_or_else(|| message.clone()));
        self.tell(target, object, now, &Finding::fails(PROGRESSING, DEADLINE_EXCEEDED, message.clone()));
        if !said {
            self.write(Write::Event(
                target.clone(),
                Event {
                    is_warning: true,
                    reason: DEADLINE_EXCEEDED.to_owned(),
                    note: message,
                    annotations: std::collections::BTreeMap::new(),
                },
            ));
        }
        true
    }

    /// Writes a condition of the object, in the write of the plan that replaces its status if there is one.
    fn tell(&mut self, target: &Target, object: &Object, now: Moment, finding: &Finding) {
        let now = now.to_string();
        let is_own =
            |other: &Object| other.name() == object.name() && other.namespace() == object.namespace();
        for write in &mut self.writes {
            match write {
                Write::Status(plane, own) | Write::Whole(plane, own)
                    if *plane == target.plane && is_own(own) =>
                {
                    return finding.tell(own, &now);
                }
                Write::Update(plane, own) if *plane == target.plane && is_own(own) => {
                    finding.tell(own, &now);
                    *write = Write::Whole(plane.clone(), own.clone());
                    return;
                }
                _ => {}
            }
        }
        let mut new = object.clone();
        finding.tell(&mut new, &now);
        self.change(&target.plane, object, new);
    }
}

fn says_exceeded(object: &Object) -> bool {
    let conditions = object.at("status.conditions").and_then(Value::as_array).into_iter().flatten();
    let mut own = conditions.filter(|condition| condition["type"] == PROGRESSING);
    own.any(|condition| condition["status"] == "False" && condition["reason"] == DEADLINE_EXCEEDED)
}

#[cfg(test)]
mod tests {
    use krm::kind::Address;
    use serde_json::json;

    use super::*;

    const LIMIT: Duration = Duration::from_secs(600);

    fn target() -> Target {
        let at = Address {
            group: "g".into(),
            plural: "hosts".into(),
            namespace: String::new(),
            name: "h1".into(),
        };
        Target::new("", at)
    }

    fn host(status: Value) -> Object {
        Object::from_value(json!({"kind": "Host", "metadata": {"name": "h1"}, "status": status})).unwrap()
    }

    fn planned(object: &Object, minutes: i64) -> (Plan, bool) {
        let since = Moment::parse("2026-01-01T00:00:00Z").unwrap();
        let now = Moment { seconds: since.seconds + minutes * 60, ..since };
        let mut plan = Plan::nothing().in_state("Installing", since, LIMIT);
        let overdue = plan.judge_state(&target(), object, now);
        (plan, overdue)
    }

    #[test]
    fn within_the_limit_it_is_planned_again_when_it_passes() {
        let (plan, overdue) = planned(&host(json!({})), 4);
        assert!(!overdue && plan.is_empty());
        assert_eq!(plan.again, Some(Duration::from_secs(360)));
    }

    #[test]
    fn past_the_limit_the_object_says_so_once_and_goes_on_saying_it() {
        let (plan, overdue) = planned(&host(json!({"phase": "Installing"})), 11);
        assert!(overdue && plan.waiting.unwrap().contains("Installing for longer than 600s"));
        let [Write::Status(_, told), Write::Event(_, event)] = &plan.writes[..] else {
            panic!("{:?}", plan.writes)
        };
        assert_eq!(told.at("status.phase"), Some(&json!("Installing")));
        let condition = &told.at("status.conditions").unwrap()[0];
        assert_eq!((&condition["type"], &condition["status"]), (&json!("Progressing"), &json!("False")));
        assert_eq!((&*event.reason, event.is_warning), (DEADLINE_EXCEEDED, true));
        // After a restart nothing is repeated: the object has it all.
        let (again, overdue) = planned(told, 30);
        assert!(overdue && again.writes.is_empty(), "{:?}", again.writes);
        // In another state, or within another limit, it moves on.
        let mut on = Plan::nothing();
        on.judge_state(&target(), told, Moment::parse("2026-01-01T01:00:00Z").unwrap());
        let [Write::Status(_, told)] = &on.writes[..] else { panic!("{:?}", on.writes) };
        assert_eq!(told.at("status.conditions").unwrap()[0]["status"], "True");
    }

    #[test]
    fn what_the_plan_writes_itself_is_one_write_with_it() {
        let (object, since) = (host(json!({"tries": 1})), Moment::parse("2026-01-01T00:00:00Z").unwrap());
        let mut plan = Plan::nothing().in_state("Installing", since, LIMIT);
        plan.change("", &object, host(json!({"tries": 2})));
        plan.judge_state(&target(), &object, Moment { seconds: since.seconds + 601, ..since });
        assert_eq!(plan.writes.len(), 2, "{:?}", plan.writes);
        let Write::Status(_, told) = &plan.writes[0] else { panic!("{:?}", plan.writes) };
        assert_eq!(told.at("status.tries"), Some(&json!(2)));
        assert!(says_exceeded(told));
    }
}

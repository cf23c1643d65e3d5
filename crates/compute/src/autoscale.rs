//! Autoscaling: how many instances a deployment should have by the CPU that they use. Pure.

use std::sync::Arc;
use std::time::Duration;

use krm::Object;
use krm::time::Moment;
use serde_json::{Value, json};

use crate::catalog::Size;
use crate::conditions;
use crate::kinds::placement::{MetricTarget, ScaleSettings};
use crate::kinds::quantity::quantity;

/// How often usage is looked at.
pub const PERIOD: Duration = Duration::from_secs(15);
/// Samples that a minute has.
const RECENT: usize = 4;
/// Usage that is older than so many periods says nothing.
const STALE: u32 = 4;
/// Within this share of the target nothing is changed.
const DEAD_ZONE: f64 = 0.1;

/// What instances use, and what is to be kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// Instances that are wanted now.
    pub desired: u32,
    /// Least and most instances.
    pub bounds: (u32, u32),
    /// Instances that are ready; new ones are left out.
    pub known: u32,
    /// What each instance that reported uses, as a share of its target: 1 is what is to be kept.
    pub usage: Vec<f64>,
    /// What was recommended within the last minute.
    pub recent: Vec<u32>,
}

/// What autoscaling recommends, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recommendation {
    /// Instances that should be there.
    pub desired: u32,
    /// What this sample alone asks for.
    pub recommended: u32,
    /// Why, for people.
    pub message: String,
}

/// How many instances there should be.
pub fn recommend(sample: &Sample) -> Recommendation {
    let (least, most) = sample.bounds;
    let clamp = |number: u32| number.clamp(least, most.max(least));
    let hold = |message: String| {
        let desired = clamp(sample.desired);
        Recommendation { desired, recommended: desired, message }
    };
    let reported = u32::try_from(sample.usage.len()).unwrap_or(u32::MAX);
    if reported == 0 || reported.saturating_mul(2) < sample.known {
        return hold(format!("held: {reported} of {} instances report their usage", sample.known));
    }
    let average = sample.usage.iter().sum::<f64>() / f64::from(reported);
    let percent = (average * 100.0).round();
    if (average - 1.0).abs() <= DEAD_ZONE {
        return hold(format!("at {percent} % of the target"));
    }
    let wanted = (f64::from(sample.desired) * average).ceil().clamp(0.0, f64::from(u32::MAX));
    let recommended = clamp(wanted as u32);
    // Usage that drops for a moment stops nothing: the highest of the last minute counts.
    let desired = match recommended < sample.desired {
        true => clamp(sample.recent.iter().copied().chain([recommended]).max().unwrap_or(recommended)),
        false => recommended,
    };
    Recommendation { desired, recommended, message: format!("at {percent} % of the target") }
}

/// A deployment that is scaled by the CPU of its instances.
pub struct Autoscaled<'a> {
    /// The deployment.
    pub deployment: &'a Object,
    /// Its bounds and metrics.
    pub settings: &'a ScaleSettings,
    /// Its instances.
    pub instances: &'a [Arc<Object>],
    /// What an instance has.
    pub size: Option<Size>,
    /// Instances that are wanted now.
    pub desired: u32,
    /// How often usage is looked at.
    pub period: Duration,
    /// The time.
    pub now: Moment,
}

impl Autoscaled<'_> {
    /// Instances that should be there, and the status of autoscaling; nothing before the next look is due, or if the
    /// deployment is not scaled.
    pub fn look(&self) -> Option<(u32, Value)> {
        let most = self.settings.max_replicas?;
        let before = self.deployment.at("status.autoscaling");
        let last = before
            .and_then(|before| before["sampledAt"].as_str())
            .and_then(|at| Moment::parse_micros(at).ok());
        if last.is_some_and(|last| between(last, self.now) < self.period) {
            return None;
        }
        let recent: Vec<u32> = before
            .and_then(|before| before["recommended"].as_array())
            .into_iter()
            .flatten()
            .filter_map(|number| u32::try_from(number.as_u64()?).ok())
            .take(RECENT)
            .collect();
        let count = |number: i32| u32::try_from(number).unwrap_or(0);
        let settled: Vec<&Arc<Object>> =
            self.instances.iter().filter(|instance| self.is_settled(instance)).collect();
        let usage: Vec<f64> = settled.iter().filter_map(|instance| self.share(instance)).collect();
        let sample = Sample {
            desired: self.desired,
            bounds: (count(self.settings.min_replicas), count(most)),
            known: u32::try_from(settled.len()).unwrap_or(u32::MAX),
            usage,
            recent: recent.clone(),
        };
        let found = recommend(&sample);
        let mut recommended = vec![found.recommended];
        recommended.extend(recent.into_iter().take(RECENT - 1));
        let status =
            json!({"sampledAt": self.now.to_micros(), "recommended": recommended, "message": found.message});
        Some((found.desired, status))
    }

    /// Whether an instance is ready and not new: one that starts uses more than it will.
    fn is_settled(&self, instance: &Object) -> bool {
        let started =
            instance.at("status.startedAt").and_then(Value::as_str).and_then(|at| Moment::parse(at).ok());
        let is_new = started.is_some_and(|started| between(started, self.now) < self.period);
        conditions::holds(instance, "Ready") && !instance.is_deleting() && !is_new
    }

    /// What an instance uses, as a share of the target.
    fn share(&self, instance: &Object) -> Option<f64> {
        let usage = instance.at("status.usage")?;
        let at = Moment::parse_micros(usage["sampledAt"].as_str()?).ok()?;
        if between(at, self.now) > self.period * STALE {
            return None;
        }
        let used = usage["cpuMillicores"].as_i64()? as f64;
        let targets = self.settings.metrics.iter().filter_map(|metric| metric.resource.as_ref());
        // Of several targets, the one that is exceeded most counts.
        targets.filter_map(|resource| Some(used / self.target(&resource.target)?)).max_by(f64::total_cmp)
    }

    /// What an instance is to use, in thousandths of a core.
    fn target(&self, target: &MetricTarget) -> Option<f64> {
        if let Some(percent) = target.average_utilization {
            return Some(self.size?.millicores as f64 * f64::from(percent) / 100.0);
        }
        if let Some(value) = &target.average_value {
            return Some(quantity(value)? * 1000.0);
        }
        let all = quantity(target.value.as_ref()?)? * 1000.0;
        Some(all / f64::from(self.desired.max(1)))
    }
}

fn between(from: Moment, to: Moment) -> Duration {
    let nanoseconds =
        |moment: Moment| i128::from(moment.seconds) * 1_000_000_000 + i128::from(moment.nanoseconds);
    let passed = (nanoseconds(to) - nanoseconds(from)).max(0);
    Duration::from_nanos(u64::try_from(passed).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(desired: u32, usage: &[f64], recent: &[u32]) -> Sample {
        let known = u32::try_from(usage.len()).unwrap();
        Sample { desired, bounds: (2, 10), known, usage: usage.to_vec(), recent: recent.to_vec() }
    }

    #[test]
    fn usage_above_the_target_adds_instances_up_to_the_bound() {
        assert_eq!(recommend(&sample(2, &[2.0, 1.0], &[])).desired, 3);
        assert_eq!(recommend(&sample(4, &[9.0; 4], &[])).desired, 10);
        assert_eq!(recommend(&sample(4, &[1.05; 4], &[])).desired, 4, "within the dead zone");
    }

    #[test]
    fn usage_below_it_takes_some_away_only_after_a_while() {
        let low = sample(6, &[0.3; 6], &[6, 4]);
        assert_eq!(
            recommend(&low),
            Recommendation { desired: 6, recommended: 2, message: "at 30 % of the target".into() }
        );
        assert_eq!(recommend(&sample(6, &[0.3; 6], &[2, 2])).desired, 2);
    }

    #[test]
    fn too_few_reports_change_nothing_and_say_so() {
        let mut few = sample(6, &[9.0, 9.0], &[]);
        few.known = 6;
        let held = recommend(&few);
        assert_eq!((held.desired, held.message.as_str()), (6, "held: 2 of 6 instances report their usage"));
    }
}

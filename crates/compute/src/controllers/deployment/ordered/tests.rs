//! The ordered roll over random events: at most one instance is down by our doing, and it always converges.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

/// Instances in simulated time: what is created becomes ready after some steps if its template works, and what is deleted
/// goes after some.
#[derive(Debug, Clone)]
struct World {
    slots: Vec<Simulated>,
    desired: u32,
    started: u32,
    hash: String,
    surge: u32,
    is_paused: bool,
    policy: ManagementPolicy,
    time: u32,
    /// Ordinals that were ready when we deleted them, and are not ready again.
    down_by_us: BTreeSet<u32>,
}

#[derive(Debug, Clone)]
struct Simulated {
    slot: Slot,
    ready_at: Option<u32>,
    gone_at: Option<u32>,
}

/// Something that happens to a deployment.
#[derive(Debug, Clone)]
enum Happening {
    Template(u8),
    Scale(u32),
    Crash(usize),
    Pause(bool),
    Surge(bool),
    Quota(usize),
    Time(u32),
}

fn happening() -> impl Strategy<Value = Happening> {
    prop_oneof![
        3 => (0u8..6).prop_map(Happening::Template),
        2 => (1u32..6).prop_map(Happening::Scale),
        2 => (0usize..6).prop_map(Happening::Crash),
        1 => any::<bool>().prop_map(Happening::Pause),
        1 => any::<bool>().prop_map(Happening::Surge),
        1 => (0usize..6).prop_map(Happening::Quota),
        6 => (1u32..5).prop_map(Happening::Time),
    ]
}

/// Templates with an odd number never become ready.
fn works(hash: &str) -> bool {
    hash.trim_start_matches('t').parse::<u8>().unwrap_or(0) % 2 == 0
}

impl World {
    fn new(policy: ManagementPolicy) -> World {
        World {
            slots: Vec::new(),
            desired: 3,
            started: 0,
            hash: "t0".to_owned(),
            surge: 0,
            is_paused: false,
            policy,
            time: 0,
            down_by_us: BTreeSet::new(),
        }
    }

    /// One plan and its execution.
    fn plan(&mut self) {
        let slots: Vec<Slot> = self.slots.iter().map(|simulated| simulated.slot.clone()).collect();
        let wanted = DesiredState {
            desired: self.desired,
            started: self.started,
            hash: self.hash.clone(),
            canary: None,
            surge: self.surge,
            is_paused: self.is_paused,
            policy: self.policy,
        };
        let steps = steps(&slots, &wanted);
        self.started = steps.started;
        for index in &steps.delete {
            let simulated = &mut self.slots[*index];
            assert!(!simulated.slot.is_deleting, "deleted twice");
            simulated.slot.is_deleting = true;
            let wanted = simulated.slot.ordinal.filter(|ordinal| *ordinal < self.desired);
            self.down_by_us.extend(wanted.filter(|_| simulated.slot.is_ready));
            simulated.slot.is_ready = false;
            simulated.gone_at = Some(self.time + 1);
        }
        for ordinal in steps.create {
            let is_taken = self.slots.iter().any(|simulated| simulated.slot.ordinal == Some(ordinal));
            assert!(!is_taken, "ordinal {ordinal} is there already");
            let slot = Slot {
                ordinal: Some(ordinal),
                hash: self.hash.clone(),
                is_ready: false,
                is_deleting: false,
                waits_for_quota: false,
            };
            let ready_at = works(&self.hash).then_some(self.time + 1);
            self.slots.push(Simulated { slot, ready_at, gone_at: None });
        }
    }

    /// Time passes: instances become ready, and deleted ones go.
    fn pass(&mut self) {
        self.time += 1;
        let time = self.time;
        self.slots.retain(|simulated| simulated.gone_at.is_none_or(|at| at > time));
        for simulated in &mut self.slots {
            let is_due = simulated.ready_at.is_some_and(|at| at <= time);
            if is_due && !simulated.slot.is_deleting && !simulated.slot.waits_for_quota {
                simulated.slot.is_ready = true;
                self.down_by_us.retain(|ordinal| simulated.slot.ordinal != Some(*ordinal));
            }
        }
        let desired = self.desired;
        self.down_by_us.retain(|ordinal| *ordinal < desired);
    }

    fn happen(&mut self, happening: &Happening) {
        match happening {
            Happening::Template(number) => self.hash = format!("t{number}"),
            Happening::Scale(desired) => {
                self.desired = *desired;
                self.down_by_us.retain(|ordinal| ordinal < desired);
            }
            Happening::Crash(index) => {
                let time = self.time;
                if let Some(simulated) = self.slots.get_mut(*index) {
                    simulated.slot.is_ready = false;
                    simulated.ready_at = simulated.ready_at.map(|_| time + 3);
                }
            }
            Happening::Pause(is_paused) => self.is_paused = *is_paused,
            Happening::Surge(surge) => self.surge = u32::from(*surge),
            Happening::Quota(index) => {
                // The claim of an ordinal stays while its instance is replaced: only a new one waits for quota.
                let down = &self.down_by_us;
                let is_new = |found: &&mut Simulated| {
                    !found.slot.is_ready && !found.slot.ordinal.is_some_and(|ordinal| down.contains(&ordinal))
                };
                if let Some(simulated) = self.slots.get_mut(*index).filter(is_new) {
                    simulated.slot.waits_for_quota ^= true;
                }
            }
            Happening::Time(steps) => {
                for _ in 0..*steps {
                    self.step();
                }
            }
        }
    }

    fn step(&mut self) {
        self.plan();
        self.check();
        self.pass();
        self.check();
    }

    fn check(&self) {
        let mut ordinals: Vec<Option<u32>> =
            self.slots.iter().map(|simulated| simulated.slot.ordinal).collect();
        ordinals.sort_unstable();
        let all = ordinals.len();
        ordinals.dedup();
        assert_eq!(ordinals.len(), all, "ordinals are unique");
        assert!(self.down_by_us.len() <= 1, "more than one is down by our doing: {self:?}");
    }

    fn is_settled(&self) -> bool {
        let is_fine = |simulated: &Simulated| {
            simulated.slot.is_ready && simulated.slot.hash == self.hash && !simulated.slot.is_deleting
        };
        self.slots.len() == self.desired as usize && self.slots.iter().all(is_fine)
    }
}

fn policy() -> impl Strategy<Value = ManagementPolicy> {
    prop_oneof![Just(ManagementPolicy::OrderedReady), Just(ManagementPolicy::Parallel)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn at_most_one_is_down_by_our_doing_and_it_always_converges(
        policy in policy(),
        happenings in prop::collection::vec(happening(), 0..40),
    ) {
        let mut world = World::new(policy);
        for happening in &happenings {
            world.happen(happening);
        }
        // Whatever happened, a template that works gets everywhere.
        world.hash = "t8".to_owned();
        world.is_paused = false;
        for simulated in &mut world.slots {
            simulated.slot.waits_for_quota = false;
        }
        for _ in 0..200 {
            if world.is_settled() {
                break;
            }
            world.step();
        }
        prop_assert!(world.is_settled(), "{world:?}");
    }
}

#[test]
fn instances_are_started_one_after_another() {
    let mut world = World::new(ManagementPolicy::OrderedReady);
    world.plan();
    assert_eq!(world.slots.len(), 1);
    world.plan();
    assert_eq!(world.slots.len(), 1, "the first is not ready yet");
    world.pass();
    world.plan();
    assert_eq!(world.slots.len(), 2);
    let mut all_at_once = World::new(ManagementPolicy::Parallel);
    all_at_once.plan();
    assert_eq!(all_at_once.slots.len(), 3);
}

#[test]
fn a_new_template_begins_with_the_highest_ordinal() {
    let mut world = World::new(ManagementPolicy::Parallel);
    for _ in 0..3 {
        world.step();
    }
    assert!(world.is_settled());
    world.hash = "t2".to_owned();
    let mut order = Vec::new();
    while !world.is_settled() {
        world.plan();
        order.extend(
            world
                .slots
                .iter()
                .filter(|found| found.slot.is_deleting)
                .map(|found| found.slot.ordinal.unwrap()),
        );
        assert!(world.slots.iter().filter(|found| found.slot.is_ready).count() >= 2);
        world.pass();
    }
    order.dedup();
    assert_eq!(order, [2, 1, 0]);
}

#[test]
fn a_bad_template_stops_at_one_and_a_good_one_repairs_it() {
    let mut world = World::new(ManagementPolicy::Parallel);
    for _ in 0..3 {
        world.step();
    }
    world.hash = "t1".to_owned();
    for _ in 0..20 {
        world.step();
    }
    let ready = world.slots.iter().filter(|found| found.slot.is_ready).count();
    assert_eq!(ready, 2, "the others keep serving");
    world.hash = "t2".to_owned();
    for _ in 0..20 {
        world.step();
    }
    assert!(world.is_settled(), "{world:?}");
}

#[test]
fn with_a_surge_nothing_is_down() {
    let mut world = World::new(ManagementPolicy::OrderedReady);
    for _ in 0..8 {
        world.step();
    }
    assert!(world.is_settled());
    (world.hash, world.surge) = ("t2".to_owned(), 1);
    for _ in 0..40 {
        world.step();
        let ready = world.slots.iter().filter(|found| found.slot.is_ready).count();
        assert!(ready >= 3, "{world:?}");
    }
    assert!(world.is_settled(), "{world:?}");
}

#[test]
fn a_canary_is_the_highest_ordinal_alone() {
    let slot = |ordinal| Slot {
        ordinal: Some(ordinal),
        hash: "old".to_owned(),
        is_ready: true,
        is_deleting: false,
        waits_for_quota: false,
    };
    let wanted = DesiredState {
        desired: 3,
        started: 3,
        hash: "old".to_owned(),
        canary: Some("new".to_owned()),
        surge: 0,
        is_paused: false,
        policy: ManagementPolicy::OrderedReady,
    };
    let mut slots = [slot(0), slot(1), slot(2)];
    assert_eq!(steps(&slots, &wanted).delete, [2]);
    slots[2].hash = "new".to_owned();
    assert_eq!(steps(&slots, &wanted), Steps { started: 3, ..Steps::default() });
}

#[test]
fn what_waits_for_quota_does_not_hold_up_a_rollout() {
    let slot = |ordinal, is_ready| Slot {
        ordinal: Some(ordinal),
        hash: if is_ready { "old" } else { "new" }.to_owned(),
        is_ready,
        is_deleting: false,
        waits_for_quota: !is_ready,
    };
    let wanted = DesiredState {
        desired: 3,
        started: 3,
        hash: "new".to_owned(),
        canary: None,
        surge: 0,
        is_paused: false,
        policy: ManagementPolicy::OrderedReady,
    };
    assert_eq!(steps(&[slot(0, true), slot(1, true), slot(2, false)], &wanted).delete, [1]);
}

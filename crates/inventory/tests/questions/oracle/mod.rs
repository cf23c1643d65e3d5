//! Impact and power held against a naive walk over 1,000 random fleets with random states, assumptions and failures.

mod random;
mod walk;

use std::collections::BTreeSet;

use inventory::memory::Memory;

use random::Question;
use walk::World;

const FLEETS: u64 = 1000;

#[test]
fn whatever_fails_the_fast_answer_is_that_of_the_naive_walk() {
    let (mut dark, mut tripped, mut cut_off, mut weakened, mut left_out) = (0, 0, 0, 0, 0);
    for seed in 0..FLEETS {
        let Question { objects, as_if, targets } = Question::random(seed);
        let told = || format!("seed {seed}: {targets:?} fail, as if {as_if:?}");
        let expected = World::of(&objects, &as_if).without(&targets);
        let asked: Vec<&str> = targets.iter().map(String::as_str).collect();
        let assumed: Vec<&str> = as_if.iter().map(String::as_str).collect();
        let found = crate::fails_as_if(&asked, &assumed, &Memory::of(objects));
        let set = |names: &[String]| names.iter().cloned().collect::<BTreeSet<String>>();
        assert_eq!(set(&found.loses_power), expected.dark, "{} lose power", told());
        assert_eq!(
            set(&found.loses_power_redundancy),
            expected.less_power,
            "{} lose power redundancy",
            told()
        );
        let overloaded: BTreeSet<(String, bool)> =
            found.overloaded.iter().map(|one| (one.name.clone(), one.trips)).collect();
        let over = expected.overloaded.iter().map(|(name, (_, trips))| (name.clone(), *trips)).collect();
        assert_eq!(overloaded, over, "{} overloaded", told());
        for one in &found.overloaded {
            let watts = expected.overloaded[&one.name].0;
            assert!((watts - one.watts as f64).abs() <= 1.0, "{}: {one:?}, not {watts}", told());
        }
        assert_eq!(set(&found.loses_network), expected.cut_off, "{} lose network", told());
        let hangs: Vec<(String, BTreeSet<String>)> =
            found.depends_on.iter().map(|one| (one.device.clone(), set(&one.on))).collect();
        let weaker: Vec<(String, BTreeSet<String>)> = expected.depends.into_iter().collect();
        assert_eq!(hangs, weaker, "{} depend on", told());
        assert_eq!(set(&found.machines), expected.machines, "{} machines", told());
        assert_eq!(set(&found.circuits), expected.circuits, "{} circuits", told());
        for one in &found.out_of_service {
            assert!(expected.out.contains(&one.name), "{}: {} is in service", told(), one.name);
        }
        dark += expected.dark.len();
        tripped += found.overloaded.iter().filter(|one| one.trips).count();
        cut_off += found.loses_network.len();
        weakened += found.depends_on.len();
        left_out += found.out_of_service.len();
    }
    let enough = [dark, tripped, cut_off, weakened, left_out].iter().all(|count| *count > 50);
    assert!(
        enough,
        "{dark} dark, {tripped} tripped, {cut_off} cut off, {weakened} weakened, {left_out} left out"
    );
}

//! What somebody is said to hold he does hold.

use proptest::prelude::*;

use super::against_naive::{question, rule};
use crate::authz::coverage;

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_given_that_is_not_held(
        held in proptest::collection::vec(rule(), 0..4),
        wanted in proptest::collection::vec(rule(), 0..3),
        questions in proptest::collection::vec(question(), 50),
    ) {
        let missing = coverage::missing(&held, &wanted).unwrap();
        for (_, what) in &questions {
            let given = wanted.iter().any(|rule| rule.allows(what));
            let had = held.iter().chain(&missing).any(|rule| rule.allows(what));
            prop_assert!(!given || had, "{:?} is neither held nor missing", what);
        }
        prop_assert!(coverage::missing(&wanted, &wanted).unwrap().is_empty());
    }
}

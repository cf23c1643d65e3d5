use proptest::prelude::*;

use super::*;

mod brute_force;
mod simulation;

use simulation::{Mix, simulate};

#[test]
fn a_read_may_see_either_side_of_a_write_it_overlaps() {
    for seen in [Some(1), Some(2)] {
        check(&[write(1, 0, 1), write(2, 10, 20), read(seen, 15, 16)]).unwrap();
    }
}

#[test]
fn a_stale_read_is_refused_and_named() {
    let violation =
        check(&[write(1, 0, 1), write(2, 2, 3), read(Some(2), 4, 5), read(Some(1), 6, 7)]).unwrap_err();
    assert_eq!(violation.why, Why::NoOrder { at: 7, holding: Some(1) });
    let expected = "\
key `k`: the history has an order until 7, when an operation returned that fits none.
After the longest order found the register holds 1, and these remain:
  [0..1] process 0: write 1
  [2..3] process 0: write 2
  [6..7] process 0: read 1";
    assert_eq!(violation.to_string(), expected);
}

#[test]
fn two_reads_may_not_disagree_on_the_order_of_two_writes() {
    let writes = [write(1, 0, 100), write(2, 0, 100)];
    let reads = [read(Some(1), 1, 2), read(Some(2), 3, 4), read(Some(1), 5, 6)];
    assert!(check(&[&writes[..], &reads[..2]].concat()).is_ok());
    assert!(check(&[&writes[..], &reads].concat()).is_err());
}

#[test]
fn a_lost_update_is_refused() {
    let both_won = [write(1, 0, 1), cas(Some(1), 2, true, 2, 9), cas(Some(1), 3, true, 3, 8)];
    assert!(matches!(check(&both_won).unwrap_err().why, Why::NoOrder { at: 9, .. }));
    let one_won = [write(1, 0, 1), cas(Some(1), 2, true, 2, 9), cas(Some(1), 3, false, 3, 8)];
    check(&one_won).unwrap();
}

#[test]
fn two_creations_need_a_delete_between_them() {
    let created = [cas(None, 1, true, 0, 1), cas(None, 2, true, 4, 5)];
    assert!(check(&created).is_err());
    check(&[&created[..], &[op(Kind::Delete, 2, Some(3))]].concat()).unwrap();
    check(&[&created[..], &[op(Kind::Delete, 2, None)]].concat()).unwrap();
}

#[test]
fn a_value_nobody_wrote_is_refused() {
    let violation = check(&[write(1, 0, 1), read(Some(7), 2, 3)]).unwrap_err();
    assert_eq!(violation.why, Why::NeverWritten);
    assert!(violation.to_string().ends_with("[2..3] process 0: read 7"), "{violation}");
}

#[test]
fn what_was_refused_may_not_be_seen_later() {
    let seen = [write(1, 0, 1), cas(Some(5), 2, false, 2, 3), read(Some(2), 4, 5)];
    assert_eq!(check(&seen).unwrap_err().why, Why::NeverWritten);
}

#[test]
fn a_refusal_needs_a_reason() {
    assert!(check(&[write(1, 0, 1), cas(Some(1), 2, false, 2, 3)]).is_err());
    let covered_up = op(Kind::Write(9), 0, None);
    check(&[write(1, 0, 1), cas(Some(1), 2, false, 2, 3), covered_up]).unwrap();
}

#[test]
fn an_unknown_write_may_happen_late_or_never_but_not_twice_or_early() {
    let unknown = op(Kind::Write(2), 5, None);
    let history = |reads: &[Op]| [&[write(1, 0, 1), unknown.clone()][..], reads].concat();
    check(&history(&[read(Some(1), 100, 101)])).unwrap();
    check(&history(&[read(Some(1), 100, 101), read(Some(2), 102, 103)])).unwrap();
    assert!(check(&history(&[read(Some(2), 2, 3)])).is_err());
    assert!(check(&history(&[read(Some(2), 6, 7), read(Some(1), 8, 9)])).is_err());
    assert!(check(&history(&[read(Some(2), 6, 7), write(3, 8, 9), read(Some(2), 10, 11)])).is_err());
}

#[test]
fn keys_are_checked_on_their_own_and_the_wrong_one_is_named() {
    let mut other = read(Some(1), 4, 5);
    other.key = "other".to_owned();
    assert_eq!(check(&[write(1, 0, 1), read(Some(1), 2, 3), other]).unwrap_err().key, "other");
}

#[test]
fn ten_thousand_overlapping_operations_are_checked() {
    for mix in [Mix::Registers, Mix::Everything, Mix::Creations] {
        for unknown_percent in [0, 5, 20] {
            let history = simulate(7, 64, 10_000, mix, unknown_percent);
            // A checker that tries all orders would not come to an end here.
            assert_eq!(check(&history), Ok(()), "{mix:?}, {unknown_percent} % unknown");
        }
    }
}

#[test]
fn one_stale_read_among_thousands_is_found() {
    let mut history = simulate(3, 64, 3_000, Mix::Registers, 5);
    let end = history.iter().filter_map(|op| op.ret).max().unwrap();
    let first_written = history.iter().find_map(|op| op.ret.and(may_put(op))).unwrap();
    history.push(read(Some(first_written), end + 1, end + 2));
    let violation = check(&history).unwrap_err();
    assert!(matches!(violation.why, Why::NoOrder { at, .. } if at == end + 2), "{violation}");
}

proptest! {
    #[test]
    fn what_a_register_did_has_an_order(
        seed: u64, processes in 1usize..20, ops in 1usize..300, mix in any_mix(), unknown in 0u64..40,
    ) {
        prop_assert_eq!(check(&simulate(seed, processes, ops, mix, unknown)), Ok(()));
    }

    #[test]
    fn a_read_changed_to_a_long_gone_value_is_refused(seed: u64, processes in 1usize..10) {
        let mut history = simulate(seed, processes, 200, Mix::Registers, 10);
        let end = history.iter().filter_map(|op| op.ret).max().unwrap();
        history.push(write(u64::MAX, end + 1, end + 2));
        history.push(read(Some(u64::MAX), end + 3, end + 4));
        let gone = history.iter().find_map(|op| op.ret.and(may_put(op))).unwrap();
        history.push(read(Some(gone), end + 5, end + 6));
        let found = matches!(check(&history).unwrap_err().why, Why::NoOrder { at, .. } if at == end + 6);
        prop_assert!(found);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn the_search_agrees_with_trying_every_order(history in prop::collection::vec(any_op(), 1..8)) {
        let checked = check(&history);
        prop_assert_eq!(checked.is_ok(), brute_force::has_an_order(&history), "{:?}", checked);
    }

    #[test]
    fn the_search_agrees_on_histories_that_are_nearly_right(
        seed: u64, mix in any_mix(), changed: prop::sample::Index, kind in any_kind(),
    ) {
        let mut history = simulate(seed, 4, 7, mix, 15);
        let at = changed.index(history.len());
        history[at].kind = kind;
        let checked = check(&history);
        prop_assert_eq!(checked.is_ok(), brute_force::has_an_order(&history), "{:?}", checked);
    }
}

fn any_mix() -> impl Strategy<Value = Mix> {
    prop_oneof![Just(Mix::Registers), Just(Mix::Everything), Just(Mix::Creations)]
}

/// Few values, often the same: the search must be right without luck.
fn any_kind() -> impl Strategy<Value = Kind> {
    let value = || prop::option::weighted(0.7, 1u64..4);
    prop_oneof![
        (1u64..4).prop_map(Kind::Write),
        value().prop_map(Kind::Read),
        Just(Kind::Delete),
        (value(), 1u64..4, any::<bool>()).prop_map(|(expect, new, ok)| Kind::Cas { expect, new, ok }),
    ]
}

fn any_op() -> impl Strategy<Value = Op> {
    (any_kind(), 0u64..20, prop::option::weighted(0.85, 1u64..12))
        .prop_map(|(kind, call, length)| op(kind, call, length.map(|length| call + length)))
}

fn op(kind: Kind, call: u64, ret: Option<u64>) -> Op {
    Op { process: 0, key: "k".to_owned(), call, ret, kind }
}

fn write(value: Value, call: u64, ret: u64) -> Op {
    op(Kind::Write(value), call, Some(ret))
}

fn read(found: Option<Value>, call: u64, ret: u64) -> Op {
    op(Kind::Read(found), call, Some(ret))
}

fn cas(expect: Option<Value>, new: Value, ok: bool, call: u64, ret: u64) -> Op {
    op(Kind::Cas { expect, new, ok }, call, Some(ret))
}

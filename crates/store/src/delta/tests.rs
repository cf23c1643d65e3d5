use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

#[test]
fn a_changed_word_in_a_document_costs_a_few_bytes() {
    let new = document(7, "ready");
    let old = document(6, "pending");
    let delta = Delta::between(&new, &old);
    assert_eq!(delta.apply(&new).unwrap(), old);
    assert!(delta.encoded_len() < 40, "{} bytes: {delta:?}", delta.encoded_len());
}

#[test]
fn an_item_removed_from_a_list_is_rebuilt_from_its_neighbours() {
    let item = |n: usize| format!(r#"{{"port":{n},"speed":"100G","vlan":{},"admin":"up"}},"#, n * 7);
    let old: String = (10..40).map(item).collect();
    let new: String = (10..40).filter(|n| *n != 20).map(item).collect();
    let delta = Delta::between(new.as_bytes(), old.as_bytes());
    assert_eq!(delta.apply(new.as_bytes()).unwrap(), old.as_bytes());
    assert!(delta.encoded_len() < 30, "{} bytes: {delta:?}", delta.encoded_len());
}

#[test]
fn strings_with_nothing_in_common_cost_more_than_a_full_copy() {
    let delta = Delta::between(&[0; 100], &[1; 100]);
    assert!(delta.encoded_len() > 100);
}

#[test]
fn a_target_beyond_the_limit_is_inserted_and_refused() {
    let long = vec![7; MAX_LEN + 1];
    let delta = Delta::between(&long, &long);
    assert!(delta.encoded_len() > long.len());
    assert_eq!(delta.apply(&long), Err(BadDelta::TooLong { declared: MAX_LEN as u64 + 1 }));
}

#[test]
fn a_delta_applied_to_a_shorter_source_is_refused() {
    let delta = Delta::between(b"0123456789abcdefghij", b"0123456789abcdefghij");
    assert!(matches!(delta.apply(b"0123"), Err(BadDelta::OutsideSource { end: 20, source_len: 4, .. })));
}

#[test]
fn a_small_delta_cannot_declare_a_large_target() {
    let mut bomb = Delta { target_len: MAX_LEN, ops: vec![Op::Copy { from: 0, len: 9 }] };
    assert_eq!(bomb.apply(&[0; 9]), Err(BadDelta::WrongLength { declared: MAX_LEN, found: 9 }));
    bomb.target_len = MAX_LEN + 1;
    let mut encoded = Vec::new();
    bomb.encode(&mut encoded);
    assert_eq!(Delta::decode(&encoded), Err(BadDelta::TooLong { declared: MAX_LEN as u64 + 1 }));
}

#[test]
fn joining_deltas_of_different_objects_is_refused_when_applied() {
    let to_short = Delta::between(b"source", b"abc");
    let from_long = Delta::between(&[b'x'; 64], &[b'x'; 64]);
    let joined = to_short.then(&from_long);
    assert!(matches!(joined.apply(b"source"), Err(BadDelta::OutsideSource { .. })));
}

proptest! {
    #[test]
    fn a_delta_rebuilds_its_target(source in any_bytes(), target in any_bytes()) {
        assert_rebuilds(&source, &target);
    }

    #[test]
    fn a_delta_rebuilds_an_edited_target(source in any_bytes(), edits in edits()) {
        assert_rebuilds(&source, &edited(&source, &edits));
    }

    #[test]
    fn repetitive_strings_are_rebuilt(
        source in vec(0u8..2, 0..400),
        target in vec(0u8..2, 0..400),
    ) {
        assert_rebuilds(&source, &target);
    }

    #[test]
    fn joined_deltas_do_what_they_do_in_turn(
        a in any_bytes(), first in edits(), second in edits(), third in edits(),
    ) {
        let b = edited(&a, &first);
        let c = edited(&b, &second);
        let d = edited(&c, &third);
        let (ab, bc, cd) = (Delta::between(&a, &b), Delta::between(&b, &c), Delta::between(&c, &d));
        let left = ab.then(&bc).then(&cd);
        let right = ab.then(&bc.then(&cd));
        prop_assert_eq!(left.apply(&a), Ok(d));
        prop_assert_eq!(&left, &right);
        prop_assert_eq!(Delta::decode(&encoded(&left)), Ok(left));
    }

    #[test]
    fn joining_any_decoded_deltas_agrees_with_applying_them(
        a in any_bytes(), first in any_delta(), second in any_delta(),
    ) {
        let in_turn = first.apply(&a).and_then(|b| second.apply(&b));
        let joined = first.then(&second).apply(&a);
        match in_turn {
            Ok(target) => prop_assert_eq!(joined, Ok(target)),
            // What `first` gets wrong may be what `second` leaves out, so only `second`'s faults must show.
            Err(_) if first.apply(&a).is_ok() => prop_assert!(joined.is_err()),
            Err(_) => {}
        }
    }

    #[test]
    fn random_bytes_never_panic(bytes in vec(any::<u8>(), 0..200), source in any_bytes()) {
        if let Ok(delta) = Delta::decode(&bytes) {
            let _ = delta.apply(&source);
            let _ = delta.then(&delta).apply(&source);
        }
    }

    #[test]
    fn a_damaged_delta_never_panics_or_outgrows_what_it_declares(
        source in any_bytes(), edits in edits(), at in any::<prop::sample::Index>(), flip in 1u8..,
    ) {
        let mut bytes = encoded(&Delta::between(&source, &edited(&source, &edits)));
        let at = at.index(bytes.len());
        bytes[at] ^= flip;
        if let Ok(delta) = Delta::decode(&bytes) && let Ok(target) = delta.apply(&source) {
            prop_assert_eq!(target.len(), delta.target_len);
            prop_assert!(target.capacity() <= MAX_LEN);
        }
    }
}

/// What a person would see as the cost of a version: run with `--release -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement, not a check"]
fn measure_between() {
    let (new, old) = (document(7, "ready"), document(6, "pending"));
    let large: Vec<u8> = (0..1000).flat_map(|n| document(n, "ready")).collect();
    let large_old: Vec<u8> = (0..1000).flat_map(|n| document(n + n % 2, "ready")).collect();
    for (new, old, rounds) in [(new, old, 200_000), (large, large_old, 20)] {
        let started = std::time::Instant::now();
        for _ in 0..rounds {
            std::hint::black_box(Delta::between(std::hint::black_box(&new), std::hint::black_box(&old)));
        }
        let delta = Delta::between(&new, &old);
        let (each, size) = (started.elapsed() / rounds, delta.encoded_len());
        eprintln!("{} bytes: {each:?} a delta of {size} bytes, {} ops", new.len(), delta.ops.len());
    }
}

fn assert_rebuilds(source: &[u8], target: &[u8]) {
    let delta = Delta::between(source, target);
    assert_eq!(delta.apply(source).unwrap(), target);
    let bytes = encoded(&delta);
    assert_eq!(bytes.len(), delta.encoded_len());
    assert_eq!(Delta::decode(&bytes), Ok(delta));
}

fn encoded(delta: &Delta) -> Vec<u8> {
    let mut bytes = Vec::new();
    delta.encode(&mut bytes);
    bytes
}

/// A 1.4 KB document whose four changing places are spread over it.
fn document(generation: usize, phase: &str) -> Vec<u8> {
    let ports: String = (0..20)
        .map(|n| format!(r#"{{"name":"swp{n}","mac":"02:00:5e:10:{n:02x}:{:02x}","up":true}},"#, n * 11))
        .collect();
    format!(
        r#"{{"kind":"Switch","meta":{{"name":"leaf-17","generation":{generation},"labels":{{"rack":"r4","row":"b"}}}},"spec":{{"ports":[{ports}],"asn":65017}},"status":{{"phase":"{phase}","seen":"2031-05-0{generation}T10:00:00Z","observed":{generation},"conditions":[{{"type":"Ready","status":"True"}}]}}}}"#
    )
    .into_bytes()
}

fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![vec(any::<u8>(), 0..600), vec(b'a'..b'e', 0..600)]
}

type Edit = (prop::sample::Index, usize, Vec<u8>);

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    vec((any::<prop::sample::Index>(), 0usize..40, vec(any::<u8>(), 0..40)), 0..6)
}

/// `bytes` with a few stretches removed and others put in their place.
fn edited(bytes: &[u8], edits: &[Edit]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for (at, removed, added) in edits {
        let at = at.index(bytes.len() + 1);
        let end = (at + removed).min(bytes.len());
        bytes.splice(at..end, added.iter().copied());
    }
    bytes
}

/// Deltas as decoding lets them through: of the length they declare, but with copies from anywhere.
fn any_delta() -> impl Strategy<Value = Delta> {
    let op = prop_oneof![
        (0u32..300, 1u32..50).prop_map(|(from, len)| Op::Copy { from, len }),
        vec(any::<u8>(), 1..20).prop_map(Op::Insert),
        Just(Op::Copy { from: u32::MAX, len: u32::MAX }),
    ];
    vec(op, 0..8).prop_map(|ops| Delta { target_len: ops.iter().map(Op::len).sum(), ops })
}

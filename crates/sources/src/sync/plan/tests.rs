//! The plan by examples.

use krm::Object;
use serde_json::{Value, json};

use super::*;
use crate::adapter::Page;
use crate::kinds::source::{AdapterKind, SourceSpec};

fn policy(enriches: &[&str]) -> Policy {
    let spec = json!({"adapter": AdapterKind::Ironic, "endpoint": "http://x", "enriches": enriches});
    let spec: SourceSpec = serde_json::from_value(spec).unwrap();
    Policy::of("mine", &spec)
}

fn listing(records: Vec<HostRecord>) -> Listing {
    let mut listing = Listing::complete();
    listing.take_in(Page { hosts: records, ..Page::default() });
    listing
}

fn record(id: &str, rack: &str) -> HostRecord {
    HostRecord { id: id.into(), name: id.into(), rack: Some(rack.into()), ..HostRecord::default() }
}

fn stored(id: &str, owner: Option<&str>, spec: Value, managers: Value) -> Stored {
    let mut labels = serde_json::Map::new();
    if let Some(owner) = owner {
        labels.insert(labels::SOURCE.to_owned(), owner.into());
    }
    let object = json!({"metadata": {"name": id, "labels": labels, "managedFields": managers}, "spec": spec});
    Stored::read(&Object::from_value(object).unwrap()).unwrap()
}

fn planned(
    policy: &Policy,
    listing: &Listing,
    stored: Vec<Stored>,
    known: &BTreeMap<String, SourceFinding>,
) -> Plan {
    plan(policy, listing, stored, known, &Memory::default(), Moment::of_seconds(1_000_000))
}

#[test]
fn what_others_have_set_is_found_and_written_only_once_it_is_accepted() {
    let (policy, listing) = (policy(&[]), listing(vec![record("h1", "R2")]));
    let by_hand = json!([{"manager": "kubectl", "operation": "Update", "time": "2026-01-01T00:00:00Z",
        "fieldsV1": {"f:spec": {"f:rack": {}}}}]);
    let host = || vec![stored("h1", Some("mine"), json!({"rack": "R1"}), by_hand.clone())];
    let plan = planned(&policy, &listing, host(), &BTreeMap::new());
    assert!(plan.writes.is_empty());
    let field = &plan.findings[0].fields[0];
    assert_eq!(
        (field.found.as_str(), field.expected.as_str(), field.set_by.as_deref()),
        ("R2", "R1", Some("kubectl"))
    );
    for (decision, writes, counted) in [(Decision::Found, 1, 0), (Decision::Expected, 0, 0)] {
        let mut finding = SourceFinding::new(plan.findings[0].clone());
        finding.spec.decision = Some(decision);
        let known = BTreeMap::from([("h1".to_owned(), finding)]);
        let settled = planned(&policy, &listing, host(), &known);
        assert_eq!((settled.writes.len(), settled.counts.drifted), (writes, counted), "{decision:?}");
    }
}

#[test]
fn a_host_of_others_is_a_conflict_unless_the_source_enriches() {
    let listing = listing(vec![record("h1", "R2")]);
    for owner in [None, Some("other")] {
        let host = || vec![stored("h1", owner, json!({"rack": "R1"}), json!([]))];
        let plan = planned(&policy(&[]), &listing, host(), &BTreeMap::new());
        assert_eq!((plan.writes.len(), plan.counts.conflicts), (0, 1));
        assert_eq!(plan.findings[0].reason, FindingReason::SourceConflict);
        let plan = planned(&policy(&["spec.rack"]), &listing, host(), &BTreeMap::new());
        assert!(matches!(&plan.writes[..], [Write::Update(update)] if update.fields.len() == 1), "{plan:?}");
    }
}

#[test]
fn what_a_source_does_not_know_stays_and_what_is_empty_is_cleared() {
    let host = || vec![stored("h1", Some("mine"), json!({"rack": "R1", "title": "T"}), json!([]))];
    let unknown = HostRecord { rack: None, ..record("h1", "") };
    assert!(planned(&policy(&[]), &listing(vec![unknown]), host(), &BTreeMap::new()).writes.is_empty());
    let plan = planned(&policy(&[]), &listing(vec![record("h1", "")]), host(), &BTreeMap::new());
    assert!(matches!(&plan.writes[..], [Write::Update(update)] if update.fields[0].mask == "spec.rack"));
}

#[test]
fn a_confirmation_counts_for_one_list_alone() {
    let hosts =
        || (0..10).map(|number| stored(&format!("h{number}"), Some("mine"), json!({}), json!([]))).collect();
    let mut policy = policy(&[]);
    let doubts = planned(&policy, &listing(Vec::new()), hosts(), &BTreeMap::new()).doubts.unwrap();
    policy.confirmed = Some(doubts.digest);
    assert_eq!(planned(&policy, &listing(Vec::new()), hosts(), &BTreeMap::new()).writes.len(), 10);
    let other = listing(vec![HostRecord { rack: None, ..record("h1", "") }]);
    assert!(planned(&policy, &other, hosts(), &BTreeMap::new()).doubts.is_some());
}

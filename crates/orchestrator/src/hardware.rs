//! Compares the hardware that was found on a node with its design.

use design::as_built::{Built, Comparison, Lldp, compare};
use design::compile::{Lshw, Node};
use design::model::{self, Design};
use krm::kind::{QueryContext, Resource};
use serde::Deserialize;
use serde_json::Value;

use crate::kinds::BuildData;

/// The newest record of a generator about a node.
pub fn newest(look: &dyn QueryContext, namespace: &str, node: &str, generator: &str) -> Option<BuildData> {
    let all = look.having(BuildData::GROUP, BuildData::PLURAL, "spec.node", node);
    let own = all.iter().filter(|record| record.namespace() == namespace);
    let of_it = own.filter(|record| record.at("spec.generator").and_then(Value::as_str) == Some(generator));
    let newest = of_it.max_by_key(|record| {
        let time = record.at("spec.collectedAt").and_then(Value::as_str).unwrap_or_default().to_owned();
        (time, record.name().to_owned())
    })?;
    BuildData::deserialize(&Value::Object(newest.0.clone())).ok()
}

/// What lshw saw on a node, if it was inspected.
pub fn lshw(look: &dyn QueryContext, namespace: &str, node: &str) -> Option<Lshw> {
    let record = newest(look, namespace, node, "lshw")?;
    Lshw::parse(&record.spec.data).ok()
}

/// What lldpd saw on a node, if it was inspected.
pub fn lldp(look: &dyn QueryContext, namespace: &str, node: &str) -> Option<Lldp> {
    let record = newest(look, namespace, node, "lldp")?;
    Lldp::parse(&record.spec.data).ok()
}

/// The fields of a node's design beside what was found.
pub fn comparisons(node: &Node, design: &Design, built: &Built) -> Vec<Comparison> {
    let settings = &node.effective.settings;
    let profile = model::text(&settings.hardware_profile)
        .and_then(|name| design.hardware_profiles.iter().find(|profile| profile.name() == name));
    let rack = model::text(&settings.rack)
        .and_then(|name| design.racks.iter().find(|rack| rack.document.name == name));
    profile.map(|profile| compare(node, profile, rack.map(|rack| &**rack), built)).unwrap_or_default()
}

/// The fields that differ, one sentence each.
pub fn differences(comparisons: &[Comparison]) -> Vec<String> {
    let bad = comparisons.iter().filter(|one| one.verdict.is_bad());
    bad.map(|one| match &one.built {
        Some(built) => format!("{}: designed {}, found {built}", one.field, one.designed),
        None => format!("{}: designed {}, found nothing", one.field, one.designed),
    })
    .collect()
}

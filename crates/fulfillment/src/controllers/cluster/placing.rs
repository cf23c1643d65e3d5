//! Placing: a hub is chosen, and an alias and a port that no other cluster has.

use std::time::Duration;

use krm::Object;
use krm::kind::{QueryContext, Resource};
use reconcile::context::Context;
use reconcile::plan::Write;
use serde_json::json;

use super::Stand;
use super::facts::Facts;
use crate::kinds::cluster_placement::{ALIAS, PORT};
use crate::kinds::{ClusterPlacement, Hub};
use crate::states::ClusterPhase;

const LIMIT: Duration = Duration::from_secs(600);
/// Ports of Kubernetes for services of the type NodePort.
const PORTS: std::ops::Range<usize> = 30_000..32_768;
/// Longest alias: names of pools, Secrets and certificates are made from it.
const LONGEST: usize = 20;
/// Characters that tell aliases apart.
const TOLD_APART: usize = 5;

/// Places the cluster; nothing if it is placed.
pub fn step(facts: &Facts<'_>, context: &Context<'_>) -> Option<Stand> {
    if facts.placement.is_some() {
        return None;
    }
    let root = context.root();
    let unavailable = |why: &str| Stand::new(ClusterPhase::Placing, LIMIT, "ResourcesUnavailable", why);
    let Some(hub) = choose(&root) else { return Some(unavailable("no resources are available for it")) };
    let Some(port) = free_port(&root, &hub.metadata.name, facts.cluster.identifier()) else {
        return Some(unavailable("no resources are available for it"));
    };
    if facts.image().is_none() {
        let why = format!("template {} offers no release", facts.cluster.spec.template);
        return Some(Stand::new(ClusterPhase::Placing, LIMIT, "NoRelease", why));
    }
    let mut placement = Object::new(&format!("{}/{}", crate::GROUP, crate::VERSION), ClusterPlacement::KIND);
    placement.set_meta("name", Some(facts.cluster.identifier().into()));
    let mut spec = json!({
        "project": facts.target.plane,
        "cluster": facts.cluster.metadata.name,
        "hub": hub.metadata.name,
        "alias": alias(facts, &root),
        "port": port,
    });
    if let Some(zone) = &hub.spec.zone {
        spec["zone"] = zone.as_str().into();
    }
    placement.set("spec", Some(spec));
    let mut stand = Stand::new(ClusterPhase::Placing, LIMIT, "Placing", "a place for it is being made");
    stand.plan.write(Write::Create(String::new(), placement));
    // If another cluster takes the port or the alias first, this is planned again with what is free then.
    stand.plan.again_after(Duration::from_millis(200));
    Some(stand)
}

/// The hub with the fewest clusters among those that take some.
fn choose(root: &dyn QueryContext) -> Option<Hub> {
    let takes = |hub: &Hub| {
        let conditions = hub.status.as_ref().map(|status| status.conditions.as_slice()).unwrap_or_default();
        let is_ready = conditions.iter().any(|it| it.kind == "Ready" && it.status == "True");
        is_ready && hub.spec.cordoned != Some(true) && hub.metadata.deletion_timestamp.is_none()
    };
    let counted = root.every::<Hub>().into_iter().filter(takes).filter_map(|hub| {
        let number =
            root.count_having(crate::GROUP, ClusterPlacement::PLURAL, "spec.hub", &hub.metadata.name);
        let most = hub.spec.max_clusters.and_then(|most| usize::try_from(most).ok()).unwrap_or(PORTS.len());
        (number < most).then_some((number, hub))
    });
    let fewest = counted.min_by(|(one, first), (other, second)| {
        one.cmp(other).then_with(|| first.metadata.name.cmp(&second.metadata.name))
    });
    fewest.map(|(_, hub)| hub)
}

/// A port that no cluster of the hub has. Where it is looked for first depends on the cluster, so that it is found at once however
/// many there are.
fn free_port(root: &dyn QueryContext, hub: &str, id: &str) -> Option<usize> {
    let start = crate::selection::hash(id) % PORTS.len();
    let ports = (0..PORTS.len()).map(|step| PORTS.start + (start + step) % PORTS.len());
    ports.into_iter().find(|port| root.places(PORT, &format!("{hub}/{port}")).is_empty())
}

/// A short name that no other cluster has: its own, or a part of it with some characters of its identifier.
fn alias(facts: &Facts<'_>, root: &dyn QueryContext) -> String {
    let cluster = &facts.cluster;
    let name = cluster.display_name.as_deref().unwrap_or(&cluster.metadata.name);
    let plain: String = name
        .chars()
        .map(|letter| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' })
        .collect();
    let plain = plain.trim_matches('-');
    let is_free = |alias: &str| root.places(ALIAS, alias).is_empty();
    if (1..=LONGEST).contains(&plain.len())
        && plain.starts_with(|it: char| it.is_ascii_lowercase())
        && is_free(plain)
    {
        return plain.to_owned();
    }
    let short: String = plain.chars().take(LONGEST - TOLD_APART - 1).collect();
    let short = match short.trim_matches('-') {
        short if short.starts_with(|it: char| it.is_ascii_lowercase()) => short.to_owned(),
        _ => "cluster".to_owned(),
    };
    let told_apart = |turn: usize| {
        let mut number = crate::selection::hash(&format!("{}/{turn}", cluster.identifier()));
        let mut letters = String::new();
        for _ in 0..TOLD_APART {
            letters.push(char::from(b"abcdefghijklmnopqrstuvwxyz234567"[number % 32]));
            number /= 32;
        }
        format!("{short}-{letters}")
    };
    (0..100).map(told_apart).find(|alias| is_free(alias)).unwrap_or_else(|| told_apart(100))
}

//! The question `considered` of a host class: which of its hosts would be chosen now, and what rules out each of the others.

use std::collections::{BTreeMap, BTreeSet};

use krm::kind::{Answered, QueryContext, Questioned};
use krm::status::Status;
use serde_json::{Value, json};

use super::{Wanted, select, unfit};
use crate::kinds::cluster_template::SpreadOver;
use crate::kinds::{Host, HostClaim, HostClass};

/// Hosts that an answer names, at most.
const MOST: usize = 1000;

/// Answers it. Options: `size`, `selector` (as `KEY=VALUE`, may be repeated), `spread` (`Rack`, `Feed`).
pub fn considered(about: &Questioned<'_>, world: &dyn QueryContext) -> Result<Answered, Status> {
    let class = about.name;
    let wanted = Wanted {
        class: class.to_owned(),
        count: about.number::<usize>("size")?.unwrap_or(1).min(MOST),
        selector: about
            .values("selector")
            .filter_map(|pair| pair.split_once('='))
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect::<BTreeMap<_, _>>(),
        spread: about
            .values("spread")
            .filter_map(|name| serde_json::from_value::<SpreadOver>(name.into()).ok())
            .collect(),
    };
    let chosen = select(world, &wanted, &[], &BTreeSet::new(), about.option("seed").unwrap_or_default());
    let (chosen, shortage) = match chosen {
        Ok(chosen) => (chosen, None),
        Err(shortage) => (Vec::new(), Some(shortage.to_string())),
    };
    let chosen: BTreeSet<String> = chosen.iter().map(|host| host.metadata.name.clone()).collect();
    let declared = world.find::<HostClass>(class);
    let mut hosts: Vec<Value> = Vec::new();
    let (mut fitting, mut total) = (0_usize, 0_usize);
    for host in world.with::<Host>("spec.class", class) {
        total += 1;
        let claim = world.find::<HostClaim>(&host.metadata.name);
        let why = unfit(&host, claim.as_deref(), declared.as_deref(), &wanted.selector);
        fitting += usize::from(why.is_none());
        if hosts.len() < MOST {
            let is_chosen = chosen.contains(&host.metadata.name);
            let rack = host.status.as_ref().and_then(|status| status.placement.as_ref()?.rack.clone());
            hosts.push(json!({
                "name": host.metadata.name,
                "rack": rack.or(host.spec.rack),
                "chosen": is_chosen,
                "fits": why.is_none(),
                "ruledOutBy": why.map(|why| why.to_string()),
            }));
        }
    }
    Ok(Answered::Json(json!({
        "class": class,
        "size": wanted.count,
        "hosts": hosts,
        "total": total,
        "fitting": fitting,
        "shortage": shortage,
        "isIncomplete": world.is_incomplete() || total > MOST,
    })))
}

//! Spreads hosts over racks and power feeds.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::kinds::Host;
use crate::kinds::cluster_template::SpreadOver;

/// Chooses hosts of those that fit: one after the other, each from where the node set has the fewest. Those that come first are
/// preferred among equals.
pub fn choose(
    mut fitting: Vec<Arc<Host>>,
    has: &[Arc<Host>],
    count: usize,
    spread: &[SpreadOver],
) -> Vec<Arc<Host>> {
    if spread.is_empty() {
        fitting.truncate(count);
        return fitting;
    }
    let mut load: BTreeMap<(SpreadOver, String), usize> = BTreeMap::new();
    let add = |load: &mut BTreeMap<_, usize>, host: &Host| {
        for over in spread {
            if let Some(place) = place(host, *over) {
                *load.entry((*over, place)).or_default() += 1;
            }
        }
    };
    has.iter().for_each(|host| add(&mut load, host));
    let mut chosen = Vec::with_capacity(count);
    while chosen.len() < count && !fitting.is_empty() {
        let cost = |host: &Host| -> Vec<usize> {
            let of =
                |over: &SpreadOver| place(host, *over).and_then(|place| load.get(&(*over, place)).copied());
            spread.iter().map(|over| of(over).unwrap_or(0)).collect()
        };
        let best = fitting.iter().enumerate().min_by_key(|(index, host)| (cost(host), *index));
        let Some((index, _)) = best else { break };
        let host = fitting.remove(index);
        add(&mut load, &host);
        chosen.push(host);
    }
    chosen
}

/// Where a host is, as far as its loss is concerned: a host with several power feeds is lost with none of them.
fn place(host: &Host, over: SpreadOver) -> Option<String> {
    let placement = host.status.as_ref().and_then(|status| status.placement.as_ref());
    match over {
        SpreadOver::Rack => {
            placement.and_then(|placement| placement.rack.clone()).or_else(|| host.spec.rack.clone())
        }
        SpreadOver::Feed => match placement.map(|placement| placement.feeds.as_slice()) {
            Some([only]) => Some(only.clone()),
            _ => None,
        },
    }
}

/// A number that is always the same for a text.
pub fn hash(text: &str) -> usize {
    // FNV-1a.
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    usize::try_from(hash >> 1).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn host(name: &str, rack: &str, feeds: &[&str]) -> Arc<Host> {
        let status = json!({"placement": {"rack": rack, "feeds": feeds}});
        Arc::new(
            serde_json::from_value(json!({"metadata": {"name": name}, "spec": {}, "status": status}))
                .unwrap(),
        )
    }

    fn names(chosen: &[Arc<Host>]) -> Vec<&str> {
        chosen.iter().map(|host| host.metadata.name.as_str()).collect()
    }

    #[test]
    fn hosts_come_from_different_racks_and_then_from_different_feeds() {
        let all = [("a1", "a", "l"), ("a2", "a", "l"), ("a3", "a", "r"), ("b1", "b", "l"), ("b2", "b", "r")];
        let all: Vec<Arc<Host>> = all.iter().map(|(name, rack, feed)| host(name, rack, &[feed])).collect();
        let spread = [SpreadOver::Rack, SpreadOver::Feed];
        assert_eq!(names(&choose(all.clone(), &[], 2, &spread)), ["a1", "b2"]);
        assert_eq!(names(&choose(all.clone(), &[], 4, &spread)), ["a1", "b2", "a2", "b1"]);
        let has = [all[3].clone()];
        assert_eq!(names(&choose(all[..3].to_vec(), &has, 1, &[SpreadOver::Feed])), ["a3"]);
        assert_eq!(names(&choose(all, &[], 2, &[])), ["a1", "a2"], "as they come");
    }

    #[test]
    fn a_host_with_two_feeds_is_lost_with_neither() {
        let all = vec![host("one", "a", &["l"]), host("two", "a", &["l", "r"])];
        let has = [host("other", "b", &["l"])];
        assert_eq!(names(&choose(all, &has, 1, &[SpreadOver::Feed])), ["two"]);
    }
}

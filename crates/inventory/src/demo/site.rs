//! A site of the demo fleet: spines, border routers and their circuits, and racks of hosts.

use serde_json::json;

use super::{Fleet, Size, rack};

/// Number of racks per row.
const ROW: u32 = 8;

/// Builds a site with all its objects.
pub fn build(fleet: &mut Fleet, site: &str, city: &str, region: &str, size: Size) {
    let spec = json!({
        "displayName": format!("{city} {}", site.to_uppercase()),
        "regionRef": {"name": region},
        "type": "Datacenter",
        "address": format!("{} Datacenter Road, {city}", 1 + fleet.chance.below(200)),
        "providerRef": {"name": "equinix"},
    });
    fleet.add("Site", site, spec);
    let cluster = format!("{site}-compute");
    let spec = json!({
        "displayName": cluster,
        "controlPlaneSiteRef": {"name": site},
        "role": "Compute",
        "provider": "talos",
        "endpoint": format!("https://{cluster}.example.com:6443"),
    });
    fleet.add("Cluster", &cluster, spec);
    let core = rack::empty(fleet, site, "net", "A");
    let spines = network(fleet, site, &cluster, &core, size.racks);
    for index in 0..size.racks {
        let row = char::from(b'A' + u8::try_from(index / ROW % 26).unwrap_or(0));
        let label = format!("{row}{:02}", index % ROW + 1);
        let label = if index / ROW >= 26 { format!("{label}-{}", index / ROW / 26) } else { label };
        rack::build(fleet, site, &cluster, &label, &row.to_string(), index, size.hosts, &spines);
    }
}

/// The spines of a site, each with a port for every rack, and the border routers behind them.
fn network(fleet: &mut Fleet, site: &str, cluster: &str, core: &rack::Ground, racks: u32) -> Vec<String> {
    let mut spines = Vec::new();
    let borders: Vec<String> = (1..=2).map(|number| format!("{site}-border{number}")).collect();
    for (index, border) in (0_u32..).zip(&borders) {
        let place = (40 - index, 400);
        rack::device(fleet, core, (border, "BorderRouter", Some(cluster)), place);
        let uplink = fleet.port(
            &format!("{border}-et0"),
            ("NetworkDevice", border),
            "Optical",
            "et-0/0/0",
            json!({"speed": "100G"}),
        );
        let (provider, kind) = if index == 0 { ("arelion", "Transit") } else { ("de-cix", "Peering") };
        let spec = json!({
            "providerRef": {"name": provider},
            "type": kind,
            "circuitID": format!("{}-{}-{:05}", provider.to_uppercase(), site.to_uppercase(), fleet.chance.below(99_999)),
            "bandwidthMbps": 100_000,
            "aEnd": {"kind": "Port", "name": uplink},
            "zEnd": {"kind": "Site", "name": site},
        });
        fleet.add("Circuit", &format!("{site}-{provider}"), spec);
    }
    for number in 1..=2_u32 {
        let spine = format!("{site}-spine{number}");
        rack::device(fleet, core, (&spine, "Spine", Some(cluster)), (38 - number, 600));
        for (index, border) in (1_u32..).zip(&borders) {
            let near = format!("{spine}-up{index}");
            let far = format!("{border}-et{number}");
            fleet.port(
                &near,
                ("NetworkDevice", &spine),
                "Optical",
                &format!("et-0/0/{index}"),
                json!({"speed": "100G"}),
            );
            fleet.port(
                &far,
                ("NetworkDevice", border),
                "Optical",
                &format!("et-0/0/{number}"),
                json!({"speed": "100G"}),
            );
            let cable = format!("{near}--{far}");
            fleet.cable(&cable, [&near, &far], "FiberSMF", 3);
            let end = |name: &str| json!({"kind": "NetworkDevice", "name": name});
            let spec = json!({
                "endpoints": [end(&spine), end(border)],
                "type": "Physical",
                "capacityMbps": 100_000,
                "latencyMs": "1m",
                "cableRefs": [{"name": cable}],
            });
            fleet.add("Link", &format!("{spine}--{border}"), spec);
        }
        for rack in 0..racks {
            for leaf in 1..=2 {
                let (name, label) = (format!("{spine}-down{rack}-{leaf}"), format!("et-0/{leaf}/{rack}"));
                fleet.port(&name, ("NetworkDevice", &spine), "Optical", &label, json!({"speed": "100G"}));
            }
        }
        spines.push(spine);
    }
    spines
}

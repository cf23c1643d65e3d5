//! Networks and links as the original printed them.

use serde_json::{Value, json};

use super::fields::{Object, strings};
use crate::model::{Labels, Network, NetworkLink};

pub(super) fn network(network: &Network) -> Value {
    let relay = network.dhcp_relay.as_ref();
    let ranges = network.ranges.iter().map(|range| {
        Object::default()
            .with_field("type", &range.kind)
            .with_field("start", &range.start)
            .with_field("end", &range.end)
            .done()
    });
    let routes = network.routes.iter().map(|route| {
        json!({
            "subnet": route.subnet,
            "gateway": route.gateway,
            "metric": route.metric,
            "routedomain": route.routedomain,
        })
    });
    Object::default()
        .with("name", network.document.name.clone())
        .with("cidr", network.cidr.value.clone())
        .with_field("vlan_id", &network.vlan)
        .with_field("mtu", &network.mtu)
        .with_field("routedomain", &network.routedomain)
        .with("dns_domain", crate::model::text(&network.dns_domain).unwrap_or("local"))
        .with_field("dns_servers", &network.dns_servers)
        .with("ranges", ranges.collect::<Value>())
        .with("routes", routes.collect::<Value>())
        .with_field("dhcp_relay_self_ip", relay.map_or(&None, |relay| &relay.self_ip))
        .with_field("dhcp_relay_upstream_target", relay.map_or(&None, |relay| &relay.upstream_target))
        .with("metalabels", labels(&network.labels))
        .done()
}

pub(super) fn link(link: &NetworkLink) -> Value {
    let bonding = &link.bonding;
    Object::default()
        .with("name", link.document.name.clone())
        .with("bonding_mode", bonding.mode.as_str())
        .with("bonding_mon_rate", bonding.mon_rate)
        .with("bonding_up_delay", bonding.up_delay)
        .with("bonding_down_delay", bonding.down_delay)
        .with("bonding_xmit_hash", bonding.hash.clone())
        .with("bonding_peer_rate", bonding.peer_rate.clone())
        .with("mtu", link.mtu)
        .with("linkspeed", link.linkspeed.clone())
        .with("trunk_mode", link.trunk_mode.as_str())
        .with_field("native_network", &link.native_network)
        .with("allowed_networks", strings(&link.allowed_networks))
        .with("metalabels", labels(&link.labels))
        .done()
}

fn labels(labels: &Labels) -> Value {
    labels.iter().map(|(key, field)| (key.clone(), json!(crate::model::text(field)))).collect()
}

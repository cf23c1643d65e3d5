//! Route domains: a network with a route into a domain gets one to every member of it.

use std::sync::Arc;

use indexmap::IndexSet;

use crate::model::{Network, Route, text};

pub(super) fn expand(networks: &[Arc<Network>]) -> Vec<Arc<Network>> {
    let domains: IndexSet<&str> = networks.iter().filter_map(|network| text(&network.routedomain)).collect();
    let expanded = networks.iter().map(|network| {
        let more: Vec<Route> =
            domains.iter().flat_map(|domain| routes_into(domain, network, networks)).collect();
        if more.is_empty() {
            return Arc::clone(network);
        }
        let mut expanded = Network::clone(network);
        expanded.routes.extend(more);
        Arc::new(expanded)
    });
    expanded.collect()
}

/// The template, a route without a subnet, stays in the list; without a gateway and a metric it makes nothing.
fn routes_into(domain: &str, network: &Network, networks: &[Arc<Network>]) -> Vec<Route> {
    let template = network.routes.iter().find(|route| route.routedomain.as_deref() == Some(domain));
    let Some(Route { gateway: Some(gateway), metric: Some(metric), .. }) = template else {
        return Vec::new();
    };
    let members = networks.iter().filter(|member| text(&member.routedomain) == Some(domain));
    let others = members.filter(|member| member.cidr.value != network.cidr.value);
    let route = |member: &Arc<Network>| Route {
        subnet: Some(member.cidr.value.clone()),
        gateway: Some(gateway.clone()),
        metric: Some(metric.clone()),
        routedomain: None,
    };
    others.map(route).collect()
}

//! The Service `default/kubernetes` with its endpoints: how programs find this API.
//!
//! There is no network of Services here. The address of the Service is one at which the API is reached, and its port is the
//! one that the server listens on, so that what the objects say is true.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr, UdpSocket};

use krm::Object;
use krm::status::Status;
use serde_json::{Value, json};

use crate::api::Api;
use crate::client::Client;

const NAMESPACE: &str = "default";
const NAME: &str = "kubernetes";

/// An address at which others reach a server that listens there.
pub fn advertised(listens: SocketAddr) -> SocketAddr {
    let ip = match listens.ip() {
        ip if !ip.is_unspecified() => ip,
        ip => outward(ip).unwrap_or_else(|| loopback(ip)),
    };
    SocketAddr::new(ip, listens.port())
}

/// The address of this machine on the way to others. Nothing is sent.
fn outward(like: IpAddr) -> Option<IpAddr> {
    // Addresses for documentation: the way there is the way to anywhere.
    let far = [("0.0.0.0:0", "192.0.2.1:9"), ("[::]:0", "[2001:db8::1]:9")];
    let mut ways: Vec<_> = far.into_iter().collect();
    if like.is_ipv6() {
        ways.reverse();
    }
    ways.into_iter().find_map(|(from, to)| {
        let socket = UdpSocket::bind(from).ok()?;
        socket.connect(to).ok()?;
        socket.local_addr().ok().map(|address| address.ip()).filter(|ip| !ip.is_unspecified())
    })
}

fn loopback(like: IpAddr) -> IpAddr {
    match like {
        IpAddr::V4(_) => IpAddr::from([127, 0, 0, 1]),
        IpAddr::V6(_) => IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1]),
    }
}

/// Writes down that the API is reached at this address. On a store with one server, it is the only one.
pub async fn publish(api: &Api, at: SocketAddr, is_one_of_several: bool) -> Result<(), Status> {
    let client = Client::system(api, "groundplane");
    let mut addresses = BTreeSet::from([at.ip()]);
    if is_one_of_several {
        addresses.extend(known(&client, at).await);
    }
    write(&client, at, &addresses).await
}

/// Takes an address back. The last one stays: a server that is started again will most likely have it.
pub async fn withdraw(api: &Api, at: SocketAddr) -> Result<(), Status> {
    let client = Client::system(api, "groundplane");
    let mut addresses = known(&client, at).await;
    match addresses.remove(&at.ip()) && !addresses.is_empty() {
        true => write(&client, at, &addresses).await,
        false => Ok(()),
    }
}

async fn write(client: &Client, at: SocketAddr, addresses: &BTreeSet<IpAddr>) -> Result<(), Status> {
    let first = addresses.first().copied().unwrap_or(at.ip());
    for wanted in [service(first, at.port()), endpoints(addresses, at.port()), slice(addresses, at)] {
        put(client, wanted).await?;
    }
    Ok(())
}

/// The addresses of the servers that are written down with the same port.
async fn known(client: &Client, at: SocketAddr) -> BTreeSet<IpAddr> {
    let Some(slice) = client.get_like(&named("discovery.k8s.io/v1", "EndpointSlice")).await else {
        return BTreeSet::new();
    };
    if slice.at("ports").and_then(|ports| ports.pointer("/0/port")?.as_u64()) != Some(at.port().into()) {
        return BTreeSet::new();
    }
    let endpoints = slice.get("endpoints").and_then(Value::as_array).into_iter().flatten();
    let addresses = endpoints.filter_map(|endpoint| endpoint["addresses"].as_array()).flatten();
    addresses.filter_map(|address| address.as_str()?.parse().ok()).collect()
}

/// Writes an object unless it says so already.
async fn put(client: &Client, mut wanted: Object) -> Result<(), Status> {
    let Some(found) = client.get_like(&wanted).await else {
        return match client.create(wanted).await {
            // Another server of the same store was first, and says the same or will be told.
            Err(status) if status.reason == "AlreadyExists" => Ok(()),
            made => made.map(drop),
        };
    };
    let says = |field: &str| found.get(field) == wanted.get(field);
    let labels = found.meta("labels") == wanted.meta("labels");
    if labels && ["spec", "subsets", "endpoints", "ports", "addressType"].into_iter().all(says) {
        return Ok(());
    }
    wanted.set_meta("resourceVersion", found.meta("resourceVersion").cloned());
    client.update(wanted).await.map(drop)
}

fn named(api_version: &str, kind: &str) -> Object {
    let mut object = Object::new(api_version, kind);
    object.set_meta("name", Some(NAME.into()));
    object.set_meta("namespace", Some(NAMESPACE.into()));
    object
}

fn service(ip: IpAddr, port: u16) -> Object {
    let mut service = named("v1", "Service");
    service.set_meta("labels", Some(json!({"component": "apiserver", "provider": "kubernetes"})));
    let spec = json!({
        "clusterIP": ip.to_string(),
        "clusterIPs": [ip.to_string()],
        "internalTrafficPolicy": "Cluster",
        "ipFamilies": [family(ip)],
        "ipFamilyPolicy": "SingleStack",
        "ports": [{"name": "https", "port": port, "protocol": "TCP", "targetPort": port}],
        "sessionAffinity": "None",
        "type": "ClusterIP",
    });
    service.set("spec", Some(spec));
    service.set("status", Some(json!({"loadBalancer": {}})));
    service
}

fn endpoints(addresses: &BTreeSet<IpAddr>, port: u16) -> Object {
    let mut endpoints = named("v1", "Endpoints");
    endpoints.set_meta("labels", Some(json!({"endpointslice.kubernetes.io/skip-mirror": "true"})));
    let addresses: Vec<Value> = addresses.iter().map(|ip| json!({"ip": ip.to_string()})).collect();
    let ports = json!([{"name": "https", "port": port, "protocol": "TCP"}]);
    endpoints.set("subsets", Some(json!([{"addresses": addresses, "ports": ports}])));
    endpoints
}

/// A slice has addresses of one family: that of the server's own.
fn slice(addresses: &BTreeSet<IpAddr>, at: SocketAddr) -> Object {
    let mut slice = named("discovery.k8s.io/v1", "EndpointSlice");
    slice.set_meta("labels", Some(json!({"kubernetes.io/service-name": NAME})));
    let of_family = addresses.iter().filter(|ip| ip.is_ipv4() == at.is_ipv4());
    let endpoints = of_family.map(|ip| json!({"addresses": [ip.to_string()], "conditions": {"ready": true}}));
    slice.set("addressType", Some(family(at.ip()).into()));
    slice.set("endpoints", Some(endpoints.collect::<Vec<Value>>().into()));
    slice.set("ports", Some(json!([{"name": "https", "port": at.port(), "protocol": "TCP"}])));
    slice
}

fn family(ip: IpAddr) -> &'static str {
    if ip.is_ipv4() { "IPv4" } else { "IPv6" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_is_every_address_is_not_advertised() {
        let at = |text: &str| advertised(text.parse().unwrap()).to_string();
        assert_eq!(at("127.0.0.1:6443"), "127.0.0.1:6443");
        assert_eq!(at("[::1]:6443"), "[::1]:6443");
        for every in ["0.0.0.0:7443", "[::]:7443"] {
            let found: SocketAddr = at(every).parse().unwrap();
            assert!(!found.ip().is_unspecified() && found.port() == 7443, "{found}");
        }
    }
}

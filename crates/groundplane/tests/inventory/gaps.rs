//! What the original let slip: references across sites, shrinking racks, ports with two cables, ends that go.

use serde_json::{Value, json};

use crate::program::{Kubectl, with_each};

const GROUND: &str = r#"
---
{apiVersion: inventory.miloapis.com/v1alpha1, kind: Region, metadata: {name: r}, spec: {displayName: R}}
---
{apiVersion: inventory.miloapis.com/v1alpha1, kind: Provider, metadata: {name: p}, spec: {displayName: P, type: Transit}}
---
{apiVersion: inventory.miloapis.com/v1alpha1, kind: Site, metadata: {name: here}, spec: {displayName: Here, regionRef: {name: r}, type: Datacenter}}
---
{apiVersion: inventory.miloapis.com/v1alpha1, kind: Site, metadata: {name: there}, spec: {displayName: There, regionRef: {name: r}, type: Edge}}
---
{apiVersion: inventory.miloapis.com/v1alpha1, kind: Cluster, metadata: {name: c}, spec: {displayName: C, controlPlaneSiteRef: {name: here}, role: Compute, provider: talos}}
---
{apiVersion: inventory.miloapis.com/v1alpha1, kind: Rack, metadata: {name: a1}, spec: {siteRef: {name: here}, row: one, cage: left, heightU: 42, powerFeeds: [{name: A, voltage: 230, ampsRated: 10}, {name: B, voltage: 230, ampsRated: 10}]}}
---
{apiVersion: inventory.miloapis.com/v1alpha1, kind: NetworkDevice, metadata: {name: leaf}, spec: {siteRef: {name: here}, clusterRef: {name: c}, role: Leaf}}
"#;

/// A small place to try things in.
pub fn ground(kubectl: &Kubectl) {
    kubectl.run_with("apply -f -", GROUND);
}

/// An object of the inventory.
pub fn object(kind: &str, name: &str, spec: Value) -> String {
    let api_version = "inventory.miloapis.com/v1alpha1";
    json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, "spec": spec}).to_string()
}

/// A node at a site, with what else it says.
pub fn node(name: &str, site: &str, more: Value) -> String {
    let mut spec = json!({
        "siteRef": {"name": site},
        "hardware": {"cpuCores": 8, "cpuArchitecture": "amd64", "memoryBytes": 1},
    });
    for (key, value) in more.as_object().unwrap() {
        spec[key] = value.clone();
    }
    object("Node", name, spec)
}

/// A port of a device.
pub fn port(name: &str, device: (&str, &str), kind: &str, more: Value) -> String {
    let mut spec = json!({"deviceRef": {"kind": device.0, "name": device.1}, "type": kind, "name": name});
    for (key, value) in more.as_object().unwrap() {
        spec[key] = value.clone();
    }
    object("Port", name, spec)
}

/// A cable between ports.
pub fn cable(name: &str, ends: &[&str], media: &str) -> String {
    let ends: Vec<Value> = ends.iter().map(|end| json!({"name": end})).collect();
    object("Cable", name, json!({"endpoints": ends, "media": media, "lengthM": 3}))
}

/// A write that is refused with these words.
pub fn refused(kubectl: &Kubectl, manifest: &str, words: &str) {
    let said = kubectl.refused_with("apply -f -", manifest);
    assert!(said.contains(words), "{words:?} and not {said}");
}

#[test]
fn a_device_is_where_its_rack_is_and_a_rack_keeps_what_is_in_it() {
    with_each(|kubectl| {
        ground(kubectl);
        let at = |start: u32| json!({"placement": {"rackRef": {"name": "a1"}, "startUnit": start, "unitHeight": 2}});
        refused(
            kubectl,
            &node("far", "there", at(1)),
            "Rack a1 is at Site here, not at Site there of Node far",
        );
        kubectl.run_with("apply -f -", &node("n1", "here", at(40)));
        let said = kubectl.refused("patch rack a1 --type=merge -p {\"spec\":{\"heightU\":40}}");
        assert!(said.contains("Node n1 at U40-U41 does not fit within Rack a1 (height 40U)"), "{said}");
        kubectl.run("patch rack a1 --type=merge -p {\"spec\":{\"heightU\":41}}");
        let said = kubectl.refused("delete site here");
        assert!(
            said.contains(
                "1 Node(s) still reference it: [n1]; 1 Cluster(s) still reference it: [c]; 1 NetworkDevice(s) still \
                 reference it: [leaf]; 1 Rack(s) still reference it: [a1]"
            ),
            "{said}"
        );
    });
}

#[test]
fn a_port_carries_one_cable_and_holds_its_device() {
    with_each(|kubectl| {
        ground(kubectl);
        for name in ["p1", "p2", "p3"] {
            kubectl.run_with("apply -f -", &port(name, ("NetworkDevice", "leaf"), "Ethernet", json!({})));
        }
        kubectl.run_with("apply -f -", &cable("k1", &["p1", "p2"], "Copper"));
        refused(kubectl, &cable("k2", &["p2", "p3"], "Copper"), "Port p2 already carries Cable k1");
        let said = kubectl.refused("delete networkdevice leaf");
        assert!(
            said.contains("cannot delete NetworkDevice leaf: 3 Port(s) still reference it: [p1 p2 p3]"),
            "{said}"
        );
        let ends = json!({"providerRef": {"name": "p"}, "type": "CrossConnect", "aEnd": {"kind": "Port", "name": "p3"}, "zEnd": {"kind": "Site", "name": "there"}});
        kubectl.run_with("apply -f -", &object("Circuit", "x1", ends));
        let said = kubectl.refused("delete port p3");
        assert!(said.contains("cannot delete Port p3: 1 Circuit(s) still reference it: [x1]"), "{said}");
        let gone = json!({"providerRef": {"name": "p"}, "type": "CrossConnect", "aEnd": {"kind": "Port", "name": "p9"}, "zEnd": {"kind": "Site", "name": "there"}});
        refused(kubectl, &object("Circuit", "x2", gone), "endpoint Port p9 not found");
        let link = json!({"endpoints": [{"kind": "Site", "name": "here"}, {"kind": "Site", "name": "there"}], "type": "Physical", "cableRefs": [{"name": "k9"}]});
        refused(kubectl, &object("Link", "l1", link), "referenced Cable k9 not found");
    });
}

#[test]
fn everything_is_found_by_its_references_and_words() {
    with_each(|kubectl| {
        ground(kubectl);
        let found = |what: &str, field: &str| {
            kubectl
                .run(&format!("get {what} --field-selector {field} -o jsonpath={{.items[*].metadata.name}}"))
        };
        assert_eq!(found("sites", "spec.regionRef.name=r"), "here there");
        assert_eq!(found("sites", "spec.regionRef.name=r,spec.type=Edge"), "there");
        assert_eq!(found("racks", "spec.row=one,spec.cage=left"), "a1");
        assert_eq!(found("networkdevices", "spec.role=Leaf,spec.clusterRef.name=c"), "leaf");
        for name in ["p1", "p2"] {
            kubectl.run_with("apply -f -", &port(name, ("NetworkDevice", "leaf"), "Ethernet", json!({})));
        }
        kubectl.run_with("apply -f -", &cable("k1", &["p1", "p2"], "Copper"));
        assert_eq!(found("cables", "spec.endpoints.name=p2"), "k1");
        assert_eq!(found("cables", "spec.endpoints.name!=p2"), "");
        let said = kubectl.refused("get racks --field-selector spec.colour=red");
        assert!(said.contains("field label not supported: spec.colour"), "{said}");
    });
}

#[test]
fn labels_follow_the_site_down_to_the_last_port() {
    with_each(|kubectl| {
        ground(kubectl);
        kubectl.run_with("apply -f -", &port("p1", ("NetworkDevice", "leaf"), "Ethernet", json!({})));
        let of = |kind: &str| format!("get {kind} -l topology.inventory.miloapis.com/site-type=Edge -o name");
        kubectl.until("get ports -l topology.inventory.miloapis.com/site-type=Datacenter -o name", |names| {
            names.contains("p1")
        });
        kubectl.run("patch site here --type=merge -p {\"spec\":{\"type\":\"Edge\"}}");
        kubectl.until(&of("ports"), |names| names.contains("p1"));
        kubectl.until(&of("racks"), |names| names.contains("a1"));
        let events =
            kubectl.until("get events.v1.events.k8s.io -o yaml", |yaml| yaml.contains("Port accepted"));
        assert!(events.contains("inventory.port.ready"), "{events}");
    });
}

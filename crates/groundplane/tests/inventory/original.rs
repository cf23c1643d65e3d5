//! Everything that the original's end-to-end suites say, said to ours.

use crate::manifests::{Suite, documents, folder};
use crate::program::with_each;

#[test]
fn regions_and_sites_come_and_go_in_order() {
    let Some(folder) = folder() else { return };
    with_each(|kubectl| {
        let suite = Suite::new(&folder, "region-site-lifecycle", kubectl);
        suite.apply("01-region.yaml");
        suite.apply("02-site.yaml");
        suite.holds("assert-site-ready.yaml");
        suite.refused("invalid-site-type.yaml", "Unsupported value: \"Warehouse\"");
        suite.kept(
            "regions.inventory.miloapis.com rsl-region-useast",
            "admission webhook \"vregion.inventory.miloapis.com\" denied the request: cannot delete Region \
             rsl-region-useast: 1 Site(s) still reference it: [rsl-site-iad1]",
        );
        let table = kubectl.run("get sites");
        assert!(
            table.starts_with("NAME            REGION              PROVIDER   TYPE         AGE"),
            "{table}"
        );
        assert!(table.contains("Datacenter") && table.contains("True    Accepted"), "{table}");
        suite.delete("site rsl-site-iad1");
        suite.delete("region rsl-region-useast");
    });
}

#[test]
fn a_node_is_assigned_and_let_go() {
    let Some(folder) = folder() else { return };
    with_each(|kubectl| {
        let suite = Suite::new(&folder, "node-assignment", kubectl);
        suite.apply("01-topology.yaml");
        suite.apply("02-unassigned-node.yaml");
        suite.holds("assert-unassigned.yaml");
        suite.apply("03-assigned-node.yaml");
        suite.holds("assert-assigned.yaml");
        let node = "node.v1alpha1.inventory.miloapis.com na-node-01";
        kubectl.run(&format!("patch {node} --type=merge -p '{{\"spec\":{{\"assignment\":null}}}}'"));
        suite.holds("assert-unassigned.yaml");
        let label = "{.metadata.labels.topology\\.inventory\\.miloapis\\.com/cluster}";
        assert_eq!(kubectl.run(&format!("get {node} -o jsonpath={label}")), "");
    });
}

#[test]
fn a_device_may_be_at_another_site_than_its_cluster() {
    let Some(folder) = folder() else { return };
    with_each(|kubectl| {
        let suite = Suite::new(&folder, "networkdevice-cluster-consistency", kubectl);
        suite.apply("01-topology.yaml");
        suite.apply("02-matching-device.yaml");
        suite.holds("assert-device-ready.yaml");
        suite.apply("test-data/mismatched-site.yaml");
        suite.refused("missing-cluster.yaml", "referenced Cluster ndc-cluster-does-not-exist not found");
        kubectl.until("get networkdevice ndc-device-cross-site --show-labels", |table| {
            table.contains("topology.inventory.miloapis.com/site=ndc-site-b")
        });
    });
}

#[test]
fn links_end_at_what_is_there() {
    let Some(folder) = folder() else { return };
    with_each(|kubectl| {
        let suite = Suite::new(&folder, "link-validation", kubectl);
        suite.apply("01-topology.yaml");
        suite.apply("02-valid-link.yaml");
        suite.holds("assert-link-ready.yaml");
        suite.refused("self-link.yaml", "link endpoints must be distinct");
        suite.refused("bad-endpoint-kind.yaml", "Unsupported value: \"Region\"");
        suite.refused("missing-endpoint.yaml", "endpoint Site/lv-site-ghost not found");
        suite.delete("site lv-site-nrt1");
        kubectl.until("get link lv-link-sin-nrt", |table| table.contains("False   EndpointNotFound"));
    });
}

#[test]
fn units_of_a_rack_are_taken_once() {
    let Some(folder) = folder() else { return };
    with_each(|kubectl| {
        let suite = Suite::new(&folder, "rack-placement", kubectl);
        suite.apply("01-topology.yaml");
        suite.holds("assert-topology-ready.yaml");
        suite.apply("02-placed-node.yaml");
        suite.holds("assert-placed.yaml");
        suite.refused("ghost-rack-node.yaml", "referenced Rack rp-rack-does-not-exist not found");
        suite.refused(
            "oversized-node.yaml",
            "admission webhook \"vnode.inventory.miloapis.com\" denied the request: placement U41-U44 does not fit \
             within Rack rp-rack-a14 (height 42U)",
        );
        suite.refused(
            "overlapping-node.yaml",
            "placement U11-U12 (Front) overlaps Node rp-node-01 at U10-U11 in Rack rp-rack-a14",
        );
        suite.apply("test-data/opposite-face-device.yaml");
        suite.kept("rack rp-rack-a14", "2 Node(s) still placed in it: [rp-node-01 rp-node-rear]");
    });
}

#[test]
fn a_port_stays_while_a_cable_is_in_it() {
    let Some(folder) = folder() else { return };
    with_each(|kubectl| {
        let suite = Suite::new(&folder, "ports-cabling", kubectl);
        suite.apply("01-topology.yaml");
        suite.apply("02-ports.yaml");
        suite.holds("assert-ports-ready.yaml");
        suite.apply("03-cable.yaml");
        kubectl.until("get cable pc-cable-01 -o yaml", |yaml| {
            yaml.contains("All endpoints resolved") && yaml.contains("Cable accepted")
        });
        suite.refused("missing-port-cable.yaml", "endpoint Port pc-port-ghost not found");
        suite.kept("port pc-port-a", "1 Cable(s) still reference it: [pc-cable-01]");
    });
}

#[test]
fn circuits_hold_their_provider_and_their_ends() {
    let Some(folder) = folder() else { return };
    with_each(|kubectl| {
        let suite = Suite::new(&folder, "circuits", kubectl);
        suite.apply("01-topology.yaml");
        suite.holds("assert-topology-ready.yaml");
        suite.apply("02-circuit.yaml");
        suite.holds("assert-circuit-ready.yaml");
        suite.refused("missing-provider-circuit.yaml", "referenced Provider ci-provider-ghost not found");
        suite.refused("missing-site-circuit.yaml", "endpoint Site ci-site-ghost not found");
        suite.kept("provider ci-provider-equinix", "1 Circuit(s) still reference it: [ci-circuit-xc-01]");
        suite.kept("site ci-site-sfo1", "1 Circuit(s) still reference it: [ci-circuit-xc-01]");
        let patch = "{\"spec\":{\"providerRef\":{\"name\":\"other\"}}}";
        let said = kubectl.refused(&format!("patch circuit ci-circuit-xc-01 --type=merge -p '{patch}'"));
        assert!(said.contains("providerRef is immutable"), "{said}");
    });
}

#[test]
fn a_host_stays_while_machines_run_on_it() {
    let Some(folder) = folder() else { return };
    with_each(|kubectl| {
        let suite = Suite::new(&folder, "vm-inventory", kubectl);
        suite.apply("01-topology.yaml");
        suite.apply("02-vm.yaml");
        suite.holds("assert-vm-ready.yaml");
        suite.refused("missing-host-vm.yaml", "host Node vm-node-ghost not found");
        let node = "node.v1alpha1.inventory.miloapis.com vm-node-01";
        suite.kept(node, "1 VirtualMachine(s) still hosted on it: [vm-web-01]");
        suite.kept("provider vm-provider-equinix", "1 VirtualMachine(s) still reference it: [vm-web-01]");
        assert!(kubectl.run("get vm").contains("VCPUS   MEMORY"));
    });
}

#[test]
fn one_label_finds_everything_of_a_place() {
    let Some(folder) = folder() else { return };
    with_each(|kubectl| {
        let suite = Suite::new(&folder, "topology-selector", kubectl);
        suite.apply("01-fleet.yaml");
        suite.holds("assert-fleet-ready.yaml");
        let count = |what: &str, key: &str, value: &str| {
            let line = format!("get {what} -l topology.inventory.miloapis.com/{key}={value} -o name");
            kubectl.run(&line).lines().count()
        };
        let nodes = "nodes.v1alpha1.inventory.miloapis.com";
        assert_eq!(count(nodes, "region", "r1"), 4);
        assert_eq!(count(nodes, "site", "s2"), 2);
        assert_eq!(count(nodes, "cluster", "c2"), 2);
        assert_eq!(count("clusters", "region", "r1"), 2);
    });
}

#[test]
fn the_samples_are_taken_and_what_they_lack_is_said() {
    let Some(folder) = folder() else { return };
    with_each(|kubectl| {
        let apply = |kind: &str| {
            let file = folder.join(format!("inventory_v1alpha1_{kind}.yaml"));
            format!("apply -f {}", file.display())
        };
        for kind in [
            "region",
            "provider",
            "site",
            "rack",
            "cluster",
            "node",
            "networkdevice",
            "port",
            "virtualmachine",
            "link",
            "fleet",
        ] {
            kubectl.run(&apply(kind));
        }
        let said = kubectl.refused(&apply("cable"));
        assert!(said.contains("endpoint Port port-sample-far-end not found"), "{said}");
        let said = kubectl.refused(&apply("circuit"));
        assert!(said.contains("endpoint Site site-sample-remote not found"), "{said}");
        kubectl.until("get inventory", |table| !table.contains("Pending"));
        let graph = folder.join("graph_v1alpha2_demo.yaml");
        let said = kubectl.refused(&format!("apply -f {}", graph.display()));
        assert!(said.contains("metadata.name: Invalid value: \"Site\""), "{said}");
        // The same graph with names that an API server takes.
        let lower = documents(&graph).into_iter().map(|mut document| {
            let lower = |value: &mut serde_json::Value| {
                if let Some(text) = value.as_str() {
                    *value = text.to_lowercase().into();
                }
            };
            lower(&mut document["metadata"]["name"]);
            if document["spec"].get("type").is_some() {
                lower(&mut document["spec"]["type"]);
            }
            for types in ["fromTypes", "toTypes"] {
                if let Some(list) = document["spec"].pointer_mut(&format!("/endpoints/{types}")) {
                    list.as_array_mut().unwrap().iter_mut().for_each(lower);
                }
            }
            document.to_string()
        });
        kubectl.run_with("apply -f -", &lower.collect::<Vec<_>>().join("\n"));
        kubectl.until("get edges", |table| table.contains("True") && table.contains("Accepted"));
        kubectl.until("get nodetypes", |table| !table.contains("False"));
        let said = kubectl.refused("delete invnode host-001");
        assert!(
            said.contains("cannot delete Node host-001: 1 Edge(s) still reference it: [host-001-in-iad1]"),
            "{said}"
        );
        kubectl.run("delete nodetype host");
        kubectl.until("get invnode host-001", |table| table.contains("NodeTypeNotFound"));
    });
}

#[test]
fn all_samples_at_once_are_taken_but_the_two_that_lack_something() {
    let Some(folder) = folder() else { return };
    with_each(|kubectl| {
        assert!(folder.join("kustomization.yaml").is_file());
        // It sorts kinds by their names: a cable comes before its ports, so that the first round leaves some out.
        let apply = format!("apply -k {}", folder.display());
        kubectl.refused(&apply);
        let said = kubectl.refused(&apply);
        assert!(said.contains("endpoint Port port-sample-far-end not found"), "{said}");
        assert!(said.contains("endpoint Site site-sample-remote not found"), "{said}");
        assert_eq!(said.matches("denied the request").count(), 2, "{said}");
        assert!(said.contains("link.inventory.miloapis.com/link-sample created"), "{said}");
        kubectl.until("get inventory", |table| !table.contains("Pending") && !table.contains("NotFound"));
    });
}

#[test]
fn whoever_is_bound_on_each_kind_may_write_each_kind() {
    let Some(folder) = folder() else { return };
    with_each(|kubectl| {
        let file = folder.join("iam/policybindings.example.yaml");
        let apply = format!("apply -f {}", file.display());
        let said = kubectl.refused(&apply);
        assert!(said.contains("loader@example.com"), "nobody is called so yet: {said}");
        // An address is no name of an object: whoever fills the example in names the user.
        let user = "apiVersion: iam.miloapis.com/v1alpha1\nkind: User\nmetadata: {name: loader}\nspec: {email: loader@example.com}\n";
        kubectl.run_with("apply -f -", user);
        let uid = kubectl.run("get users.iam.miloapis.com loader -o jsonpath={.metadata.uid}");
        let text = std::fs::read_to_string(&file).unwrap();
        let text = text.replace("REPLACE_WITH_USER_UID", &uid).replace("loader@example.com", "loader");
        kubectl.run_with("apply -f -", &text);
        for kind in inventory::kinds::all() {
            let can = format!("auth can-i create {}.{} --as loader", kind.names.plural, kind.group);
            assert_eq!(kubectl.run(&can).trim(), "yes", "{}", kind.names.kind);
        }
        let region = folder.join("inventory_v1alpha1_region.yaml");
        kubectl.run(&format!("apply -f {} --as loader", region.display()));
    });
}

#[test]
fn no_file_of_the_original_is_passed_over() {
    let Some(folder) = folder() else { return };
    let told = include_str!("original.rs");
    let mut folders = vec![folder];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.file_name().unwrap().to_str().unwrap();
            let sample = name.strip_prefix("inventory_v1alpha1_").map(|name| name.trim_end_matches(".yaml"));
            let word = sample.unwrap_or(name);
            assert!(told.contains(&format!("{word}\"")), "{} is in no test", path.display());
        }
    }
}

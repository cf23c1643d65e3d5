//! The commands as people type them, from files to what is printed.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod typed;

use std::{fs, path::Path};

use design_cli::Ended;
use serde_json::Value;
use typed::{SITE, Said, design, in_folder};

#[test]
fn compile_prints_the_shape_that_drydock_prints() {
    let corner = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/corner");
    let bundle = corner.join("i02_iface_override_fields.yaml");
    let said = design(&["compile", bundle.to_str().unwrap(), "-o", "drydock-json", "--no-validate"]);
    assert_eq!(said.ended, Ended::Well, "{}", said.err);
    let printed: Value = serde_json::from_str(&said.out).unwrap();
    let truth = fs::read(corner.join("intended/i02_iface_override_fields.json")).unwrap();
    let truth: Value = serde_json::from_slice(&truth).unwrap();
    assert_eq!(printed["nodes"]["n1"]["tags"], truth["nodes"]["n1"]["tags"]);
    assert_eq!(printed["status"], truth["status"]);
}

#[test]
fn a_refused_design_is_printed_too_and_ends_with_one() {
    let corner = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/corner");
    let bundle = corner.join("x01_missing_parent.yaml");
    let said = design(&["compile", bundle.to_str().unwrap(), "-o", "drydock-json"]);
    assert_eq!(said.ended, Ended::NotWell);
    let printed: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(printed["error"]["kind"], "unknown_host_profile");
}

#[test]
fn the_tree_tells_who_set_each_value_and_hides_secrets() {
    let said = in_folder(&[("site.yaml", SITE)], |folder| design(&["compile", folder]));
    assert_eq!(said.ended, Ended::Well, "{}", said.err);
    let line = |part: &str| said.out.lines().find(|line| line.contains(part)).unwrap_or_default().to_owned();
    assert!(line("fqdn =").ends_with("n1.example.com"), "{}", said.out);
    assert!(line("platform.image = jammy").contains("HostProfile/child"), "{}", said.out);
    assert!(line("overrides bionic of HostProfile/parent").contains("site.yaml:"), "{}", said.out);
    assert!(line("metadata.tags[old] is gone").contains("removes old"), "{}", said.out);
    assert!(line("oob.credential = (hidden)").contains("HostProfile/parent"), "{}", said.out);
    assert!(!said.out.contains("s3cret"), "{}", said.out);
}

#[test]
fn validate_tells_code_file_and_line() {
    let broken = SITE
        .replace("address: 10.0.0.5", "address: 10.0.9.5")
        .replace("cidr: 10.0.0.0/24", "cidr: 10.0.0.1/24");
    let said = in_folder(&[("site.yaml", &broken)], |folder| design(&["validate", folder, "--quiet"]));
    assert_eq!(said.ended, Ended::NotWell);
    let place = |code: &str| said.out.lines().find(|line| line.contains(code)).unwrap_or_default().to_owned();
    assert!(place("error[GP2006]").contains("site.yaml:2:1: "), "{}", said.out);
    assert!(place("error[GP2002]").contains("10.0.9.5 is not within"), "{}", said.out);
    assert!(said.out.ends_with("2 errors, 2 warnings\n"), "{}", said.out);

    let good = in_folder(&[("site.yaml", SITE)], |folder| design(&["validate", folder, "-o", "json"]));
    assert_eq!(good.ended, Ended::Well, "{}", good.out);
    let printed: Value = serde_json::from_str(&good.out).unwrap();
    assert_eq!(printed["errors"], 0);
}

#[test]
fn what_cannot_be_read_ends_with_two() {
    let said = in_folder(&[("site.yaml", "a: [1")], |folder| design(&["validate", folder]));
    assert_eq!(said.ended, Ended::InTrouble);
    assert!(said.err.contains("site.yaml:"), "{}", said.err);
    assert_eq!(design(&["validate", "/nowhere/at/all"]).ended, Ended::InTrouble);
}

#[test]
fn what_is_not_yaml_is_a_failed_status_with_its_line() {
    let said = in_folder(&[("site.yaml", "a: 1\nb: [1")], |folder| {
        design(&["compile", folder, "-o", "drydock-json"])
    });
    assert_eq!(said.ended, Ended::NotWell);
    let printed: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!((&printed["ingest_status"], &printed["error_count"]), (&"failure".into(), &1.into()));
    assert!(printed["messages"][0]["message"].as_str().unwrap().contains("site.yaml:"), "{}", said.out);
}

#[test]
fn a_design_that_is_elsewhere_is_fetched() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let served = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut asked = [0; 4096];
        let read = std::io::Read::read(&mut stream, &mut asked).unwrap();
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", SITE.len());
        std::io::Write::write_all(&mut stream, format!("{head}{SITE}").as_bytes()).unwrap();
        String::from_utf8_lossy(&asked[..read]).to_lowercase()
    });
    let said = design(&["effective", "n1", &format!("deckhand+http://ann:pw@{address}/rendered-documents")]);
    assert_eq!(said.ended, Ended::Well, "{}", said.err);
    assert!(said.out.contains("platform.image = jammy") && !said.out.contains("pw@"), "{}", said.out);
    assert!(served.join().unwrap().contains("authorization: basic "), "who asks is told to whoever is asked");
}

#[test]
fn a_reference_to_a_file_is_a_path() {
    let said = in_folder(&[("site.yaml", SITE)], |folder| {
        design(&["validate", &format!("file://{folder}/site.yaml")])
    });
    assert_eq!(said.ended, Ended::Well, "{}", said.err);
    let elsewhere = design(&["validate", "https://ann:pw@127.0.0.1:1/site.yaml"]);
    assert_eq!(elsewhere.ended, Ended::InTrouble);
    assert!(
        elsewhere.err.contains("https://127.0.0.1:1/site.yaml") && !elsewhere.err.contains("pw"),
        "{}",
        elsewhere.err
    );
}

#[test]
fn a_value_that_came_through_layers_tells_where_it_was_written() {
    let layered = format!(
        "---
{{schema: deckhand/LayeringPolicy/v1, metadata: {{name: p}}, data: {{layerOrder: [global, site]}}}}
---
{{schema: deckhand/Passphrase/v1, metadata: {{name: bmc, layeringDefinition: {{abstract: false, layer: site}}}}, data: s3cret}}
---
schema: drydock/HostProfile/v1
metadata: {{name: general, labels: {{a: b}}, layeringDefinition: {{abstract: true, layer: global}}}}
data: {{platform: {{image: focal}}}}
---
schema: drydock/HostProfile/v1
metadata:
  name: own
  layeringDefinition: {{abstract: false, layer: site, parentSelector: {{a: b}}, actions: [{{method: merge, path: .}}]}}
  substitutions: [{{src: {{schema: deckhand/Passphrase/v1, name: bmc, path: .}}, dest: {{path: .oob.credential}}}}]
data: {{hardware_profile: hw}}
{}",
        SITE.replace("metadata: {name: ", "metadata: {layeringDefinition: {abstract: false, layer: site}, name: ")
            .replace("host_profile: child", "host_profile: own")
    );
    let said = in_folder(&[("site.yaml", &layered)], |folder| design(&["effective", "n1", folder]));
    assert_eq!(said.ended, Ended::Well, "{}", said.err);
    let line = |part: &str| said.out.lines().find(|line| line.contains(part)).unwrap_or_default().to_owned();
    assert!(line("platform.image = focal").contains("HostProfile/general ("), "{}", said.out);
    assert!(line("platform.image = focal").ends_with("in layer global, via HostProfile/own"), "{}", said.out);
    assert!(line("oob.credential = (hidden)").contains("Passphrase/bmc ("), "{}", said.out);
}

#[test]
fn effective_prints_a_node_or_a_profile() {
    let json = |name: &str| -> Said {
        in_folder(&[("site.yaml", SITE)], |folder| design(&["effective", name, folder, "-o", "json"]))
    };
    let node: Value = serde_json::from_str(&json("n1").out).unwrap();
    assert_eq!(
        node["chain"],
        serde_json::json!(["BaremetalNode/n1", "HostProfile/child", "HostProfile/parent"])
    );
    let image =
        node["values"].as_array().unwrap().iter().find(|one| one["path"] == "platform.image").unwrap();
    assert_eq!((&image["value"], &image["by"]["document"]), (&"jammy".into(), &"HostProfile/child".into()));
    let profile: Value = serde_json::from_str(&json("parent").out).unwrap();
    assert_eq!(profile["chain"], serde_json::json!(["HostProfile/parent"]));
    let nobody = json("nobody");
    assert_eq!(nobody.ended, Ended::InTrouble);
    assert!(nobody.err.contains("its nodes are n1"), "{}", nobody.err);
}

#[test]
fn diff_tells_whom_a_change_reaches() {
    let changed = SITE.replace("image: jammy", "image: noble").replace("s3cret", "other");
    let files = [("before/site.yaml", SITE), ("after/site.yaml", changed.as_str())];
    let said = in_folder(&files, |folder| {
        design(&["diff", &format!("{folder}/before"), &format!("{folder}/after")])
    });
    assert_eq!(said.ended, Ended::NotWell);
    assert!(said.out.contains("~ n1\n"), "{}", said.out);
    assert!(said.out.contains("platform.image: jammy -> noble  [HostProfile/child"), "{}", said.out);
    assert!(said.out.contains("oob.credential: (hidden) -> (hidden)"), "{}", said.out);
    assert!(!said.out.contains("s3cret"), "{}", said.out);
    assert!(said.out.ends_with("1 of 1 nodes differ\n"), "{}", said.out);
    let same = in_folder(&files, |folder| design(&["diff", folder, folder]));
    // Both states stand under the folder: names written twice refuse it.
    assert_eq!(same.ended, Ended::InTrouble);
}

#[test]
fn documents_of_any_kind_are_found_by_what_they_hold() {
    let other = format!(
        "{SITE}---\n{{schema: shop/Order/v2, metadata: {{name: o1}}, data: {{lines: [{{item: bolt}}], by: {{who: ann}}}}}}\n"
    );
    let find = |arguments: &[&str]| {
        in_folder(&[("site.yaml", &other)], |folder| {
            design(&[&["documents", folder], arguments].concat()).out
        })
    };
    assert!(find(&["--where", "by.who=ann", "--field", "lines[0].item"]).contains("shop/Order/v2 o1"));
    assert!(find(&["--where", "by.who=ann", "--field", "lines[0].item"]).contains("\"bolt\""));
    assert_eq!(find(&["--kind", "Order", "--where", "by.who=bob"]), "");
    assert_eq!(find(&["--kind", "HostProfile"]).lines().count(), 2);
    assert_eq!(find(&["--where", "metadata.tags=new"]).lines().count(), 1);
}

#[test]
fn an_imported_site_is_the_same_site() {
    let (files, before, after) = in_folder(&[("site.yaml", SITE)], |folder| {
        let to = format!("{folder}/imported");
        let from = format!("{folder}/site.yaml");
        let said = design(&["import", &from, "--to", &to]);
        assert_eq!(said.ended, Ended::Well, "{}", said.err);
        assert!(said.err.contains("hold secrets"), "{}", said.err);
        let again = design(&["import", &from, "--to", &to]);
        assert_eq!(again.ended, Ended::InTrouble, "a folder that is not empty is left alone");
        let print = |path: &str| design(&["compile", path, "-o", "drydock-json"]).out;
        (Path::new(&to).join("formation/nodes/n1.yaml").exists(), print(&from), print(&to))
    });
    assert!(files);
    let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    for part in ["nodes", "host_profiles", "networks", "hardware_profiles"] {
        assert_eq!(value(&before)[part], value(&after)[part], "{part}");
    }
}

#[test]
fn machines_are_compared_with_their_design() {
    let lshw = "<list><node id='s' class='system'><vendor>Dell Inc.</vendor>
      <node id='firmware' class='memory'><version>2.0</version><capabilities><capability id='uefi'/></capabilities></node>
      <node id='n' class='network'><product>X710 Controller</product><businfo>pci@0000:00:03.0</businfo><logicalname>eno1</logicalname></node>
      </node></list>";
    let inventory = "{apiVersion: inventory.miloapis.com/v1alpha1, kind: Node, metadata: {name: n1}, spec: {placement: {rackRef: {name: r9}}}}";
    let files = [("site.yaml", SITE), ("n1.xml", lshw), ("nodes.yml.txt", inventory)];
    let said = in_folder(&files, |folder| {
        let (seen, listed) = (format!("n1={folder}/n1.xml"), format!("{folder}/nodes.yml.txt"));
        design(&[
            "check-hardware",
            &format!("{folder}/site.yaml"),
            "--lshw",
            &seen,
            "--inventory",
            &listed,
            "--all",
        ])
    });
    assert_eq!(said.ended, Ended::NotWell, "{}", said.err);
    for line in [
        "same      hardware_profile.vendor: designed Dell, built Dell Inc.",
        "differs   hardware_profile.bios_version: designed 1.0, built 2.0",
        "same      hardware_profile.boot_mode: designed uefi, built uefi",
        "same      device_aliases.nic1: designed X710, built X710 Controller",
        "missing   device_aliases.nic2: designed X710, built -",
        "differs   metadata.rack: designed r1, built r9",
    ] {
        assert!(said.out.contains(line), "{line}\n{}", said.out);
    }
}

#[test]
fn a_code_is_explained() {
    let said = design(&["explain", "gp2005"]);
    assert!(said.out.starts_with("# GP2005: Duplicated IP Check"), "{}", said.out);
    assert_eq!(design(&["explain", "GP9999"]).ended, Ended::InTrouble);
}

#[test]
fn ports_are_compared_with_the_switches_of_their_rack() {
    let site = SITE.replace(
        "metadata: {name: r1}, data: {}",
        "metadata: {name: r1}, data: {tor_switches: {tor1: {mgmt_ip: 10.0.0.3}}}",
    );
    let heard = |name: &str, address: &str| {
        format!(
            "<lldp><interface name=\"nic1\"><chassis><name>{name}</name><mgmt-ip>{address}</mgmt-ip></chassis><port><id>7</id></port></interface></lldp>"
        )
    };
    let check = |heard: &str| {
        in_folder(&[("site.yaml", &site), ("lldp.xml", heard)], |folder| {
            design(&[
                "check-hardware",
                &format!("{folder}/site.yaml"),
                "--lldp",
                &format!("n1={folder}/lldp.xml"),
                "--all",
            ])
        })
    };
    let said = check(&heard("tor1.example.com", "10.9.9.9"));
    assert_eq!(said.ended, Ended::Well, "{} {}", said.out, said.err);
    assert!(said.out.contains("designed tor1, built tor1.example.com port 7"), "{}", said.out);
    assert_eq!(check(&heard("other", "10.0.0.3")).ended, Ended::Well, "its address tells it");
    let said = check(&heard("other", "10.9.9.9"));
    assert!(said.ended == Ended::NotWell && said.out.contains("differs"), "{}", said.out);
    let said = check("<lldp/>");
    assert!(said.ended == Ended::NotWell && said.out.contains("missing"), "{}", said.out);
}

/// The sample design of the documentation.
fn sample() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples/design").to_str().unwrap().to_owned()
}

#[test]
fn the_sample_design_is_valid_but_for_the_platform_that_only_a_provisioner_knows() {
    let said = design(&["validate", &sample(), "-o", "json"]);
    assert_eq!(said.ended, Ended::Well, "{} {}", said.out, said.err);
    let printed: Value = serde_json::from_str(&said.out).unwrap();
    let codes: Vec<&str> =
        printed["findings"].as_array().unwrap().iter().map(|one| one["code"].as_str().unwrap()).collect();
    assert_eq!((&printed["errors"], codes), (&0.into(), vec!["GP3001"]), "{}", said.out);
}

#[test]
fn the_nodes_of_the_sample_design_inherit_from_profiles_and_hardware() {
    let said = design(&["compile", &sample(), "-o", "drydock-json"]);
    assert_eq!(said.ended, Ended::Well, "{}", said.err);
    let printed: Value = serde_json::from_str(&said.out).unwrap();
    let nodes = printed["nodes"].as_object().unwrap();
    assert_eq!(nodes.keys().collect::<Vec<_>>(), ["cmp1", "cmp2", "ctl1", "ctl2"]);
    assert_eq!(printed["racks"].as_object().unwrap().len(), 2);
    let field = |node: &str, field: &str| &nodes[node][field];
    assert_eq!((field("cmp1", "image"), field("cmp2", "image")), (&"jammy".into(), &"noble".into()));
    assert_eq!(*field("cmp2", "tags"), serde_json::json!(["gpu", "worker", "managed"]));
    assert_eq!(*field("ctl1", "tags"), serde_json::json!(["control-plane", "managed"]));
    let bond = |node: &str| field(node, "interfaces").as_array().unwrap()[1]["networks"].clone();
    assert_eq!(
        (bond("ctl1"), bond("cmp1")),
        (serde_json::json!(["prod"]), serde_json::json!(["storage", "prod"]))
    );
    let effective = design(&["effective", "cmp2", &sample()]);
    for line in
        ["fqdn = cmp2.fra1.example.com", "firmware.bios = >=1.9.2", "overrides jammy of HostProfile/base"]
    {
        assert!(effective.out.contains(line), "{line}\n{}", effective.out);
    }
    assert!(!effective.out.contains("change-me"), "{}", effective.out);
}

//! A site on a server: brought, asked, changed by several sources, promoted and rolled back.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::program::{Ground, kubectl};

const SITE: &str = "---
{schema: drydock/Network/v1, metadata: {name: oob}, data: {cidr: 10.0.0.0/24, dns: {domain: example.com, servers: '10.0.0.2'}}}
---
{schema: drydock/NetworkLink/v1, metadata: {name: oob}, data: {trunking: {default_network: oob}, allowed_networks: [oob]}}
---
{schema: drydock/Rack/v1, metadata: {name: r1}, data: {}}
---
{schema: drydock/HardwareProfile/v1, metadata: {name: HW_1}, data: {vendor: Dell, bios_version: '1.0', boot_mode: uefi,
  device_aliases: {nic1: {address: '0000:00:03.0', bus_type: pci, dev_type: X710}}}}
---
{schema: drydock/HostProfile/v1, metadata: {name: parent}, data: {hardware_profile: HW_1, primary_network: oob,
  oob: {type: ipmi, network: oob, account: root, credential: s3cret},
  platform: {image: bionic, kernel: ga, kernel_params: {zeta: '1', alpha: '2'}},
  storage: {physical_devices: {sda: {partitions: [{name: root, size: 30g, bootable: true, filesystem: {mountpoint: /}}]}}},
  metadata: {tags: [old], rack: r1}}}
---
{schema: drydock/HostProfile/v1, metadata: {name: child}, data: {host_profile: parent, platform: {image: jammy},
  metadata: {tags: ['!old', new]}}}
---
{schema: drydock/BaremetalNode/v1, metadata: {name: n1}, data: {host_profile: child,
  interfaces: {oob: {device_link: oob, slaves: [nic1], networks: [oob]}}, addressing: [{network: oob, address: 10.0.0.5}]}}
---
{schema: drydock/BaremetalNode/v1, metadata: {name: n2}, data: {host_profile: parent, metadata: {rack: r1},
  interfaces: {oob: {device_link: oob, slaves: [nic1], networks: [oob]}}, addressing: [{network: oob, address: 10.0.0.6}]}}
";

const DESIGNS: &str = "/apis/design.groundplane.dev/v1alpha1/namespaces/airsloop/designs";

fn with_site() -> Ground {
    let ground = Ground::fresh();
    ground.file("site.yaml", SITE);
    ground.run("design import site.yaml -n airsloop --create-namespace -m 'first site'");
    ground
}

#[test]
fn a_site_is_brought_in_one_commit_after_it_was_said_what_it_does() {
    let ground = Ground::fresh();
    ground.file("site.yaml", SITE);
    let planned = ground.run("design import site.yaml -n airsloop --create-namespace --dry-run");
    assert!(planned.contains("+ n1\n+ n2\n2 of 2 nodes differ\n"), "{planned}");
    assert!(planned.contains("8 documents would be imported into design airsloop: 11 created"), "{planned}");
    assert!(ground.told("get namespace airsloop").err.contains("NotFound"));
    let brought = ground.run("design import site.yaml -n airsloop --create-namespace -m 'first site'");
    assert!(brought.contains("8 documents imported into design airsloop: 11 created"), "{brought}");
    let again = ground.run("design import site.yaml -n airsloop");
    assert!(again.contains("0 of 2 nodes differ") && again.contains("unchanged"), "{again}");
    assert!(!again.contains("configured"), "{again}");
    let messages = ground.run("history hostprofile child -n airsloop -o jsonpath={.items[*].message}");
    assert_eq!(messages, "first site");
}

/// Ben may ask about designs and read all documents but one; Cy may read that one too.
const READERS: &str = "
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: most, namespace: airsloop}, rules: [
  {apiGroups: [design.groundplane.dev], verbs: [get, create], resources: [designs, designs/effective, designs/findings,
    designs/nodes, designs/compiled, designs/diff, designs/reach, networks, networklinks, racks, hardwareprofiles,
    baremetalnodes, regions, configurationitems]},
  {apiGroups: [design.groundplane.dev], verbs: [get], resources: [hostprofiles], resourceNames: [child]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: rest, namespace: airsloop}, rules: [
  {apiGroups: [design.groundplane.dev], verbs: [get], resources: ['*']}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: most, namespace: airsloop},
  roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: most},
  subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: ben}, {apiGroup: rbac.authorization.k8s.io, kind: User, name: cy}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: rest, namespace: airsloop},
  roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: rest},
  subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: cy}]}
";

#[test]
fn a_design_is_compiled_for_those_who_may_read_all_of_it() {
    let ground = with_site();
    ground.file("readers.yaml", READERS);
    ground.run("apply -f readers.yaml");
    for question in ["effective?node=n1", "findings?output=text", "nodes", "compiled", "diff?from=documents"]
    {
        let line = format!("get --raw '{DESIGNS}/airsloop/{question}'");
        let refused = ground.told(&format!("{line} --as ben"));
        assert!(
            refused.err.contains("you may not read everything that the design consists of"),
            "{refused:?}"
        );
        assert!(!refused.err.contains("parent") && refused.out.is_empty(), "{refused:?}");
        assert_eq!(ground.run(&format!("{line} --as cy")), ground.run(&line), "{question}");
    }
}

#[test]
fn documents_are_asked_field_by_field() {
    let ground = with_site();
    let line = "get baremetalnodes -n airsloop --field-selector spec.host_profile=child -o name";
    assert_eq!(ground.run(line), "baremetalnode.design.groundplane.dev/n1\n");
    assert_eq!(
        ground.run("get hwp HW_1 -n airsloop -o jsonpath={.spec.device_aliases[0].address}"),
        "0000:00:03.0"
    );
    if let Some(kubectl) = kubectl() {
        let told = ground.kubectl(&kubectl, line);
        assert_eq!(told.out, "baremetalnode.design.groundplane.dev/n1\n", "{told:?}");
        let told = ground.kubectl(&kubectl, "get baremetalnodes -n airsloop");
        let head: Vec<&str> = told.out.lines().next().unwrap_or_default().split_whitespace().collect();
        assert_eq!(head, ["NAME", "PROFILE", "HARDWARE", "RACK", "ADDRESSES", "AGE"], "{told:?}");
        let told = ground.kubectl(&kubectl, "explain hostprofiles.spec.storage.physical_devices.partitions.size --api-version design.groundplane.dev/v1alpha1");
        assert!(told.out.contains("Size: fixed"), "{told:?}");
    }
    let nodes = ground.run(&format!("get --raw '{DESIGNS}/airsloop/nodes?where=platform.image=jammy&fields=fqdn,metadata.tags&output=text'"));
    assert_eq!(nodes, "n1  fqdn=n1.example.com  metadata.tags=new\n");
}

#[test]
fn secrets_of_bmcs_are_kept_apart_and_shown_to_nobody_who_may_not_see_them() {
    let ground = with_site();
    for line in [
        "get hostprofiles -n airsloop -o yaml",
        "history hostprofile parent -n airsloop -o yaml",
        "design effective n1 -n airsloop -o json",
        "design compile -n airsloop -o tree",
        "design diff -n airsloop site.yaml",
        &format!("get --raw {DESIGNS}/airsloop/compiled"),
        &format!("get --raw {DESIGNS}/airsloop/effective"),
    ] {
        let told = ground.told(line);
        assert!(
            told.code == 0 && !told.out.contains("s3cret") && !told.err.contains("s3cret"),
            "{line}: {told:?}"
        );
    }
    assert!(ground.run("design compile -n airsloop -o drydock-json").contains("\"credential\": \"s3cret\""));
    let open = "apiVersion: design.groundplane.dev/v1alpha1\nkind: HostProfile\nmetadata: {name: open, namespace: airsloop}\nspec: {oob: {credential: pw}}\n";
    let told = ground.told_with("apply -f -", open);
    assert!(told.code == 1 && told.err.contains("store it in a Secret"), "{told:?}");
}

#[test]
fn an_object_is_refused_for_what_its_document_is_refused_for() {
    let ground = with_site();
    let node = "apiVersion: design.groundplane.dev/v1alpha1\nkind: BaremetalNode\nmetadata: {name: n9, namespace: airsloop}\nspec: {host_profile: child, addressing: [{address: 10.0.0.9}]}\n";
    let told = ground.told_with("apply -f -", node);
    assert!(told.code == 1 && told.err.contains("an address must say its `network`"), "{told:?}");
    let typo = node.replace("host_profile: child", "host_profil: child");
    let told = ground.told_with("apply -f -", &typo);
    assert!(told.code == 1 && told.err.contains("host_profil"), "{told:?}");
    // What is new is not Drydock's, and said so.
    let told = ground.told(
        "patch hostprofile child -n airsloop --type=merge -p '{\"spec\":{\"firmware\":{\"bios\":\"1.2\"}}}'",
    );
    assert!(
        told.code == 1 && told.err.contains("remove the label design.groundplane.dev/dialect"),
        "{told:?}"
    );
    ground.run("label hostprofile child -n airsloop design.groundplane.dev/dialect-");
    ground.run(
        "patch hostprofile child -n airsloop --type=merge -p '{\"spec\":{\"firmware\":{\"bios\":\"1.2\"}}}'",
    );
    assert!(ground.run("design effective n1 -n airsloop").contains("firmware.bios = 1.2"));
    // A document that cannot be read is not brought.
    ground.file(
        "bad.yaml",
        "{schema: drydock/Network/v1, metadata: {name: x}, data: {cidr: 10.0.0.0/8, vlan: 5}}\n",
    );
    let told = ground.told("design import bad.yaml -n airsloop");
    assert!(
        told.code == 1 && told.err.contains("vlan") && told.err.contains("nothing was imported"),
        "{told:?}"
    );
}

#[test]
fn several_sources_make_one_design_and_each_owns_what_it_says() {
    let ground = with_site();
    let ipam = |address: &str| {
        format!(
            "apiVersion: design.groundplane.dev/v1alpha1\nkind: BaremetalNode\nmetadata: {{name: n3}}\nspec:\n  hardware_profile: HW_1\n  host_profile: child\n  addressing: [{{network: oob, address: {address}}}]\n"
        )
    };
    ground.file("n3.yaml", &ipam("10.0.0.7"));
    let told = ground.run("design import n3.yaml -n airsloop --source ipam");
    assert!(told.contains("1 of 3 nodes differ"), "{told}");
    let site = "apiVersion: design.groundplane.dev/v1alpha1\nkind: BaremetalNode\nmetadata: {name: n3, namespace: airsloop}\nspec:\n  metadata: {rack: r1}\n  interfaces: [{name: oob, device_link: oob}]\n";
    ground.run_with("apply --server-side --field-manager site -f -", site);
    let effective = ground.run("design effective n3 -n airsloop");
    assert!(effective.contains("metadata.rack = r1") && effective.contains("(source site)"), "{effective}");
    assert!(effective.contains("(source ipam: n3.yaml:5:21)"), "{effective}");
    let taken = "apiVersion: design.groundplane.dev/v1alpha1\nkind: BaremetalNode\nmetadata: {name: n3}\nspec:\n  hardware_profile: HW_1\n  metadata: {rack: r2}\n  addressing: [{network: oob, address: 10.0.0.7}]\n";
    ground.file("taken.yaml", taken);
    let told = ground.told("design import taken.yaml -n airsloop --source ipam");
    assert!(
        told.code == 1
            && told.err.contains("BaremetalNode/n3: spec.metadata.rack belongs to source site")
            && told.err.contains("--force-conflicts"),
        "{told:?}"
    );
    let sources = ground.until("get design airsloop -n airsloop -o jsonpath={.status.sources}", "site");
    assert!(sources.contains("design-import") && sources.contains("ipam"), "{sources}");
    // What a source brings no more it lets go of; what nobody else speaks of goes.
    ground.file("empty.yaml", "{schema: drydock/Rack/v1, metadata: {name: r9}, data: {}}\n");
    let told = ground.run("design import empty.yaml -n airsloop --source cmdb");
    assert!(told.contains("1 documents imported"), "{told}");
    ground.file("other.yaml", "{schema: drydock/Rack/v1, metadata: {name: r8}, data: {}}\n");
    let told = ground.run("design import other.yaml -n airsloop --source cmdb --prune");
    assert!(told.contains("1 created, 1 deleted"), "{told}");
    assert!(ground.told("get racks.design.groundplane.dev r9 -n airsloop").err.contains("NotFound"));
}

#[test]
fn revisions_are_promoted_compared_and_rolled_back() {
    let ground = with_site();
    ground.run("wait --for=condition=Compiled design/airsloop -n airsloop --timeout=60s");
    let promoted = ground.run("design promote -n airsloop -m one --allow-errors");
    assert_eq!(promoted, "revision 1 of airsloop is now active: 2 nodes\n");
    assert!(
        ground.run("design promote -n airsloop --allow-errors").starts_with("revision 1 of airsloop"),
        "nothing new"
    );
    ground.run("patch hostprofile child -n airsloop --type=merge -p '{\"spec\":{\"platform\":{\"image\":\"noble\"}}}'");
    let told = ground.told("design diff -n airsloop");
    assert_eq!(told.code, 1);
    assert!(
        told.out.contains("~ n1\n    platform.image: jammy -> noble")
            && told.out.contains("1 of 2 nodes differ"),
        "{told:?}"
    );
    let asked = ground.run(&format!("get --raw '{DESIGNS}/airsloop/diff?from=1&to=documents'"));
    let asked: Value = serde_json::from_str(&asked).unwrap();
    assert_eq!(
        asked["nodes"][0]["values"][0],
        json!({"path": "platform.image", "before": "jammy", "after": "noble"})
    );
    assert!(
        ground.run("design promote -n airsloop --dry-run").contains("1 of 2 nodes differ from revision 1")
    );
    let promoted = ground.run("design promote -n airsloop -m two --allow-errors");
    assert_eq!(promoted, "revision 2 of airsloop is now active: 1 of 2 nodes differ from revision 1\n");
    assert!(ground.run("design effective n1 -n airsloop --at 1").contains("platform.image = jammy"));
    let told = ground.told("delete designrevision airsloop-2 -n airsloop");
    assert!(told.code == 1 && told.err.contains("is the active revision of Design airsloop"), "{told:?}");
    let told = ground
        .told("patch designrevision airsloop-1 -n airsloop --type=merge -p '{\"spec\":{\"message\":\"x\"}}'");
    assert!(told.code == 1 && told.err.contains("a revision is immutable"), "{told:?}");
    let told = ground.told("patch design airsloop -n airsloop --type=merge -p '{\"spec\":{\"revision\":9}}'");
    assert!(told.code == 1 && told.err.contains("DesignRevision airsloop-9 not found"), "{told:?}");
    let back = ground.run("design rollback -n airsloop --documents --allow-errors");
    assert_eq!(back, "revision 1 of airsloop is now active: 1 of 2 nodes differ from revision 2\n");
    assert_eq!(ground.told("design diff -n airsloop").out, "0 of 2 nodes differ\n");
    assert_eq!(ground.run("get design airsloop -n airsloop -o jsonpath={.spec.revision}"), "1");
    let told = ground.told("design rollback -n airsloop");
    assert!(told.code == 2 && told.err.contains("has no revision before 1"), "{told:?}");
}

#[test]
fn a_revision_with_errors_is_put_in_force_only_when_that_is_said() {
    let ground = Ground::fresh();
    ground.file("site.yaml", &SITE.replace("cidr: 10.0.0.0/24", "cidr: 10.0.0.1/24"));
    ground.run("design import site.yaml -n airsloop --create-namespace");
    let told = ground.told("design promote -n airsloop");
    assert!(told.code == 2 && told.err.contains("errors"), "{told:?}");
    let told = ground.told("design validate -n airsloop");
    assert!(told.code == 1 && told.out.contains("error[GP2006]"), "{told:?}");
    ground.run("wait --for=condition=Valid=false design/airsloop -n airsloop --timeout=60s");
    let findings = ground.run("get design airsloop -n airsloop -o jsonpath={.status.findings[*].code}");
    assert!(findings.contains("GP2006"), "{findings}");
}

#[tokio::test]
async fn a_change_says_whom_it_reaches_before_it_is_made() {
    let ground = with_site();
    let client = ground.server.client();
    let change = json!({"items": [{
        "apiVersion": "design.groundplane.dev/v1alpha1", "kind": "HostProfile",
        "metadata": {"name": "child", "labels": {"design.groundplane.dev/dialect": "drydock"}},
        "spec": {"host_profile": "parent", "metadata": {"tags": ["new"]}},
    }]});
    let answer = client.post(&format!("{DESIGNS}/airsloop/reach"), &change).await.unwrap();
    assert_eq!(answer.code, 200, "{}", answer.text());
    let reach = answer.json();
    assert_eq!(
        (reach["changed"].as_u64(), reach["nodes"][0]["node"].as_str()),
        (Some(1), Some("n1")),
        "{reach}"
    );
    let paths: Vec<&str> = reach["nodes"][0]["values"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["path"].as_str().unwrap())
        .collect();
    assert!(paths.contains(&"platform.image") && paths.contains(&"metadata.tags[old]"), "{reach}");
    let gone =
        client.get(&format!("{DESIGNS}/airsloop/reach?delete=BaremetalNode/n2&output=text")).await.unwrap();
    assert!(gone.text().starts_with("- n2\n1 of 1 nodes differ\n"), "{}", gone.text());
    let broken = client.get(&format!("{DESIGNS}/airsloop/reach?delete=HostProfile/child")).await.unwrap();
    assert!(broken.code == 422 && broken.text().contains("host profile `child`"), "{}", broken.text());
    assert_eq!(ground.run("get hostprofile child -n airsloop -o jsonpath={.spec.platform.image}"), "jammy");
}

#[test]
fn documents_of_kinds_that_users_define_fill_others() {
    let ground = with_site();
    ground.run_with(
        "apply -f -",
        "apiVersion: design.groundplane.dev/v1alpha1
kind: ConfigurationItem
metadata: {name: versions, namespace: airsloop}
spec: {schema: shop/Versions/v1, data: {images: {compute: noble}}}
---
apiVersion: design.groundplane.dev/v1alpha1
kind: HostProfile
metadata: {name: filled, namespace: airsloop}
spec:
  host_profile: parent
  substitutions:
  - src: {schema: shop/Versions/v1, name: versions, path: .images.compute}
    dest: {path: .platform.image}
---
apiVersion: design.groundplane.dev/v1alpha1
kind: BaremetalNode
metadata: {name: n5, namespace: airsloop}
spec: {host_profile: filled, addressing: [{network: oob, address: 10.0.0.9}]}
",
    );
    assert!(ground.run("design effective n5 -n airsloop").contains("platform.image = noble"));
    assert_eq!(
        ground.run("get ci -n airsloop --field-selector spec.schema=shop/Versions/v1 -o name"),
        "configurationitem.design.groundplane.dev/versions\n"
    );
    let text = ground.run(&format!("get --raw '{DESIGNS}/airsloop/effective?node=n5&output=text'"));
    assert!(text.contains("platform.image = noble"), "{text}");
    // Of a kind with a definition of its own as well.
    ground.run_with("apply -f -", crate::program::KETTLES);
    ground.run("wait --for=condition=Established crd/kettles.example.com --timeout=60s");
    ground.run_with("apply -f -", "apiVersion: example.com/v1\nkind: Kettle\nmetadata: {name: pot, namespace: airsloop}\nspec: {litres: 3, colour: steel}\n");
    ground.run("patch design airsloop -n airsloop --type=merge -p '{\"spec\":{\"kinds\":[{\"group\":\"example.com\",\"resource\":\"kettles\"}]}}'");
    ground.run_with(
        "apply -f -",
        "apiVersion: design.groundplane.dev/v1alpha1
kind: HostProfile
metadata: {name: filled, namespace: airsloop}
spec:
  host_profile: parent
  substitutions:
  - src: {schema: example.com/Kettle/v1, name: pot, path: .colour}
    dest: {path: .platform.kernel}
",
    );
    let text = ground.run(&format!("get --raw '{DESIGNS}/airsloop/effective?node=n5&output=text'"));
    assert!(text.contains("platform.kernel = steel"), "{text}");
    assert!(ground.run("design effective n5 -n airsloop").contains("platform.kernel = steel"));
}

#[test]
fn machines_of_the_inventory_are_compared_with_their_design() {
    let ground = with_site();
    ground.run_with(
        "apply -f -",
        "apiVersion: inventory.miloapis.com/v1alpha1
kind: Node
metadata: {name: n1}
spec:
  siteRef: {name: here}
  hardware: {cpuCores: 8, cpuArchitecture: amd64, memoryBytes: 1}
  addresses: [{type: Internal, address: 10.0.0.99}]
",
    );
    let told = ground.told("design check-hardware -n airsloop");
    assert!(told.code == 1 && told.out.contains("addressing.oob: designed 10.0.0.5"), "{told:?}");
}

/// What compiling gives, as far as it does not depend on the order of documents.
fn models(text: &str) -> Value {
    let mut printed: Value = serde_json::from_str(text).unwrap();
    for action in printed["bootactions"].as_object_mut().into_iter().flat_map(|all| all.values_mut()) {
        if let Some(targets) = action["target_nodes"].as_array_mut() {
            targets.sort_by_key(Value::to_string);
        }
    }
    let keys = [
        "region",
        "networks",
        "network_links",
        "racks",
        "hardware_profiles",
        "host_profiles",
        "nodes",
        "bootactions",
        "format",
        "ingest_status",
        "status",
        "error_count",
    ];
    keys.iter().map(|key| ((*key).to_owned(), printed[key].clone())).collect()
}

fn bundles() -> Vec<PathBuf> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let theirs = ["design", "treasuremap/rendered"].into_iter().filter_map(require::cases);
    let mut bundles = Vec::new();
    for folder in theirs.chain([workspace.join("tests/cases/corner")]) {
        let files = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        bundles.extend(files.filter(|file| file.extension().is_some_and(|extension| extension == "yaml")));
    }
    bundles.sort();
    bundles
}

#[test]
fn every_bundle_comes_to_the_same_on_a_server() {
    let ground = Ground::fresh();
    let (mut same, mut refused) = (0, 0);
    for (number, bundle) in bundles().iter().enumerate() {
        let path = bundle.to_str().unwrap();
        let offline = ground.told(&format!("design compile '{path}' -o drydock-json"));
        let brought = ground.told(&format!("design import '{path}' -n b{number} --create-namespace"));
        if brought.err.contains("no design documents") {
            continue;
        }
        if brought.code != 0 {
            // What cannot be read, or is there twice, is not taken, and the reason is told.
            let before = models_or_null(&offline.out);
            let is_whole = before["ingest_status"] == "Success" && before["error"].is_null();
            assert!(!is_whole && !brought.err.is_empty(), "{path}: {brought:?}");
            refused += 1;
            continue;
        }
        let online = ground.told(&format!("design compile -n b{number} -o drydock-json"));
        let (a, b) = (models(&offline.out), models(&online.out));
        assert!(a == b, "{path}:\n{a}\n{b}");
        same += 1;
    }
    eprintln!("{same} bundles are the same on a server, {refused} were not taken");
    assert!(same > 40, "{same}");
}

fn models_or_null(text: &str) -> Value {
    serde_json::from_str::<Value>(text).unwrap_or_default()
}

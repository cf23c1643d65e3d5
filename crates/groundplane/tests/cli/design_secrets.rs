//! Secrets of a design: whatever way they come in, they are sealed, and no answer shows them.

use serde_json::{Value, json};

use crate::program::Ground;

/// A layered site with a secret of every sort. All of them begin alike.
const SITE: &str = "---
{schema: deckhand/LayeringPolicy/v1, metadata: {schema: metadata/Control/v1, name: policy}, data: {layerOrder: [global, site]}}
---
{schema: deckhand/Passphrase/v1, metadata: {name: bmc, layeringDefinition: {layer: site}, storagePolicy: cleartext}, data: canary-passphrase}
---
{schema: deckhand/Certificate/v1, metadata: {name: crt, layeringDefinition: {layer: site}}, data: canary-certificate}
---
{schema: deckhand/CertificateKey/v1, metadata: {name: key, layeringDefinition: {layer: site}}, data: canary-key}
---
{schema: deckhand/PublicKey/v1, metadata: {name: pub, layeringDefinition: {layer: site}}, data: ssh-rsa public}
---
{schema: shop/Order/v1, metadata: {name: order, storagePolicy: encrypted, layeringDefinition: {layer: site}}, data: {item: canary-encrypted}}
---
{schema: armada/Chart/v1, metadata: {name: chart, layeringDefinition: {layer: site}, substitutions: [
  {src: {schema: deckhand/Passphrase/v1, name: bmc, path: .}, dest: {path: .values.url, pattern: PASS}}]},
  data: {values: {url: 'mysql:PASS', admin: {password: canary-chart}, version: '7'}}}
---
{schema: drydock/Region/v1, metadata: {name: here, layeringDefinition: {layer: site}, substitutions: [
  {src: {schema: deckhand/PublicKey/v1, name: pub, path: .}, dest: {path: '.authorized_keys[0]'}}]},
  data: {repositories: {main: {repo_type: apt, url: 'https://me:canary-url@example.com/deb', arches: [amd64]}}}}
---
{schema: drydock/Network/v1, metadata: {name: oob, layeringDefinition: {layer: site}}, data: {cidr: 10.0.0.0/24,
  dns: {domain: example.com, servers: '10.0.0.2,10.0.0.3'}}}
---
{schema: drydock/NetworkLink/v1, metadata: {name: oob, layeringDefinition: {layer: site}}, data: {trunking: {default_network: oob}, allowed_networks: [oob]}}
---
{schema: drydock/HardwareProfile/v1, metadata: {name: hw, layeringDefinition: {layer: global}}, data: {}}
---
{schema: drydock/HostProfile/v1, metadata: {name: base, labels: {role: base}, layeringDefinition: {layer: global, abstract: true},
  substitutions: [{src: {schema: deckhand/Passphrase/v1, name: bmc, path: .}, dest: {path: .oob.credential}}]},
  data: {hardware_profile: hw, primary_network: oob, oob: {type: ipmi, network: oob, account: root},
  storage: {physical_devices: {sda: {partitions: [{name: root, size: 30g, filesystem: {mountpoint: /}}]}}}}}
---
{schema: drydock/HostProfile/v1, metadata: {name: compute, layeringDefinition: {layer: site, parentSelector: {role: base},
  actions: [{method: merge, path: .}]}}, data: {oob: {snmp_password: canary-snmp}, platform: {image: jammy}}}
---
{schema: drydock/BaremetalNode/v1, metadata: {name: n1, layeringDefinition: {layer: site}}, data: {host_profile: compute,
  addressing: [{network: oob, address: 10.0.0.5}]}}
";

const CANARIES: [&str; 7] = [
    "canary-passphrase",
    "canary-certificate",
    "canary-key",
    "canary-encrypted",
    "canary-chart",
    "canary-url",
    "canary-snmp",
];

const DESIGN: &str = "/apis/design.groundplane.dev/v1alpha1/namespaces/airsloop/designs/airsloop";

#[test]
fn no_answer_shows_a_secret_of_a_design() {
    let ground = Ground::fresh();
    ground.file("site.yaml", SITE);
    let first = [
        "design import site.yaml -n airsloop --create-namespace --items --dry-run",
        "design import site.yaml -n airsloop --create-namespace --items -m first",
        "wait --for=condition=Compiled design/airsloop -n airsloop --timeout=60s",
        "design promote -n airsloop -m one",
    ];
    let kinds = "regions,racks,networks,networklinks,hardwareprofiles,hostprofiles,baremetalnodes,bootactions,configurationitems,designs,designrevisions";
    let kinds: Vec<String> = kinds
        .split(',')
        .map(|kind| format!("get {kind}.design.groundplane.dev -n airsloop -o yaml"))
        .collect();
    let questions = [
        "effective",
        "effective?node=n1&output=text",
        "effective?profile=compute",
        "nodes?fields=oob.credential,oob.snmp_password",
        "findings?output=text",
        "compiled",
        "compiled?at=1",
        "diff?from=1",
    ];
    let questions: Vec<String> = questions.iter().map(|one| format!("get --raw '{DESIGN}/{one}'")).collect();
    let commands = [
        "design documents site.yaml -o json",
        "design documents site.yaml --kind Passphrase --field .",
        "design compile site.yaml -o json",
        "design compile site.yaml -o yaml",
        "design compile site.yaml",
        "design effective n1 site.yaml",
        "design effective compute site.yaml -o json",
        "design validate site.yaml -o json",
        "design diff site.yaml site.yaml",
        "design documents -n airsloop -o json",
        "design compile -n airsloop -o tree",
        "design effective n1 -n airsloop -o yaml",
        "design validate -n airsloop",
        "design diff -n airsloop site.yaml",
        "design rollback -n airsloop --to 1 --dry-run",
        "history hostprofile compute -n airsloop -o yaml",
        "history secret design-hostprofile-compute -n airsloop -o yaml",
        "search canary",
        "activity -o yaml",
        "get events -A -o yaml",
        "get secrets -n airsloop",
    ];
    let lines =
        first.into_iter().map(str::to_owned).chain(kinds).chain(questions).chain(commands.map(str::to_owned));
    for line in lines {
        let told = ground.told(&line);
        for canary in CANARIES {
            assert!(
                !told.out.contains(canary) && !told.err.contains(canary),
                "{line} shows {canary}: {told:?}"
            );
        }
    }
    // Public keys are public.
    let region = ground.run(&format!("get --raw '{DESIGN}/compiled'"));
    assert!(region.contains("ssh-rsa public"), "{region}");
    // Drydock's own format has them, for those who may read the Secrets.
    let whole = ground.run("design compile -n airsloop -o drydock-json");
    for canary in ["canary-passphrase", "canary-snmp", "canary-url"] {
        assert!(whole.contains(canary), "{canary}: {whole}");
    }
    let offline: Value =
        serde_json::from_str(&ground.run("design compile site.yaml -o drydock-json")).unwrap();
    let online: Value = serde_json::from_str(&whole).unwrap();
    assert_eq!(offline["nodes"], online["nodes"]);
    assert_eq!(offline["region"], online["region"]);
}

#[tokio::test]
async fn a_secret_in_plain_text_is_refused_and_not_repeated() {
    let ground = Ground::fresh();
    ground.run("create namespace airsloop");
    let of_kind = |kind: &str, spec: Value| json!({"apiVersion": "design.groundplane.dev/v1alpha1", "kind": kind, "metadata": {"name": "x", "namespace": "airsloop"}, "spec": spec});
    let refused = [
        of_kind("ConfigurationItem", json!({"schema": "deckhand/Passphrase/v1", "data": "canary"})),
        of_kind(
            "ConfigurationItem",
            json!({"schema": "shop/Order/v1", "data": {"a": [{"password": "canary"}]}}),
        ),
        of_kind(
            "ConfigurationItem",
            json!({"schema": "shop/Order/v1", "data": "-----BEGIN PRIVATE KEY-----\ncanary"}),
        ),
        of_kind("HostProfile", json!({"oob": {"credential": "canary"}})),
        of_kind("HostProfile", json!({"oob": {"libvirt_uri": "qemu+ssh://me:canary@host/system"}})),
        of_kind(
            "Region",
            json!({"repositories": {"sources": [{"name": "m", "repo_type": "apt", "url": "https://me:canary@host"}]}}),
        ),
        json!({"apiVersion": "design.groundplane.dev/v1alpha1", "kind": "DesignRevision", "metadata": {"name": "d-1", "namespace": "airsloop"},
            "spec": {"design": "d", "number": 1, "documents": [{"kind": "HostProfile", "name": "p", "spec": {"oob": {"credential": "canary"}}}]}}),
    ];
    let client = ground.server.client();
    for object in refused {
        let plural = format!("{}s", object["kind"].as_str().unwrap().to_lowercase());
        let path = format!("/apis/design.groundplane.dev/v1alpha1/namespaces/airsloop/{plural}");
        let answer = client.post(&path, &object).await.unwrap();
        assert_eq!(answer.code, 422, "{object}: {}", answer.text());
        assert!(answer.text().contains("Secret") && !answer.text().contains("canary"), "{}", answer.text());
    }
    // A reference to a Secret is what is wanted.
    let named = of_kind(
        "ConfigurationItem",
        json!({"schema": "shop/Order/v1", "data": {"item": "tea"},
        "secret_values": [{"path": "/password", "name": "s", "key": "k"}]}),
    );
    ground.run_with("apply --server-side -f -", &named.to_string());
}

#[test]
fn a_design_document_that_is_to_be_encrypted_is_refused_with_what_to_do() {
    let ground = Ground::fresh();
    ground.file("p.yaml", "{schema: drydock/HostProfile/v1, metadata: {name: p, storagePolicy: encrypted}, data: {primary_network: canary}}\n");
    let told = ground.told("design import p.yaml -n airsloop --create-namespace");
    assert!(
        told.code == 1 && told.err.contains("substitute them") && !told.err.contains("canary"),
        "{told:?}"
    );
}

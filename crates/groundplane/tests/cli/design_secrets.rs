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
fn a_design_document_that_is_to_be_encrypted_is_sealed_whole() {
    let ground = Ground::fresh();
    ground.file(
        "site.yaml",
        "---
{schema: drydock/Network/v1, metadata: {name: oob, storagePolicy: cleartext}, data: {cidr: 10.0.0.0/24}}
---
{schema: drydock/HardwareProfile/v1, metadata: {name: hw}, data: {vendor: canary-vendor}}
---
{schema: drydock/HostProfile/v1, metadata: {name: p, storagePolicy: encrypted}, data: {hardware_profile: hw, primary_network: oob, platform: {image: canary-image}}}
",
    );
    let told = ground.told("design import site.yaml -n airsloop --create-namespace");
    assert!(told.code == 0 && told.err.contains("substitute them"), "{told:?}");
    assert!(!told.err.contains("canary-image") && !told.out.contains("canary-image"), "{told:?}");
    let none = ground.run("get hostprofiles.design.groundplane.dev -n airsloop -o name");
    assert_eq!(none, "", "no object has a field of it");
    for line in [
        "get configurationitems -n airsloop -o yaml",
        "design documents -n airsloop -o json",
        "design validate -n airsloop",
        "design compile -n airsloop -o yaml",
        "design import site.yaml -n airsloop --dry-run",
        "history secret -n airsloop design-configurationitem-drydock-hostprofile-v1-p -o yaml",
        "activity -o yaml",
        "search canary",
    ] {
        let told = ground.told(line);
        assert!(!told.out.contains("canary-image") && !told.err.contains("canary-image"), "{line}: {told:?}");
    }
    // What is not marked is as it was, and whoever may read the Secret gets the whole.
    assert!(
        ground
            .run("get hardwareprofiles.design.groundplane.dev -n airsloop -o yaml")
            .contains("canary-vendor")
    );
    let findings = ground.told("design validate -n airsloop");
    assert!(
        findings.out.contains("is in a Secret") || findings.err.contains("is in a Secret"),
        "{findings:?}"
    );
    let whole = ground.run("design compile -n airsloop -o drydock-json");
    assert!(whole.contains("canary-image"), "{whole}");
    // The same documents again change nothing.
    let again = ground.run("design import site.yaml -n airsloop");
    assert!(again.contains("unchanged") && !again.contains("created"), "{again}");
}

/// Everything that somebody can ask about a design, by whoever it is. Administrators ask in the test above.
#[test]
fn no_principal_is_shown_a_secret_of_a_design() {
    let ground = Ground::fresh();
    ground.file("site.yaml", SITE);
    ground.run("design import site.yaml -n airsloop --create-namespace --items -m first");
    ground.run("wait --for=condition=Compiled design/airsloop -n airsloop --timeout=60s");
    ground.run("design promote -n airsloop -m one");
    let role = |name: &str, rules: Value| {
        let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": name}, "rules": rules});
        ground.run_with("apply -f -", &role.to_string());
        ground.run(&format!("create clusterrolebinding {name} --clusterrole={name} --user={name}"));
    };
    let all = |group: &str, verbs: &[&str]| json!({"apiGroups": [group], "resources": ["*"], "verbs": verbs});
    let read = ["get", "list", "watch"];
    role("reader", json!([all("design.groundplane.dev", &read)]));
    role(
        "editor",
        json!([
            all("design.groundplane.dev", &["*"]),
            all("groundplane.dev", &["*"]),
            all("activity.miloapis.com", &["*"])
        ]),
    );
    ground.run("create serviceaccount robot -n airsloop");
    ground.run("create rolebinding robot --clusterrole=reader --serviceaccount=airsloop:robot -n airsloop");
    let design = "/apis/design.groundplane.dev/v1alpha1/namespaces/airsloop";
    let mut lines: Vec<String> = [
        "effective",
        "effective?output=text",
        "effective?node=n1",
        "effective?profile=compute",
        "nodes?fields=oob.credential,oob.snmp_password",
        "findings",
        "compiled",
        "compiled?at=1",
        "diff?from=1",
        "history",
    ]
    .map(|one| format!("get --raw '{design}/designs/airsloop/{one}'"))
    .into();
    let plurals =
        ["hostprofiles", "regions", "baremetalnodes", "configurationitems", "designs", "designrevisions"];
    lines.extend(plurals.map(|plural| format!("get --raw '{design}/{plural}'")));
    lines.push(format!("get --raw '{design}/hostprofiles?watch=1&timeoutSeconds=1&resourceVersion=0'"));
    lines.push("get hostprofiles.design.groundplane.dev -n airsloop -o wide".to_owned());
    lines.extend(
        [
            "design compile -n airsloop -o drydock-json",
            "design compile -n airsloop -o json",
            "design documents -n airsloop -o json",
            "design effective n1 -n airsloop -o yaml",
            "design diff -n airsloop site.yaml",
            "design import site.yaml -n airsloop --items --dry-run",
            "history hostprofile compute -n airsloop -o yaml",
            "get secrets -n airsloop",
            "get secrets -n airsloop -o yaml",
            "get --raw '/api/v1/namespaces/airsloop/secrets?watch=1&timeoutSeconds=1&resourceVersion=0'",
            "get secret design-hostprofile-compute -n airsloop -o yaml",
            "search canary",
            "activity -o yaml",
            "get events -n airsloop -o yaml",
        ]
        .map(str::to_owned),
    );
    let hidden: Vec<(String, String)> = CANARIES
        .iter()
        .map(|canary| ((*canary).to_owned(), krm::base64::encode(canary.as_bytes())))
        .collect();
    for (user, least) in
        [("reader", 18), ("editor", 18), ("system:serviceaccount:airsloop:robot", 15), ("stranger", 0)]
    {
        let mut answered = 0;
        for line in &lines {
            let told = ground.told(&format!("{line} --as {user}"));
            answered += usize::from(told.code == 0);
            for (plain, encoded) in &hidden {
                let shows = |text: &str| {
                    text.contains(plain.as_str()) || text.contains(encoded.trim_end_matches('='))
                };
                assert!(!shows(&told.out) && !shows(&told.err), "{line} shows {plain} to {user}: {told:?}");
            }
        }
        assert!(answered >= least, "{user} is answered {answered} times");
    }
    // Nor does the server keep one in clear: not in its store, its history, its audit log or its log.
    let mut folders = vec![ground.server.data().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            match entry.path().is_dir() {
                true => folders.push(entry.path()),
                false => {
                    let bytes = std::fs::read(entry.path()).unwrap_or_default();
                    let found = CANARIES
                        .iter()
                        .find(|canary| bytes.windows(canary.len()).any(|window| window == canary.as_bytes()));
                    assert_eq!(found, None, "{}", entry.path().display());
                }
            }
        }
    }
    // Nor is a guess confirmed. (It is in the audit log from now on, as a part of the path.)
    let path = format!("{design}/designs/airsloop/nodes?where=oob.credential=canary-passphrase");
    let guessed: Value = serde_json::from_str(&ground.run(&format!("get --raw '{path}'"))).unwrap();
    assert_eq!(guessed["nodes"], json!([]), "{guessed}");
}

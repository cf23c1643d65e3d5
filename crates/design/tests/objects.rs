//! Documents as objects of an API: on the way there and back nothing is lost that counts.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[allow(dead_code, reason = "only the bundles are wanted here, not their comparison")]
mod bundles;

use std::collections::HashMap;

use bundles::Folder;
use design::{
    compile::{LshwInputs, compile},
    document::{Document, native, parse},
    object::{KINDS, Layers, documents_of, item_of, object_of},
    user_kinds::UserKinds,
};
use serde_json::{Value, json};

/// Writes documents as objects, as a server keeps them, and reads them again.
fn there_and_back(documents: &[Document]) -> Vec<Document> {
    let mut secrets = HashMap::new();
    let mut objects: Vec<Value> = Vec::new();
    for document in documents.iter().filter(|document| native::is_of_a_design(document)) {
        let written = object_of(document, Layers::Rendered).unwrap();
        for one in written.secrets {
            assert!(written.object["spec"]["oob"].get(&one.key).is_none());
            secrets.insert((one.secret, one.key), one.value);
        }
        // A server keeps bytes, in its own order of keys.
        objects.push(serde_json::from_str(&written.object.to_string()).unwrap());
    }
    objects.reverse();
    documents_of(&objects, &|secret, key| secrets.get(&(secret.to_owned(), key.to_owned())).cloned())
}

/// What a design comes to, but for the places: files have lines, objects have none.
fn told(documents: &[Document]) -> Value {
    let mut printed = compile(documents, &LshwInputs::new()).validated().to_drydock_json();
    for error in printed["errors"].as_array_mut().into_iter().flatten() {
        error["message"] = Value::Null;
    }
    if !printed["error"].is_null() {
        printed["error"]["message"] = Value::Null;
    }
    printed
}

/// The order in which a server has documents: a message about several names the first of them.
fn sorted(documents: &[Document]) -> Vec<Document> {
    let rank = |document: &Document| KINDS.iter().position(|(kind, _)| document.id.kind() == Some(kind));
    let mut documents = documents.to_vec();
    documents.sort_by(|a, b| (rank(a), a.name()).cmp(&(rank(b), b.name())));
    documents
}

fn compare(folder: &Folder) {
    let mut count = 0;
    for (name, bytes) in folder.inputs() {
        let Ok(loaded) = parse(&name, &bytes) else { continue };
        let documents = loaded.documents;
        let before = compile(&documents, &LshwInputs::new());
        let names: std::collections::HashSet<_> =
            documents.iter().map(|one| (one.id.kind(), one.name())).collect();
        // A server takes no document that cannot be read, and no two of one name.
        if !before.design.is_whole() || names.len() < documents.len() {
            continue;
        }
        let back = there_and_back(&documents);
        let (before, after) = (told(&sorted(&documents)), told(&back));
        assert!(before == after, "{name}:\n{before}\n{after}");
        count += 1;
    }
    assert!(count > 0);
    eprintln!("{count} bundles");
}

#[test]
fn corner_cases_come_to_the_same_as_objects() {
    compare(&Folder::corner());
}

#[test]
fn drydocks_bundles_and_the_sites_of_treasuremap_come_to_the_same_as_objects() {
    let (Some(design), Some(sites)) = (Folder::shared("design"), Folder::treasuremap()) else { return };
    compare(&design);
    compare(&sites);
}

const NODE: &str = "apiVersion: design.groundplane.dev/v1alpha1
kind: BaremetalNode
metadata: {name: n1}
spec:
  hardware_profile: hw
  addressing: [{network: oob, address: 10.0.0.5}]
  oob: {type: ipmi, account: root, credential: hush, '!token': ''}
  platform: {kernel_params: {z: 1, a: true}}
  interfaces: {z: {device_link: gp}, '!a': {}, b: {networks: [x]}}
  storage: {physical_devices: {sdb: {labels: {a: b}}, sda: {volume_group: v}}}
";

#[test]
fn members_whose_order_counts_are_lists_and_secrets_stand_apart() {
    let documents = parse("n.yaml", NODE.as_bytes()).unwrap().documents;
    let written = object_of(&documents[0], Layers::Rendered).unwrap();
    let spec = &written.object["spec"];
    assert_eq!(
        spec["platform"]["kernel_params"],
        json!([{"name": "z", "value": "1"}, {"name": "a", "value": "True"}])
    );
    let names: Vec<_> =
        spec["interfaces"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["z", "!a", "b"]);
    assert_eq!(spec["oob"], json!({"type": "ipmi", "account": "root", "!token": ""}));
    assert_eq!(
        spec["oob_secrets"],
        json!({"credential": {"name": "design-baremetalnode-n1", "key": "credential"}})
    );
    assert_eq!(written.secrets[0].value, "hush");
}

#[test]
fn what_a_server_prints_can_be_read_from_a_file() {
    let documents = parse("n.yaml", NODE.as_bytes()).unwrap().documents;
    let printed = object_of(&documents[0], Layers::Rendered).unwrap().object.to_string();
    let mut again = parse("printed.json", printed.as_bytes()).unwrap().documents.remove(0);
    let oob = again.data.get("oob").unwrap().get("credential").unwrap();
    assert_eq!(oob.value.as_str(), Some("(unavailable)"));
    let same =
        |documents: &[Document]| compile(documents, &LshwInputs::new()).design.nodes[0].settings.clone();
    let mut expected = same(&documents);
    again.envelope = documents[0].envelope;
    let mut found = same(&[again]);
    expected.oob_parameters.clear();
    found.oob_parameters.clear();
    assert_eq!(expected, found);
}

#[test]
fn every_value_of_an_object_knows_its_source() {
    let mut object =
        object_of(&parse("n.yaml", NODE.as_bytes()).unwrap().documents[0], Layers::Rendered).unwrap().object;
    object["metadata"]["managedFields"] = json!([
        {"manager": "ipam", "operation": "Apply", "fieldsV1": {"f:spec": {"f:addressing": {}}}},
        {"manager": "site", "operation": "Apply", "fieldsV1": {"f:spec": {"f:hardware_profile": {}, "f:interfaces": {
            "k:{\"name\":\"z\"}": {".": {}, "f:name": {}, "f:device_link": {}}}}}},
        {"manager": "watcher", "operation": "Update", "subresource": "status", "fieldsV1": {"f:status": {}}},
    ]);
    let document = design::object::document_of(&object, &|_, _| None).unwrap();
    let at =
        |path: &[&str]| path.iter().fold(&document.data, |node, key| node.get(key).unwrap()).at.to_string();
    assert_eq!(at(&["hardware_profile"]), "source site");
    assert_eq!(at(&["addressing"]), "source ipam");
    assert_eq!(at(&["interfaces", "z", "device_link"]), "source site");
    assert_eq!(at(&["interfaces", "b"]), "the server");
}

#[test]
fn items_of_other_kinds_are_kept_whole_and_secret_ones_apart() {
    let text = "---\nschema: shop/Order/v1\nmetadata: {name: A/1, storagePolicy: encrypted}\ndata: {lines: [{item: tea}], '5': x}\n\
        ---\nschema: shop/Price/v1\nmetadata: {name: tea, labels: {of: shop, 'not one': x}}\ndata: 5\n";
    let documents = parse("items.yaml", text.as_bytes()).unwrap().documents;
    let written: Vec<_> =
        documents.iter().map(|one| item_of(one, Layers::Rendered, &UserKinds::of(&documents))).collect();
    assert!(!written[0].object.to_string().contains("tea"));
    assert_eq!(written[1].object["metadata"]["labels"], json!({"of": "shop"}));
    let objects: Vec<Value> = written.iter().map(|one| one.object.clone()).collect();
    let kept = written[0].secrets[0].clone();
    let back = documents_of(&objects, &|secret, key| {
        (secret == kept.secret && key == kept.key).then(|| kept.value.clone())
    });
    for (before, after) in documents.iter().zip(&back) {
        assert_eq!((&before.id, &before.data), (&after.id, &after.data));
    }
}

/// Every sort of secret, each with a value of its own.
const SECRETS: &str = "
---
{schema: deckhand/Passphrase/v1, metadata: {name: pw, storagePolicy: cleartext}, data: canary-1}
---
{schema: deckhand/Certificate/v1, metadata: {name: crt}, data: canary-2}
---
{schema: deckhand/CertificateAuthorityKey/v1, metadata: {name: ca}, data: canary-3}
---
{schema: shop/Order/v1, metadata: {name: o, storagePolicy: encrypted}, data: {item: canary-4}}
---
{schema: shop/Order/v1, metadata: {name: p}, data: {password: canary-5, tokens: [canary-6], pin: canary-7,
  url: 'https://me:canary-8@example.com', lines: [{key: \"-----BEGIN EC PRIVATE KEY-----\\ncanary-9\"}], item: tea}}
---
{schema: deckhand/DataSchema/v1, metadata: {name: shop/Order/v1}, data: {properties: {pin: {type: string, writeOnly: true}}}}
---
{schema: pegleg/PeglegManagedDocument/v1, metadata: {name: wrapped}, data: {managedDocument: {
  schema: deckhand/PrivateKey/v1, metadata: {name: inner}, data: canary-10}}}
---
{schema: drydock/Region/v1, metadata: {name: r}, data: {repositories: {main: {repo_type: apt, url: 'https://me:canary-11@example.com'}}}}
---
{schema: drydock/HostProfile/v1, metadata: {name: h}, data: {oob: {type: libvirt, credential: canary-12,
  libvirt_uri: 'qemu+ssh://me:canary-13@host/system'}}}
";

#[test]
fn every_sort_of_secret_is_kept_apart_and_comes_back() {
    let documents = parse("s.yaml", SECRETS.as_bytes()).unwrap().documents;
    let kinds = UserKinds::of(&documents);
    let (mut objects, mut secrets) = (Vec::new(), HashMap::new());
    for document in &documents {
        let written = match native::is_of_a_design(document) {
            true => object_of(document, Layers::Kept).unwrap(),
            false => item_of(document, Layers::Kept, &kinds),
        };
        let shown = written.from_source("site").to_string();
        assert!(!shown.contains("canary"), "{shown}");
        secrets.extend(written.secrets.into_iter().map(|one| ((one.secret, one.key), one.value)));
        objects.push(written.object);
    }
    let all: String = secrets.values().cloned().collect::<Vec<_>>().join("\n");
    for number in 1..=13 {
        assert!(all.contains(&format!("canary-{number}")), "canary-{number} is lost");
    }
    let back = documents_of(&objects, &|name, key| secrets.get(&(name.to_owned(), key.to_owned())).cloned());
    for after in &back {
        let before = documents.iter().find(|one| one.id == after.id).unwrap();
        assert_eq!(before.data, after.data, "{}", after.id);
    }
    // Whoever may not read the Secrets compiles without them, and what stands there instead is hidden as well.
    let blind = documents_of(&objects, &|_, _| None);
    assert!(!format!("{blind:?}").contains("canary"));
}

#[test]
fn a_secret_is_hidden_wherever_it_was_copied_to() {
    let text = "
---
{schema: deckhand/LayeringPolicy/v1, metadata: {schema: metadata/Control/v1, name: p}, data: {layerOrder: [site]}}
---
{schema: deckhand/Passphrase/v1, metadata: {name: pw}, data: canary}
---
schema: drydock/HostProfile/v1
metadata:
  name: h
  substitutions:
  - {src: {schema: deckhand/Passphrase/v1, name: pw, path: .}, dest: {path: .platform.kernel}}
  - {src: {schema: deckhand/Passphrase/v1, name: pw, path: .}, dest: {path: .platform.image, pattern: HERE}}
data: {hardware_profile: hw, platform: {image: a-HERE-b}}
---
{schema: drydock/HardwareProfile/v1, metadata: {name: hw}, data: {}}
---
{schema: drydock/BaremetalNode/v1, metadata: {name: n}, data: {host_profile: h, addressing: [{network: a, address: dhcp}]}}
";
    let documents = design::deckhand::render(parse("s.yaml", text.as_bytes()).unwrap().documents).unwrap();
    let compiled = compile(&documents, &LshwInputs::new());
    let node = compiled.site().unwrap().node("n").unwrap();
    assert_eq!(node.effective.settings.kernel.as_ref().unwrap().value, "canary");
    let shown = format!("{:?}{}", node.explain(), design::provenance::node_json(node));
    assert!(shown.contains("(hidden)") && !shown.contains("canary"), "{shown}");
}

#[test]
fn layers_and_lines_survive_the_way_through_objects() {
    let text = "---
schema: deckhand/LayeringPolicy/v1
metadata: {schema: metadata/Control/v1, name: p}
data: {layerOrder: [global, site]}
---
schema: drydock/HostProfile/v1
metadata:
  name: base
  labels: {role: base}
  layeringDefinition: {layer: global, abstract: true}
data:
  hardware_profile: hw
  platform:
    image: jammy
---
schema: drydock/HostProfile/v1
metadata:
  name: compute
  layeringDefinition: {layer: site, parentSelector: {role: base}, actions: [{method: merge, path: .}]}
data:
  platform:
    kernel: ga
---
{schema: drydock/HardwareProfile/v1, metadata: {name: hw}, data: {}}
---
{schema: drydock/BaremetalNode/v1, metadata: {name: n}, data: {host_profile: compute, addressing: [{network: a, address: dhcp}]}}
";
    let written = parse("site.yaml", text.as_bytes()).unwrap().documents;
    let told = |documents: &[Document]| {
        let compiled = compile(documents, &LshwInputs::new());
        design::provenance::node_json(compiled.site().unwrap().node("n").unwrap())
    };
    let offline = told(&design::deckhand::render(written.clone()).unwrap());
    let objects: Vec<Value> = written
        .iter()
        .filter_map(|one| object_of(one, Layers::Kept))
        .map(|one| one.from_source("repo"))
        .collect();
    let layers = ["global".to_owned(), "site".to_owned()];
    let composed = design::object::compose(documents_of(&objects, &|_, _| None), &layers).unwrap();
    let mut online = told(&composed.documents);
    for value in online["values"].as_array_mut().unwrap() {
        if !value["by"].is_null() {
            let source = value["by"].as_object_mut().unwrap().remove("source");
            assert_eq!(source, Some(json!("repo")), "{value}");
        }
    }
    assert_eq!(offline, online);
    let image =
        offline["values"].as_array().unwrap().iter().find(|one| one["path"] == "platform.image").unwrap();
    assert_eq!(
        image["by"],
        json!({"document": "HostProfile/compute", "writtenIn": "HostProfile/base", "layer": "global", "file": "site.yaml", "line": 14})
    );
}

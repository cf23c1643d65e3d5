//! Repositories of Airship sites: which documents belong to a site.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{fs, path::Path};

use design::{
    deckhand::{missing_policy, site_without_policy},
    document::{airship::Repository, load, parse},
};

fn put(root: &Path, file: &str, text: &str) {
    let path = root.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn document(name: &str) -> String {
    format!("{{schema: a/Thing/v1, metadata: {{name: {name}}}, data: 1}}\n")
}

fn definition(data: &str) -> String {
    format!("{{schema: pegleg/SiteDefinition/v1, metadata: {{name: s}}, data: {{{data}}}}}\n")
}

/// The names of the documents of a site, without its definition.
fn names(root: &Path, site: Option<&str>) -> Vec<String> {
    let folders = Repository::at(root).unwrap().folders_of(site, &[]).unwrap().folders;
    let documents = load(folders).unwrap().documents;
    documents.iter().filter(|one| one.schema() == "a/Thing/v1").map(|one| one.name().to_owned()).collect()
}

#[test]
fn what_is_common_belongs_to_every_revision() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    for path in
        ["global/common", "global/v1.0", "global/v2.0", "type/lab/common", "type/lab/v1.0", "type/lab/v2.0"]
    {
        put(root, &format!("{path}/x.yaml"), &document(&path.replace('/', "-")));
    }
    put(root, "site/s/x.yaml", &document("own"));
    put(root, "site/other/x.yaml", &document("other"));
    put(root, "site/s/site-definition.yaml", &definition("site_type: lab, revision: v1.0"));
    assert_eq!(
        names(root, Some("s")),
        ["global-common", "global-v1.0", "type-lab-common", "type-lab-v1.0", "own"]
    );
    put(root, "site/s/site-definition.yaml", &definition("site_type: lab"));
    assert_eq!(names(root, Some("s")).len(), 7, "without a revision all of the library");
}

#[test]
fn a_site_in_a_repository_without_global_is_that_site() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    for site in ["one", "two"] {
        put(root, &format!("site/{site}/x.yaml"), &document(site));
    }
    assert!(Repository::at(root).is_none() && Repository::having(root, "three").is_none());
    let folders = Repository::having(root, "one").unwrap().folders_of(Some("one"), &[]).unwrap().folders;
    assert_eq!(folders, [root.join("site/one")]);
    put(root, "site/one/site-definition.yaml", &definition("site_type: lab"));
    assert_eq!(names(root, Some("one")), ["one"]);
    let refused = Repository::at(root).unwrap().folders_of(None, &[]).unwrap_err().to_string();
    assert!(refused.contains("several sites") && refused.contains("one, two"), "{refused}");
}

#[test]
fn other_repositories_of_a_site_are_followed() {
    let folder = tempfile::tempdir().unwrap();
    let (root, global) = (folder.path().join("site-manifests"), folder.path().join("global-manifests"));
    put(&global, "global/x.yaml", &document("shared"));
    put(&global, "type/lab/x.yaml", &document("of-type"));
    put(&global, "site/s/x.yaml", &document("shared-site"));
    put(&global, ".git/HEAD", "ref: refs/heads/main\n");
    put(&global, ".git/x.yaml", &document("hidden"));
    put(&root, "site/s/x.yaml", &document("own"));
    let urls = [
        "ssh://REPO_USERNAME@git.example.com:29418/global-manifests.git".to_owned(),
        "https://git.example.com/airship/global-manifests.git@v1".to_owned(),
        global.to_str().unwrap().to_owned(),
        "../global-manifests".to_owned(),
    ];
    for url in urls {
        let data = format!(
            "site_type: lab, repositories: {{global: {{url: '{url}', revision: v1}}, site: {{url: x, revision: y}}}}"
        );
        put(&root, "site/s/site-definition.yaml", &definition(&data));
        assert_eq!(names(&root, None), ["shared", "of-type", "shared-site", "own"], "{url}");
        let site = Repository::at(&root).unwrap().folders_of(None, &[]).unwrap();
        assert!(site.repositories.len() == 1 && site.repositories[0].is_elsewhere(), "{site:?}");
    }
    let data = "repositories: {secrets: {url: 'https://me:hush@git.example.com/none.git', revision: v1}}";
    put(&root, "site/s/site-definition.yaml", &definition(data));
    let refused = Repository::at(&root).unwrap().folders_of(None, &[]).unwrap_err().to_string();
    assert!(refused.contains("--repository secrets=DIR") && !refused.contains("hush"), "{refused}");
    let given = [("secrets".to_owned(), global.clone())];
    let site = Repository::at(&root).unwrap().folders_of(None, &given).unwrap();
    assert_eq!(site.folders, [global.join("global"), global.join("site/s"), root.join("site/s")]);
}

const CHILD: &str = "
---
schema: drydock/HostProfile/v1
metadata: {name: child, layeringDefinition: {layer: site, parentSelector: {role: base}, actions: [{method: merge, path: .}]}}
data: {}
";
const PARENT: &str = "
---
schema: drydock/HostProfile/v1
metadata: {name: base, labels: {role: base}, layeringDefinition: {layer: global}}
data: {primary_network: oob}
";

fn refused(text: &str) -> Option<String> {
    missing_policy(&parse("s.yaml", text.as_bytes()).unwrap().documents).map(|problem| problem.to_string())
}

#[test]
fn layers_without_a_policy_are_an_error_that_says_what_to_add() {
    let told = refused(&[PARENT, CHILD].concat()).unwrap();
    assert!(told.contains("inherits from drydock/HostProfile/v1 base"), "{told}");
    assert!(
        told.contains("add the one of the repository") && told.contains("layerOrder: [global, site]"),
        "{told}"
    );
    let told = refused(&PARENT.replace("layer: global", "layer: global, abstract: true")).unwrap();
    assert!(told.contains("is abstract"), "{told}");
    let filled = "
---
{schema: deckhand/Passphrase/v1, metadata: {name: pw}, data: hush}
---
schema: drydock/HostProfile/v1
metadata: {name: p, substitutions: [{src: {schema: deckhand/Passphrase/v1, name: pw, path: .}, dest: {path: .oob.credential}}]}
data: {oob: {type: ipmi}}
";
    let told = refused(filled).unwrap();
    assert!(told.contains("takes values from deckhand/Passphrase/v1 pw") && !told.contains("hush"), "{told}");
    // What was rendered keeps its metadata, and needs no policy any more.
    assert_eq!(refused(CHILD), None);
    assert_eq!(refused(&filled.replace("{type: ipmi}", "{type: ipmi, credential: hush}")), None);
    // A site of a repository was never rendered.
    let documents = parse("s.yaml", CHILD.as_bytes()).unwrap().documents;
    assert!(site_without_policy(&documents).is_some());
}

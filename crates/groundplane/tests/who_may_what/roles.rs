//! The roles that ship: role × kind × verbs, as docs/roles.md has them. A kind without a ProtectedResource fails here.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use serde_json::Value;
use testbed::server::{Client, Server};

use super::GROUNDPLANE;
use super::iam::{IAM, TENANCY, made};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/roles.md");
const HEAD: &str = "# Built-in roles

Generated from the kinds that the server serves, by
`UPDATE_PAGES=1 cargo test -p groundplane --test who_may_what roles::`. All roles are in the namespace
`milo-system` and are restored at every start. [Security](security.md) describes how to grant them.
";

async fn items(client: &Client, path: &str) -> Vec<Value> {
    client.get(path).await.unwrap().json()["items"].as_array().unwrap().clone()
}

fn text<'a>(object: &'a Value, path: &str) -> &'a str {
    object.pointer(path).and_then(Value::as_str).unwrap_or_default()
}

#[tokio::test]
async fn the_page_of_roles_says_what_they_grant() {
    let server = Server::fresh(GROUNDPLANE, &["--controllers", "none"]).unwrap();
    let roles = items(&server.client(), &format!("{IAM}/namespaces/milo-system/roles")).await;
    let mut page = HEAD.to_owned();
    for role in &roles {
        let name = text(role, "/metadata/name");
        writeln!(
            page,
            "\n## {name}\n\n{}",
            role["metadata"]["annotations"]["kubernetes.io/description"].as_str().unwrap()
        )
        .unwrap();
        let inherited: Vec<&str> = role["spec"]["inheritedRoles"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|one| text(one, "/name"))
            .collect();
        if !inherited.is_empty() {
            writeln!(
                page,
                "\nIncludes {}.",
                inherited.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
            )
            .unwrap();
        }
        let mut by_resource: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
        for permission in
            role["spec"]["includedPermissions"].as_array().into_iter().flatten().filter_map(Value::as_str)
        {
            let (group, rest) = permission.split_once('/').unwrap();
            let (resource, verb) = rest.split_once('.').unwrap();
            by_resource.entry(format!("{group}/{resource}")).or_default().insert(verb);
        }
        if by_resource.is_empty() {
            continue;
        }
        page.push_str("\n| resource | verbs |\n| --- | --- |\n");
        for (resource, verbs) in by_resource {
            writeln!(page, "| `{resource}` | {} |", verbs.into_iter().collect::<Vec<_>>().join(", "))
                .unwrap();
        }
    }
    if std::env::var_os("UPDATE_PAGES").is_some() {
        std::fs::write(PAGE, &page).unwrap();
    }
    let kept = std::fs::read_to_string(PAGE).unwrap_or_default();
    let differs = kept.lines().zip(page.lines()).find(|(kept, is)| kept != is);
    assert!(
        kept == page,
        "docs/roles.md is out of date: run this test with UPDATE_PAGES=1 and review the changes ({differs:?})"
    );
}

#[tokio::test]
async fn every_kind_that_is_served_has_its_protected_resource_and_every_group_its_roles() {
    let server = Server::fresh(GROUNDPLANE, &["--controllers", "none"]).unwrap();
    let client = server.client();
    made(&client, &format!("{TENANCY}/projects"), &serde_json::json!({"metadata": {"name": "p"}})).await;
    let registered = items(&client, &format!("{IAM}/protectedresources")).await;
    let roles = items(&client, &format!("{IAM}/namespaces/milo-system/roles")).await;
    for base in [String::new(), format!("{TENANCY}/projects/p/control-plane")] {
        let mut lists = vec![("core.miloapis.com".to_owned(), format!("{base}/api/v1"))];
        for group in client.get(&format!("{base}/apis")).await.unwrap().json()["groups"].as_array().unwrap() {
            let version = text(group, "/preferredVersion/groupVersion");
            lists.push((text(group, "/name").to_owned(), format!("{base}/apis/{version}")));
        }
        for (service, list) in lists {
            for kind in ["viewer", "editor", "admin", "operator"] {
                let name = format!("{service}-{kind}");
                assert!(
                    roles.iter().any(|role| text(role, "/metadata/name") == name),
                    "there is no role {name}"
                );
            }
            for resource in client.get(&list).await.unwrap().json()["resources"].as_array().unwrap() {
                let (plural, part) =
                    text(resource, "/name").split_once('/').unwrap_or((text(resource, "/name"), ""));
                let found = registered.iter().find(|one| {
                    text(one, "/spec/serviceRef/name") == service && text(one, "/spec/plural") == plural
                });
                let found = found.unwrap_or_else(|| panic!("{service}/{plural} has no ProtectedResource"));
                let subresource = || {
                    let all = found["spec"]["subresources"].as_array().into_iter().flatten();
                    all.into_iter().find(|one| one["name"] == part).map(|one| one["permissions"].clone())
                };
                let permissions = match part {
                    "" => found["spec"]["permissions"].clone(),
                    _ => {
                        subresource().unwrap_or_else(|| panic!("{service}/{plural}/{part} is not registered"))
                    }
                };
                for verb in
                    resource["verbs"].as_array().unwrap().iter().filter(|verb| *verb != "deletecollection")
                {
                    assert!(
                        permissions.as_array().unwrap().contains(verb),
                        "{service}/{plural}/{part}.{verb}"
                    );
                }
            }
        }
    }
}

//! Stories of grants, on the index alone.

use std::collections::BTreeMap;

use apiserver::Identity;
use krm::Object;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::index::Index;
use super::permission::Permission;
use super::roles::{At, Roles, SYSTEM_NAMESPACE};
use super::selector::ResourceLocation;

fn object(value: Value) -> Object {
    Object::from_value(value).unwrap_or_default()
}

fn role(index: &mut Index, name: &str, permissions: &[&str], inherits: &[&str]) {
    let inherits: Vec<Value> = inherits.iter().map(|name| json!({ "name": name })).collect();
    let role = json!({ "spec": { "includedPermissions": permissions, "inheritedRoles": inherits } });
    index.take_in("roles", &At::new("", SYSTEM_NAMESPACE, name), Some(&object(role)), 0);
}

fn user(index: &mut Index, name: &str) {
    let spec = json!({ "email": format!("{name}@example.com") });
    let user = json!({ "metadata": { "name": name, "uid": format!("uid-{name}") }, "spec": spec });
    index.take_in("users", &At::new("", "", name), Some(&object(user)), 0);
}

fn bind(index: &mut Index, name: &str, role: &str, user: &str, selector: Value) {
    let uid = selector.pointer("/resourceRef/uid").and_then(Value::as_str).map(str::to_owned);
    let binding = json!({ "spec": {
        "roleRef": { "name": role },
        "subjects": [{ "kind": "User", "name": user, "uid": format!("uid-{user}") }],
        "resourceSelector": selector,
    } });
    index.bind(&At::new("", SYSTEM_NAMESPACE, name), &object(binding), uid.as_deref(), 0);
}

fn may(index: &Index, user: &str, permission: &str, place: &ResourceLocation<'_>) -> bool {
    let who = Identity::new(user, &["system:authenticated"]);
    let permission = Permission::parse(permission).unwrap();
    index.grant(place.plane, &who, &permission, place).is_some()
}

const RACK: ResourceLocation<'static> =
    ResourceLocation { plane: "", group: "inventory.miloapis.com", kind: "Rack", namespace: "", name: "r1" };

fn tenants(index: &mut Index) {
    let project =
        |owner: &str| object(json!({ "spec": { "ownerRef": { "kind": "Organization", "name": owner } } }));
    index.directory.project("web", Some(&project("acme")));
    index.directory.project("shop", Some(&project("beta")));
}

#[test]
fn a_grant_on_an_organization_reaches_its_projects_and_what_is_in_them() {
    let mut index = Index::default();
    tenants(&mut index);
    user(&mut index, "ann");
    role(
        &mut index,
        "viewer",
        &["core.miloapis.com/configmaps.get", "resourcemanager.miloapis.com/projects.get"],
        &[],
    );
    let acme = json!({ "resourceRef": {
        "apiGroup": "resourcemanager.miloapis.com", "kind": "Organization", "name": "acme", "uid": "u1",
    } });
    bind(&mut index, "b", "viewer", "ann", acme);
    let map =
        |plane| ResourceLocation { plane, group: "", kind: "ConfigMap", namespace: "default", name: "m" };
    assert!(may(&index, "ann", "core.miloapis.com/configmaps.get", &map("web")));
    assert!(!may(&index, "ann", "core.miloapis.com/configmaps.get", &map("shop")), "another organization's");
    assert!(!may(&index, "ann", "core.miloapis.com/configmaps.get", &map("")), "the root is nobody's");
    assert!(!may(&index, "ann", "core.miloapis.com/configmaps.delete", &map("web")));
    let project = |name| ResourceLocation {
        group: "resourcemanager.miloapis.com",
        kind: "Project",
        name,
        ..ResourceLocation::default()
    };
    assert!(may(&index, "ann", "resourcemanager.miloapis.com/projects.get", &project("web")));
    assert!(!may(&index, "ann", "resourcemanager.miloapis.com/projects.get", &project("shop")));
    // The project moves to another owner, and takes its content along.
    let moved = object(json!({ "spec": { "ownerRef": { "kind": "Organization", "name": "beta" } } }));
    index.directory.project("web", Some(&moved));
    assert!(!may(&index, "ann", "core.miloapis.com/configmaps.get", &map("web")));
}

#[test]
fn a_role_grants_what_those_grant_that_it_inherits_from_as_they_come_and_go() {
    let mut index = Index::default();
    user(&mut index, "ann");
    bind(
        &mut index,
        "b",
        "admin",
        "ann",
        json!({ "resourceKind": { "apiGroup": RACK.group, "kind": "Rack" } }),
    );
    let get = "inventory.miloapis.com/racks.get";
    role(&mut index, "admin", &[], &["editor"]);
    assert!(!may(&index, "ann", get, &RACK));
    role(&mut index, "editor", &[], &["viewer"]);
    role(&mut index, "viewer", &[get], &["admin"]);
    assert!(may(&index, "ann", get, &RACK), "through two others, in a circle");
    index.take_in("roles", &At::new("", SYSTEM_NAMESPACE, "editor"), None, 0);
    assert!(!may(&index, "ann", get, &RACK), "the chain is broken");
    role(&mut index, "editor", &["inventory.miloapis.com/*.get"], &[]);
    assert!(may(&index, "ann", get, &RACK), "by a pattern");
}

#[test]
fn whoever_is_inactive_or_another_has_nothing() {
    let mut index = Index::default();
    user(&mut index, "ann");
    role(&mut index, "viewer", &["inventory.miloapis.com/racks.get"], &[]);
    bind(
        &mut index,
        "b",
        "viewer",
        "ann",
        json!({ "resourceKind": { "apiGroup": RACK.group, "kind": "Rack" } }),
    );
    let get = "inventory.miloapis.com/racks.get";
    assert!(may(&index, "ann", get, &RACK) && may(&index, "Ann@Example.com", get, &RACK));
    assert!(!may(&index, "ben", get, &RACK));
    let inactive = json!({
        "metadata": { "uid": "uid-ann" }, "spec": { "email": "ann@example.com" }, "status": { "state": "Inactive" },
    });
    index.take_in("users", &At::new("", "", "ann"), Some(&object(inactive)), 0);
    assert!(!may(&index, "ann", get, &RACK));
}

#[test]
fn a_binding_on_an_object_counts_while_that_object_lives() {
    let mut index = Index::default();
    user(&mut index, "ann");
    role(&mut index, "viewer", &["inventory.miloapis.com/racks.get"], &[]);
    let one =
        json!({ "resourceRef": { "apiGroup": RACK.group, "kind": "Rack", "name": "r1", "uid": "first" } });
    bind(&mut index, "b", "viewer", "ann", one);
    let get = "inventory.miloapis.com/racks.get";
    assert!(may(&index, "ann", get, &RACK));
    assert!(!may(&index, "ann", get, &ResourceLocation { name: "r2", ..RACK }));
    assert!(!may(&index, "ann", get, &ResourceLocation { name: "", ..RACK }), "nor all of them");
    let selector = super::selector::object(&RACK);
    index.target(&selector, None);
    assert!(!may(&index, "ann", get, &RACK));
    index.target(&selector, Some("second"));
    assert!(!may(&index, "ann", get, &RACK), "another of the same name");
    index.target(&selector, Some("first"));
    assert!(may(&index, "ann", get, &RACK));
}

/// What a role grants, worked out the plain way.
fn plainly(roles: &BTreeMap<usize, (Vec<usize>, Vec<usize>)>, start: usize) -> Vec<usize> {
    let (mut seen, mut open, mut found) = (Vec::new(), vec![start], Vec::new());
    while let Some(next) = open.pop() {
        if seen.contains(&next) {
            continue;
        }
        seen.push(next);
        if let Some((permissions, inherits)) = roles.get(&next) {
            found.extend(permissions);
            open.extend(inherits);
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// What somebody may be bound on.
fn selectors() -> Vec<Value> {
    let tenancy = "resourcemanager.miloapis.com";
    let one = |group: &str, kind: &str, namespace: &str, name: &str| json!({ "resourceRef": { "apiGroup": group, "kind": kind, "namespace": namespace, "name": name, "uid": "u" } });
    let every = |group: &str, kind: &str| json!({ "resourceKind": { "apiGroup": group, "kind": kind } });
    vec![
        one(RACK.group, "Rack", "", "r1"),
        one(RACK.group, "Rack", "", "r2"),
        one("", "ConfigMap", "default", "m1"),
        one("", "ConfigMap", "organization-acme", "m2"),
        one(tenancy, "Project", "", "web"),
        one(tenancy, "Organization", "", "acme"),
        every(RACK.group, "Rack"),
        every("", "ConfigMap"),
        every(tenancy, "Project"),
        every(tenancy, "Organization"),
    ]
}

/// A kind in a plane and a namespace, the permission to read it, and names in it.
type Collection = (ResourceLocation<'static>, &'static str, [&'static str; 3]);

fn collections() -> Vec<Collection> {
    let map = ResourceLocation { group: "", kind: "ConfigMap", ..ResourceLocation::default() };
    let project = ResourceLocation {
        group: "resourcemanager.miloapis.com",
        kind: "Project",
        ..ResourceLocation::default()
    };
    let mut all = vec![
        (RACK, "inventory.miloapis.com/racks.get", ["r1", "r2", "r3"]),
        (ResourceLocation { plane: "web", ..RACK }, "inventory.miloapis.com/racks.get", ["r1", "r2", "r3"]),
        (project, "resourcemanager.miloapis.com/projects.get", ["web", "shop", "none"]),
        (
            ResourceLocation { group: "", kind: "Namespace", ..ResourceLocation::default() },
            "core.miloapis.com/namespaces.get",
            ["organization-acme", "organization-beta", "default"],
        ),
    ];
    for (plane, namespace) in [
        ("", "default"),
        ("", "organization-acme"),
        ("", "organization-beta"),
        ("web", "default"),
        ("shop", "default"),
    ] {
        let of = ResourceLocation { plane, namespace, ..map };
        all.push((of, "core.miloapis.com/configmaps.get", ["m1", "m2", "m3"]));
    }
    all
}

proptest! {
    #[test]
    fn what_is_granted_on_a_collection_is_what_is_granted_on_each_object_of_it(
        bound in prop::collection::vec((0_usize..10, any::<bool>()), 0..6)
    ) {
        let mut index = Index::default();
        tenants(&mut index);
        user(&mut index, "ann");
        let reads = ["inventory.miloapis.com/racks.get", "core.miloapis.com/configmaps.get",
            "resourcemanager.miloapis.com/projects.get", "core.miloapis.com/namespaces.get"];
        role(&mut index, "reader", &reads, &[]);
        role(&mut index, "writer", &["inventory.miloapis.com/racks.create"], &[]);
        for (number, (selector, is_reader)) in bound.into_iter().enumerate() {
            let role = if is_reader { "reader" } else { "writer" };
            bind(&mut index, &format!("b{number}"), role, "ann", selectors()[selector].clone());
        }
        let who = Identity::new("ann", &["system:authenticated"]);
        for (of, text, names) in collections() {
            let permission = Permission::parse(text).unwrap();
            let of = ResourceLocation { name: "", ..of };
            let is_whole = index.grant(of.plane, &who, &permission, &of).is_some();
            let some = index.some_of(&who, &permission, &of);
            for name in names {
                let of_one = is_whole || some.has(of.namespace, name);
                prop_assert_eq!(of_one, may(&index, "ann", text, &ResourceLocation { name, ..of }), "{:?} {}", of, name);
            }
        }
        // The same of a list over all namespaces.
        let text = "core.miloapis.com/configmaps.get";
        let permission = Permission::parse(text).unwrap();
        let everywhere = ResourceLocation { group: "", kind: "ConfigMap", ..ResourceLocation::default() };
        let is_whole = index.grant("", &who, &permission, &everywhere).is_some();
        let some = index.some_of(&who, &permission, &everywhere);
        for namespace in ["default", "organization-acme", "organization-beta"] {
            for name in ["m1", "m2", "m3"] {
                let one = ResourceLocation { namespace, name, ..everywhere };
                prop_assert_eq!(is_whole || some.has(namespace, name), may(&index, "ann", text, &one), "{:?}", one);
            }
        }
    }

    #[test]
    fn what_roles_grant_is_the_same_in_whatever_order_they_change(
        steps in prop::collection::vec((0_usize..6, prop::option::of((prop::collection::vec(0_usize..9, 0..4), prop::collection::vec(0_usize..6, 0..3)))), 1..40)
    ) {
        let at = |role: usize| At::new("", SYSTEM_NAMESPACE, &format!("r{role}"));
        let (mut roles, mut plain) = (Roles::default(), BTreeMap::new());
        for (role, change) in steps {
            match change {
                Some((permissions, inherits)) => {
                    let texts: Vec<String> = permissions.iter().map(|number| format!("g/p{number}.get")).collect();
                    let from: Vec<Value> = inherits.iter().map(|role| json!({ "name": format!("r{role}") })).collect();
                    let written = json!({ "spec": { "includedPermissions": texts, "inheritedRoles": from } });
                    roles.put(&at(role), &object(written));
                    plain.insert(role, (permissions, inherits));
                }
                None => {
                    roles.remove(&at(role));
                    plain.remove(&role);
                }
            }
        }
        for role in 0..6 {
            let granted = roles.get(&at(role)).map(|role| role.permissions().iter().map(ToString::to_string).collect::<Vec<_>>());
            let expected = plain.contains_key(&role).then(|| {
                plainly(&plain, role).iter().map(|number| format!("g/p{number}.get")).collect::<Vec<_>>()
            });
            prop_assert_eq!(granted, expected);
        }
    }
}

//! What a decision of IAM costs with many bindings and projects: `cargo xtask bench platform [--bindings N] [--projects N]`.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench prints what it found, and ends when a step fails"
)]

use std::time::Instant;

use apiserver::Identity;
use krm::Object;
use platform::iam::index::Index;
use platform::iam::permission::Permission;
use platform::iam::roles::At;
use platform::iam::selector::ResourceLocation;
use serde_json::{Value, json};

const SYSTEM: &str = "milo-system";
const ROUNDS: usize = 100_000;

fn main() {
    let asked = |flag: &str| {
        let mut words = std::env::args().skip_while(|word| word != flag);
        words.nth(1).and_then(|number| number.parse().ok()).unwrap_or(10_000_usize)
    };
    let (bindings, projects) = (asked("--bindings"), asked("--projects"));
    let begun = Instant::now();
    let index = town(bindings, projects);
    println!("{bindings} bindings, {projects} projects: taken in within {:.0?}", begun.elapsed());
    let get = "core.miloapis.com/configmaps.get";
    let last = format!("p{}", projects.saturating_sub(1));
    let map =
        |plane| ResourceLocation { plane, group: "", kind: "ConfigMap", namespace: "default", name: "m" };
    let object = |name| ResourceLocation {
        group: "inventory.miloapis.com",
        kind: "Rack",
        name,
        ..ResourceLocation::default()
    };
    measure(&index, "in a project, allowed", "user-7", get, &map("p7"), true);
    measure(&index, "in a project, refused", "user-7", get, &map(&last), false);
    measure(
        &index,
        "one object of many, allowed",
        "collector",
        "inventory.miloapis.com/racks.get",
        &object("r7"),
        true,
    );
    measure(
        &index,
        "one object of many, refused",
        "collector",
        "inventory.miloapis.com/racks.get",
        &object("none"),
        false,
    );
    measure(&index, "somebody without anything", "nobody", get, &map("p7"), false);
}

/// So many users, each with a binding on a project of an organization, and one user with a binding on each of as many racks.
fn town(bindings: usize, projects: usize) -> Index {
    let mut index = Index::default();
    for (name, permission) in
        [("maps", "core.miloapis.com/configmaps.get"), ("racks", "inventory.miloapis.com/racks.get")]
    {
        let role = json!({ "spec": { "includedPermissions": [permission] } });
        index.take_in("roles", &At::new("", SYSTEM, name), Some(&object(role)), 1);
    }
    for number in 0..projects {
        let owner = json!({ "spec": { "ownerRef": { "kind": "Organization", "name": format!("o{}", number % 100) } } });
        index.directory.project(&format!("p{number}"), Some(&object(owner)));
    }
    user(&mut index, "collector");
    for number in 0..bindings / 2 {
        let name = format!("user-{number}");
        user(&mut index, &name);
        let project = format!("p{}", number % projects.max(1));
        bind(
            &mut index,
            &format!("b{number}"),
            "maps",
            &name,
            ("resourcemanager.miloapis.com", "Project", &project),
        );
        let rack = format!("r{number}");
        bind(
            &mut index,
            &format!("c{number}"),
            "racks",
            "collector",
            ("inventory.miloapis.com", "Rack", &rack),
        );
    }
    index
}

fn user(index: &mut Index, name: &str) {
    let spec = json!({ "email": format!("{name}@example.com") });
    let user = json!({ "metadata": { "uid": format!("uid-{name}") }, "spec": spec });
    index.take_in("users", &At::new("", "", name), Some(&object(user)), 1);
}

fn bind(index: &mut Index, at: &str, role: &str, user: &str, (group, kind, name): (&str, &str, &str)) {
    let reference = json!({ "apiGroup": group, "kind": kind, "name": name, "uid": "u" });
    let binding = json!({ "spec": {
        "roleRef": { "name": role },
        "subjects": [{ "kind": "User", "name": user, "uid": format!("uid-{user}") }],
        "resourceSelector": { "resourceRef": reference },
    } });
    index.bind(&At::new("", SYSTEM, at), &object(binding), Some("u"), 2);
}

fn measure(
    index: &Index,
    what: &str,
    user: &str,
    permission: &str,
    place: &ResourceLocation<'_>,
    allowed: bool,
) {
    let who = Identity::new(user, &["system:authenticated"]);
    let permission = Permission::parse(permission).unwrap();
    let begun = Instant::now();
    for _ in 0..ROUNDS {
        assert_eq!(index.grant(place.plane, &who, &permission, place).is_some(), allowed, "{what}");
    }
    let each = begun.elapsed() / u32::try_from(ROUNDS).unwrap_or(u32::MAX);
    println!("{what}: {each:.2?} a decision (floor 20 µs)");
}

fn object(value: Value) -> Object {
    Object::from_value(value).unwrap_or_default()
}

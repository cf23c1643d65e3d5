//! Roles and bindings of the platform's IAM: on kinds, on single objects, on projects and organizations.

use serde_json::{Value, json};
use testbed::server::{Answer, Client, Failed, Server};

use super::GROUNDPLANE;

pub const IAM: &str = "/apis/iam.miloapis.com/v1alpha1";
const SYSTEM: &str = "/apis/iam.miloapis.com/v1alpha1/namespaces/milo-system";
const INVENTORY: &str = "/apis/inventory.miloapis.com/v1alpha1";
pub const TENANCY: &str = "/apis/resourcemanager.miloapis.com/v1alpha1";

/// A server that knows some people, and a folder with their tokens.
pub struct Town {
    pub server: Server,
    pub admin: Client,
    _folder: tempfile::TempDir,
}

impl Town {
    /// Each of these people has a token, and a User.
    pub async fn of(people: &[&str], arguments: &[&str]) -> Town {
        let folder = tempfile::TempDir::new().unwrap();
        let file = folder.path().join("tokens.csv");
        let lines: String = people.iter().map(|name| format!("{name}-token,{name},,\n")).collect();
        std::fs::write(&file, lines).unwrap();
        let mut all = vec!["--token-auth-file", file.to_str().unwrap()];
        all.extend(arguments);
        let server = Server::fresh(GROUNDPLANE, &all).unwrap();
        let admin = server.client();
        for name in people.iter().filter(|name| **name != "nobody") {
            made(&admin, &format!("{IAM}/users"), &user(name)).await;
        }
        Town { server, admin, _folder: folder }
    }

    pub fn person(&self, name: &str) -> Client {
        self.server.stranger().with_token(&format!("{name}-token"))
    }
}

pub fn user(name: &str) -> Value {
    json!({
        "apiVersion": "iam.miloapis.com/v1alpha1", "kind": "User", "metadata": {"name": name},
        "spec": {"email": format!("{name}@example.com")},
    })
}

pub async fn made(client: &Client, path: &str, object: &Value) -> Value {
    let answer = sent(client, path, object).await.unwrap();
    assert_eq!(answer.code, 201, "{path}: {}", answer.text());
    answer.json()
}

/// Waits a moment before something is looked at again; a story that waits too long fails.
pub async fn again(tries: &mut usize) {
    *tries += 1;
    assert!(*tries < 1500, "what is waited for does not come");
    tokio::time::sleep(std::time::Duration::from_millis(20)).await;
}

/// Posts an object, of the kind that the path says where the object does not.
pub async fn sent(client: &Client, path: &str, object: &Value) -> Result<Answer, Failed> {
    let mut object = object.clone();
    let parts: Vec<&str> =
        path.rsplit("control-plane/").next().unwrap_or(path).trim_matches('/').split('/').collect();
    let kind = match *parts.last().unwrap() {
        "users" => "User",
        "groups" => "Group",
        "groupmemberships" => "GroupMembership",
        "roles" => "Role",
        "policybindings" => "PolicyBinding",
        "organizations" => "Organization",
        "organizationmemberships" => "OrganizationMembership",
        "projects" => "Project",
        "machineaccounts" => "MachineAccount",
        "machineaccountkeys" => "MachineAccountKey",
        "regions" => "Region",
        "accessexplanations" => "AccessExplanation",
        "customresourcedefinitions" => "CustomResourceDefinition",
        _ => "",
    };
    if object.get("kind").is_none() && !kind.is_empty() {
        object["apiVersion"] = format!("{}/{}", parts[1], parts[2]).into();
        object["kind"] = kind.into();
    }
    client.post(path, &object).await
}

/// A binding of a role of the system to a user.
pub fn binding(name: &str, role: &str, user: &str, selector: Value) -> Value {
    json!({
        "apiVersion": "iam.miloapis.com/v1alpha1", "kind": "PolicyBinding", "metadata": {"name": name},
        "spec": {
            "roleRef": {"name": role, "namespace": "milo-system"},
            "subjects": [{"kind": "User", "name": user}],
            "resourceSelector": selector,
        },
    })
}

pub fn on_kind(group: &str, kind: &str) -> Value {
    json!({"resourceKind": {"apiGroup": group, "kind": kind}})
}

pub fn on_object(group: &str, kind: &str, name: &str) -> Value {
    json!({"resourceRef": {"apiGroup": group, "kind": kind, "name": name}})
}

pub fn code(answer: &Answer) -> u16 {
    answer.code
}

fn region(name: &str) -> Value {
    json!({
        "apiVersion": "inventory.miloapis.com/v1alpha1", "kind": "Region", "metadata": {"name": name},
        "spec": {"displayName": name},
    })
}

fn names(answer: &Value) -> Vec<String> {
    let items = answer["items"].as_array().cloned().unwrap_or_default();
    items.iter().map(|item| item["metadata"]["name"].as_str().unwrap_or_default().to_owned()).collect()
}

#[tokio::test]
async fn a_binding_counts_from_the_next_request_on_and_not_a_request_longer() {
    let town = Town::of(&["ann"], &[]).await;
    let (admin, ann) = (&town.admin, town.person("ann"));
    made(admin, &format!("{INVENTORY}/regions"), &region("eu")).await;
    assert_eq!(ann.get(&format!("{INVENTORY}/regions")).await.unwrap().code, 403);
    let wanted =
        binding("ann", "inventory.miloapis.com-viewer", "ann", on_kind("inventory.miloapis.com", "Region"));
    for round in 0..10 {
        let bound = made(admin, &format!("{SYSTEM}/policybindings"), &wanted).await;
        assert!(!bound["spec"]["subjects"][0]["uid"].as_str().unwrap().is_empty(), "the server fills it in");
        let listed = ann.get(&format!("{INVENTORY}/regions")).await.unwrap();
        assert_eq!((listed.code, names(&listed.json())), (200, vec!["eu".to_owned()]), "round {round}");
        assert_eq!(ann.get(&format!("{INVENTORY}/regions/eu")).await.unwrap().code, 200);
        assert_eq!(
            ann.get(&format!("{INVENTORY}/regions/eu/tree")).await.unwrap().code,
            200,
            "a question is a look"
        );
        assert_eq!(
            ann.get(&format!("{INVENTORY}/sites")).await.unwrap().code,
            403,
            "bound on one kind alone"
        );
        let write = sent(&ann, &format!("{INVENTORY}/regions"), &region("us")).await.unwrap();
        assert_eq!(write.code, 403, "a viewer looks");
        assert_eq!(admin.delete(&format!("{SYSTEM}/policybindings/ann")).await.unwrap().code, 200);
        assert_eq!(
            ann.get(&format!("{INVENTORY}/regions/eu")).await.unwrap().code,
            403,
            "round {round}: still allowed"
        );
    }
}

#[tokio::test]
async fn whoever_may_see_one_object_sees_that_one_and_nothing_of_the_others() {
    let town = Town::of(&["ann"], &[]).await;
    let (admin, ann) = (&town.admin, town.person("ann"));
    for name in ["eu", "oz", "as", "af"] {
        made(admin, &format!("{INVENTORY}/regions"), &region(name)).await;
    }
    let on = |name: &str| on_object("inventory.miloapis.com", "Region", name);
    for name in ["eu", "as"] {
        let wanted = binding(name, "inventory.miloapis.com-editor", "ann", on(name));
        made(admin, &format!("{SYSTEM}/policybindings"), &wanted).await;
    }
    let listed = ann.get(&format!("{INVENTORY}/regions")).await.unwrap();
    assert_eq!(names(&listed.json()), ["as", "eu"]);
    assert!(listed.json()["metadata"].get("remainingItemCount").is_none());
    let page = ann.get(&format!("{INVENTORY}/regions?limit=1")).await.unwrap().json();
    assert_eq!(names(&page), ["as"]);
    assert!(page["metadata"].get("remainingItemCount").is_none(), "how many there are is nobody's business");
    let token = page["metadata"]["continue"].as_str().unwrap();
    let last = ann.get(&format!("{INVENTORY}/regions?limit=1&continue={token}")).await.unwrap().json();
    assert_eq!(names(&last), ["eu"]);
    assert_eq!(last["metadata"].get("continue"), None, "after the last that may be seen there is nothing");
    let selected = ann.get(&format!("{INVENTORY}/regions?fieldSelector=metadata.name%3Doz")).await.unwrap();
    assert_eq!(names(&selected.json()), Vec::<String>::new());

    let (hidden, absent) = (
        ann.get(&format!("{INVENTORY}/regions/oz")).await.unwrap(),
        ann.get(&format!("{INVENTORY}/regions/xx")).await.unwrap(),
    );
    assert_eq!((hidden.code, absent.code), (404, 404));
    assert_eq!(
        hidden.text().replace("oz", "xx"),
        absent.text(),
        "one that may not be seen is one that is not there"
    );
    for part in ["history", "referrers", "tree", "status"] {
        let asked = ann.get(&format!("{INVENTORY}/regions/oz/{part}")).await.unwrap();
        assert_eq!(asked.code, 404, "{part}: {}", asked.text());
    }
    let patch =
        ann.merge(&format!("{INVENTORY}/regions/oz"), &json!({"spec": {"displayName": "x"}})).await.unwrap();
    assert_eq!(patch.code, 404);
    let patch = ann
        .merge(&format!("{INVENTORY}/regions/eu"), &json!({"spec": {"displayName": "Europe"}}))
        .await
        .unwrap();
    assert_eq!(patch.code, 200, "{}", patch.text());
    assert_eq!(ann.delete(&format!("{INVENTORY}/regions")).await.unwrap().code, 403, "nor all of them");
    assert_eq!(sent(&ann, &format!("{INVENTORY}/regions"), &region("an")).await.unwrap().code, 403);

    let found = ann.get("/apis/groundplane.dev/v1alpha1/search?q=o").await.unwrap().json();
    assert!(!found.to_string().contains("\"oz\""), "{found}");

    let mut watch = ann.watch(&format!("{INVENTORY}/regions?watch=1")).await.unwrap();
    for expected in ["as", "eu"] {
        assert_eq!(watch.next().await.unwrap()["object"]["metadata"]["name"], expected);
    }
    for name in ["oz", "eu"] {
        let path = format!("{INVENTORY}/regions/{name}");
        admin.merge(&path, &json!({"metadata": {"labels": {"seen": "yes"}}})).await.unwrap();
    }
    assert_eq!(
        watch.next().await.unwrap()["object"]["metadata"]["name"],
        "eu",
        "the change of oz is not told"
    );
}

#[tokio::test]
async fn a_new_object_or_person_of_an_old_name_inherits_nothing() {
    let town = Town::of(&["ann"], &[]).await;
    let (admin, ann) = (&town.admin, town.person("ann"));
    made(admin, &format!("{INVENTORY}/regions"), &region("eu")).await;
    let wanted = binding(
        "ann",
        "inventory.miloapis.com-viewer",
        "ann",
        on_object("inventory.miloapis.com", "Region", "eu"),
    );
    made(admin, &format!("{SYSTEM}/policybindings"), &wanted).await;
    assert_eq!(ann.get(&format!("{INVENTORY}/regions/eu")).await.unwrap().code, 200);
    admin.delete(&format!("{INVENTORY}/regions/eu")).await.unwrap();
    made(admin, &format!("{INVENTORY}/regions"), &region("eu")).await;
    assert_eq!(ann.get(&format!("{INVENTORY}/regions/eu")).await.unwrap().code, 403, "another region");

    let wanted =
        binding("all", "inventory.miloapis.com-viewer", "ann", on_kind("inventory.miloapis.com", "Region"));
    made(admin, &format!("{SYSTEM}/policybindings"), &wanted).await;
    assert_eq!(ann.get(&format!("{INVENTORY}/regions/eu")).await.unwrap().code, 200);
    admin.delete(&format!("{IAM}/users/ann")).await.unwrap();
    assert_eq!(ann.get(&format!("{INVENTORY}/regions/eu")).await.unwrap().code, 403, "she has gone");
    made(admin, &format!("{IAM}/users"), &user("ann")).await;
    assert_eq!(ann.get(&format!("{INVENTORY}/regions/eu")).await.unwrap().code, 403, "another Ann");

    let nobody =
        binding("x", "inventory.miloapis.com-viewer", "nobody", on_kind("inventory.miloapis.com", "Region"));
    let refused = sent(admin, &format!("{SYSTEM}/policybindings"), &nobody).await.unwrap();
    assert_eq!(refused.code, 422, "{}", refused.text());
    let mut forged =
        binding("x", "inventory.miloapis.com-viewer", "ann", on_kind("inventory.miloapis.com", "Region"));
    forged["spec"]["subjects"][0]["uid"] = json!("REPLACE_WITH_USER_UID");
    let refused = sent(admin, &format!("{SYSTEM}/policybindings"), &forged).await.unwrap();
    assert_eq!(refused.code, 422, "{}", refused.text());
    assert!(refused.text().contains("leave it out and the server sets it"), "{}", refused.text());
}

#[tokio::test]
async fn groups_addresses_and_everybody_are_subjects() {
    let town = Town::of(&["ann", "ben"], &[]).await;
    let (admin, ann, ben) = (&town.admin, town.person("ann"), town.person("ben"));
    made(admin, &format!("{SYSTEM}/groups"), &json!({"metadata": {"name": "staff"}})).await;
    let mut wanted =
        binding("staff", "inventory.miloapis.com-viewer", "", on_kind("inventory.miloapis.com", "Site"));
    wanted["spec"]["subjects"] = json!([{"kind": "Group", "name": "staff"}]);
    made(admin, &format!("{SYSTEM}/policybindings"), &wanted).await;
    let sites = format!("{INVENTORY}/sites");
    assert_eq!(ann.get(&sites).await.unwrap().code, 403);
    let member = json!({
        "metadata": {"name": "ann"},
        "spec": {"userRef": {"name": "ann"}, "groupRef": {"name": "staff", "namespace": "milo-system"}},
    });
    made(admin, &format!("{SYSTEM}/groupmemberships"), &member).await;
    assert_eq!(ann.get(&sites).await.unwrap().code, 200);
    assert_eq!(ben.get(&sites).await.unwrap().code, 403);
    admin.delete(&format!("{SYSTEM}/groupmemberships/ann")).await.unwrap();
    assert_eq!(ann.get(&sites).await.unwrap().code, 403);

    let mut everybody =
        binding("all", "inventory.miloapis.com-viewer", "", on_kind("inventory.miloapis.com", "Site"));
    everybody["spec"]["subjects"] = json!([{"kind": "Group", "name": "system:authenticated-users"}]);
    made(admin, &format!("{SYSTEM}/policybindings"), &everybody).await;
    assert_eq!((code(&ann.get(&sites).await.unwrap()), code(&ben.get(&sites).await.unwrap())), (200, 200));
    assert_eq!(town.server.stranger().get(&sites).await.unwrap().code, 403, "strangers have proved nothing");

    let by_address = admin
        .clone()
        .with("impersonate-user", "Ben@example.com")
        .with("impersonate-group", "system:authenticated");
    made(
        admin,
        &format!("{SYSTEM}/policybindings"),
        &binding(
            "ben",
            "inventory.miloapis.com-viewer",
            "ben@example.com",
            on_kind("inventory.miloapis.com", "Rack"),
        ),
    )
    .await;
    assert_eq!(
        by_address.get(&format!("{INVENTORY}/racks")).await.unwrap().code,
        200,
        "an address is as good as a name"
    );
    assert_eq!(ben.get(&format!("{INVENTORY}/racks")).await.unwrap().code, 200);
    let twin = json!({"metadata": {"name": "benny"}, "spec": {"email": "BEN@example.com"}});
    let refused = sent(admin, &format!("{IAM}/users"), &twin).await.unwrap();
    assert_eq!(refused.code, 409, "{}", refused.text());
}

#[tokio::test]
async fn nobody_gives_away_what_he_has_not() {
    let town = Town::of(&["ann", "ben"], &[]).await;
    let (admin, ann) = (&town.admin, town.person("ann"));
    // Ann may write roles, bindings and memberships, and look at regions.
    for kind in ["Role", "PolicyBinding", "Group", "GroupMembership", "User"] {
        let name = format!("ann-{}", kind.to_lowercase());
        made(
            admin,
            &format!("{SYSTEM}/policybindings"),
            &binding(&name, "iam.miloapis.com-editor", "ann", on_kind("iam.miloapis.com", kind)),
        )
        .await;
    }
    let region = on_kind("inventory.miloapis.com", "Region");
    made(
        admin,
        &format!("{SYSTEM}/policybindings"),
        &binding(
            "ann-regions",
            "inventory.miloapis.com-viewer",
            "ann",
            on_kind("inventory.miloapis.com", "Region"),
        ),
    )
    .await;

    let refused = sent(
        &ann,
        &format!("{SYSTEM}/policybindings"),
        &binding("a", "inventory.miloapis.com-editor", "ben", region.clone()),
    )
    .await
    .unwrap();
    assert_eq!(refused.code, 403, "{}", refused.text());
    assert!(
        refused.text().contains("attempting to grant permissions not currently held"),
        "{}",
        refused.text()
    );
    let owner =
        sent(&ann, &format!("{SYSTEM}/policybindings"), &binding("b", "owner", "ann", region.clone()))
            .await
            .unwrap();
    assert_eq!(owner.code, 403);

    let role = |permission: &str| {
        json!({
            "metadata": {"name": "mine"}, "spec": {"launchStage": "Alpha", "includedPermissions": [permission]},
        })
    };
    let refused =
        sent(&ann, &format!("{SYSTEM}/roles"), &role("inventory.miloapis.com/regions.delete")).await.unwrap();
    assert_eq!(refused.code, 403, "{}", refused.text());
    assert_eq!(sent(&ann, &format!("{SYSTEM}/roles"), &role("*/*.*")).await.unwrap().code, 403);
    made(&ann, &format!("{SYSTEM}/roles"), &role("inventory.miloapis.com/regions.get")).await;
    made(&ann, &format!("{SYSTEM}/policybindings"), &binding("c", "mine", "ben", region.clone())).await;
    let more = ann
        .merge(
            &format!("{SYSTEM}/roles/mine"),
            &json!({"spec": {"includedPermissions": ["inventory.miloapis.com/regions.delete"]}}),
        )
        .await
        .unwrap();
    assert_eq!(more.code, 403, "a role that is bound is not widened: {}", more.text());
    let heir = ann
        .merge(&format!("{SYSTEM}/roles/mine"), &json!({"spec": {"inheritedRoles": [{"name": "owner"}]}}))
        .await
        .unwrap();
    assert_eq!(heir.code, 403, "nor by inheritance");

    // Neither by a group that has more, nor by taking another user's place.
    made(admin, &format!("{SYSTEM}/groups"), &json!({"metadata": {"name": "admins"}})).await;
    let mut admins = binding("admins", "inventory.miloapis.com-admin", "", region);
    admins["spec"]["subjects"] = json!([{"kind": "Group", "name": "admins"}]);
    made(admin, &format!("{SYSTEM}/policybindings"), &admins).await;
    let join = json!({
        "metadata": {"name": "ann"},
        "spec": {"userRef": {"name": "ann"}, "groupRef": {"name": "admins", "namespace": "milo-system"}},
    });
    assert_eq!(sent(&ann, &format!("{SYSTEM}/groupmemberships"), &join).await.unwrap().code, 403);
    made(
        admin,
        &format!("{SYSTEM}/policybindings"),
        &binding("ben", "inventory.miloapis.com-admin", "ben", on_kind("inventory.miloapis.com", "Rack")),
    )
    .await;
    let taken = ann
        .merge(&format!("{IAM}/users/ben"), &json!({"spec": {"email": "mallory@example.com"}}))
        .await
        .unwrap();
    assert_eq!(taken.code, 403, "{}", taken.text());
}

#[tokio::test]
async fn roles_say_what_they_grant_and_a_circle_is_no_trap() {
    let town = Town::of(&["ann"], &[]).await;
    let admin = &town.admin;
    let role = |name: &str, permission: &str, inherits: &str| {
        json!({
            "metadata": {"name": name},
            "spec": {"launchStage": "Beta", "includedPermissions": [permission], "inheritedRoles": [{"name": inherits}]},
        })
    };
    made(admin, &format!("{SYSTEM}/roles"), &role("a", "g.example/xs.get", "b")).await;
    made(admin, &format!("{SYSTEM}/roles"), &role("b", "g.example/ys.get", "a")).await;
    let told = |name: &'static str| async move {
        let role = admin.get(&format!("{SYSTEM}/roles/{name}")).await.unwrap().json();
        let ready =
            role["status"]["conditions"].as_array().and_then(|all| all.first().cloned()).unwrap_or_default();
        (role["status"]["effectivePermissions"].clone(), ready["reason"].clone())
    };
    let both = json!(["g.example/xs.get", "g.example/ys.get"]);
    let mut tries = 0;
    for name in ["a", "b"] {
        let mut found = told(name).await;
        while found != (both.clone(), json!("InheritsItself")) {
            again(&mut tries).await;
            found = told(name).await;
        }
    }
    let wrong = sent(admin, &format!("{SYSTEM}/roles"), &role("c", "racks.get", "a")).await.unwrap();
    assert_eq!(wrong.code, 422);
    assert!(wrong.text().contains("must be <group>/<plural>.<verb>"), "{}", wrong.text());
    let viewer = admin.get(&format!("{SYSTEM}/roles/inventory.miloapis.com-viewer")).await.unwrap().json();
    let effective = viewer["status"]["effectivePermissions"].as_array().unwrap();
    assert!(effective.contains(&json!("inventory.miloapis.com/racks.get")));
    assert_eq!(viewer["metadata"]["labels"]["inventory.miloapis.com/role-type"], "viewer");
}

#[tokio::test]
async fn a_user_and_a_project_come_with_their_bindings_in_one_transaction() {
    let town = Town::of(&["nobody"], &[]).await;
    let binding = |name: &str, selector: Value| {
        json!({
            "apiVersion": "iam.miloapis.com/v1alpha1", "kind": "PolicyBinding",
            "metadata": {"name": name, "namespace": "milo-system"},
            "spec": {
                "roleRef": {"name": "inventory.miloapis.com-viewer", "namespace": "milo-system"},
                "subjects": [{"kind": "User", "name": "newcomer"}], "resourceSelector": selector,
            },
        })
    };
    let kind = |kind: &str| json!({"resourceKind": {"apiGroup": "inventory.miloapis.com", "kind": kind}});
    let create = |object: Value| json!({"operation": "create", "object": object});
    // The binding comes first in the file.
    let items = [
        create(binding("racks", kind("Rack"))),
        create(user("newcomer")),
        create(binding("wrong", kind("*"))),
    ];
    let transaction = json!({
        "apiVersion": "groundplane.dev/v1alpha1", "kind": "Transaction", "spec": {"items": items},
    });
    let answer = town.admin.post("/apis/groundplane.dev/v1alpha1/transactions", &transaction).await.unwrap();
    assert!((200..300).contains(&answer.code), "{}", answer.text());
    let uid =
        town.admin.get(&format!("{IAM}/users/newcomer")).await.unwrap().json()["metadata"]["uid"].clone();
    let bound = town.admin.get(&format!("{SYSTEM}/policybindings/racks")).await.unwrap().json();
    assert_eq!(bound["spec"]["subjects"][0]["uid"], uid, "{bound}");
    let mut tries = 0;
    loop {
        let wrong = town.admin.get(&format!("{SYSTEM}/policybindings/wrong")).await.unwrap().json();
        let ready = wrong["status"]["conditions"][0].clone();
        if ready["reason"] == "ResourceKindNotFound" && ready["status"] == "False" {
            break;
        }
        again(&mut tries).await;
    }
}

fn transaction(objects: &[Value]) -> Value {
    let items: Vec<Value> =
        objects.iter().map(|object| json!({"operation": "create", "object": object})).collect();
    json!({"apiVersion": "groundplane.dev/v1alpha1", "kind": "Transaction", "spec": {"items": items}})
}

fn of_kind(group: &str, kind: &str, (namespace, name): (&str, &str), spec: Value) -> Value {
    let metadata = match namespace.is_empty() {
        true => json!({"name": name}),
        false => json!({"name": name, "namespace": namespace}),
    };
    json!({"apiVersion": format!("{group}/v1alpha1"), "kind": kind, "metadata": metadata, "spec": spec})
}

#[tokio::test]
async fn whatever_a_binding_names_may_come_with_it() {
    const RM: &str = "resourcemanager.miloapis.com";
    const OURS: &str = "iam.miloapis.com";
    let town = Town::of(&["ann", "cat"], &[]).await;
    let send = async |client: &Client, objects: &[Value]| {
        let path = "/apis/groundplane.dev/v1alpha1/transactions";
        client.post(path, &transaction(objects)).await.unwrap()
    };
    let project = |name: &str, owner: &str| {
        of_kind(RM, "Project", ("", name), json!({"ownerRef": {"kind": "Organization", "name": owner}}))
    };
    let bound = |at: (&str, &str), role: (&str, &str), subject: Value, selector: Value| {
        let role = json!({"namespace": role.0, "name": role.1});
        let spec = json!({"roleRef": role, "subjects": [subject], "resourceSelector": selector});
        of_kind(OURS, "PolicyBinding", at, spec)
    };
    let role = |at: (&str, &str), permission: &str| {
        of_kind(OURS, "Role", at, json!({"launchStage": "Beta", "includedPermissions": [permission]}))
    };
    let owner = json!({"kind": "User", "name": "ann"});
    let group = json!({"kind": "Group", "name": "staff", "namespace": "milo-system"});
    let membership =
        json!({"groupRef": {"name": "staff", "namespace": "milo-system"}, "userRef": {"name": "cat"}});
    let system = |name: &'static str| ("milo-system", name);
    // What is referred to comes last.
    let all = [
        bound(
            ("organization-acme", "web"),
            system("reads-racks"),
            group,
            json!({"resourceRef": {"apiGroup": RM, "kind": "Project", "name": "acme-web"}}),
        ),
        bound(
            ("organization-acme", "owner"),
            system("owner"),
            owner,
            json!({"resourceRef": {"apiGroup": RM, "kind": "Organization", "name": "acme"}}),
        ),
        of_kind(OURS, "GroupMembership", system("cat"), membership),
        project("acme-web", "acme"),
        project("beta-web", "beta"),
        of_kind(OURS, "Group", system("staff"), json!({})),
        role(system("reads-racks"), "inventory.miloapis.com/racks.get"),
        of_kind(RM, "Organization", ("", "acme"), json!({})),
        of_kind(RM, "Organization", ("", "beta"), json!({})),
    ];
    let answer = send(&town.admin, &all).await;
    assert!((200..300).contains(&answer.code), "{}", answer.text());

    // The same by somebody who owns the organization and nothing else.
    let ann = town.person("ann");
    let cat = json!({"kind": "User", "name": "cat"});
    let on = |name: &str| json!({"resourceRef": {"apiGroup": RM, "kind": "Project", "name": name}});
    let space = |name: &'static str| ("organization-acme", name);
    let own = [
        bound(space("shop"), space("sees"), cat.clone(), on("acme-shop")),
        role(space("sees"), "resourcemanager.miloapis.com/projects.get"),
        project("acme-shop", "acme"),
    ];
    let answer = send(&ann, &own).await;
    assert!((200..300).contains(&answer.code), "{}", answer.text());
    let path = format!("{TENANCY}/projects/acme-shop");
    assert_eq!(town.person("cat").get(&path).await.unwrap().code, 200, "the binding counts");

    // What belongs to others stays theirs.
    let theirs = [bound(space("theirs"), space("sees"), cat, on("beta-web"))];
    let answer = send(&ann, &theirs).await;
    assert_eq!(answer.code, 403, "{}", answer.text());
}

//! Asking what may be done and why: can-i, why, reviews, and kubectl contexts of several people in several projects.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};
use testbed::{need, parts};

use super::GROUNDPLANE;
use super::iam::{IAM, TENANCY, Town, binding, made, on_kind, on_object, sent};

const WHY: &str = "/apis/groundplane.dev/v1alpha1/accessexplanations";

fn asks(verb: &str, resource: &str, name: &str) -> Value {
    json!({"spec": {"resourceAttributes": {
        "verb": verb, "group": "inventory.miloapis.com", "resource": resource, "name": name,
    }}})
}

#[tokio::test]
async fn why_tells_the_binding_and_the_role_or_what_would_do() {
    let town = Town::of(&["ann", "ben"], &[]).await;
    let (admin, ann, ben) = (&town.admin, town.person("ann"), town.person("ben"));
    let bindings = format!("{IAM}/namespaces/milo-system/policybindings");
    let viewer = "inventory.miloapis.com-viewer";
    made(admin, &bindings, &binding("ann", viewer, "ann", on_kind("inventory.miloapis.com", "Rack"))).await;
    let told = made(&ann, WHY, &asks("list", "racks", "")).await;
    assert_eq!(told["status"]["allowed"], true);
    assert_eq!(
        told["status"]["allowedBy"],
        json!([{
            "authorizer": "IAM",
            "reason": "IAM: allowed by PolicyBinding \"milo-system/ann\" of Role \"milo-system/inventory.miloapis.com-viewer\" on every Rack to User \"ann\"",
            "binding": {"kind": "PolicyBinding", "namespace": "milo-system", "name": "ann"},
            "role": {"kind": "Role", "namespace": "milo-system", "name": viewer},
            "subject": "User \"ann\"",
            "on": "every Rack",
            "permission": "inventory.miloapis.com/racks.list",
        }])
    );
    let told = made(&ben, WHY, &asks("list", "racks", "")).await;
    assert_eq!(told["status"]["allowed"], false);
    let roles: Vec<&str> = told["status"]["wouldAllow"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|one| one["role"]["name"].as_str())
        .collect();
    assert!(roles.contains(&viewer) && roles.contains(&"inventory.miloapis.com-operator"), "{told}");
    assert!(!told.to_string().contains("ann"), "who else may is not told: {told}");

    let mut about_ann = asks("list", "racks", "");
    about_ann["spec"]["user"] = json!("ann");
    let refused = sent(&ben, WHY, &about_ann).await.unwrap();
    assert_eq!(refused.code, 403, "others are asked about by who may: {}", refused.text());
    let told = made(admin, WHY, &about_ann).await;
    assert_eq!(told["status"]["allowed"], true, "{told}");
    let masters = made(admin, WHY, &asks("delete", "racks", "x")).await;
    assert_eq!(
        masters["status"]["allowedBy"][0]["reason"],
        "members of the group system:masters are allowed everything"
    );

    // A review in the name of somebody may say of which project it asks.
    made(admin, &format!("{TENANCY}/projects"), &json!({"metadata": {"name": "web"}})).await;
    made(
        admin,
        &bindings,
        &binding("web", "project-viewer", "ben", on_object("resourcemanager.miloapis.com", "Project", "web")),
    )
    .await;
    let review = |extra: Value| {
        json!({
            "apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
            "spec": {"user": "ben", "extra": extra, "resourceAttributes": {"verb": "list", "resource": "configmaps", "namespace": "default"}},
        })
    };
    let context = json!({
        "iam.miloapis.com/parent-api-group": ["resourcemanager.miloapis.com"],
        "iam.miloapis.com/parent-type": ["Project"], "iam.miloapis.com/parent-name": ["web"],
    });
    let reviews = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
    assert_eq!(made(admin, reviews, &review(context.clone())).await["status"]["allowed"], true);
    assert_eq!(made(admin, reviews, &review(json!({}))).await["status"]["allowed"], false);
    let liar = admin
        .clone()
        .with("impersonate-user", "ben")
        .with("impersonate-extra-iam.miloapis.com%2fparent-type", "Project")
        .with("impersonate-extra-iam.miloapis.com%2fparent-name", "web");
    let lied = liar.get("/api/v1/namespaces/default/configmaps").await.unwrap();
    assert_eq!(lied.code, 403, "nobody says of himself where he is: {}", lied.text());
}

/// A kubeconfig with a context for everybody in every project.
fn kubeconfig(town: &Town, people: &[&str], projects: &[&str]) -> String {
    let admin = std::fs::read_to_string(town.server.kubeconfig()).unwrap();
    let ca = admin.lines().find_map(|line| line.trim().strip_prefix("certificate-authority-data: ")).unwrap();
    let base = format!("https://{}", town.admin.address());
    let mut config =
        json!({"apiVersion": "v1", "kind": "Config", "clusters": [], "users": [], "contexts": []});
    let mut add = |list: &str, name: String, key: &str, value: Value| {
        config[list].as_array_mut().unwrap().push(json!({"name": name, key: value}));
    };
    for project in projects {
        let server = format!("{base}{TENANCY}/projects/{project}/control-plane");
        add(
            "clusters",
            (*project).to_owned(),
            "cluster",
            json!({"server": server, "certificate-authority-data": ca}),
        );
        for person in people {
            add(
                "contexts",
                format!("{person}@{project}"),
                "context",
                json!({"cluster": project, "user": person, "namespace": "default"}),
            );
        }
    }
    for person in people {
        add("users", (*person).to_owned(), "user", json!({"token": format!("{person}-token")}));
    }
    config.to_string()
}

#[tokio::test]
async fn people_have_contexts_of_their_own_in_several_projects() {
    let town = Town::of(&["ann", "ben"], &[]).await;
    let admin = &town.admin;
    let bindings = format!("{IAM}/namespaces/milo-system/policybindings");
    for project in ["web", "shop"] {
        made(admin, &format!("{TENANCY}/projects"), &json!({"metadata": {"name": project}})).await;
    }
    for (name, role, who, project) in [
        ("a", "project-admin", "ann", "web"),
        ("b", "project-viewer", "ann", "shop"),
        ("c", "project-editor", "ben", "shop"),
    ] {
        let on = on_object("resourcemanager.miloapis.com", "Project", project);
        made(admin, &bindings, &binding(name, role, who, on)).await;
    }
    let folder = tempfile::TempDir::new().unwrap();
    let config = folder.path().join("config");
    std::fs::write(&config, kubeconfig(&town, &["ann", "ben"], &["web", "shop"])).unwrap();
    let ours = run(Path::new(GROUNDPLANE), &config, "auth can-i create configmaps --context ann@web");
    assert_eq!(String::from_utf8_lossy(&ours.stdout), "yes\n", "{ours:?}");
    let why = run(Path::new(GROUNDPLANE), &config, "auth why delete configmaps --context ann@shop");
    let said = String::from_utf8_lossy(&why.stdout).into_owned();
    assert!(said.starts_with("no\n") && said.contains("Role milo-system/project-editor"), "{said}{why:?}");
    let Some(kubectl) = parts::find("kubectl-1.35/kubectl").or_else(|| parts::find("kubectl-1.32/kubectl"))
    else {
        return need::passed_over("kubectl was not fetched; `cargo xtask test` does that");
    };
    let kubectl = |line: &str| run(&kubectl, &config, line);
    let worked = |line: &str| {
        let output = kubectl(line);
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let failed = |line: &str, why: &str| {
        let output = kubectl(line);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains(why), "{line}: {said}");
    };
    worked("create configmap menu --from-literal=soup=leek --context ann@web");
    worked("create secret generic key --from-literal=pin=1234 --context ben@shop");
    worked("create configmap menu --from-literal=soup=pea --context ben@shop");
    assert_eq!(worked("get configmap menu -o jsonpath={.data.soup} --context ann@web"), "leek");
    assert_eq!(worked("get configmap menu -o jsonpath={.data.soup} --context ann@shop"), "pea");
    // Who looks around sees that a secret is there, and its keys; who may reveal it sees what it holds.
    assert!(worked("get secrets --context ann@shop").contains("key    Opaque   1"));
    assert_eq!(worked("get secret key -o jsonpath={.data} --context ann@shop"), "{\"pin\":\"\"}");
    assert_eq!(worked("get secret key -o jsonpath={.data.pin} --context ben@shop"), "MTIzNA==");
    failed("delete configmap menu --context ann@shop", "cannot delete resource \"configmaps\"");
    failed("get configmaps --context ben@web", "not found");
    assert_eq!(worked("auth can-i delete configmaps --context ben@shop"), "yes\n");
    assert!(worked("auth can-i --list --context ann@shop").contains("configmaps"));
    assert!(worked("auth whoami --context ann@shop").contains("shop"));
}

fn run(program: &Path, config: &Path, line: &str) -> Output {
    let mut command = Command::new(program);
    command.args(line.split(' ')).env("KUBECONFIG", config).env("HOME", config.parent().unwrap());
    command.output().unwrap()
}

#[tokio::test]
async fn a_project_has_its_limits_and_says_so() {
    let limits = [
        "--max-objects-per-project",
        "16",
        "--max-definitions-per-project",
        "1",
        "--max-watches-per-project",
        "1",
        // What controllers make in a project counts too.
        "--controllers=all,-serviceaccount-controller,-root-ca-certificate-publisher-controller",
    ];
    let town = Town::of(&["ann"], &limits).await;
    let admin = &town.admin;
    made(admin, &format!("{TENANCY}/projects"), &json!({"metadata": {"name": "web"}})).await;
    let bindings = format!("{IAM}/namespaces/milo-system/policybindings");
    made(
        admin,
        &bindings,
        &binding("a", "project-admin", "ann", on_object("resourcemanager.miloapis.com", "Project", "web")),
    )
    .await;
    let ann = town.person("ann");
    let plane = format!("{TENANCY}/projects/web/control-plane");
    let definition = |plural: &str| {
        json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("{plural}.example.com")},
            "spec": {"group": "example.com", "scope": "Namespaced", "names": {"plural": plural, "kind": plural},
                "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}]},
        })
    };
    let crds = format!("{plane}/apis/apiextensions.k8s.io/v1/customresourcedefinitions");
    made(&ann, &crds, &definition("kettles")).await;
    let refused = ann.post(&crds, &definition("cups")).await.unwrap();
    assert_eq!(refused.code, 403, "{}", refused.text());
    assert!(refused.text().contains("has 1 definitions, limit is 1"), "{}", refused.text());
    let maps = format!("{plane}/api/v1/namespaces/default/configmaps");
    let _watch = ann.watch(&format!("{maps}?watch=1")).await.unwrap();
    let second = ann.get(&format!("{maps}?watch=1")).await.unwrap();
    assert_eq!(second.code, 429, "{}", second.text());
    let mut made_here = 0;
    let refused = loop {
        let answer = ann.post(&maps, &json!({"metadata": {"name": format!("m{made_here}")}})).await.unwrap();
        if answer.code != 201 {
            break answer;
        }
        made_here += 1;
        assert!(made_here < 100, "there is no limit");
        // The count follows the store.
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    };
    assert_eq!(refused.code, 403, "{}", refused.text());
    assert!(refused.text().contains("limit is 16; delete some"), "{}", refused.text());
    ann.delete(&format!("{maps}/m0")).await.unwrap();
    let mut tries = 0;
    while ann.post(&maps, &json!({"metadata": {"name": "again"}})).await.unwrap().code == 403 {
        super::iam::again(&mut tries).await;
    }
}

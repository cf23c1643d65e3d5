//! Every endpoint that discovery lists, as nobody, as a viewer of another project and as a viewer.

use std::collections::BTreeSet;

use http::Method;
use serde_json::{Value, json};
use testbed::server::{Answer, Client};

use super::iam::{IAM, TENANCY, Town, binding, made, on_object};

const PLANTED: &str = "planted-7";
const ABSENT: &str = "missing-7";

/// One thing that can be done at one path.
#[derive(Debug, Clone)]
struct Endpoint {
    permission: String,
    method: Method,
    /// Where `{}` stands for the name of an object.
    path: String,
}

/// Everything that discovery lists below a path.
async fn endpoints(client: &Client, base: &str) -> Vec<Endpoint> {
    let mut lists = vec![(String::new(), format!("{base}/api/v1"))];
    let groups = client.get(&format!("{base}/apis")).await.unwrap().json();
    for group in groups["groups"].as_array().unwrap() {
        let name = group["name"].as_str().unwrap().to_owned();
        for version in group["versions"].as_array().unwrap() {
            lists.push((name.clone(), format!("{base}/apis/{}", version["groupVersion"].as_str().unwrap())));
        }
    }
    let mut all = Vec::new();
    for (group, list) in lists {
        let found = client.get(&list).await.unwrap().json();
        for resource in found["resources"].as_array().unwrap() {
            all.extend(of_resource(&group, &list, resource));
        }
    }
    assert!(all.len() > 150, "only {} endpoints were found", all.len());
    all
}

fn of_resource(group: &str, list: &str, resource: &Value) -> Vec<Endpoint> {
    let name = resource["name"].as_str().unwrap();
    let (plural, part) = name.split_once('/').unwrap_or((name, ""));
    let within = if resource["namespaced"] == true { "/namespaces/default" } else { "" };
    let service = if group.is_empty() { "core.miloapis.com" } else { group };
    let verbs = resource["verbs"].as_array().unwrap().iter().filter_map(Value::as_str);
    let make = |verb: &str| {
        let (method, on_collection, query) = match verb {
            "list" => (Method::GET, true, ""),
            "watch" => (Method::GET, true, "?watch=1&timeoutSeconds=1"),
            "create" => (Method::POST, part.is_empty(), ""),
            "deletecollection" => (Method::DELETE, true, "?dryRun=All"),
            "get" => (Method::GET, false, ""),
            "update" => (Method::PUT, false, "?dryRun=All"),
            "patch" => (Method::PATCH, false, "?dryRun=All"),
            "delete" => (Method::DELETE, false, "?dryRun=All"),
            other => panic!("discovery lists the verb {other}"),
        };
        let mut path = format!("{list}{within}/{plural}");
        if !on_collection {
            path.push_str("/{}");
        }
        if !part.is_empty() {
            path.push_str(&format!("/{part}"));
        }
        path.push_str(query);
        let verb = if verb == "deletecollection" { "delete" } else { verb };
        Endpoint { permission: format!("{service}/{name}.{verb}"), method, path }
    };
    verbs.map(make).collect()
}

async fn call(client: &Client, endpoint: &Endpoint, name: &str) -> Answer {
    let path = endpoint.path.replace("{}", name);
    let kind =
        if endpoint.method == Method::PATCH { "application/merge-patch+json" } else { "application/json" };
    let body = if endpoint.method == Method::GET { String::new() } else { json!({}).to_string() };
    client.send(endpoint.method.clone(), &path, kind, body).await.unwrap()
}

/// What anybody may do who has proved to be somebody.
fn is_for_everybody(permission: &str) -> bool {
    [
        "authentication.k8s.io/selfsubjectreviews.create",
        "authorization.k8s.io/selfsubjectaccessreviews.create",
        "authorization.k8s.io/selfsubjectrulesreviews.create",
        "groundplane.dev/accessexplanations.create",
        "groundplane.dev/search.list",
        "groundplane.dev/transactions.create",
    ]
    .contains(&permission)
}

async fn town() -> Town {
    let town = Town::of(&["vera", "vic"], &["--controllers", "none"]).await;
    let admin = &town.admin;
    for project in ["web", "shop"] {
        let wanted = json!({"metadata": {"name": project}});
        made(admin, &format!("{TENANCY}/projects"), &wanted).await;
        let plane = format!("{TENANCY}/projects/{project}/control-plane");
        for kind in ["configmaps", "secrets", "serviceaccounts"] {
            let path = format!("{plane}/api/v1/namespaces/default/{kind}");
            made(admin, &path, &json!({"metadata": {"name": PLANTED}})).await;
        }
    }
    made(admin, "/api/v1/namespaces/default/configmaps", &json!({"metadata": {"name": PLANTED}})).await;
    let bindings = format!("{IAM}/namespaces/milo-system/policybindings");
    for (who, project) in [("vera", "web"), ("vic", "shop")] {
        let on = on_object("resourcemanager.miloapis.com", "Project", project);
        made(admin, &bindings, &binding(who, "project-viewer", who, on)).await;
    }
    town
}

/// An answer about what is there reads as one about what is not.
async fn tells_nothing(client: &Client, endpoint: &Endpoint, code: u16) {
    let (planted, absent) = (call(client, endpoint, PLANTED).await, call(client, endpoint, ABSENT).await);
    assert_eq!((planted.code, absent.code), (code, code), "{endpoint:?}: {}", planted.text());
    assert_eq!(planted.text().replace(PLANTED, ABSENT), absent.text(), "{endpoint:?}");
}

#[tokio::test]
async fn nobody_is_refused_everywhere_and_a_project_is_not_there() {
    let town = town().await;
    let nobody = town.server.stranger();
    for endpoint in endpoints(&town.admin, "").await {
        tells_nothing(&nobody, &endpoint, 403).await;
    }
    for endpoint in endpoints(&town.admin, &format!("{TENANCY}/projects/web/control-plane")).await {
        tells_nothing(&nobody, &endpoint, 404).await;
    }
}

#[tokio::test]
async fn a_viewer_of_another_project_finds_no_project_here_and_nothing_in_the_root() {
    let town = town().await;
    let vic = town.person("vic");
    for endpoint in endpoints(&town.admin, &format!("{TENANCY}/projects/web/control-plane")).await {
        tells_nothing(&vic, &endpoint, 404).await;
    }
    for endpoint in endpoints(&town.admin, "").await {
        if is_for_everybody(&endpoint.permission) {
            continue;
        }
        let answer = call(&vic, &endpoint, ABSENT).await;
        // Of projects he sees his own: of the others not even that they are there.
        let of_projects = endpoint.permission.starts_with("resourcemanager.miloapis.com/projects");
        match of_projects {
            true => assert!([200, 403, 404].contains(&answer.code), "{endpoint:?}: {}", answer.text()),
            false => assert_eq!(answer.code, 403, "{endpoint:?}: {}", answer.text()),
        }
        assert!(!answer.text().contains("web"), "{endpoint:?}: {}", answer.text());
    }
}

#[tokio::test]
async fn a_viewer_may_do_what_the_role_says_and_nothing_else_at_every_endpoint() {
    let town = town().await;
    let vera = town.person("vera");
    let role =
        town.admin.get(&format!("{IAM}/namespaces/milo-system/roles/project-viewer")).await.unwrap().json();
    let effective = role["status"]["effectivePermissions"].as_array().unwrap();
    let granted: BTreeSet<&str> = effective.iter().filter_map(Value::as_str).collect();
    let (mut allowed, mut refused) = (0, 0);
    for endpoint in endpoints(&town.admin, &format!("{TENANCY}/projects/web/control-plane")).await {
        let may = granted.contains(endpoint.permission.as_str()) || is_for_everybody(&endpoint.permission);
        let answer = call(&vera, &endpoint, PLANTED).await;
        match may {
            true => allowed += 1,
            false => refused += 1,
        }
        assert_eq!(answer.code != 403, may, "{endpoint:?}: {}", answer.text());
        assert!(!answer.text().contains("shop"), "{endpoint:?}: {}", answer.text());
    }
    assert!(allowed > 50 && refused > 100, "{allowed} were allowed and {refused} refused");
    // Whoever asks what all may be done is told the same.
    let review = json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectRulesReview", "spec": {"namespace": "default"}});
    let path =
        format!("{TENANCY}/projects/web/control-plane/apis/authorization.k8s.io/v1/selfsubjectrulesreviews");
    let rules = vera.post(&path, &review).await.unwrap().json();
    let rules = rules["status"]["resourceRules"].as_array().unwrap().clone();
    let told = |group: &str, resource: &str, verb: &str| {
        let has = |rule: &Value, field: &str, what: &str| {
            rule[field].as_array().into_iter().flatten().any(|one| one == what || one == "*")
        };
        rules.iter().any(|rule| {
            has(rule, "apiGroups", group) && has(rule, "resources", resource) && has(rule, "verbs", verb)
        })
    };
    assert!(
        told("", "secrets", "list") && !told("", "secrets", "reveal") && !told("", "configmaps", "create")
    );
    let metrics = town.admin.get("/metrics").await.unwrap().text();
    for name in ["web", "shop", PLANTED, "vera"] {
        assert!(!metrics.contains(&format!("\"{name}\"")), "metrics tell of {name}");
    }
    assert_eq!(vera.get("/metrics").await.unwrap().code, 403);
}

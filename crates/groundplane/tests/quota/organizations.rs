//! Organizations have quota of what is in the root, such as projects.

use super::*;

const TENANCY: &str = "resourcemanager.miloapis.com/v1alpha1";
const OWNED: &str = "resourcemanager.miloapis.com/projects";

fn organization(name: &str) -> Value {
    object(TENANCY, "Organization", name, json!({"type": "Standard"}))
}

fn project_of(organization: &str, name: &str) -> Value {
    object(TENANCY, "Project", name, json!({"ownerRef": {"kind": "Organization", "name": organization}}))
}

/// Meters projects by the organization that owns them, and gives each new organization some.
async fn meter_projects(client: &Client, when_exceeded: &str) {
    let organizations = json!({"apiGroup": "resourcemanager.miloapis.com", "kind": "Organization"});
    let registration = json!({
        "consumerType": organizations, "type": "Entity", "resourceType": OWNED, "baseUnit": "project",
        "displayUnit": "project", "unitConversionFactor": 1,
        "claimingResources": [{"apiGroup": "resourcemanager.miloapis.com", "kind": "Project"}],
    });
    let registration = object(QUOTA, "ResourceRegistration", "projects", registration);
    make(client, &cluster(QUOTA, "resourceregistrations"), &registration).await;
    let consumer = json!({"apiGroup": "resourcemanager.miloapis.com", "kind": "Organization",
        "name": "{{ trigger.spec.ownerRef.name }}"});
    let policy = json!({
        "trigger": {"resource": {"apiVersion": TENANCY, "kind": "Project"}},
        "target": {"resourceClaimTemplate": {"spec": {
            "consumerRef": consumer, "requests": [{"resourceType": OWNED, "amount": 1}],
        }}},
        "whenExceeded": when_exceeded,
    });
    let policy = object(QUOTA, "ClaimCreationPolicy", "project", policy);
    make(client, &cluster(QUOTA, "claimcreationpolicies"), &policy).await;
    let default = json!({
        "trigger": {"resource": {"apiVersion": TENANCY, "kind": "Organization"}},
        "target": {"resourceGrantTemplate": {
            "spec": {"allowances": [{"resourceType": OWNED, "buckets": [{"amount": 2}]}]},
        }},
    });
    let default = object(QUOTA, "GrantCreationPolicy", "projects", default);
    make(client, &cluster(QUOTA, "grantcreationpolicies"), &default).await;
}

async fn bucket_of(client: &Client, organization: &str) -> Value {
    let buckets = namespaced(QUOTA, &format!("organization-{organization}"), "allowancebuckets");
    items(client, &buckets).await.into_iter().next().unwrap_or_default()
}

async fn granted(client: &Client, organization: &str) -> Vec<String> {
    let claims = namespaced(QUOTA, &format!("organization-{organization}"), "resourceclaims");
    let claims = items(client, &claims).await;
    let granted = claims.iter().filter(|claim| condition(claim, "Granted").starts_with("True"));
    granted.map(|claim| claim["spec"]["resourceRef"]["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn an_organization_has_as_many_projects_as_it_is_granted() {
    let (server, client) = server();
    meter_projects(&client, "Refuse").await;
    let organizations = cluster(TENANCY, "organizations");
    for name in ["acme", "other"] {
        make(&client, &organizations, &organization(name)).await;
    }
    let sums = async |organization: &str| {
        let status = bucket_of(&client, organization).await["status"].clone();
        ["limit", "allocated"].map(|field| status[field].as_i64().unwrap_or(-1))
    };
    assert_eq!(sums("acme").await, [2, 0], "with the commit that made it");
    for name in ["a", "b"] {
        make(&client, PROJECTS, &project_of("acme", name)).await;
    }
    assert_eq!((granted(&client, "acme").await, sums("acme").await), (vec!["a".into(), "b".into()], [2, 2]));
    let refused = client.post(PROJECTS, &project_of("acme", "c")).await.unwrap();
    assert_eq!(refused.code, 403, "{}", refused.text());
    assert_eq!(
        refused.json()["message"],
        "projects.resourcemanager.miloapis.com \"c\" is forbidden: exceeded quota: resourcemanager.miloapis.com/projects, \
         requested: projects=1, used: projects=2, limited: projects=2; an administrator can grant more with: groundplane \
         quota grant resourcemanager.miloapis.com/projects 1 --organization acme"
    );
    // Projects of others, and of no organization, are not concerned.
    make(&client, PROJECTS, &project_of("other", "o")).await;
    make_project(&client, "free").await;
    assert_eq!(sums("other").await, [2, 1]);

    let grant = ["quota", "grant", OWNED, "1", "--organization", "acme", "--name", "more"];
    let (code, out, told) = commands::run(&server, &grant);
    assert_eq!(
        (code, out.as_str()),
        (0, "Granted 1 of resourcemanager.miloapis.com/projects to organization acme (more).\n"),
        "{told}"
    );
    make(&client, PROJECTS, &project_of("acme", "c")).await;
    let shown = commands::run(&server, &["quota", "--organization", "acme"]).1;
    let row: Vec<&str> = shown.lines().last().unwrap().split_whitespace().take(6).collect();
    assert_eq!(row, [OWNED, "project", "3", "3", "0", "0"], "{shown}");
    let holders = commands::run(&server, &["quota", "explain", "projects", "--organization", "acme"]).1;
    let holders: Vec<&str> = holders.lines().filter_map(|line| line.split_whitespace().nth(1)).collect();
    assert_eq!(holders, ["HOLDER", "Project/a", "Project/b", "Project/c"]);
    // A project that goes releases what it took.
    assert_eq!(client.delete(&format!("{PROJECTS}/a")).await.unwrap().code, 200);
    until("it is released", || async { sums("acme").await == [3, 2] }).await;
    assert_eq!(granted(&client, "acme").await, ["b", "c"]);

    // An organization that goes leaves nothing for a later one of its name.
    for name in ["b", "c"] {
        assert_eq!(client.delete(&format!("{PROJECTS}/{name}")).await.unwrap().code, 200);
    }
    until("its projects are gone", || async { granted(&client, "acme").await.is_empty() }).await;
    assert_eq!(client.delete(&format!("{organizations}/acme")).await.unwrap().code, 200);
    until("its namespace is gone", || async {
        client.get("/api/v1/namespaces/organization-acme").await.unwrap().code == 404
    })
    .await;
    make(&client, &organizations, &organization("acme")).await;
    assert_eq!(sums("acme").await, [2, 0]);
}

#[tokio::test]
async fn claims_of_an_organization_wait_and_are_granted_in_order() {
    let (_server, client) = server();
    meter_projects(&client, "Wait").await;
    make(&client, &cluster(TENANCY, "organizations"), &organization("acme")).await;
    for name in ["p3", "p2", "p1", "p0"] {
        make(&client, PROJECTS, &project_of("acme", name)).await;
    }
    assert_eq!(granted(&client, "acme").await, ["p2", "p3"]);
    assert_eq!(bucket_of(&client, "acme").await["status"]["waitingCount"], 2);
    assert_eq!(client.delete(&format!("{PROJECTS}/p3")).await.unwrap().code, 200);
    until("the next one is granted", || async { granted(&client, "acme").await == ["p1", "p2"] }).await;
}

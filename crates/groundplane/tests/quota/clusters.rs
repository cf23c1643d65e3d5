//! Clusters of a project: made from a template of the root, metered by their hosts, and their credentials sealed.

use super::*;

const FULFILLMENT: &str = "fulfillment.groundplane.dev/v1alpha1";
const HOSTS: &str = "fulfillment.groundplane.dev/hosts";
const MARKER: &str = "planted-kubeconfig";

fn flat(kind: &str, name: &str, fields: &Value) -> Value {
    let mut object = json!({"apiVersion": FULFILLMENT, "kind": kind, "metadata": {"name": name}});
    object.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    object
}

fn cluster_of(name: &str, size: i64) -> Value {
    let spec = json!({"template": "small", "nodeSets": {"workers": {"size": size}}});
    object(FULFILLMENT, "Cluster", name, spec)
}

#[tokio::test]
async fn clusters_are_metered_by_their_hosts_and_hand_out_credentials_to_who_may() {
    let (_server, client) = server();
    make_project(&client, "acme").await;
    make(&client, &cluster(FULFILLMENT, "hostclasses"), &flat("HostClass", "gpu", &json!({}))).await;
    let sets = json!({"nodeSets": {"workers": {"hostClass": "gpu", "size": 2}}});
    make(&client, &cluster(FULFILLMENT, "clustertemplates"), &flat("ClusterTemplate", "small", &sets)).await;
    let registration = json!({
        "consumerType": {"apiGroup": "resourcemanager.miloapis.com", "kind": "Project"}, "type": "Allocation",
        "resourceType": HOSTS, "baseUnit": "host", "displayUnit": "host", "unitConversionFactor": 1,
        "claimingResources": [{"apiGroup": "fulfillment.groundplane.dev", "kind": "Cluster"}],
    });
    let registrations = cluster(QUOTA, "resourceregistrations");
    make(&client, &registrations, &object(QUOTA, "ResourceRegistration", "hosts", registration)).await;
    let policy = json!({
        "trigger": {"resource": {"apiVersion": FULFILLMENT, "kind": "Cluster"}},
        "target": {"resourceClaimTemplate": {"spec": {"requests": [
            {"resourceType": HOSTS, "amountExpression": "trigger.spec.nodeSets.workers.size"},
        ]}}},
        "whenExceeded": "Refuse",
    });
    let policies = cluster(QUOTA, "claimcreationpolicies");
    make(&client, &policies, &object(QUOTA, "ClaimCreationPolicy", "cluster", policy)).await;
    let allowance = json!({
        "consumerRef": {"apiGroup": "resourcemanager.miloapis.com", "kind": "Project", "name": "acme"},
        "allowances": [{"resourceType": HOSTS, "buckets": [{"amount": 4}]}],
    });
    make(&client, &grants(), &object(QUOTA, "ResourceGrant", "hosts", allowance)).await;

    let clusters = inside("acme", &cluster(FULFILLMENT, "clusters"));
    make(&client, &clusters, &cluster_of("one", 3)).await;
    let refused = client.post(&clusters, &cluster_of("two", 2)).await.unwrap();
    assert_eq!(refused.code, 403);
    assert!(refused.text().contains("exceeded quota"), "{}", refused.text());
    let one = format!("{clusters}/one");
    assert_eq!(
        client.merge(&one, &json!({"spec": {"nodeSets": {"workers": {"size": 4}}}})).await.unwrap().code,
        200
    );

    // What the template does not have is refused, and so is a change of what it was made from.
    let mut wrong = cluster_of("wrong", 1);
    wrong["spec"]["nodeSets"] = json!({"storage": {"size": 1}});
    let refused = client.post(&clusters, &wrong).await.unwrap();
    assert_eq!(refused.code, 422);
    assert!(refused.text().contains("it has 'workers'"), "{}", refused.text());
    assert_eq!(client.merge(&one, &json!({"spec": {"template": "other"}})).await.unwrap().code, 422);
    let blocked = client.delete(&cluster(FULFILLMENT, "clustertemplates/small")).await.unwrap();
    assert_eq!(blocked.code, 409, "{}", blocked.text());

    // The provisioner hands over a kubeconfig and a password; the project keeps them sealed.
    let status =
        json!({"status": {"state": "CLUSTER_STATE_READY", "kubeconfig": MARKER, "password": MARKER}});
    let ready = client.merge(&format!("{one}/status"), &status).await.unwrap();
    assert_eq!(ready.code, 200, "{}", ready.text());
    assert!(!ready.text().contains(MARKER), "{}", ready.text());
    let given = get(&client, &format!("{one}/credentials")).await["values"].clone();
    assert_eq!(given, json!({"status.kubeconfig": MARKER, "status.password": MARKER}));
    let eve = client.apart().with("impersonate-user", "eve");
    let refused = eve.get(&format!("{one}/credentials")).await.unwrap();
    assert!(matches!(refused.code, 403 | 404), "{}", refused.text());
    // A later write of the status that does not name them keeps them.
    let later = json!({"status": {"apiUrl": "https://api.one.example.com:6443"}});
    assert_eq!(client.merge(&format!("{one}/status"), &later).await.unwrap().code, 200);
    let secrets = inside("acme", "/api/v1/namespaces/groundplane-sealed/secrets/cluster.one");
    assert_eq!(client.get(&secrets).await.unwrap().code, 200);
    assert_eq!(
        client.get("/api/v1/namespaces/groundplane-sealed/secrets").await.unwrap().json()["items"],
        json!([])
    );

    assert_eq!(client.delete(&one).await.unwrap().code, 200);
    // The controller lets go of a cluster that has no hosts.
    let begun = std::time::Instant::now();
    while client.get(&secrets).await.unwrap().code != 404 {
        assert!(begun.elapsed() < std::time::Duration::from_secs(60), "the cluster does not go");
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    make(&client, &clusters, &cluster_of("two", 4)).await;
}

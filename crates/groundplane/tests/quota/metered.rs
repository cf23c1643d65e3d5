//! Metering of a kind of a user's own, and grants of new projects.

use super::*;

#[tokio::test]
async fn a_kind_of_ones_own_is_metered_by_declaring_it() {
    let (_server, client) = server();
    make_project(&client, "acme").await;
    define_widgets(&client, "acme").await;
    let before = make(&client, &widgets("acme"), &widget("before", 5)).await;
    meter_widgets(&client, "Refuse").await;
    let nothing = client.post(&widgets("acme"), &widget("a", 1)).await.unwrap();
    assert_eq!(nothing.code, 403, "without a grant the limit is 0: {}", nothing.text());
    make(&client, &grants(), &grant("acme", "acme", 10)).await;
    make(&client, &widgets("acme"), &widget("a", 4)).await;
    let claim = get(&client, &format!("{}/widget-a", claims("acme"))).await;
    assert_eq!(condition(&claim, "Granted"), "True:QuotaAvailable");
    assert_eq!(message(&claim, "Granted"), "All 1 resource requests have been granted");
    assert_eq!(claim["status"]["allocations"][0]["allocatedAmount"], 4);
    let status = bucket(&client, "acme").await["status"].clone();
    let sums =
        ["limit", "allocated", "available", "claimCount", "grantCount"].map(|field| status[field].as_i64());
    assert_eq!(sums, [10, 4, 6, 1, 1].map(Some));

    let refused = client.post(&widgets("acme"), &widget("b", 7)).await.unwrap();
    assert_eq!(refused.code, 403);
    assert_eq!(
        refused.json()["message"],
        "widgets.shop.example.com \"b\" is forbidden: exceeded quota: shop.example.com/widgets, requested: widgets=7, \
         used: widgets=4, limited: widgets=10; an administrator can grant more with: groundplane quota grant \
         shop.example.com/widgets 1 --project acme"
    );
    let path = format!("{}/a", widgets("acme"));
    let larger = client.merge(&path, &json!({"spec": {"size": 11}})).await.unwrap();
    assert_eq!(larger.code, 403, "a change claims too: {}", larger.text());
    assert_eq!(client.merge(&path, &json!({"spec": {"size": 10}})).await.unwrap().code, 200);
    assert_eq!(bucket(&client, "acme").await["status"]["allocated"], 10);
    let rehearsed = client.post(&format!("{}?dryRun=All", widgets("acme")), &widget("c", 1)).await.unwrap();
    assert_eq!(rehearsed.code, 403);

    // A claim is not given up while it pays for something.
    let claim = format!("{}/widget-a-2", claims("acme"));
    let kept = client.delete(&claim).await.unwrap();
    assert_eq!(kept.code, 409, "{}", kept.text());
    assert!(
        kept.text().contains("it pays for Widget a; delete that, and the claim goes with it"),
        "{}",
        kept.text()
    );
    let unowned = client.merge(&claim, &json!({"metadata": {"ownerReferences": null}})).await.unwrap();
    assert_eq!(unowned.code, 403, "{}", unowned.text());
    let forged = client.merge(&format!("{claim}/status"), &json!({"status": {"allocations": []}})).await;
    assert_eq!(forged.unwrap().json()["status"]["allocations"][0]["allocatedAmount"], 10);

    assert_eq!(client.delete(&path).await.unwrap().code, 200);
    assert_eq!(client.get(&claim).await.unwrap().code, 404);
    assert_eq!(bucket(&client, "acme").await["status"]["allocated"], 0);
    // What was there before the policy claims nothing, and releases nothing.
    let before = format!("{}/{}", widgets("acme"), before["metadata"]["name"].as_str().unwrap());
    assert_eq!(client.merge(&before, &json!({"spec": {"size": 6}})).await.unwrap().code, 200);
    assert_eq!(client.delete(&before).await.unwrap().code, 200);
    assert_eq!(bucket(&client, "acme").await["status"]["allocated"], 0);
}

#[tokio::test]
async fn a_new_project_has_its_grants_with_the_commit_that_makes_it_and_a_later_one_inherits_nothing() {
    let (_server, client) = server();
    meter_widgets(&client, "Refuse").await;
    let policy = json!({
        "trigger": {"resource": {"apiVersion": "resourcemanager.miloapis.com/v1alpha1", "kind": "Project"}},
        "target": {"resourceGrantTemplate": {
            "metadata": {"name": "{{ trigger.metadata.name }}-default-quota"},
            "spec": {"allowances": [{"resourceType": WIDGETS, "buckets": [{"amount": 3}]}]},
        }},
    });
    let policies = cluster(QUOTA, "grantcreationpolicies");
    make(&client, &policies, &object(QUOTA, "GrantCreationPolicy", "default-quota", policy)).await;
    let project = make_project(&client, "acme").await;
    let granted = get(&client, &format!("{}/acme-default-quota", grants())).await;
    assert_eq!(condition(&granted, "Active"), "True:GrantActive");
    let commit = |object: &Value| {
        object["metadata"]["resourceVersion"].as_str().unwrap().parse::<u64>().unwrap() >> 16
    };
    assert_eq!(commit(&granted), commit(&project), "one commit");
    assert_eq!(bucket(&client, "acme").await["status"]["limit"], 3);
    make(&client, &grants(), &grant("more", "acme", 4)).await;
    assert_eq!(bucket(&client, "acme").await["status"]["limit"], 7);
    define_widgets(&client, "acme").await;
    let used = make(&client, &widgets("acme"), &widget("a", 7)).await;
    let then = used["metadata"]["resourceVersion"].as_str().unwrap();
    let usage = format!("{}/-/usage?asOf={then}", claims("acme"));
    assert_eq!(get(&client, &usage).await["items"][0]["limit"], 7);

    assert_eq!(client.delete(&format!("{PROJECTS}/acme")).await.unwrap().code, 200);
    until("the project is gone", || async {
        client.get(&format!("{PROJECTS}/acme")).await.unwrap().code == 404
    })
    .await;
    assert_eq!(bucket(&client, "acme").await, Value::Null, "nothing of it is left");
    assert!(items(&client, &grants()).await.is_empty());
    make_project(&client, "acme").await;
    let status = bucket(&client, "acme").await["status"].clone();
    assert_eq!((&status["limit"], &status["allocated"]), (&json!(3), &json!(0)));
    let of_the_other = client.get(&usage).await.unwrap();
    assert_eq!(of_the_other.code, 410, "the past of the other one is not told: {}", of_the_other.text());
}

#[tokio::test]
async fn a_grant_that_is_lowered_below_what_is_used_stops_new_claims() {
    let (_server, client) = server();
    make_project(&client, "acme").await;
    define_widgets(&client, "acme").await;
    meter_widgets(&client, "Refuse").await;
    make(&client, &grants(), &grant("acme", "acme", 10)).await;
    make(&client, &widgets("acme"), &widget("a", 8)).await;
    assert_eq!(condition(&bucket(&client, "acme").await, "Overcommitted"), "False:WithinLimit");
    set_grant(&client, "acme", 5).await;
    let over = bucket(&client, "acme").await;
    assert_eq!(condition(&over, "Overcommitted"), "True:LimitLowered");
    assert_eq!((&over["status"]["available"], &over["status"]["allocated"]), (&json!(0), &json!(8)));
    assert_eq!(client.post(&widgets("acme"), &widget("b", 1)).await.unwrap().code, 403);
    let path = format!("{}/a", widgets("acme"));
    assert_eq!(
        client.merge(&path, &json!({"spec": {"size": 6}})).await.unwrap().code,
        200,
        "less is never refused"
    );
    assert_eq!(client.merge(&path, &json!({"spec": {"size": 7}})).await.unwrap().code, 403);
    assert_eq!(client.delete(&path).await.unwrap().code, 200);
    assert_eq!(condition(&bucket(&client, "acme").await, "Overcommitted"), "False:WithinLimit");
    // What was used is a number that can be asked as of a past time.
    let name = bucket(&client, "acme").await["metadata"]["name"].as_str().unwrap().to_owned();
    let path = format!("{}/{name}/history?diff=true", namespaced(QUOTA, "milo-system", "allowancebuckets"));
    let used: Vec<i64> = items(&client, &path)
        .await
        .iter()
        .flat_map(|revision| revision["diff"].as_array().unwrap().clone())
        .filter(|change| change["path"] == "status.allocated")
        .map(|change| change["after"].as_i64().unwrap())
        .collect();
    assert_eq!(used, [0, 6, 8, 0], "the newest first");
}

#[tokio::test]
async fn what_can_not_be_granted_or_claimed_is_refused_by_field() {
    let (_server, client) = server();
    make_project(&client, "acme").await;
    let unknown = client.post(&grants(), &grant("g", "acme", 1)).await.unwrap();
    assert_eq!(unknown.code, 422, "{}", unknown.text());
    assert!(
        unknown.text().contains("no ResourceRegistration has this type of resource"),
        "{}",
        unknown.text()
    );
    meter_widgets(&client, "Refuse").await;
    let again = json!({"consumerType": {"apiGroup": "a", "kind": "B"}, "type": "Entity", "resourceType": WIDGETS,
        "baseUnit": "u", "displayUnit": "u", "unitConversionFactor": 1, "claimingResources": [{"apiGroup": "a", "kind": "B"}]});
    let again = object(QUOTA, "ResourceRegistration", "again", again);
    let again = client.post(&cluster(QUOTA, "resourceregistrations"), &again).await.unwrap();
    assert_eq!(again.code, 409, "{}", again.text());
    let claim = |consumer: &str| {
        let consumer =
            json!({"apiGroup": "resourcemanager.miloapis.com", "kind": "Project", "name": consumer});
        object(
            QUOTA,
            "ResourceClaim",
            "c",
            json!({"consumerRef": consumer,
            "requests": [{"resourceType": WIDGETS, "amount": 1}],
            "resourceRef": {"apiGroup": "a", "kind": "B", "name": "b"}}),
        )
    };
    let of_another = client.post(&claims("acme"), &claim("other")).await.unwrap();
    assert_eq!(of_another.code, 422, "{}", of_another.text());
    // A claim for a resource without grants waits for its bucket.
    let waits = make(&client, &claims("acme"), &claim("acme")).await;
    assert_eq!(condition(&waits, "Granted"), "False:PendingEvaluation");
    assert_eq!(message(&waits, "Granted"), "Awaiting capacity evaluation");
    make(&client, &grants(), &grant("acme", "acme", 1)).await;
    let path = format!("{}/c", claims("acme"));
    until("the claim is granted", || async {
        condition(&get(&client, &path).await, "Granted") == "True:QuotaAvailable"
    })
    .await;
    assert_eq!(bucket(&client, "acme").await["status"]["allocated"], 1);
}

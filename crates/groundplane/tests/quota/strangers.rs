//! Two projects learn nothing of each other.

use super::*;

#[tokio::test]
async fn who_may_not_see_the_root_learns_only_its_own_numbers() {
    let (_server, client) = server();
    for project in ["acme", "other"] {
        make_project(&client, project).await;
        define_widgets(&client, project).await;
    }
    meter_widgets(&client, "Refuse").await;
    make(&client, &grants(), &grant("acme", "acme", 3)).await;
    make(&client, &grants(), &grant("other", "other", 50)).await;
    make(&client, &widgets("other"), &widget("secret", 42)).await;
    let binding = json!({"metadata": {"name": "eve"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"kind": "User", "name": "eve", "apiGroup": "rbac.authorization.k8s.io"}]});
    let bindings = inside("acme", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings");
    make(&client, &bindings, &binding).await;
    let eve =
        client.apart().with("impersonate-user", "eve").with("impersonate-group", "system:authenticated");

    make(&eve, &widgets("acme"), &widget("a", 2)).await;
    let refused = eve.post(&widgets("acme"), &widget("b", 2)).await.unwrap();
    assert_eq!(refused.code, 403);
    assert!(refused.text().contains("used: widgets=2, limited: widgets=3"), "its own: {}", refused.text());
    assert!(!refused.text().contains("42") && !refused.text().contains("other"), "{}", refused.text());
    // Nothing of the root half, neither lists nor names.
    let hash = bucket(&client, "other").await["metadata"]["name"].as_str().unwrap().to_owned();
    let buckets = namespaced(QUOTA, "milo-system", "allowancebuckets");
    let there = eve.get(&format!("{buckets}/{hash}")).await.unwrap();
    let missing = eve.get(&format!("{buckets}/bucket-none")).await.unwrap();
    assert_eq!((there.code, missing.code), (403, 403));
    assert_eq!(there.text().replace(&hash, "bucket-none"), missing.text());
    for path in
        [buckets, grants(), cluster(QUOTA, "resourceregistrations"), claims("other"), widgets("other")]
    {
        let answer = eve.get(&path).await.unwrap();
        assert!(matches!(answer.code, 403 | 404), "{path}: {}", answer.text());
        assert!(!answer.text().contains("secret"), "{path}");
    }
    // Another's project is answered like one that is not there.
    let theirs = eve.get(&inside("other", "/api/v1/namespaces")).await.unwrap();
    let nobodys = eve.get(&inside("nobody", "/api/v1/namespaces")).await.unwrap();
    assert_eq!((theirs.code, nobodys.code), (404, 404));
    assert_eq!(theirs.text().replace("other", "nobody"), nobodys.text());
    // Nor may it take from another's bucket, or raise its own.
    let consumer = json!({"apiGroup": "resourcemanager.miloapis.com", "kind": "Project", "name": "other"});
    let claim = object(
        QUOTA,
        "ResourceClaim",
        "c",
        json!({"consumerRef": consumer,
        "requests": [{"resourceType": WIDGETS, "amount": 1}], "resourceRef": {"apiGroup": "", "kind": "B", "name": "b"}}),
    );
    assert_eq!(eve.post(&claims("acme"), &claim).await.unwrap().code, 422);
    assert_eq!(eve.post(&grants(), &grant("mine", "acme", 1000)).await.unwrap().code, 403);
    let mut freed = get(&eve, &format!("{}/widget-a", claims("acme"))).await;
    freed["spec"]["requests"][0]["amount"] = 0.into();
    let freed = eve.put(&format!("{}/widget-a", claims("acme")), &freed).await.unwrap();
    assert_eq!(freed.code, 422, "{}", freed.text());
}

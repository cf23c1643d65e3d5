//! Claims that wait are granted in place, those that came first before others.

use super::*;

const EACH: i64 = 2;

#[tokio::test]
async fn claims_that_wait_are_granted_in_the_order_in_which_they_came() {
    let (_server, client) = server();
    make_project(&client, "acme").await;
    define_widgets(&client, "acme").await;
    meter_widgets(&client, "Wait").await;
    make(&client, &grants(), &grant("acme", "acme", EACH)).await;
    // Names are in another order than they come in.
    let names = ["m", "z", "a", "k", "c"];
    for name in names {
        make(&client, &widgets("acme"), &widget(name, EACH)).await;
    }
    assert_eq!(granted(&client).await, ["m"]);
    let waits = get(&client, &format!("{}/widget-z", claims("acme"))).await;
    assert_eq!(condition(&waits, "Granted"), "False:QuotaExceeded");
    assert_eq!(
        message(&waits, "Granted"),
        "Insufficient quota resources. Contact your account administrator to review quota limits and usage."
    );
    assert_eq!(
        waits["status"]["allocations"][0]["message"],
        "Resource quota exceeded: requested 2, available 0"
    );
    assert_eq!(waits["status"]["allocations"][0]["status"], "Pending");
    assert_eq!(bucket(&client, "acme").await["status"]["waitingCount"], 4);

    // The limit grows: as many as fit, the first first.
    set_grant(&client, "acme", 2 * EACH + 1).await;
    until_granted(&client, &["m", "z"]).await;
    // A smaller one that comes later does not overtake, though there is room for it.
    make(&client, &widgets("acme"), &widget("small", 1)).await;
    let small = get(&client, &format!("{}/widget-small", claims("acme"))).await;
    assert_eq!(condition(&small, "Granted"), "False:QuotaExceeded");
    assert_eq!(small["status"]["allocations"][0]["message"], "Waiting for claims that came first");
    // Another is released: the next one.
    assert_eq!(client.delete(&format!("{}/m", widgets("acme"))).await.unwrap().code, 200);
    until_granted(&client, &["a", "z"]).await;
    // One gives up waiting.
    assert_eq!(client.delete(&format!("{}/k", widgets("acme"))).await.unwrap().code, 200);
    set_grant(&client, "acme", 100).await;
    until_granted(&client, &["a", "c", "small", "z"]).await;
    let status = bucket(&client, "acme").await["status"].clone();
    assert_eq!((&status["allocated"], &status["waitingCount"]), (&json!(3 * EACH + 1), &json!(0)));
    let names: Vec<String> = ["m", "z", "a", "k", "c", "small"].map(|name| format!("widget-{name}")).into();
    replay::check(&client, "acme", &names).await;
}

async fn granted(client: &Client) -> Vec<String> {
    let claims = items(client, &claims("acme")).await;
    let granted = claims.iter().filter(|claim| condition(claim, "Granted").starts_with("True"));
    granted.map(|claim| claim["spec"]["resourceRef"]["name"].as_str().unwrap().to_owned()).collect()
}

async fn until_granted(client: &Client, names: &[&str]) {
    until("they are granted", || async { granted(client).await == names }).await;
}

//! Questions asked of a running server, in every form.

use testbed::server::Server;

const ROOT: &str = "/apis/inventory.miloapis.com/v1alpha1";

#[tokio::test]
async fn the_demo_fleet_answers_what_it_is_asked() {
    let server = Server::fresh(env!("CARGO_BIN_EXE_groundplane"), &["--demo"]).unwrap();
    let client = server.client();
    let ask = async |path: &str| {
        let answer = client.get(&format!("{ROOT}/{path}")).await.unwrap();
        assert_eq!(answer.code, 200, "{path}: {}", answer.text());
        answer
    };
    let rack = ask("racks/fra1-a01/elevation").await.json();
    assert_eq!((rack["kind"].as_str(), rack["heightU"].as_i64()), (Some("RackElevation"), Some(42)));
    assert!(ask("racks/fra1-a01/elevation?output=text").await.text().contains("fra1-a01-leaf1 (Leaf)"));
    let row = ask("racks/-/elevation?site=fra1&row=A&output=svg").await;
    assert_eq!(row.headers["content-type"], "image/svg+xml");
    assert_eq!(
        row.text().matches("class=\"title\"").count(),
        4,
        "three racks of hosts and that of the network"
    );
    assert!(ask("ports/fra1-a01-node01-eth0/trace?output=text").await.text().contains("fra1-a01-leaf1"));
    let impact = ask("networkdevices/fra1-a01-pdu-a/impact").await.json();
    assert_eq!(impact["losesPowerRedundancy"].as_array().unwrap().len(), 8, "{impact}");
    let space = ask("racks/-/find-space?units=2&watts=500&ports=1&count=2&spread=rack").await.json();
    assert_eq!(space["places"].as_array().unwrap().len(), 2, "{space}");
    assert!(ask("regions/-/summary?output=text").await.text().starts_with("Totals\nKIND"));
    assert!(ask("regions/-/tree?output=text").await.text().contains("    fra1-a01-node01\n"));
    let none = client.get(&format!("{ROOT}/racks/nowhere/elevation")).await.unwrap();
    assert_eq!(none.code, 404, "{}", none.text());
    let silly = client.get(&format!("{ROOT}/racks/-/find-space?units=many")).await.unwrap();
    assert_eq!(silly.code, 400, "{}", silly.text());
    let posted =
        client.post(&format!("{ROOT}/racks/fra1-a01/elevation"), &serde_json::json!({})).await.unwrap();
    assert_eq!(posted.code, 405, "{}", posted.text());
}

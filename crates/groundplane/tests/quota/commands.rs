//! The commands: quota, access, services and locations.

use std::process::Command;

use super::*;

/// Runs a command as the administrator; its exit code, stdout and stderr.
pub fn run(server: &Server, words: &[&str]) -> (i32, String, String) {
    let output =
        Command::new(GROUNDPLANE).args(words).env("KUBECONFIG", server.kubeconfig()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

#[tokio::test]
async fn quota_is_shown_granted_and_explained() {
    let (server, client) = server();
    make_project(&client, "acme").await;
    define_widgets(&client, "acme").await;
    meter_widgets(&client, "Wait").await;
    let none = run(&server, &["quota", "--project", "acme"]);
    assert_eq!((none.0, none.1.as_str()), (0, "No quota configured for this project.\n"), "{}", none.2);
    let granted = run(&server, &["quota", "grant", WIDGETS, "4", "--project", "acme", "--name", "first"]);
    assert_eq!(
        granted.1, "Granted 4 of shop.example.com/widgets to project acme (first).\n",
        "{}",
        granted.2
    );
    let mut large = widget("large", 3);
    large["metadata"]["labels"] = json!({"topology.datum.net/city-code": "DFW"});
    make(&client, &widgets("acme"), &large).await;
    make(&client, &widgets("acme"), &widget("small", 1)).await;
    let mut waits = widget("waits", 2);
    waits["metadata"]["labels"] = json!({"topology.datum.net/city-code": "IAD"});
    let before = make(&client, &widgets("acme"), &waits).await;
    let shown = run(&server, &["quota", "--project", "acme"]).1;
    let wanted = "\
Quota for project acme

RESOURCE                   UNIT   LIMIT   USED   AVAILABLE   WAITING   USAGE
shop.example.com/widgets   unit   4       4      0           1         [####################] 100%

CITY             RESOURCE                   IN USE   WAITING
DFW [at limit]   shop.example.com/widgets   3        0
IAD [at limit]   shop.example.com/widgets   0        1
";
    assert_eq!(shown, wanted);
    let json: Value =
        serde_json::from_str(&run(&server, &["quota", "--project", "acme", "-o", "json"]).1).unwrap();
    let row = &json["items"][0];
    let numbers = ["used", "limit", "available", "waiting", "waitingAmount"].map(|field| row[field].as_i64());
    assert_eq!(numbers, [4, 4, 0, 1, 2].map(Some));
    let explained = run(&server, &["quota", "explain", "widgets", "--project", "acme"]).1;
    let holders: Vec<Vec<&str>> =
        explained.lines().map(|line| line.split_whitespace().take(4).collect()).collect();
    assert_eq!(
        holders[1..],
        [
            vec!["3", "Widget/large", "widget-large", "granted"],
            vec!["1", "Widget/small", "widget-small", "granted"],
            vec!["2", "Widget/waits", "widget-waits", "waiting"],
        ]
    );
    assert_eq!(run(&server, &["quota", "grant", WIDGETS, "10", "--project", "acme"]).0, 0);
    until("there is room again", || async {
        run(&server, &["quota", "--project", "acme", "--constrained"]).1
            == "No resource types are at their limit.\n"
    })
    .await;
    assert_eq!(run(&server, &["quota"]).0, 2, "a project has to be named");
    // What was used, and the limit of then.
    let then = before["metadata"]["resourceVersion"].as_str().unwrap();
    assert_eq!(run(&server, &["quota", "--project", "acme", "--as-of", then]).1, wanted);
}

#[tokio::test]
async fn access_is_asked_for_and_waited_for() {
    let (server, client) = server();
    for project in ["acme", "provider"] {
        make_project(&client, project).await;
    }
    let access = ["access", "shop", "--project", "acme"];
    assert_eq!(run(&server, &access).0, 1, "there is no such service");
    let spec = json!({"serviceName": "shop.example.com", "phase": "Published", "displayName": "Shop",
        "description": "Widgets of all sizes", "owner": {"producerProjectRef": {"name": "provider"}},
        "enablementPolicy": {"mode": "GatedByProvider"}});
    make(&client, &cluster(SERVICES, "services"), &object(SERVICES, "Service", "shop", spec)).await;
    let (code, shown, _) = run(&server, &access);
    assert_eq!(
        (code, shown.as_str()),
        (
            0,
            "Service:  Shop (shop.example.com)\n          Widgets of all sizes\nProject:  acme\nStatus:   Not requested\n"
        )
    );
    let request = ["access", "request", "shop", "--project", "acme", "--message", "Team trial"];
    for turn in ["first", "second"] {
        let (code, out, told) = run(&server, &request);
        assert_eq!((code, out.as_str()), (12, ""), "{turn}: {told}");
        assert!(told.contains("Status:  Pending approval — Awaiting provider approval"), "{turn}: {told}");
        assert!(
            told.contains("Wait for activation:   groundplane access request shop --project acme --wait"),
            "{told}"
        );
    }
    assert!(run(&server, &["services", "list", "--project", "acme"]).1.contains("Pending approval"));
    let consumer = inside("provider", &format!("{}/shop-acme", cluster(SERVICES, "serviceconsumers")));
    let decide = |decision: &str| json!({"spec": {"approval": {"decision": decision, "message": "Not now"}}});
    assert_eq!(client.merge(&consumer, &decide("Denied")).await.unwrap().code, 200);
    until("it is denied", || async { run(&server, &request).0 == 11 }).await;
    let (_, _, told) = run(&server, &request);
    assert!(told.contains("Error: Shop access for project \"acme\" was denied.\n  Not now\n"), "{told}");
    // Asked again, and waited for while the provider decides.
    let waiting = std::thread::spawn({
        let kubeconfig = server.kubeconfig().to_owned();
        move || {
            let words =
                ["access", "request", "shop", "--project", "acme", "--renew", "--wait", "--timeout", "2m"];
            Command::new(GROUNDPLANE).args(words).env("KUBECONFIG", kubeconfig).output().unwrap()
        }
    });
    until("the provider approves", || async {
        let found = client.get(&consumer).await.unwrap();
        let is_new = found.code == 200 && found.json()["spec"].get("approval").is_none();
        is_new && client.merge(&consumer, &decide("Approved")).await.unwrap().code == 200
    })
    .await;
    let output = waiting.join().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(told.contains("Shop is now enabled for project \"acme\"."), "{told}");
    let json: Value = serde_json::from_str(
        &run(&server, &["services", "describe", "shop", "--project", "acme", "-o", "json"]).1,
    )
    .unwrap();
    assert_eq!(json["state"], "Active");
    let (code, shown, _) = run(&server, &["locations", "--project", "acme"]);
    assert_eq!(
        (code, shown.as_str()),
        (0, "No location is available to project acme. See: groundplane access --project acme\n")
    );
}

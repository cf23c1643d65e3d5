//! Questions are answered with the sight of whoever asks: what they may not read is neither named nor counted, and the answer
//! says that it is incomplete.

use std::process::Command;

use serde_json::{Value, json};
use testbed::server::{Client, Server};

use super::GROUNDPLANE;
use super::iam::{IAM, Town, binding, made, on_kind, on_object};

const INVENTORY: &str = "/apis/inventory.miloapis.com/v1alpha1";
const GROUP: &str = "inventory.miloapis.com";
const VIEWER: &str = "inventory.miloapis.com-viewer";
const BINDINGS: &str = "/apis/iam.miloapis.com/v1alpha1/namespaces/milo-system/policybindings";

/// A demo fleet, of which Ann may read one region, its site and one of its racks, and all ports.
async fn town() -> Town {
    let town = Town::of(&["ann"], &["--demo"]).await;
    for (kind, name) in [("Region", "eu-central"), ("Site", "fra1"), ("Rack", "fra1-a01")] {
        let one = on_object(GROUP, kind, name);
        made(&town.admin, BINDINGS, &binding(&format!("ann-{name}"), VIEWER, "ann", one)).await;
    }
    made(&town.admin, BINDINGS, &binding("ann-ports", VIEWER, "ann", on_kind(GROUP, "Port"))).await;
    town
}

async fn json(client: &Client, path: &str) -> Value {
    let answer = client.get(&format!("{INVENTORY}/{path}")).await.unwrap();
    assert_eq!(answer.code, 200, "{path}: {}", answer.text());
    answer.json()
}

async fn text(client: &Client, path: &str) -> String {
    let answer = client.get(&format!("{INVENTORY}/{path}")).await.unwrap();
    assert_eq!(answer.code, 200, "{path}: {}", answer.text());
    answer.text()
}

#[tokio::test]
async fn whoever_may_read_one_region_is_told_of_nothing_else() {
    let town = town().await;
    let ann = town.person("ann");

    let tree = json(&ann, "regions/eu-central/tree").await;
    assert_eq!(tree["incomplete"], true, "{tree}");
    let fra1 = json!([{"site": "fra1", "racks": ["fra1-a01"], "nodes": []}]);
    assert_eq!(tree["regions"], json!([{"region": "eu-central", "clusters": [], "sites": fra1}]));

    let summary = json(&ann, "regions/eu-central/summary").await;
    assert_eq!(summary["incomplete"], true, "{summary}");
    let ports = town.admin.get(&format!("{INVENTORY}/ports?limit=1")).await.unwrap().json();
    let ports = ports["metadata"]["remainingItemCount"].as_u64().unwrap() + 1;
    for total in summary["totals"].as_array().unwrap() {
        let expected = match total[0].as_str().unwrap() {
            "regions" | "sites" | "racks" => 1,
            "ports" => ports,
            _ => 0,
        };
        assert_eq!(total[1], expected, "{total}");
    }
    assert_eq!(summary["regions"], json!([["eu-central", 1, 0]]));
    assert_eq!(summary["providers"], json!([]), "nor the name of who runs the site");

    let rack = json(&ann, "racks/fra1-a01/elevation").await;
    assert_eq!((&rack["devices"], &rack["incomplete"]), (&json!([]), &json!(true)), "{rack}");
    let drawing = text(&ann, "racks/fra1-a01/elevation?output=svg").await;
    assert!(drawing.contains(">Incomplete: ") && drawing.trim_end().ends_with("</svg>"), "{drawing}");
    let space = text(&ann, "racks/fra1-a01/find-space?units=30&output=text").await;
    assert!(space.starts_with("Incomplete: ") && space.contains("as far as you may read"), "{space}");

    let impact = text(&ann, "racks/fra1-a01/impact?output=text").await;
    assert!(impact.starts_with("Incomplete: "), "{impact}");
    assert!(impact.contains("No effect on anything else is visible with your permissions."), "{impact}");
    assert!(!impact.contains("Nothing else loses"), "{impact}");

    let trace = json(&ann, "ports/fra1-a01-node01-eth0/trace").await;
    assert_eq!(trace["incomplete"], true, "{trace}");
    assert_eq!(
        trace["way"],
        json!({"label": "eth0", "port": "fra1-a01-node01-eth0"}),
        "the cable and the node are hidden"
    );
    let trace = text(&ann, "ports/fra1-a01-node01-eth0/trace?output=text").await;
    assert!(trace.contains("No connection is visible") && !trace.contains("Not connected"), "{trace}");

    let found =
        ann.get("/apis/groundplane.dev/v1alpha1/search?q=fra1&resource=sites,racks,nodes").await.unwrap();
    let found = found.json();
    let names: Vec<&str> =
        found["items"].as_array().unwrap().iter().filter_map(|item| item["name"].as_str()).collect();
    assert_eq!((names, &found["incomplete"]), (vec!["fra1", "fra1-a01"], &json!(true)), "{found}");

    for path in [
        "regions/eu-central/tree",
        "regions/eu-central/summary",
        "racks/fra1-a01/elevation",
        "racks/fra1-a01/find-space",
        "racks/fra1-a01/impact",
        "racks/fra1-a01/impact?feed=A",
    ] {
        let join = if path.contains('?') { '&' } else { '?' };
        for form in ["json", "text"] {
            let told = text(&ann, &format!("{path}{join}output={form}")).await;
            for hidden in
                ["ams1", "eu-west", "equinix", "fra1-a02", "-node0", "-leaf", "-pdu", "-spine", "-compute"]
            {
                assert!(!told.contains(hidden), "{path} tells of {hidden}: {told}");
            }
        }
    }
}

#[tokio::test]
async fn a_question_about_what_may_not_be_read_is_answered_as_reading_it() {
    let town = town().await;
    let ann = town.person("ann");
    let asking = json!({"launchStage": "Alpha", "includedPermissions": [
        "inventory.miloapis.com/racks/elevation.get", "inventory.miloapis.com/nodes/impact.get",
    ]});
    let roles = format!("{IAM}/namespaces/milo-system/roles");
    made(&town.admin, &roles, &json!({"metadata": {"name": "asking"}, "spec": asking})).await;
    for kind in ["Rack", "Node"] {
        let all = on_kind(GROUP, kind);
        made(
            &town.admin,
            BINDINGS,
            &binding(&format!("ann-asks-{kind}").to_lowercase(), "asking", "ann", all),
        )
        .await;
    }
    for (there, absent) in [("racks/fra1-a02", "racks/nowhere"), ("nodes/fra1-a01-node01", "nodes/nowhere")] {
        let question = if there.starts_with("racks") { "elevation" } else { "impact" };
        for path in [there, absent] {
            let read = ann.get(&format!("{INVENTORY}/{path}")).await.unwrap();
            let asked = ann.get(&format!("{INVENTORY}/{path}/{question}")).await.unwrap();
            assert_eq!((asked.code, asked.text()), (read.code, read.text()), "{path}");
            assert!(matches!(asked.code, 403 | 404), "{path}: {}", asked.text());
        }
    }
    // She may read one rack, and ask about all: of the others she hears nothing.
    let row = json(&ann, "racks/-/elevation?site=fra1").await;
    let racks: Vec<&Value> = row["racks"].as_array().unwrap().iter().map(|rack| &rack["rack"]).collect();
    assert_eq!((racks, &row["incomplete"]), (vec![&json!("fra1-a01")], &json!(true)));
    for name in ["fra1-a02", "nowhere"] {
        let refused = ann.get(&format!("{INVENTORY}/racks/-/elevation?names={name}")).await.unwrap();
        assert_eq!(refused.code, 400, "{}", refused.text());
        assert!(refused.text().contains("not found"), "{}", refused.text());
    }
}

#[tokio::test]
async fn whoever_may_read_everything_is_told_everything() {
    let town = Town::of(&["ann"], &["--demo"]).await;
    let ann = town.person("ann");
    for kind in [
        "Provider",
        "Region",
        "Site",
        "Rack",
        "Cluster",
        "Node",
        "NetworkDevice",
        "VirtualMachine",
        "Port",
        "Cable",
        "Link",
        "Circuit",
    ] {
        let all = on_kind(GROUP, kind);
        made(&town.admin, BINDINGS, &binding(&format!("ann-{}", kind.to_lowercase()), VIEWER, "ann", all))
            .await;
    }
    for path in [
        "regions/-/tree",
        "regions/eu-central/tree",
        "regions/-/summary",
        "racks/fra1-a01/elevation",
        "racks/-/find-space?ports=1",
        "networkdevices/fra1-spine1/impact",
        "ports/fra1-a01-node01-eth0/trace",
    ] {
        let (hers, whole) = (json(&ann, path).await, json(&town.admin, path).await);
        assert_eq!(hers, whole, "{path}");
        assert_eq!(hers.get("incomplete"), None, "{path}: {hers}");
    }
    let search = "/apis/groundplane.dev/v1alpha1/search?q=fra1";
    let found = ann.get(&format!("{search}&resource=racks.{GROUP}")).await.unwrap().json();
    assert_eq!(found.get("incomplete"), None, "{found}");
    let found = ann.get(search).await.unwrap().json();
    assert_eq!(found["incomplete"], true, "there are kinds that she may not read: {found}");
    // One answer is cached for whoever asks next, who may see less.
    assert_eq!(town.admin.delete(&format!("{BINDINGS}/ann-node")).await.unwrap().code, 200);
    let path = "racks/-/find-space?site=fra1&units=20&count=50";
    let (hers, whole) = (json(&ann, path).await, json(&town.admin, path).await);
    assert_eq!((&hers["incomplete"], whole.get("incomplete")), (&json!(true), None));
    assert_ne!(hers["places"], whole["places"], "the nodes that take the space are hidden");
}

#[tokio::test]
async fn the_commands_say_that_an_answer_is_incomplete() {
    let server = Server::fresh(GROUNDPLANE, &["--demo"]).unwrap();
    let admin = server.client();
    let rule = |resources: &[&str], names: &[&str]| json!({"verbs": ["get", "list"], "apiGroups": [GROUP], "resources": resources, "resourceNames": names});
    let questions = ["racks/elevation", "racks/find-space", "racks/impact", "racks/referrers", "ports/trace"];
    let role = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "ben"},
        "rules": [rule(&questions, &[]), rule(&["racks", "sites"], &[]), rule(&["ports"], &["fra1-a01-node01-eth0"])],
    });
    let bound = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "ben"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "ben"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "ben"}],
    });
    let rbac = "/apis/rbac.authorization.k8s.io/v1";
    assert_eq!(admin.post(&format!("{rbac}/clusterroles"), &role).await.unwrap().code, 201);
    assert_eq!(admin.post(&format!("{rbac}/clusterrolebindings"), &bound).await.unwrap().code, 201);
    let run = |arguments: &[&str], is_ben: bool| {
        let mut command = Command::new(GROUNDPLANE);
        command.args(arguments).arg("--kubeconfig").arg(server.kubeconfig());
        if is_ben {
            command.args(["--as", "ben"]);
        }
        let done = command.output().unwrap();
        let (out, err) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
        assert!(done.status.success(), "{arguments:?}: {out}{err}");
        format!("{out}{err}")
    };
    for arguments in [
        &["inventory", "rack", "show", "fra1-a01"][..],
        &["inventory", "find-space", "--units", "2"],
        &["inventory", "find-space", "--units", "2", "-o", "name"],
        &["inventory", "impact", "rack/fra1-a01"],
        &["inventory", "impact", "rack/fra1-a01", "-o", "name"],
        &["inventory", "impact", "rack/fra1-a01", "-o", "yaml"],
        &["inventory", "trace", "fra1-a01-node01-eth0"],
        &["inventory", "trace", "fra1-a01-node01-eth0", "-o", "json"],
        &["referrers", "rack", "fra1-a01"],
        &["search", "fra1-a01"],
    ] {
        let (hers, whole) = (run(arguments, true), run(arguments, false));
        assert!(hers.to_lowercase().contains("incomplete"), "{arguments:?}: {hers}");
        assert!(!hers.contains("fra1-a01-leaf1"), "{arguments:?}: {hers}");
        assert!(!whole.to_lowercase().contains("incomplete"), "{arguments:?}: {whole}");
    }
    let refers = run(&["referrers", "rack", "fra1-a01"], true);
    assert!(refers.contains("no object that you may read refers to"), "{refers}");
}

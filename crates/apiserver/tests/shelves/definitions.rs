//! CustomResourceDefinitions on several servers: names are given once.

use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::objects::found;
use super::server::{Pair, until};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const PAIRS: usize = 24;

fn definition(plural: &str, kind: &str) -> Value {
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.example.com")},
        "spec": {"group": "example.com", "scope": "Namespaced", "names": {"plural": plural, "kind": kind},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object"}}}]}})
}

fn accepted(definition: &Value) -> Option<bool> {
    let conditions = definition["status"]["conditions"].as_array()?;
    let named = conditions.iter().find(|condition| condition["type"] == "NamesAccepted")?;
    Some(named["status"] == "True")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_definitions_with_one_kind_that_two_servers_see_at_once_one_gets_the_name() {
    let Some(pair) = Pair::on_etcd().await else { return };
    let mut making = JoinSet::new();
    for number in 0..PAIRS {
        for (server, prefix) in pair.servers.iter().zip(["a", "b"]) {
            let client = server.client();
            let definition = definition(&format!("{prefix}{number}s"), &format!("Kind{number}"));
            making.spawn(async move { client.post(DEFINITIONS, &definition).await.unwrap().code });
        }
    }
    assert!(making.join_all().await.into_iter().all(|code| code == 201));
    let client = pair.servers[0].client();
    for number in 0..PAIRS {
        let both = || async {
            let mut accepted_names = Vec::new();
            for prefix in ["a", "b"] {
                let path = format!("{DEFINITIONS}/{prefix}{number}s.example.com");
                accepted_names.push(found(&client, &path).await.as_ref().and_then(accepted));
            }
            accepted_names
        };
        until("both are decided", || async { both().await.iter().all(Option::is_some) }).await;
        let given = both().await.into_iter().flatten().filter(|accepted| *accepted).count();
        assert_eq!(given, 1, "Kind{number} was given {given} times");
    }
}

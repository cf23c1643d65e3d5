//! Selectors: what the server finds through its indexes is what a plain look at every object finds, whole and in pages,
//! also after labels have changed and after a restart.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

use std::time::Duration;

use serde_json::{Value, json};
use testbed::server::{Client, Server};

const GROUNDPLANE: &str = env!("CARGO_BIN_EXE_groundplane");
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const CRATES: &str = "/apis/selecting.example.com/v1/namespaces/default/crates";
const COUNT: usize = 90;

/// A selector as a client writes it, and what it means.
struct Case {
    labels: &'static str,
    fields: &'static str,
    means: fn(&Value) -> bool,
}

fn label<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    object["metadata"]["labels"][key].as_str()
}

fn color(object: &Value) -> &str {
    object["spec"]["color"].as_str().unwrap_or_default()
}

const CASES: [Case; 14] = [
    Case { labels: "tier=a", fields: "", means: |object| label(object, "tier") == Some("a") },
    Case { labels: "tier=", fields: "", means: |object| label(object, "tier") == Some("") },
    Case { labels: "tier", fields: "", means: |object| label(object, "tier").is_some() },
    Case { labels: "!tier", fields: "", means: |object| label(object, "tier").is_none() },
    Case { labels: "tier!=a", fields: "", means: |object| label(object, "tier") != Some("a") },
    Case {
        labels: "tier in (a,b)",
        fields: "",
        means: |object| matches!(label(object, "tier"), Some("a" | "b")),
    },
    Case {
        labels: "tier notin (a,b)",
        fields: "",
        means: |object| !matches!(label(object, "tier"), Some("a" | "b")),
    },
    // One label's name begins with another's.
    Case { labels: "tier2", fields: "", means: |object| label(object, "tier2").is_some() },
    Case {
        labels: "tier,tier2 in (x,y)",
        fields: "",
        means: |object| label(object, "tier").is_some() && label(object, "tier2").is_some(),
    },
    Case { labels: "", fields: "spec.color=red", means: |object| color(object) == "red" },
    Case { labels: "", fields: "spec.color!=red", means: |object| color(object) != "red" },
    Case { labels: "", fields: "spec.color=", means: |object| color(object).is_empty() },
    Case {
        labels: "tier=a",
        fields: "spec.color=red",
        means: |object| label(object, "tier") == Some("a") && color(object) == "red",
    },
    Case {
        labels: "tier in (a,b),!tier2",
        fields: "spec.color!=blue",
        means: |object| {
            let tier = matches!(label(object, "tier"), Some("a" | "b"));
            tier && label(object, "tier2").is_none() && color(object) != "blue"
        },
    },
];

#[tokio::test]
async fn an_index_finds_what_a_plain_look_finds() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = Server::start(GROUNDPLANE, &data, &[]).unwrap();
    let client = server.client();
    assert_eq!(client.post(DEFINITIONS, &definition()).await.unwrap().code, 201);
    while client.get(CRATES).await.unwrap().code != 200 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    for number in 0..COUNT {
        let made = client.post(CRATES, &a_crate(number)).await.unwrap();
        assert_eq!(made.code, 201, "{}", made.text());
    }
    finds_all(&client).await;

    // Every third is labelled anew, some lose a label, some their color, some go.
    for number in (0..COUNT).step_by(3) {
        let path = format!("{CRATES}/{}", name(number));
        let changed = match number % 4 {
            0 => client.merge(&path, &json!({"metadata": {"labels": {"tier": "b"}}})).await,
            1 => client.merge(&path, &json!({"metadata": {"labels": {"tier": null}}})).await,
            2 => client.merge(&path, &json!({"spec": {"color": null}})).await,
            _ => client.delete(&path).await,
        };
        assert_eq!(changed.unwrap().code, 200);
    }
    finds_all(&client).await;

    server.stop().unwrap();
    let server = Server::start(GROUNDPLANE, &data, &[]).unwrap();
    finds_all(&server.client()).await;
}

async fn finds_all(client: &Client) {
    let all = client.get(CRATES).await.unwrap().json();
    let all = all["items"].as_array().unwrap();
    assert!(all.len() > COUNT / 2);
    for case in &CASES {
        let expected: Vec<&str> = all.iter().filter(|object| (case.means)(object)).map(name_of).collect();
        let query = format!("labelSelector={}&fieldSelector={}", escaped(case.labels), escaped(case.fields));
        for limit in [0, 1, 7, COUNT] {
            let found = listed(client, &query, limit).await;
            assert_eq!(found, expected, "{query} by {limit}");
        }
    }
}

/// The names of a list that is asked for in pages.
async fn listed(client: &Client, query: &str, limit: usize) -> Vec<String> {
    let (mut names, mut rest) = (Vec::new(), String::new());
    loop {
        let path = format!("{CRATES}?{query}&limit={limit}&continue={rest}");
        let page = client.get(&path).await.unwrap().json();
        let items = page["items"].as_array().unwrap_or_else(|| panic!("{path}: {page}"));
        assert!(limit == 0 || items.len() <= limit);
        names.extend(items.iter().map(|object| name_of(object).to_owned()));
        match page["metadata"]["continue"].as_str().filter(|token| !token.is_empty()) {
            Some(token) => rest = token.to_owned(),
            None => return names,
        }
    }
}

fn name_of(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap()
}

fn name(number: usize) -> String {
    format!("crate-{number:03}")
}

fn a_crate(number: usize) -> Value {
    let mut labels = json!({});
    if let Some(tier) = [Some("a"), Some("b"), Some("c"), Some(""), None][number % 5] {
        labels["tier"] = tier.into();
    }
    if number % 4 == 1 {
        labels["tier2"] = ["x", "y"][number % 2].into();
    }
    let spec = match ["red", "blue", ""][number % 3] {
        "" => json!({}),
        color => json!({ "color": color }),
    };
    json!({
        "apiVersion": "selecting.example.com/v1", "kind": "Crate",
        "metadata": {"name": name(number), "labels": labels}, "spec": spec,
    })
}

fn definition() -> Value {
    let schema = json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {"color": {"type": "string"}}},
    }});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "crates.selecting.example.com"},
        "spec": {
            "group": "selecting.example.com", "scope": "Namespaced",
            "names": {"plural": "crates", "singular": "crate", "kind": "Crate", "listKind": "CrateList"},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "selectableFields": [{"jsonPath": ".spec.color"}],
                "schema": {"openAPIV3Schema": schema},
            }],
        },
    })
}

fn escaped(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

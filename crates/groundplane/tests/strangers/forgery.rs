//! Requests that a tenant has the server make.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

use super::{City, created, definition};

/// A service that only the server should reach: it counts who comes and tells them something.
async fn inside() -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let count: Arc<AtomicUsize> = Arc::default();
    let counted = count.clone();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::Relaxed);
            let _ = stream.write_all(b"HTTP/1.1 500 no\r\nContent-Length: 13\r\n\r\nmetadata-key!").await;
        }
    });
    (port, count)
}

fn two_versions(plural: &str, url: &str) -> Value {
    let mut definition = definition(plural, json!({"type": "object"}));
    let mut other = definition["spec"]["versions"][0].clone();
    (other["name"], other["storage"]) = (json!("v2"), json!(false));
    definition["spec"]["versions"].as_array_mut().unwrap().push(other);
    definition["spec"]["conversion"] = json!({
        "strategy": "Webhook",
        "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": {"url": url}},
    });
    definition
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_project_does_not_make_the_server_call_inside() {
    let city = City::of(&["eve"], &["--controllers", "none"]).await;
    let plane = city.project("web", "eve").await;
    let eve = city.person("eve");
    let (open, count) = inside().await;
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let mut told = Vec::new();
    for (plural, url) in [
        ("opens", format!("https://127.0.0.1:{open}/")),
        ("shuts", format!("https://127.0.0.1:{closed}/")),
        ("names", format!("https://localhost:{open}/")),
        ("metas", "https://169.254.169.254/latest/meta-data".to_owned()),
        ("mapss", format!("https://[::ffff:127.0.0.1]:{open}/")),
    ] {
        let definitions = format!("{plane}/apis/apiextensions.k8s.io/v1/customresourcedefinitions");
        created(&eve, &definitions, &two_versions(plural, &url)).await;
        let kind = plural[..1].to_uppercase() + &plural[1..plural.len() - 1];
        let object = json!({"apiVersion": "example.com/v2", "kind": kind, "metadata": {"name": "a"}});
        let path = format!("{plane}/apis/example.com/v2/namespaces/default/{plural}");
        let mut answer = eve.post(&path, &object).await.unwrap();
        for _ in 0..600 {
            if answer.code != 404 {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            answer = eve.post(&path, &object).await.unwrap();
        }
        assert_eq!(answer.code, 500, "{plural}: {}", answer.text());
        let message = answer.json()["message"].as_str().unwrap().replace(&kind, "KIND");
        assert!(!message.contains("127.0.0.1") && !message.contains("metadata-key"), "{message}");
        told.push(message);
    }
    assert_eq!(count.load(Ordering::Relaxed), 0, "nobody came");
    told.dedup();
    assert_eq!(told.len(), 1, "open and closed look the same: {told:?}");
    assert!(told[0].contains("--project-webhooks"), "{told:?}");
}

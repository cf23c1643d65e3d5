//! Everybody attacks at once, and a well-behaved tenant is served.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use http::Method;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::task::JoinSet;

use super::{City, MAPS, TRANSACTIONS, definition};

/// What attackers did until the story ended.
#[derive(Default)]
struct Attack {
    is_over: AtomicBool,
    requests: AtomicU64,
}

impl Attack {
    fn goes_on(&self) -> bool {
        self.requests.fetch_add(1, Ordering::Relaxed);
        !self.is_over.load(Ordering::Relaxed)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn under_every_attack_at_once_a_well_behaved_tenant_is_served() {
    let people = ["ann", "eve", "mallory", "trent"];
    let limits = [
        "--max-requests",
        "60",
        "--max-requests-per-user",
        "16",
        "--max-requests-per-project",
        "16",
        "--max-anonymous-requests",
        "8",
        "--max-body-megabytes",
        "64",
        "--max-body-megabytes-per-user",
        "16",
        "--audit-log-megabytes",
        "1",
    ];
    let city = Arc::new(City::of(&people, &limits).await);
    let (mine, hers) = (city.project("mine", "ann").await, city.project("hers", "eve").await);
    let attack: Arc<Attack> = Arc::default();
    let mut attackers = JoinSet::new();

    // Bodies that never end, of strangers and of those who may do nothing.
    for (token, path) in [("", "/healthz"), ("", MAPS), ("mallory", TRANSACTIONS), ("trent", TRANSACTIONS)] {
        let (city, attack) = (city.clone(), attack.clone());
        attackers.spawn(async move {
            let mut open = Vec::new();
            while attack.goes_on() {
                let Ok(mut stream) = city.server.stranger().secured("http/1.1").await else { continue };
                let proof = format!("Authorization: Bearer {token}-token\r\n");
                let proof = if token.is_empty() { "" } else { &proof };
                let head = format!(
                    "POST {path} HTTP/1.1\r\nHost: x\r\n{proof}Content-Type: application/json\r\n\
                     Transfer-Encoding: chunked\r\n\r\n5\r\n{{\"api\r\n"
                );
                let _ = stream.write_all(head.as_bytes()).await;
                open.push(stream);
                if open.len() > 60 {
                    open.remove(0);
                }
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
        });
    }
    // Long queries of strangers, values without end, definitions and patterns of another project.
    let (others, over) = (city.clone(), attack.clone());
    attackers.spawn(async move {
        let (stranger, query) = (others.server.stranger(), "q".repeat(10_000));
        while over.goes_on() {
            let _ = stranger.get(&format!("/api/v1/secrets?{query}")).await;
        }
    });
    let (others, over) = (city.clone(), attack.clone());
    attackers.spawn(async move {
        let many = [b"{\"spec\":{\"items\":[".as_slice(), &b"[],".repeat(3 << 20), b"[]]}}"].concat();
        while over.goes_on() {
            let eve = others.person("eve");
            let _ = eve.send(Method::POST, TRANSACTIONS, "application/json", many.clone()).await;
        }
    });
    let (others, over, plane) = (city.clone(), attack.clone(), hers.clone());
    attackers.spawn(async move {
        let eve = others.person("eve");
        let definitions = format!("{plane}/apis/apiextensions.k8s.io/v1/customresourcedefinitions");
        let mut number = 0;
        while over.goes_on() {
            number += 1;
            let pattern = format!("^\\pL{{900}}{number}$");
            let bomb = json!({"type": "object", "properties": {"f": {"type": "string", "pattern": pattern}}});
            let _ = eve.post(&definitions, &definition("bombs", bomb)).await;
            let _ =
                eve.post(&definitions, &definition(&format!("k{number}s"), json!({"type": "object"}))).await;
        }
    });
    let (others, over, plane) = (city.clone(), attack.clone(), hers.clone());
    attackers.spawn(async move {
        let eve = others.person("eve");
        let maps = format!("{plane}{MAPS}");
        let mut open = Vec::new();
        while over.goes_on() {
            let watch = eve.watch(&format!("{maps}?watch=1")).await;
            open.extend(watch.ok().filter(|watch| watch.code == 200));
            if open.len() > 50 {
                open.clear();
            }
            let _ = eve.get(&format!("{maps}?limit=500")).await;
        }
    });

    // Meanwhile Ann works, one request after the other, and every one of them is answered.
    let ann = city.person("ann");
    let maps = format!("{mine}{MAPS}");
    let mut written = Vec::new();
    for number in 0..150 {
        let map = json!({"metadata": {"name": format!("m{number}")}, "data": {"n": number.to_string()}});
        let made = ann.post(&maps, &map).await.unwrap();
        assert_eq!(made.code, 201, "write {number}: {}", made.text());
        written.push(number);
        let path = format!("{maps}/m{}", number / 2);
        assert_eq!(ann.get(&path).await.unwrap().code, 200, "read {number}");
        if number % 10 == 0 {
            assert_eq!(city.server.stranger().get("/readyz").await.unwrap().code, 200, "health");
            assert_eq!(city.admin.get("/api/v1/namespaces").await.unwrap().code, 200, "the administrator");
        }
    }
    attack.is_over.store(true, Ordering::Relaxed);
    while let Some(ended) = attackers.join_next().await {
        ended.unwrap();
    }
    let list: Value = ann.get(&maps).await.unwrap().json();
    let kept: Vec<&str> =
        list["items"].as_array().unwrap().iter().filter_map(|map| map["data"]["n"].as_str()).collect();
    for number in &written {
        assert!(kept.contains(&number.to_string().as_str()), "write {number} is lost");
    }
    let requests = attack.requests.load(Ordering::Relaxed);
    eprintln!("{requests} rounds of attacks, {} MiB of memory at their end", city.server.memory());
    assert!(requests > 100, "{requests}");
    assert!(!city.server.said().contains("panicked"), "{}", city.server.said());
}

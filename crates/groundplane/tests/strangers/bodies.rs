//! Bodies that never end, and bodies that cost more than they weigh.

use std::time::Duration;

use http::Method;
use serde_json::json;
use testbed::server::Client;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::JoinSet;

use super::{City, MAPS, TRANSACTIONS};

const MIB: usize = 1 << 20;

/// A connection on which a request was begun that is never sent to its end.
async fn unfinished(client: &Client, method: &str, path: &str, token: &str) -> Box<dyn Send> {
    let mut stream = client.secured("http/1.1").await.unwrap();
    let proof = match token {
        "" => String::new(),
        token => format!("Authorization: Bearer {token}\r\n"),
    };
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: x\r\n{proof}Content-Type: application/json\r\n\
         Transfer-Encoding: chunked\r\n\r\n5\r\n{{\"api\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.flush().await.unwrap();
    Box::new(stream)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slots_are_not_held_by_unfinished_bodies() {
    let limits = ["--max-requests", "20", "--max-requests-per-user", "6", "--max-anonymous-requests", "4"];
    let city = City::of(&["eve", "mallory", "trent", "ann"], &limits).await;
    let stranger = city.server.stranger();
    let mut open = Vec::new();
    for _ in 0..30 {
        open.push(unfinished(&stranger, "GET", "/healthz", "").await);
        open.push(unfinished(&stranger, "POST", MAPS, "").await);
        open.push(unfinished(&stranger, "GET", MAPS, "").await);
        for name in ["eve", "mallory", "trent"] {
            let token = format!("{name}-token");
            open.push(unfinished(&stranger, "POST", TRANSACTIONS, &token).await);
        }
    }
    for round in 0..10 {
        for path in ["/healthz", "/livez", "/readyz"] {
            assert_eq!(stranger.apart().get(path).await.unwrap().code, 200, "{path} in round {round}");
        }
        let map = json!({"metadata": {"name": format!("map-{round}")}});
        assert_eq!(
            city.admin.post(MAPS, &map).await.unwrap().code,
            201,
            "the administrator in round {round}"
        );
        let me = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"});
        let path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
        assert_eq!(city.person("ann").post(path, &me).await.unwrap().code, 201, "a user in round {round}");
    }
    drop(open);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_is_not_had_for_the_asking() {
    let city = City::of(&["eve"], &[]).await;
    let map = json!({"metadata": {"name": "before"}});
    assert_eq!(city.admin.post(MAPS, &map).await.unwrap().code, 201);
    let before = city.server.memory();
    let many = [b"{\"spec\":{\"items\":[".as_slice(), &b"[],".repeat(20 * MIB), b"[]]}}"].concat();
    let answer = city.admin.send(Method::POST, TRANSACTIONS, "application/json", many).await.unwrap();
    assert_eq!(answer.code, 413, "{}", answer.text());
    assert!(answer.text().contains("values; at most"), "{}", answer.text());
    let many = [b"spec: {items: [".as_slice(), &b"[],".repeat(4 * MIB), b"[]]}\n"].concat();
    let answer = city.admin.send(Method::POST, TRANSACTIONS, "application/yaml", many).await.unwrap();
    assert_eq!(answer.code, 413, "{}", answer.text());
    let after = city.server.memory();
    eprintln!("memory: {before} MiB before, {after} MiB after");
    assert!(after < before + 400, "from {before} to {after} MiB");
    // Whoever may write nothing may ask, but not with so much.
    let large = format!("{{\"spec\":{{\"message\":\"{}\"}}}}", "x".repeat(MIB));
    let answer =
        city.person("eve").send(Method::POST, TRANSACTIONS, "application/json", large).await.unwrap();
    assert_eq!(answer.code, 413, "{}", answer.text());
    let small = json!({"spec": {"items": []}});
    assert_eq!(
        city.person("eve").post(TRANSACTIONS, &small).await.unwrap().code,
        400,
        "there is nothing in it"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bytes_of_bodies_in_flight_are_bounded() {
    let limits = ["--max-body-megabytes", "8", "--max-body-megabytes-per-user", "4"];
    let city = City::of(&["eve", "ann"], &limits).await;
    for name in ["eve", "ann"] {
        let binding = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
            "metadata": {"name": name},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "edit"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": name}],
        });
        let path = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
        assert_eq!(city.admin.post(path, &binding).await.unwrap().code, 201);
    }
    // Eve sends a lot and never ends it; what is beyond her share is refused, and nobody else notices.
    let mut open = Vec::new();
    for _ in 0..4 {
        let mut stream = city.server.stranger().secured("http/1.1").await.unwrap();
        let head = format!(
            "POST {TRANSACTIONS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer eve-token\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            3 * MIB
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        // Some of them are cut off before they are done.
        let _ = stream.write_all(&vec![b' '; 2 * MIB]).await;
        let _ = stream.flush().await;
        open.push(stream);
    }
    let map = json!({"metadata": {"name": "mine"}, "data": {"a": "x".repeat(MIB / 2)}});
    assert_eq!(city.person("ann").post(MAPS, &map).await.unwrap().code, 201);
    // The others are cut off much later, for being slow.
    let mut answers = JoinSet::new();
    for mut stream in open {
        answers.spawn(async move {
            let mut start = [0; 13];
            let _ = stream.read_exact(&mut start).await;
            String::from_utf8_lossy(&start).into_owned()
        });
    }
    for _ in 0..2 {
        let answer = tokio::time::timeout(Duration::from_secs(60), answers.join_next()).await;
        assert_eq!(answer.unwrap().unwrap().unwrap(), "HTTP/1.1 429 ");
    }
}

/// One answer on a connection of HTTP/1.1: its head, its body is thrown away.
async fn answer(stream: &mut (impl AsyncReadExt + Unpin)) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        match tokio::time::timeout(Duration::from_secs(60), stream.read_exact(&mut byte)).await {
            Ok(Ok(_)) => head.push(byte[0]),
            _ => return String::from_utf8_lossy(&head).into_owned(),
        }
    }
    let head = String::from_utf8_lossy(&head).to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |length| length.trim().parse().unwrap())];
    stream.read_exact(&mut body).await.unwrap();
    head
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_says_when_the_connection_is_closed() {
    let city = City::of(&["eve"], &[]).await;
    let (mut kept, mut closed) = (0, 0);
    for (size, sent, more) in [
        (10, 10, ""),
        (100_000, 100_000, ""),
        (2 * MIB, 2 * MIB, ""),
        (20 * MIB, 14 * MIB, ""),
        (1000, 10, ""),
        (100_000, 0, "Expect: 100-continue\r\n"),
    ] {
        let stream = city.server.stranger().secured("http/1.1").await.unwrap();
        let (mut reading, mut writing) = tokio::io::split(stream);
        let head = format!(
            "POST {MAPS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer eve-token\r\nContent-Type: application/json\r\n\
             {more}Content-Length: {size}\r\n\r\n"
        );
        let write = async {
            let _ = writing.write_all(head.as_bytes()).await;
            let _ = writing.write_all(&vec![b' '; sent]).await;
            let _ = writing.flush().await;
        };
        let (told, ()) = tokio::join!(answer(&mut reading), write);
        assert!(told.starts_with("http/1.1 403 "), "{size}: {told}");
        if told.contains("\r\nconnection: close\r\n") {
            closed += 1;
            continue;
        }
        kept += 1;
        writing.write_all(b"GET /version HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
        let told = answer(&mut reading).await;
        assert!(told.starts_with("http/1.1 200 "), "after {size}: {told}");
    }
    assert_eq!((kept, closed), (3, 3));
}

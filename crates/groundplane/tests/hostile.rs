//! Clients that send half a request, far too much, or nonsense: each gets a plain answer or is cut off, and the others
//! notice nothing.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

use std::time::{Duration, Instant};

use http::Method;
use serde_json::{Value, json};
use testbed::server::{Client, Server};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

const GROUNDPLANE: &str = env!("CARGO_BIN_EXE_groundplane");
const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const MIB: usize = 1 << 20;

/// What a story must not do to the server: make it grow, or keep it from answering others.
struct Unharmed {
    server: Server,
    memory: u64,
}

impl Unharmed {
    async fn start() -> Unharmed {
        let server = Server::fresh(GROUNDPLANE, &[]).unwrap();
        // Once around, so that what every server holds after a while counts as held before.
        for round in 0..50 {
            let map = json!({"metadata": {"name": format!("warm-{round}")}});
            assert_eq!(server.client().post(MAPS, &map).await.unwrap().code, 201);
        }
        let memory = server.memory();
        Unharmed { server, memory }
    }

    fn client(&self) -> Client {
        self.server.client()
    }

    /// Others are answered, and quickly.
    async fn answers(&self) {
        let begun = Instant::now();
        let ready = self.client().get("/readyz").await.unwrap();
        assert_eq!((ready.code, ready.text().as_str()), (200, "ok"));
        assert_eq!(self.client().get(&format!("{MAPS}/warm-0")).await.unwrap().code, 200);
        assert!(begun.elapsed() < Duration::from_secs(10), "others waited for {:?}", begun.elapsed());
    }

    /// The end of the story: all is as it was.
    async fn end(self, grown_at_most: u64) {
        self.answers().await;
        let now = self.server.memory();
        eprintln!("memory: {} MiB before, {now} MiB after", self.memory);
        assert!(now < self.memory + grown_at_most, "it grew from {} to {now} MiB", self.memory);
        assert!(!self.server.said().contains("panicked"), "{}", self.server.said());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn half_a_request_keeps_nobody_waiting_and_is_cut_off() {
    let unharmed = Unharmed::start().await;
    let client = unharmed.client();
    let halves = [
        "".to_owned(),
        "GET /api/v1/names".to_owned(),
        "GET /version HTTP/1.1\r\nHost: x\r\nX-Half: ".to_owned(),
        format!(
            "POST {MAPS} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{{\"meta"
        ),
        format!(
            "POST {MAPS} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{{"
        ),
    ];
    let mut waiting = JoinSet::new();
    for half in halves.iter().cycle().take(200) {
        let (client, half) = (client.clone(), half.clone());
        waiting.spawn(async move {
            let mut stream = client.secured("http/1.1").await.unwrap();
            stream.write_all(half.as_bytes()).await.unwrap();
            stream.flush().await.unwrap();
            let mut rest = Vec::new();
            let begun = Instant::now();
            let cut =
                tokio::time::timeout(Duration::from_secs(50), stream.read_to_end(&mut rest)).await.is_ok();
            (half, cut, begun.elapsed(), String::from_utf8_lossy(&rest).into_owned())
        });
    }
    // A handshake that is never finished.
    for _ in 0..50 {
        let address = client.address().to_owned();
        waiting.spawn(async move {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(&[0x16, 0x03, 0x01, 0x02, 0x00, 0x01]).await.unwrap();
            let mut rest = Vec::new();
            let begun = Instant::now();
            let cut =
                tokio::time::timeout(Duration::from_secs(50), stream.read_to_end(&mut rest)).await.is_ok();
            ("half a handshake".to_owned(), cut, begun.elapsed(), String::new())
        });
    }
    for _ in 0..10 {
        unharmed.answers().await;
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let mut longest = Duration::ZERO;
    while let Some(ended) = waiting.join_next().await {
        let (half, cut, took, answered) = ended.unwrap();
        assert!(cut, "{half:?} was not cut off in {took:?}: {answered:?}");
        longest = longest.max(took);
    }
    eprintln!("the last half request was cut off after {longest:?}");
    unharmed.end(60).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_megabytes_are_refused_before_they_are_read() {
    let unharmed = Unharmed::start().await;
    let mut sending = JoinSet::new();
    for chunked in [false, true].into_iter().cycle().take(8) {
        let client = unharmed.client();
        sending.spawn(async move { flood(&client, chunked, 100 * MIB).await });
    }
    let mut highest = 0;
    let begun = Instant::now();
    loop {
        let ended = tokio::time::timeout(Duration::from_millis(50), sending.join_next()).await;
        highest = highest.max(unharmed.server.memory());
        match ended {
            Err(_) => continue,
            Ok(None) => break,
            Ok(Some(ended)) => {
                let (sent, answer) = ended.unwrap();
                assert!(answer.starts_with("HTTP/1.1 413 "), "{answer:?}");
                assert!(answer.contains("\"reason\":\"RequestEntityTooLarge\""), "{answer:?}");
                assert!(sent < 40 * MIB, "{} MiB were taken in", sent / MIB);
            }
        }
    }
    eprintln!("refused after {:?}, {highest} MiB at most", begun.elapsed());
    assert!(begun.elapsed() < Duration::from_secs(20), "it took {:?}", begun.elapsed());
    assert!(highest < unharmed.memory + 150, "from {} to {highest} MiB", unharmed.memory);
    unharmed.end(100).await;
}

/// Sends a body of `size` until the server no longer takes it; how much it took, and what it answered.
async fn flood(client: &Client, chunked: bool, size: usize) -> (usize, String) {
    let stream = client.secured("http/1.1").await.unwrap();
    let (mut answers, mut sending) = tokio::io::split(stream);
    let length = match chunked {
        true => "Transfer-Encoding: chunked".to_owned(),
        false => format!("Content-Length: {size}"),
    };
    let head =
        format!("POST {MAPS} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n{length}\r\n\r\n");
    sending.write_all(head.as_bytes()).await.unwrap();
    let block = vec![b' '; 1 << 16];
    let sender = async {
        let mut sent = 0;
        while sent < size {
            let frame = if chunked { format!("{:x}\r\n", block.len()) } else { String::new() };
            let end: &[u8] = if chunked { b"\r\n" } else { b"" };
            for part in [frame.as_bytes(), &block, end] {
                if sending.write_all(part).await.is_err() {
                    return sent;
                }
            }
            sent += block.len();
        }
        sent
    };
    let mut answer = Vec::new();
    // The answer ends with the connection; what comes after a reset is lost, what came before is not.
    let reader = async {
        let mut piece = [0; 4096];
        while let Ok(read @ 1..) = answers.read(&mut piece).await {
            answer.extend_from_slice(&piece[..read]);
        }
    };
    let both = async { tokio::join!(sender, reader) };
    let (sent, ()) =
        tokio::time::timeout(Duration::from_secs(30), both).await.expect("the server neither takes nor cuts");
    (sent, String::from_utf8_lossy(&answer).into_owned())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nonsense_is_told_to_be_nonsense() {
    let unharmed = Unharmed::start().await;
    let client = unharmed.client();
    let json = "application/json";
    let cases: Vec<(&str, &str, Vec<u8>, u16)> = vec![
        ("nesting of arrays", json, b"[".repeat(500_000), 400),
        ("nesting of objects", json, b"{\"a\":".repeat(400_000), 400),
        ("nested and closed", json, nested(100_000), 400),
        ("nested data", json, nested_below("data", 20_000), 400),
        ("nested YAML", "application/yaml", b"[".repeat(200_000), 400),
        ("YAML aliases", "application/yaml", laughs().into_bytes(), 400),
        // Letters that are none are read as U+FFFD, as Go reads them.
        ("a name of invalid UTF-8", json, b"{\"metadata\":{\"name\":\"a\xff\xfe\"}}".to_vec(), 422),
        (
            "a key of invalid UTF-8",
            json,
            b"{\"metadata\":{\"name\":\"a\"},\"data\":{\"\xc3\x28\":\"\"}}".to_vec(),
            422,
        ),
        ("cut off", json, b"{\"metadata\":{\"name\":\"a\"".to_vec(), 400),
        ("zeroes", json, vec![0; MIB], 400),
        (
            "a large number",
            json,
            format!("{{\"metadata\":{{\"name\":\"n\",\"generation\":{}}}}}", "9".repeat(MIB)).into_bytes(),
            400,
        ),
        ("not an object", json, b"[1,2,3]".to_vec(), 400),
        (
            "broken protobuf",
            "application/vnd.kubernetes.protobuf",
            [&b"k8s\0"[..], &[0xff; 4096]].concat(),
            400,
        ),
        ("protobuf of nothing", "application/vnd.kubernetes.protobuf", b"nothing".to_vec(), 400),
        ("strange medium", "application/x-nonsense", b"{}".to_vec(), 415),
    ];
    for (what, media, body, code) in cases {
        let begun = Instant::now();
        let answer = client.send(Method::POST, MAPS, media, body).await.unwrap();
        assert_eq!(answer.code, code, "{what}: {}", short(&answer.text()));
        assert_eq!(answer.json()["kind"], "Status", "{what}: {}", short(&answer.text()));
        assert!(answer.body.len() < 2 * MIB, "{what}: an answer of {} bytes", answer.body.len());
        assert!(begun.elapsed() < Duration::from_secs(15), "{what} took {:?}", begun.elapsed());
    }
    for (what, body) in [("deep patch", nested(100_000)), ("broken patch", b"[{\"op\":".to_vec())] {
        for media in
            ["application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml"]
        {
            let path = format!("{MAPS}/warm-1?fieldManager=f");
            let answer = client.send(Method::PATCH, &path, media, body.clone()).await.unwrap();
            assert!(
                matches!(answer.code, 400 | 422),
                "{what} as {media}: {} {}",
                answer.code,
                short(&answer.text())
            );
        }
    }
    unharmed.end(100).await;
}

fn nested(depth: usize) -> Vec<u8> {
    [b"{\"a\":".repeat(depth), b"1".to_vec(), b"}".repeat(depth)].concat()
}

fn nested_below(field: &str, depth: usize) -> Vec<u8> {
    let head = format!("{{\"metadata\":{{\"name\":\"deep\"}},\"{field}\":");
    [head.into_bytes(), nested(depth), b"}".to_vec()].concat()
}

/// Ten aliases to ten aliases to ten, nine times over.
fn laughs() -> String {
    let mut text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: laughs}\nl0: &l0 ha\n".to_owned();
    for level in 1..10 {
        let before = format!("*l{}", level - 1);
        text.push_str(&format!("l{level}: &l{level} [{}]\n", vec![before; 10].join(",")));
    }
    text
}

fn short(text: &str) -> String {
    text.chars().take(300).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bytes_that_are_no_requests_end_the_connection_and_nothing_else() {
    let unharmed = Unharmed::start().await;
    let client = unharmed.client();
    let large = format!("GET /version HTTP/1.1\r\nHost: x\r\nX-Large: {}\r\n\r\n", "x".repeat(4 * MIB));
    let many: String = (0..10_000).map(|i| format!("X-{i}: y\r\n")).collect();
    let long =
        format!("GET /api/v1/{}?{} HTTP/1.1\r\nHost: x\r\n\r\n", "a".repeat(MIB / 2), "b=c&".repeat(MIB / 2));
    let body = "{\"metadata\":{\"name\":\"longer\"}}";
    let secured: Vec<(&str, Vec<u8>)> = vec![
        ("no HTTP", b"\x00\x01\x02 hello\r\n\r\n".to_vec()),
        ("a header of 4 MiB", large.into_bytes()),
        ("10,000 headers", format!("GET /version HTTP/1.1\r\nHost: x\r\n{many}\r\n").into_bytes()),
        ("a path of 2 MiB", long.into_bytes()),
        (
            "two lengths",
            format!(
                "POST {MAPS} HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 9\r\n\r\n{body}"
            )
            .into_bytes(),
        ),
        (
            "length and chunks",
            format!(
                "POST {MAPS} HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\nzz"
            )
            .into_bytes(),
        ),
        (
            "negative length",
            format!("POST {MAPS} HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n{body}").into_bytes(),
        ),
        (
            "absurd length",
            format!(
                "POST {MAPS} HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999999\r\n\r\n{body}"
            )
            .into_bytes(),
        ),
        (
            "absurd chunk",
            format!(
                "POST {MAPS} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\nx"
            )
            .into_bytes(),
        ),
        (
            "a half of HTTP/2",
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff".to_vec(),
        ),
        (
            "an evil path",
            b"GET /api/v1/namespaces/%00%2e%2e/../../etc HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
                .to_vec(),
        ),
        (
            "another evil path",
            b"GET /api/v1/namespaces/%ff%fe HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".to_vec(),
        ),
        (
            "an unknown method",
            b"BREW /api/v1/namespaces HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".to_vec(),
        ),
    ];
    for (what, bytes) in secured {
        let stream = client.secured("http/1.1").await.unwrap();
        let (mut reading, mut writing) = tokio::io::split(stream);
        let mut answer = Vec::new();
        let both = async {
            let write = async {
                // The server may have cut it off before all of it was sent.
                let _ = writing.write_all(&bytes).await;
                let _ = writing.shutdown().await;
            };
            let read = async {
                let mut piece = [0; 4096];
                while let Ok(read @ 1..) = reading.read(&mut piece).await {
                    answer.extend_from_slice(&piece[..read]);
                }
            };
            tokio::join!(write, read);
        };
        tokio::time::timeout(Duration::from_secs(10), both)
            .await
            .unwrap_or_else(|_| panic!("{what}: not cut off"));
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let first = answer.lines().next().unwrap_or_default();
        assert!(
            first.is_empty() || first.starts_with("HTTP/1.1 4") || what.contains("HTTP/2"),
            "{what}: {first}"
        );
    }
    for bytes in [
        &b"GET / HTTP/1.1\r\n\r\n"[..],
        &[0; 100_000],
        &[0x16, 0x03, 0x01, 0xff, 0xff, 0x01, 0xff],
        &[0xff; 16],
    ] {
        let mut stream = TcpStream::connect(client.address()).await.unwrap();
        let _ = stream.write_all(bytes).await;
        let _ = stream.shutdown().await;
        let mut rest = Vec::new();
        let ended = tokio::time::timeout(Duration::from_secs(15), stream.read_to_end(&mut rest)).await;
        assert!(ended.is_ok(), "a connection of {:?} is kept", &bytes[..bytes.len().min(16)]);
    }
    unharmed.end(60).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_is_shorter_or_longer_than_said_harms_only_its_sender() {
    let unharmed = Unharmed::start().await;
    let client = unharmed.client();
    let body = "{\"metadata\":{\"name\":\"measured\"}}";
    for said in [body.len() - 5, body.len() + 5] {
        let mut stream = client.secured("http/1.1").await.unwrap();
        let head = format!(
            "POST {MAPS} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {said}\r\n\r\n"
        );
        stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut answer = Vec::new();
        let ended = tokio::time::timeout(Duration::from_secs(10), stream.read_to_end(&mut answer)).await;
        assert!(ended.is_ok(), "the connection is kept");
        let answer = String::from_utf8_lossy(&answer).into_owned();
        assert!(
            answer.is_empty() || answer.starts_with("HTTP/1.1 400"),
            "{said} of {}: {answer}",
            body.len()
        );
    }
    assert_eq!(client.get(&format!("{MAPS}/measured")).await.unwrap().code, 404, "half an object was made");
    unharmed.end(60).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn patches_may_be_long_but_not_endless() {
    let unharmed = Unharmed::start().await;
    let client = unharmed.client();
    let path = format!("{MAPS}/warm-2");
    let begun = Instant::now();
    let operations = |count: usize| -> Value {
        (0..count)
            .map(|i| json!({"op": "add", "path": "/metadata/annotations", "value": {"n": i.to_string()}}))
            .collect()
    };
    let allowed = client.patch(&path, &operations(10_000)).await.unwrap();
    assert_eq!(allowed.code, 200, "{}", short(&allowed.text()));
    assert_eq!(allowed.json()["metadata"]["annotations"]["n"], "9999");
    let refused = client.patch(&path, &operations(10_001)).await.unwrap();
    assert_eq!(
        (refused.code, &refused.json()["reason"]),
        (413, &json!("RequestEntityTooLarge")),
        "{}",
        short(&refused.text())
    );
    assert_eq!(
        refused.json()["message"],
        "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001"
    );
    // Copies that double what is there with each operation.
    let mut doubling = vec![json!({"op": "add", "path": "/data", "value": {"a": "x".repeat(1000)}})];
    doubling.extend((0..40).map(|i| json!({"op": "copy", "from": "/data", "path": format!("/data/c{i}")})));
    let refused = client.patch(&path, &Value::from(doubling)).await.unwrap();
    assert!(matches!(refused.code, 400 | 413 | 422), "{} {}", refused.code, short(&refused.text()));
    assert!(begun.elapsed() < Duration::from_secs(10), "it took {:?}", begun.elapsed());
    unharmed.end(100).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn queries_and_headers_of_nonsense_are_refused_or_overlooked() {
    let unharmed = Unharmed::start().await;
    let client = unharmed.client();
    let selector = format!("a in ({})", "b,".repeat(20_000)).replace(' ', "%20");
    let queries = [
        ("labelSelector=%zz", 400),
        ("labelSelector=a%3D%3D%3Db", 400),
        ("labelSelector=((((", 400),
        ("fieldSelector=metadata.name%3D%3D%3Dx", 400),
        ("fieldSelector=no.such%3Dx", 400),
        ("limit=-1", 200),
        ("limit=99999999999999999999", 400),
        ("limit=x", 400),
        ("continue=nonsense", 400),
        ("continue=%00", 400),
        ("continue=%ff", 400),
        ("resourceVersion=x", 400),
        ("resourceVersion=-1", 400),
        ("resourceVersion=18446744073709551616", 400),
        ("watch=perhaps&timeoutSeconds=1", 200),
        ("timeoutSeconds=-5&limit=1", 200),
        ("resourceVersionMatch=Perhaps", 422),
    ];
    for (query, code) in queries {
        let answer = client.get(&format!("{MAPS}?{query}")).await.unwrap();
        assert_eq!(answer.code, code, "{query}: {}", short(&answer.text()));
    }
    let refused = client.delete(&format!("{MAPS}?labelSelector=app%3D%ff")).await.unwrap();
    assert_eq!(refused.code, 400, "{}", short(&refused.text()));
    assert_eq!(client.get(&format!("{MAPS}/warm-3")).await.unwrap().code, 200, "nobody asked to delete all");
    let begun = Instant::now();
    let long = client.get(&format!("{MAPS}?labelSelector={selector}")).await.unwrap();
    assert!(matches!(long.code, 200 | 400 | 414 | 431), "{}", long.code);
    assert!(begun.elapsed() < Duration::from_secs(30), "it took {:?}", begun.elapsed());
    for (name, value) in [
        ("accept", "\u{7f}nonsense;;;q=x"),
        ("accept", "application/nonsense"),
        ("accept-encoding", "gzip;q=nan,*"),
    ] {
        let answer = client.apart().with(name, value).get(MAPS).await.unwrap();
        assert!(matches!(answer.code, 200 | 406), "{name}: {value}: {}", answer.code);
    }
    unharmed.end(60).await;
}

//! Kinds whose versions a webhook converts, with a webhook that is really there.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use testbed::server::{Answer, Client, Server};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

const OLD: &str = "/apis/people.example.com/v1/namespaces/default/persons";
const NEW: &str = "/apis/people.example.com/v2/namespaces/default/persons";
const DEFINITION: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/persons.people.example.com";

/// In v1 a person has one name, in v2 two.
#[tokio::test(flavor = "multi_thread")]
async fn versions_that_a_webhook_converts_can_be_read_and_written_like_any_other() {
    let server = Server::fresh(env!("CARGO_BIN_EXE_groundplane"), &["--controllers", "none"]).unwrap();
    let client = server.client();
    let webhook = Webhook::start(&server).await;
    webhook.define(&client, "convert").await;

    // Written in the new version, stored in the old, read in both.
    let ada = json!({
        "apiVersion": "people.example.com/v2", "kind": "Person",
        "metadata": {"name": "ada"}, "spec": {"first": "Ada", "last": "Lovelace"},
    });
    let made = ok(client.post(NEW, &ada).await.unwrap(), 201);
    assert_eq!(made["apiVersion"], "people.example.com/v2");
    assert_eq!(made["spec"], ada["spec"]);
    assert_eq!(made["metadata"]["annotations"]["converted"], "to v2", "labels and annotations may change");
    let old = ok(client.get(&format!("{OLD}/ada")).await.unwrap(), 200);
    assert_eq!(old["spec"], json!({"full": "Ada Lovelace"}));
    assert_eq!(old["metadata"]["uid"], made["metadata"]["uid"]);

    // A rehearsal and a made-up name need the same.
    let rehearsed =
        ok(client.post(&format!("{NEW}?dryRun=All"), &person("bob", "Bob", "Odd")).await.unwrap(), 201);
    assert_eq!(rehearsed["spec"]["last"], "Odd");
    let mut unnamed = person("", "Some", "Body");
    unnamed["metadata"] = json!({"generateName": "some-"});
    let named = ok(client.post(NEW, &unnamed).await.unwrap(), 201);
    ok(client.delete(&format!("{NEW}/{}", named["metadata"]["name"].as_str().unwrap())).await.unwrap(), 200);

    // Patches, applies and updates work on the version they are made in.
    let patched =
        ok(client.merge(&format!("{NEW}/ada"), &json!({"spec": {"last": "Byron"}})).await.unwrap(), 200);
    assert_eq!((&patched["spec"]["first"], &patched["metadata"]["generation"]), (&json!("Ada"), &json!(2)));
    let same =
        ok(client.merge(&format!("{NEW}/ada"), &json!({"spec": {"last": "Byron"}})).await.unwrap(), 200);
    assert_eq!(same["metadata"]["resourceVersion"], patched["metadata"]["resourceVersion"]);
    let applied = person("eve", "Eve", "Online");
    let applied = client.apply(&format!("{NEW}/eve?fieldManager=tester"), &applied).await.unwrap();
    assert_eq!(ok(applied, 201)["spec"]["first"], "Eve");
    let eve = ok(client.get(&format!("{NEW}/eve")).await.unwrap(), 200);
    ok(client.put(&format!("{NEW}/eve"), &eve).await.unwrap(), 200);

    // A list is converted in one go.
    let before = webhook.asked();
    let listed = ok(client.get(NEW).await.unwrap(), 200);
    let names: Vec<&Value> =
        listed["items"].as_array().unwrap().iter().map(|item| &item["spec"]["last"]).collect();
    assert_eq!(names, ["Byron", "Online"]);
    assert_eq!(webhook.asked() - before, 1);
    ok(client.get(OLD).await.unwrap(), 200);
    assert_eq!(webhook.asked() - before, 1, "what is shown as it is stored needs nobody");

    // A watch tells changes that are made in another version.
    let version = listed["metadata"]["resourceVersion"].as_str().unwrap();
    let mut watch = client.watch(&format!("{NEW}?watch=1&resourceVersion={version}")).await.unwrap();
    ok(client.merge(&format!("{OLD}/ada"), &json!({"spec": {"full": "Ada King"}})).await.unwrap(), 200);
    ok(client.delete(&format!("{OLD}/eve")).await.unwrap(), 200);
    let told = watch.next().await.unwrap();
    assert_eq!((&told["type"], &told["object"]["spec"]["last"]), (&json!("MODIFIED"), &json!("King")));
    let told = watch.next().await.unwrap();
    assert_eq!((&told["type"], &told["object"]["spec"]["first"]), (&json!("DELETED"), &json!("Eve")));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_selected_is_selected_in_the_version_that_is_asked_for() {
    let server = Server::fresh(env!("CARGO_BIN_EXE_groundplane"), &["--controllers", "none"]).unwrap();
    let client = server.client();
    let webhook = Webhook::start(&server).await;
    webhook.define(&client, "convert").await;
    for name in ["ada", "bob", "cid", "dora", "eve"] {
        let last = if name < "cid" { "Low" } else { "High" };
        ok(client.post(NEW, &person(name, name, last)).await.unwrap(), 201);
    }
    let names = |list: &Value| -> Vec<String> {
        let items = list["items"].as_array().unwrap().iter();
        items.map(|item| item["metadata"]["name"].as_str().unwrap().to_owned()).collect()
    };
    let high = format!("{NEW}?fieldSelector=spec.last%3DHigh");
    let list = ok(client.get(&high).await.unwrap(), 200);
    assert_eq!(names(&list), ["cid", "dora", "eve"]);
    let page = ok(client.get(&format!("{high}&limit=2")).await.unwrap(), 200);
    assert_eq!(names(&page), ["cid", "dora"]);
    let next = page["metadata"]["continue"].as_str().unwrap();
    let page = ok(client.get(&format!("{high}&limit=2&continue={next}")).await.unwrap(), 200);
    assert_eq!((names(&page), &page["metadata"]["continue"]), (vec!["eve".to_owned()], &json!("")));
    let one = format!("{NEW}?fieldSelector=metadata.name%3Dada,spec.last%3DHigh");
    assert_eq!(names(&ok(client.get(&one).await.unwrap(), 200)), [""; 0]);

    // A watch begins with those that are meant, and tells who comes and goes.
    let mut watch = client.watch(&format!("{high}&watch=1")).await.unwrap();
    for name in ["cid", "dora", "eve"] {
        assert_eq!(watch.next().await.unwrap()["object"]["metadata"]["name"], name);
    }
    ok(client.merge(&format!("{OLD}/ada"), &json!({"spec": {"full": "ada High"}})).await.unwrap(), 200);
    ok(client.merge(&format!("{OLD}/cid"), &json!({"spec": {"full": "cid Low"}})).await.unwrap(), 200);
    let told = watch.next().await.unwrap();
    assert_eq!((&told["type"], &told["object"]["metadata"]["name"]), (&json!("ADDED"), &json!("ada")));
    let told = watch.next().await.unwrap();
    assert_eq!((&told["type"], &told["object"]["spec"]["last"]), (&json!("DELETED"), &json!("High")));

    // All that are deleted are told.
    let gone = ok(client.delete(&high).await.unwrap(), 200);
    assert_eq!(names(&gone), ["ada", "dora", "eve"]);
    let gone = ok(client.delete(NEW).await.unwrap(), 200);
    assert_eq!(names(&gone), ["bob", "cid"]);
    assert_eq!(names(&ok(client.get(OLD).await.unwrap(), 200)), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_that_fails_or_lies_is_told_in_kubernetes_words() {
    let server = Server::fresh(env!("CARGO_BIN_EXE_groundplane"), &["--controllers", "none"]).unwrap();
    let client = server.client();
    let webhook = Webhook::start(&server).await;
    webhook.define(&client, "convert").await;
    ok(client.post(NEW, &person("ada", "Ada", "Lovelace")).await.unwrap(), 201);
    let about = "conversion webhook for people.example.com/v1, Kind=Person";
    let cases = [
        ("refuses", "failed: no people today"),
        ("silent", "failed: response.result.status was '', not 'Success'"),
        ("stranger", "failed: expected response.uid=\"…\", got \"somebody\""),
        ("forgets", "returned 0 objects, expected 1"),
        ("renames", "returned invalid object: must have the same name: ada != other"),
        (
            "mistakes",
            "returned invalid object at index 0: invalid groupVersion (expected people.example.com/v2, received people.example.com/v1)",
        ),
        (
            "mislabels",
            "returned invalid metadata: metadata.labels: Invalid value: \"a b\": a valid label must be",
        ),
        ("breaks", "failed: an error on the server (\"broken\") has prevented the request from succeeding"),
    ];
    for (path, why) in cases {
        webhook.redefine(&client, json!({"url": webhook.url(path), "caBundle": webhook.ca})).await;
        let told = told_within(&client, &format!("{about} {}", why.split('…').next().unwrap())).await;
        assert!(told.contains(why.split('…').next_back().unwrap()), "{path}: {told}");
    }
    // Whose certificate nobody vouches for, who is not there, and who can't be found.
    let nobody = json!({"url": "https://127.0.0.1:9/convert", "caBundle": webhook.ca});
    webhook.redefine(&client, nobody).await;
    told_within(&client, &format!("{about} failed: Post \"https://127.0.0.1:9/convert?timeout=30s\": dial tcp 127.0.0.1:9: connect: connection refused")).await;
    webhook.redefine(&client, json!({"url": webhook.url("convert"), "caBundle": null})).await;
    told_within(
        &client,
        &format!(
            "{about} failed: Post \"{}?timeout=30s\": tls: failed to verify certificate",
            webhook.url("convert")
        ),
    )
    .await;
    let service =
        json!({"url": null, "service": {"namespace": "here", "name": "people", "path": "/convert"}});
    let warned = webhook.redefine(&client, service).await;
    assert!(
        warned.contains(
            "\\\"here/people\\\" can't be reached and objects can only be used in version v1, not in v2"
        ),
        "{warned}"
    );
    assert_eq!(
        webhook.redefine(&client, json!({"service": {"path": "/convert"}})).await,
        "",
        "only what is new is warned of"
    );
    told_within(&client, &format!("{about} failed: Post \"https://people.here.svc:443/convert?timeout=30s\": service \"people\" not found: this server has no Services; set spec.conversion.webhook.clientConfig.url in the definition")).await;
    // The stored version needs no webhook.
    ok(client.merge(&format!("{OLD}/ada"), &json!({"spec": {"full": "Ada King"}})).await.unwrap(), 200);
    // A write in the other one does not land.
    let refused = client.post(NEW, &person("bob", "Bob", "Odd")).await.unwrap();
    assert_eq!(refused.code, 500, "{}", refused.text());
    assert_eq!(client.get(&format!("{OLD}/bob")).await.unwrap().code, 404);
}

fn person(name: &str, first: &str, last: &str) -> Value {
    json!({
        "apiVersion": "people.example.com/v2", "kind": "Person",
        "metadata": {"name": name}, "spec": {"first": first, "last": last},
    })
}

#[track_caller]
fn ok(answer: Answer, code: u16) -> Value {
    assert_eq!(answer.code, code, "{}", answer.text());
    answer.json()
}

/// What a read in the other version is told, once the definition has been heard of.
async fn told_within(client: &Client, beginning: &str) -> String {
    let mut said = String::new();
    for _ in 0..500 {
        let answer = client.get(&format!("{NEW}/ada")).await.unwrap();
        said = answer.json()["message"].as_str().unwrap_or_default().to_owned();
        if answer.code == 500 && said.starts_with(beginning) {
            return said;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("want {beginning:?}, and the last that was said is {said:?}");
}

/// A webhook that converts people, or pretends to: how is in the path.
struct Webhook {
    port: u16,
    ca: String,
    asked: Arc<Mutex<usize>>,
}

impl Webhook {
    /// Listens with the certificate of a server that is for this machine.
    async fn start(server: &Server) -> Webhook {
        use rustls::pki_types::pem::PemObject;
        use rustls::pki_types::{CertificateDer, PrivateKeyDer};
        let file = |name: &str| server.data().join(name);
        let chain =
            CertificateDer::pem_file_iter(file("pki/serving.pem")).unwrap().map(Result::unwrap).collect();
        let key = PrivateKeyDer::from_pem_file(file("pki/serving.pem")).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap();
        let tls = tls.with_no_client_auth().with_single_cert(chain, key).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(0));
        let counted = asked.clone();
        let acceptor = TlsAcceptor::from(Arc::new(tls));
        tokio::spawn(async move {
            loop {
                let Ok((stream, _)) = listener.accept().await else { return };
                let (acceptor, counted) = (acceptor.clone(), counted.clone());
                tokio::spawn(async move {
                    let Ok(stream) = acceptor.accept(stream).await else { return };
                    *counted.lock().unwrap() += 1;
                    answer(stream).await;
                });
            }
        });
        let ca = krm::base64::encode(&std::fs::read(file("ca.crt")).unwrap());
        Webhook { port, ca, asked }
    }

    fn asked(&self) -> usize {
        *self.asked.lock().unwrap()
    }

    fn url(&self, path: &str) -> String {
        format!("https://127.0.0.1:{}/{path}", self.port)
    }

    async fn define(&self, client: &Client, path: &str) {
        let version = |name: &str, storage: bool, fields: &[&str]| {
            let fields: serde_json::Map<String, Value> =
                fields.iter().map(|field| (field.to_string(), json!({"type": "string"}))).collect();
            json!({
                "name": name, "served": true, "storage": storage,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object", "properties": fields}}}},
            })
        };
        let selectable = |mut version: Value| {
            version["selectableFields"] = json!([{"jsonPath": ".spec.last"}]);
            version
        };
        let definition = json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "persons.people.example.com"},
            "spec": {
                "group": "people.example.com", "scope": "Namespaced", "names": {"plural": "persons", "kind": "Person"},
                "versions": [version("v1", true, &["full"]), selectable(version("v2", false, &["first", "last"]))],
                "conversion": {"strategy": "Webhook", "webhook": {
                    "conversionReviewVersions": ["v1"],
                    "clientConfig": {"url": self.url(path), "caBundle": self.ca},
                }},
            },
        });
        let all = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        ok(client.post(all, &definition).await.unwrap(), 201);
        for _ in 0..500 {
            if client.get(OLD).await.unwrap().code == 200 {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        panic!("the definition is not served");
    }

    /// Gives the definition another webhook; what it is warned of is told.
    async fn redefine(&self, client: &Client, config: Value) -> String {
        let patch = json!({"spec": {"conversion": {"webhook": {"clientConfig": config}}}});
        let answer = client.merge(DEFINITION, &patch).await.unwrap();
        let warned =
            answer.headers.get("warning").and_then(|text| text.to_str().ok()).unwrap_or_default().to_owned();
        ok(answer, 200);
        warned
    }
}

/// One request, one answer.
async fn answer(mut stream: tokio_rustls::server::TlsStream<tokio::net::TcpStream>) {
    let mut bytes = Vec::new();
    let (head, length) = loop {
        let mut piece = [0; 4096];
        let Ok(read @ 1..) = stream.read(&mut piece).await else { return };
        bytes.extend_from_slice(&piece[..read]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some(end) = text.find("\r\n\r\n") else { continue };
        let length = text
            .to_lowercase()
            .split("content-length: ")
            .nth(1)
            .unwrap()
            .split("\r\n")
            .next()
            .unwrap()
            .parse::<usize>();
        break (end + 4, length.unwrap());
    };
    while bytes.len() < head + length {
        let mut piece = [0; 4096];
        let Ok(read @ 1..) = stream.read(&mut piece).await else { return };
        bytes.extend_from_slice(&piece[..read]);
    }
    let text = String::from_utf8_lossy(&bytes[..head]).into_owned();
    let path = text.split(['/', '?']).nth(1).unwrap_or_default().to_owned();
    let review: Value = serde_json::from_slice(&bytes[head..head + length]).unwrap();
    let (code, body) = match path.as_str() {
        "breaks" => ("500 Internal Server Error", "broken".to_owned()),
        _ => ("200 OK", reviewed(&path, &review["request"]).to_string()),
    };
    let answer =
        format!("HTTP/1.1 {code}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len());
    let _ = stream.write_all(answer.as_bytes()).await;
    let _ = stream.shutdown().await;
}

fn reviewed(path: &str, request: &Value) -> Value {
    let desired = request["desiredAPIVersion"].as_str().unwrap();
    let objects = request["objects"].as_array().unwrap().iter();
    let mut objects: Vec<Value> = objects.map(|object| converted(object, desired)).collect();
    let mut response = json!({"uid": request["uid"], "result": {"status": "Success"}});
    match path {
        "refuses" => response["result"] = json!({"status": "Failure", "message": "no people today"}),
        "silent" => response["result"] = json!({}),
        "stranger" => response["uid"] = json!("somebody"),
        "forgets" => objects.clear(),
        "renames" => objects[0]["metadata"]["name"] = json!("other"),
        "mistakes" => objects[0]["apiVersion"] = json!("people.example.com/v1"),
        "mislabels" => objects[0]["metadata"]["labels"] = json!({"a": "a b"}),
        _ => {}
    }
    response["convertedObjects"] = objects.into();
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "response": response})
}

fn converted(object: &Value, desired: &str) -> Value {
    let mut object = object.clone();
    object["apiVersion"] = desired.into();
    let text = |field: &str| object["spec"][field].as_str().unwrap_or_default().to_owned();
    if desired.ends_with("/v2") {
        let full = text("full");
        let (first, last) = full.split_once(' ').unwrap_or((&full, ""));
        object["spec"] = json!({"first": first, "last": last});
        object["metadata"]["annotations"]["converted"] = json!("to v2");
    } else {
        object["spec"] = json!({"full": format!("{} {}", text("first"), text("last"))});
        object["metadata"]["annotations"] = Value::Null;
    }
    object
}

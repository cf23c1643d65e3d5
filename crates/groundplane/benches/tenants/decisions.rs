//! What a decision adds to a whole request: two servers, alike but for their bindings, are asked by turns.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testbed::server::{Client, Server};

use crate::report::Report;
use crate::{Arguments, GROUNDPLANE};

const SYSTEM: &str = "milo-system";
const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const FLOOR: f64 = 20.0;
/// So many requests are made to one server before it is the other's turn.
const TURN: usize = 200;
/// So many bindings are written in one commit.
const AT_ONCE: usize = 250;

pub async fn measure(arguments: &Arguments, report: &mut Report) {
    let folder = tempfile::tempdir().unwrap();
    let tokens = folder.path().join("tokens.csv");
    std::fs::write(&tokens, "reader-token,reader,,\nother-token,other,,\nnobody-token,nobody,,\n").unwrap();
    let flags =
        ["--audit-log", "none", "--controllers", "none", "--token-auth-file", tokens.to_str().unwrap()];
    let start = || Server::fresh(GROUNDPLANE, &flags).unwrap();
    let (few, many) = (start(), start());
    for server in [&few, &many] {
        furnish(&server.client()).await;
    }
    let before = many.memory();
    let begun = Instant::now();
    bind(&many.client(), arguments.bindings).await;
    report.time("writing the bindings", begun.elapsed(), None);
    let each = (many.memory() - before) as f64 * 1024.0 / arguments.bindings as f64;
    report.line("memory for each binding", each, "KiB", None);
    for (who, what, path, code) in [
        ("reader", "a get that a binding allows", format!("{MAPS}/m"), 200),
        ("reader", "a list that a binding allows", MAPS.to_owned(), 200),
        ("nobody", "a get that nothing allows", format!("{MAPS}/m"), 403),
    ] {
        let person = |server: &Server| server.stranger().with_token(&format!("{who}-token"));
        let (alone, among) = by_turns(&person(&few), &person(&many), &path, code, arguments.requests).await;
        report.line(&format!("{what}, without the others"), micros(alone), "µs", None);
        report.line(&format!("{what}, among them"), micros(among), "µs", None);
        let more = micros(among) - micros(alone);
        report.line(&format!("{what}: what the others add"), more.max(0.0), "µs", Some(FLOOR));
    }
}

/// The middle time of a request to each, asked by turns: whatever else the machine does falls on both.
async fn by_turns(
    one: &Client,
    other: &Client,
    path: &str,
    code: u16,
    requests: usize,
) -> (Duration, Duration) {
    let (mut of_one, mut of_other) = (Vec::new(), Vec::new());
    for _ in 0..requests.div_ceil(TURN) {
        for (client, times) in [(one, &mut of_one), (other, &mut of_other)] {
            for _ in 0..TURN {
                let begun = Instant::now();
                let answer = client.get(path).await.unwrap();
                times.push(begun.elapsed());
                assert_eq!(answer.code, code, "{}", answer.text());
            }
        }
    }
    (crate::report::median(of_one), crate::report::median(of_other))
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// The people, a map, and the one binding that both servers have.
async fn furnish(admin: &Client) {
    for name in ["reader", "other"] {
        let user = json!({
            "apiVersion": "iam.miloapis.com/v1alpha1", "kind": "User", "metadata": {"name": name},
            "spec": {"email": format!("{name}@example.com")},
        });
        made(admin, "/apis/iam.miloapis.com/v1alpha1/users", &user).await;
    }
    made(admin, MAPS, &json!({"metadata": {"name": "m"}, "data": {"k": "v"}})).await;
    let kind = json!({"resourceKind": {"apiGroup": "", "kind": "ConfigMap"}});
    let path = format!("/apis/iam.miloapis.com/v1alpha1/namespaces/{SYSTEM}/policybindings");
    made(admin, &path, &binding("maps", "reader", &kind)).await;
}

/// A role on each of so many single maps, to both people by turns.
async fn bind(admin: &Client, many: usize) {
    for first in (0..many).step_by(AT_ONCE) {
        let numbers = first..(first + AT_ONCE).min(many);
        let maps = numbers.clone().map(|number| {
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": format!("c{number}"), "namespace": "milo-system"}})
        });
        commit(admin, maps.collect()).await;
        let bindings = numbers.map(|number| {
            let on = json!({"resourceRef": {
                "apiGroup": "", "kind": "ConfigMap", "namespace": SYSTEM, "name": format!("c{number}"),
            }});
            let who = if number % 2 == 0 { "reader" } else { "other" };
            binding(&format!("b{number}"), who, &on)
        });
        commit(admin, bindings.collect()).await;
    }
}

async fn commit(admin: &Client, objects: Vec<Value>) {
    let items = objects.into_iter().map(|object| json!({"operation": "create", "object": object}));
    let body = json!({"spec": {"items": items.collect::<Vec<_>>()}});
    made(admin, "/apis/groundplane.dev/v1alpha1/transactions", &body).await;
}

fn binding(name: &str, user: &str, on: &Value) -> Value {
    json!({
        "apiVersion": "iam.miloapis.com/v1alpha1", "kind": "PolicyBinding",
        "metadata": {"name": name, "namespace": SYSTEM},
        "spec": {
            "roleRef": {"name": "core.miloapis.com-viewer", "namespace": SYSTEM},
            "subjects": [{"kind": "User", "name": user}],
            "resourceSelector": on,
        },
    })
}

async fn made(client: &Client, path: &str, object: &Value) {
    let answer = client.post(path, object).await.unwrap();
    assert_eq!(answer.code, 201, "{path}: {}", answer.text());
}

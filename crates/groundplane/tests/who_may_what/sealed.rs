//! Nothing that somebody without `reveal` is told depends on the values of a Secret.
//!
//! The same random schedule of writes and reads is made in two projects whose Secrets differ in nothing but their values. Some
//! guesses are right in the one and wrong in the other. Every answer must read the same in both, and none may show a value.

use std::collections::BTreeMap;

use http::Method;
use regex::Regex;
use serde_json::{Value, json};
use testbed::server::Client;

use super::iam::{IAM, TENANCY, Town, binding, made, on_object};

const STEPS: usize = 260;
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
const JSON_PATCH: &str = "application/json-patch+json";
const MERGE_PATCH: &str = "application/merge-patch+json";
const STRATEGIC_PATCH: &str = "application/strategic-merge-patch+json";
const APPLY_PATCH: &str = "application/apply-patch+yaml";
/// What the Secrets of each project hold: one that nobody can guess, and two that anybody can.
const VALUES: [[&str; 3]; 2] =
    [["Kq7-vellum-otter-3391xW", "0000", "admin"], ["Zt4-copper-heron-8852bN", "7777", "guest"]];
const SECRETS: [&str; 3] = ["key", "fixed", "login"];

fn encoded(text: &str) -> String {
    krm::base64::encode(text.as_bytes())
}

/// A generator of numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }

    fn one<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }
}

/// One of the two projects, as somebody without `reveal` sees it.
struct Side {
    name: &'static str,
    client: Client,
    /// The versions that were told, in the order in which they were told first: the same in both projects.
    versions: BTreeMap<String, usize>,
    /// The versions of each Secret, to go back to.
    past: BTreeMap<&'static str, Vec<String>>,
    told: Vec<String>,
}

impl Side {
    fn path(&self, rest: &str) -> String {
        format!("{TENANCY}/projects/{}/control-plane{rest}", self.name)
    }

    fn secret(&self, name: &str) -> String {
        self.path(&format!("/api/v1/namespaces/default/secrets/{name}"))
    }

    async fn send(&mut self, method: Method, path: &str, media: &str, body: &Value) -> String {
        let text = if body.is_null() { String::new() } else { body.to_string() };
        let answer = self.client.send(method, path, media, text).await.unwrap();
        let masked = format!("{} {}", answer.code, self.masked(&answer.text()));
        self.told.push(answer.text());
        masked
    }

    /// An answer without what differs between any two projects.
    fn masked(&mut self, text: &str) -> String {
        let mask = |text: String, pattern: &str, with: &str| {
            Regex::new(pattern).unwrap().replace_all(&text, with).into_owned()
        };
        let text = text.replace(self.name, "PROJECT");
        let text = mask(text, "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UID");
        let text = mask(text, r"\d{4}-\d\d-\d\dT[0-9:.]+Z", "TIME");
        let text = mask(text, "eyJncm91bmRwbGFuZS5kZXYvc2VhbGVkIjoi[A-Za-z0-9+/=]{48}", "TOKEN");
        let text = mask(text, r#""(digest|bucket|continue)":"[^"]*""#, "PLACE");
        let text = mask(text, "act-[0-9a-f]{12}", "ACTIVITY");
        // How far the store has come as a whole depends on the other project, too.
        let text = mask(text, r#""metadata":\{"resourceVersion":"\d+"\}"#, "LISTED");
        let text = mask(text, r#""revision":"\d+","s"#, "REVISION");
        let numbers = Regex::new(r"\b\d{6,}\b").unwrap();
        let masked = numbers.replace_all(&text, |found: &regex::Captures<'_>| {
            let next = self.versions.len();
            format!("v{}", self.versions.entry(found[0].to_owned()).or_insert(next))
        });
        masked.into_owned()
    }

    /// Remembers how far a Secret has come.
    async fn note(&mut self, name: &'static str) {
        let read = self.client.get(&self.secret(name)).await.unwrap().json();
        if let Some(version) = read["metadata"]["resourceVersion"].as_str() {
            let past = self.past.entry(name).or_default();
            if past.last().is_none_or(|last| last != version) {
                past.push(version.to_owned());
            }
        }
    }
}

/// A step: the same in both projects, but for the versions that it names.
#[derive(Debug, Clone)]
enum Step {
    Patch(&'static str, &'static str, Value, String),
    Put(&'static str, Value),
    Transaction(Value, &'static str),
    Plan(String, Value),
    ApplyPlan(String),
    Undo(&'static str, Value),
    UndoTo(&'static str, usize),
    UndoMany(&'static str, usize, bool),
    Delete(&'static str),
    Restore(&'static str),
    Read(&'static str, &'static str),
}

impl Step {
    async fn take(&self, side: &mut Side) -> String {
        let groundplane =
            |side: &Side, rest: &str| side.path(&format!("/apis/groundplane.dev/v1alpha1{rest}"));
        let at = |side: &Side, name: &str, index: &usize| -> String {
            let past = side.past.get(name).map(Vec::as_slice).unwrap_or_default();
            past.get(index % past.len().max(1)).cloned().unwrap_or_default()
        };
        let json = "application/json";
        match self {
            Step::Patch(name, media, patch, query) => {
                let path = format!("{}{query}", side.secret(name));
                side.send(Method::PATCH, &path, media, patch).await
            }
            Step::Put(name, object) => side.send(Method::PUT, &side.secret(name), json, object).await,
            Step::Transaction(spec, query) => {
                let path = groundplane(side, &format!("/transactions{query}"));
                side.send(Method::POST, &path, json, &json!({"kind": "Transaction", "spec": spec})).await
            }
            Step::Plan(name, spec) => {
                let body = json!({"kind": "Plan", "metadata": {"name": name}, "spec": spec});
                let made = side.send(Method::POST, &groundplane(side, "/plans"), json, &body).await;
                let path = groundplane(side, &format!("/plans/{name}"));
                made + &side.send(Method::GET, &path, json, &Value::Null).await
            }
            Step::ApplyPlan(name) => {
                let path = groundplane(side, &format!("/plans/{name}/apply"));
                side.send(Method::POST, &path, json, &json!({})).await
            }
            Step::Undo(name, body) => {
                side.send(Method::POST, &format!("{}/undo", side.secret(name)), json, body).await
            }
            Step::UndoTo(name, index) => {
                let body = json!({"revision": at(side, name, index)});
                side.send(Method::POST, &format!("{}/undo", side.secret(name)), json, &body).await
            }
            Step::UndoMany(name, index, force) => {
                let undo = json!({
                    "revision": at(side, name, index), "force": force, "skipForgotten": true,
                    "resources": [{"group": "", "resource": "secrets"}],
                });
                let body = json!({"kind": "Transaction", "spec": {"undo": undo}});
                let path = groundplane(side, "/transactions?diff=true&object=true");
                side.send(Method::POST, &path, json, &body).await
            }
            Step::Delete(name) => side.send(Method::DELETE, &side.secret(name), json, &json!({})).await,
            Step::Restore(name) => {
                side.send(Method::POST, &format!("{}/restore", side.secret(name)), json, &json!({})).await
            }
            Step::Read(name, query) => {
                let path = format!("{}{query}", side.secret(name));
                side.send(Method::GET, &path, json, &Value::Null).await
            }
        }
    }

    fn random(dice: &mut Dice, number: usize) -> Step {
        let name = dice.one(&SECRETS);
        match dice.below(16) {
            0..=3 => Step::Patch(name, JSON_PATCH, json_patch(dice), dry(dice)),
            4 => Step::Patch(name, MERGE_PATCH, merge_patch(dice), dry(dice)),
            5 => Step::Patch(name, STRATEGIC_PATCH, merge_patch(dice), dry(dice)),
            6 => {
                let manager = dice.one(&["one", "two"]);
                let force = dice.one(&["true", "false"]);
                let query = format!("?fieldManager={manager}&force={force}");
                Step::Patch(name, APPLY_PATCH, applied(dice, name), query)
            }
            7 => Step::Put(name, whole(dice, name)),
            8 | 9 => {
                let query = dice.one(&["?diff=true&object=true", "?dryRun=All", ""]);
                Step::Transaction(json!({"items": [item(dice, name)], "force": dice.below(2) == 0}), query)
            }
            10 => Step::Plan(format!("plan-{number}"), json!({"items": [item(dice, name)]})),
            11 => Step::ApplyPlan(format!("plan-{}", number.saturating_sub(dice.below(6)))),
            12 => match dice.below(3) {
                0 => Step::Undo(name, json!({"steps": 1 + dice.below(2)})),
                1 => Step::UndoTo(name, dice.below(8)),
                _ => Step::UndoMany(name, dice.below(8), dice.below(2) == 0),
            },
            13 => dice.one(&[Step::Delete(name), Step::Restore(name)]),
            14 => Step::Restore(name),
            _ => Step::Read(name, dice.one(&["/history?diff=true", "/history", "", "/referrers"])),
        }
    }
}

fn dry(dice: &mut Dice) -> String {
    dice.one(&["", "", "?dryRun=All"]).to_owned()
}

/// A value that somebody might try: half of them are what the first project holds.
fn guess(dice: &mut Dice) -> String {
    let [_, pin, user] = VALUES[dice.below(2)];
    let all = [encoded(pin), encoded(user), encoded(VALUES[0][0]), String::new(), encoded("something else")];
    dice.one(&all)
}

fn json_patch(dice: &mut Dice) -> Value {
    let last = format!("/metadata/annotations/{}", LAST_APPLIED.replace('/', "~1"));
    let from = ["/data/pin", "/data/password", "/data/user", "/data", "", "/metadata", last.as_str()];
    let to = [
        "/metadata/annotations/seen",
        "/metadata/labels/seen",
        "/metadata/annotations",
        "/metadata/finalizers",
        "/data/other",
        "/data/pin",
        "/stringData",
        "/type",
        "/immutable",
        "/metadata/name",
        "/kind",
        "/unknown",
    ];
    let operations = (0..1 + dice.below(2)).map(|_| match dice.below(6) {
        0 => json!({"op": "copy", "from": dice.one(&from), "path": dice.one(&to)}),
        1 => json!({"op": "move", "from": dice.one(&from), "path": dice.one(&to)}),
        2 | 3 => json!({"op": "test", "path": dice.one(&from[..3]), "value": guess(dice)}),
        4 => json!({"op": "add", "path": dice.one(&["/data/pin", "/data/more"]), "value": guess(dice)}),
        _ => json!({"op": "add", "path": "/metadata/labels", "value": {"shelf": dice.one(&["top", "low"])}}),
    });
    operations.collect()
}

fn merge_patch(dice: &mut Dice) -> Value {
    match dice.below(4) {
        0 => json!({"metadata": {"labels": {"shelf": dice.one(&["top", "low"])}}}),
        1 => json!({"data": {"pin": null}}),
        2 => json!({"stringData": {"pin": dice.one(&[VALUES[0][1], VALUES[1][1]])}}),
        _ => json!({"data": {dice.one(&["pin", "user", "password"]): guess(dice)}}),
    }
}

fn applied(dice: &mut Dice, name: &str) -> Value {
    let data = json!({dice.one(&["pin", "user"]): guess(dice)});
    json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "data": data})
}

fn whole(dice: &mut Dice, name: &str) -> Value {
    let data = json!({"pin": guess(dice), "user": guess(dice), "password": guess(dice)});
    json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "data": data})
}

fn item(dice: &mut Dice, name: &str) -> Value {
    let target = json!({"apiVersion": "v1", "kind": "Secret", "namespace": "default", "name": name});
    let object = |mut object: Value| {
        object["metadata"]["namespace"] = "default".into();
        object
    };
    match dice.below(7) {
        0 | 1 => {
            json!({"operation": "patch", "target": target, "patchType": JSON_PATCH, "patch": json_patch(dice)})
        }
        2 => json!({"operation": "patch", "target": target, "patch": merge_patch(dice)}),
        3 => json!({"operation": "apply", "object": object(applied(dice, name))}),
        4 => json!({"operation": "update", "object": object(whole(dice, name))}),
        5 => json!({"operation": "undo", "target": target, "steps": 1}),
        _ => json!({"operation": "restore", "target": target}),
    }
}

/// The Secrets of a project: the same in both but for their values.
fn planted(values: [&str; 3]) -> Vec<Value> {
    let [password, pin, user] = values;
    let noted = json!({"stringData": {"password": password, "pin": pin}}).to_string();
    let data = json!({"password": password, "pin": pin, "user": user});
    let docker = json!({"auths": {"registry.example.com": {"password": password}}}).to_string();
    vec![
        json!({"metadata": {"name": "key", "annotations": {LAST_APPLIED: noted}}, "stringData": data}),
        json!({"metadata": {"name": "fixed"}, "immutable": true, "stringData": data}),
        json!({
            "metadata": {"name": "login"}, "type": "kubernetes.io/dockerconfigjson",
            "stringData": {".dockerconfigjson": docker, "pin": pin},
        }),
    ]
}

async fn town() -> (Town, [Side; 2]) {
    let town = Town::of(&["wim"], &[]).await;
    let admin = &town.admin;
    let mut permissions: Vec<String> =
        ["get", "list", "watch", "create", "update", "patch", "delete", "undo.create", "restore.create"]
            .iter()
            .map(|verb| match verb.contains('.') {
                true => format!("core.miloapis.com/secrets/{verb}"),
                false => format!("core.miloapis.com/secrets.{verb}"),
            })
            .collect();
    permissions.extend(
        ["transactions.create", "plans.create", "plans.get", "plans/apply.create"]
            .map(|may| format!("groundplane.dev/{may}")),
    );
    let role = json!({
        "metadata": {"name": "depositor"},
        "spec": {"launchStage": "Alpha", "includedPermissions": permissions},
    });
    made(admin, &format!("{IAM}/namespaces/milo-system/roles"), &role).await;
    let bindings = format!("{IAM}/namespaces/milo-system/policybindings");
    let sides = ["first-one", "second-1"].map(|name| Side {
        name,
        client: town.person("wim"),
        versions: BTreeMap::new(),
        past: BTreeMap::new(),
        told: Vec::new(),
    });
    for (side, values) in sides.iter().zip(VALUES) {
        made(admin, &format!("{TENANCY}/projects"), &json!({"metadata": {"name": side.name}})).await;
        for role in ["project-viewer", "depositor"] {
            let on = on_object("resourcemanager.miloapis.com", "Project", side.name);
            made(admin, &bindings, &binding(&format!("{}-{role}", side.name), role, "wim", on)).await;
        }
        for secret in planted(values) {
            made(admin, &side.path("/api/v1/namespaces/default/secrets"), &secret).await;
        }
    }
    (town, sides)
}

fn shows_a_value(text: &str) -> bool {
    // What nobody can guess can't have been sent, so wherever it is found it was shown.
    let hidden = VALUES[1][0];
    [hidden.to_owned(), encoded(hidden)].iter().any(|value| text.contains(value.as_str()))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_may_write_a_secret_and_not_reveal_it_learns_nothing_of_its_values() {
    let (town, mut sides) = town().await;
    let seed = std::env::var("GROUNDPLANE_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(222);
    let mut dice = Dice(seed);
    let mut codes: BTreeMap<String, usize> = BTreeMap::new();
    for number in 0..STEPS {
        let step = Step::random(&mut dice, number);
        let mut told = Vec::new();
        for side in &mut sides {
            let mut answer = step.take(side).await;
            for name in SECRETS {
                side.note(name).await;
            }
            let read = side.path("/api/v1/namespaces/default/secrets");
            answer += &side.send(Method::GET, &read, "application/json", &Value::Null).await;
            let history = format!("{}/history?diff=true&limit=3", side.secret("key"));
            answer += &side.send(Method::GET, &history, "application/json", &Value::Null).await;
            told.push(answer);
        }
        assert_eq!(told[0], told[1], "step {number} of seed {seed}, {step:?}, depends on a value");
        *codes.entry(told[0][..3].to_owned()).or_default() += 1;
    }
    for side in &mut sides {
        for rest in [
            "/apis/groundplane.dev/v1alpha1/search?q=key",
            "/apis/groundplane.dev/v1alpha1/plans",
            "/apis/activity.miloapis.com/v1alpha1/activities",
            "/api/v1/namespaces/default/secrets?fieldSelector=type=Opaque",
            "/api/v1/namespaces/default/secrets?watch=1&timeoutSeconds=1",
        ] {
            let path = side.path(rest);
            side.send(Method::GET, &path, "application/json", &Value::Null).await;
        }
    }
    let log = std::fs::read_to_string(town.server.data().join("audit.log")).unwrap();
    let told = sides.iter().flat_map(|side| &side.told).chain([&log]);
    for text in told {
        assert!(!shows_a_value(text), "a value is shown: {text}");
    }
    // A schedule of which nothing succeeds proves nothing.
    let of = |code: &str| codes.get(code).copied().unwrap_or_default();
    assert!(of("200") + of("201") > STEPS / 4 && of("403") > 5 && of("422") > 5, "{codes:?}");
}

#[tokio::test]
async fn a_transaction_neither_copies_a_value_nor_says_whether_a_guess_is_right() {
    let (town, sides) = town().await;
    let [side, _] = sides;
    let transactions = side.path("/apis/groundplane.dev/v1alpha1/transactions");
    let target = json!({"apiVersion": "v1", "kind": "Secret", "namespace": "default", "name": "key"});
    let commit = async |query: &str, item: Value| {
        let body = json!({"kind": "Transaction", "spec": {"items": [item]}});
        side.client.post(&format!("{transactions}{query}"), &body).await.unwrap()
    };
    let patch = |operations: Value| json!({"operation": "patch", "target": target, "patchType": JSON_PATCH, "patch": operations});
    let copy = json!([{"op": "copy", "from": "/data/pin", "path": "/metadata/annotations/seen"}]);
    let copied = commit("", patch(copy)).await;
    assert_eq!(copied.code, 403, "{}", copied.text());
    assert!(
        copied.text().contains("metadata.annotations.seen would hold the value of data.pin"),
        "{}",
        copied.text()
    );
    assert!(copied.text().contains("reveal"), "{}", copied.text());
    for guess in [VALUES[0][1], VALUES[1][1]] {
        let tested =
            commit("", patch(json!([{"op": "test", "path": "/data/pin", "value": encoded(guess)}]))).await;
        assert_eq!(tested.code, 422, "{}", tested.text());
        let object = json!({
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "key", "namespace": "default"},
            "data": {"pin": encoded(guess)},
        });
        let planned = commit("?dryRun=All&force=true", json!({"operation": "apply", "object": object})).await;
        assert_eq!(planned.json()["status"]["items"][0]["result"], "configured", "{}", planned.text());
    }
    // What is left alone keeps its value, and the administrator's transactions copy as before.
    let label = json!([{"op": "add", "path": "/metadata/labels", "value": {"shelf": "top"}}]);
    let labelled = commit("?object=true", patch(label)).await;
    assert_eq!(labelled.code, 201, "{}", labelled.text());
    let kept = town.admin.get(&side.secret("key")).await.unwrap().json();
    assert_eq!(kept["data"]["password"], encoded(VALUES[0][0]));
    assert_eq!(kept["metadata"]["labels"]["shelf"], "top");
    let copy = json!([{"op": "copy", "from": "/data/pin", "path": "/metadata/annotations/seen"}]);
    let body = json!({"kind": "Transaction", "spec": {"items": [patch(copy)]}});
    assert_eq!(town.admin.post(&transactions, &body).await.unwrap().code, 201);
}

#[tokio::test]
async fn a_plan_shows_nobody_the_values_that_its_maker_sent_and_is_applied_with_them() {
    let (town, sides) = town().await;
    let [side, _] = sides;
    let plans = side.path("/apis/groundplane.dev/v1alpha1/plans");
    let object = json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "new", "namespace": "default"},
        "stringData": {"pin": VALUES[1][0]},
    });
    let patch = json!({"stringData": {"pin": VALUES[1][0]}});
    let target = json!({"apiVersion": "v1", "kind": "Secret", "namespace": "default", "name": "key"});
    let items = json!([
        {"operation": "create", "object": object},
        {"operation": "patch", "target": target, "patch": patch},
    ]);
    let plan = json!({"kind": "Plan", "metadata": {"name": "two"}, "spec": {"items": items}});
    let planned = town.admin.post(&plans, &plan).await.unwrap();
    assert_eq!(planned.code, 201, "{}", planned.text());
    for client in [&side.client, &town.admin] {
        for path in [format!("{plans}/two"), plans.clone()] {
            let read = client.get(&path).await.unwrap();
            assert_eq!(read.code, 200, "{}", read.text());
            assert!(!shows_a_value(&read.text()) && read.text().contains("stringData"), "{}", read.text());
        }
    }
    let applied = town.admin.post(&format!("{plans}/two/apply"), &json!({})).await.unwrap();
    assert_eq!(applied.code, 201, "{}", applied.text());
    for name in ["new", "key"] {
        let kept = town.admin.get(&side.secret(name)).await.unwrap().json();
        assert_eq!(kept["data"]["pin"], encoded(VALUES[1][0]), "{name}: {kept}");
    }
}

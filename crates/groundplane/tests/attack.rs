//! Random requests of six principals with random rights, beside a model of what each may see and do: no answer tells more than
//! the model allows, and nothing is done that it does not allow.
//!
//! Names and values of objects are words that occur nowhere else, so that one in an answer tells of its object. A failure names
//! the seed of its sequence; `cargo xtask attack --seed N` plays it again.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testbed::server::{Answer, Client, Server};

const GROUNDPLANE: &str = env!("CARGO_BIN_EXE_groundplane");
const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";
const IAM: &str = "/apis/iam.miloapis.com/v1alpha1";
const BEYOND: &str = "/apis/groundplane.dev/v1alpha1";
const PRINCIPALS: usize = 6;
const ACCOUNTS: usize = 3;
const NAMESPACES: [&str; 3] = ["red", "green", "blue"];
const RESOURCES: [&str; 2] = ["configmaps", "secrets"];
const VERBS: [&str; 6] = ["get", "list", "create", "patch", "delete", "history"];
/// Requests of one sequence; the server is new for each.
const REQUESTS: usize = 400;

/// A right by RBAC: a verb on a resource, in one namespace or in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Right {
    verb: &'static str,
    resource: &'static str,
    namespace: Option<usize>,
}

#[derive(Debug, Default, Clone)]
struct Rights {
    by_rbac: BTreeSet<Right>,
    /// Whether Secrets may be read without their values, by IAM.
    sees_secrets: bool,
    /// Whether tokens of service accounts may be asked for.
    mints: bool,
    is_inactive: bool,
}

impl Rights {
    fn rbac(&self, verb: &str, resource: &str, namespace: usize) -> bool {
        let allows = |right: &Right| {
            right.verb == verb
                && right.resource == resource
                && right.namespace.is_none_or(|only| only == namespace)
        };
        !self.is_inactive && self.by_rbac.iter().any(allows)
    }

    fn may(&self, verb: &str, resource: &str, namespace: usize) -> bool {
        let by_iam = self.sees_secrets && resource == "secrets" && matches!(verb, "get" | "list");
        self.rbac(verb, resource, namespace) || (by_iam && !self.is_inactive)
    }

    /// Whether an answer may name an object. Whoever may change one is answered with it.
    fn sees(&self, object: &Made) -> bool {
        let any = ["get", "list", "patch", "delete", "history"];
        any.iter().any(|verb| self.may(verb, object.resource, object.namespace))
    }

    fn sees_value(&self, object: &Made) -> bool {
        let any = ["get", "list", "patch", "delete", "history"];
        any.iter().any(|verb| self.rbac(verb, object.resource, object.namespace))
    }

    /// Whether all of another's rights are held here. What RBAC gives shows values, which IAM's viewers don't see.
    fn covers(&self, other: &BTreeSet<Right>) -> bool {
        other.iter().all(|right| {
            let everywhere = Right { namespace: None, ..*right };
            self.by_rbac.contains(right) || self.by_rbac.contains(&everywhere)
        })
    }
}

/// An object that was made, there or gone.
#[derive(Debug, Clone)]
struct Made {
    resource: &'static str,
    namespace: usize,
    name: String,
    value: String,
}

/// Numbers that follow from a seed.
struct Dice(u64);

impl Dice {
    fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.number() % bound as u64) as usize
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    fn word(&mut self, prefix: &str) -> String {
        format!("{prefix}{:012x}", self.number() >> 16)
    }
}

struct World {
    _server: Server,
    _folder: tempfile::TempDir,
    admin: Client,
    people: Vec<Client>,
    rights: Vec<Rights>,
    accounts: Vec<BTreeSet<Right>>,
    made: Vec<Made>,
    after: String,
    dice: Dice,
    seed: u64,
}

fn path(resource: &str, namespace: usize) -> String {
    format!("/api/v1/namespaces/{}/{resource}", NAMESPACES[namespace])
}

async fn done(answer: Answer, codes: &[u16]) -> Value {
    assert!(codes.contains(&answer.code), "{}: {}", answer.code, answer.text());
    answer.json()
}

/// The rules of a role for these rights.
fn rules(rights: impl Iterator<Item = Right>) -> Vec<Value> {
    let rule = |right: Right| match right.verb {
        "history" => {
            json!({"apiGroups": [""], "resources": [format!("{}/history", right.resource)], "verbs": ["get"]})
        }
        verb => json!({"apiGroups": [""], "resources": [right.resource], "verbs": [verb]}),
    };
    rights.map(rule).collect()
}

impl World {
    async fn new(seed: u64) -> World {
        let folder = tempfile::TempDir::new().unwrap();
        let file = folder.path().join("tokens.csv");
        let lines: String = (0..PRINCIPALS).map(|number| format!("p{number}-token,p{number},,\n")).collect();
        std::fs::write(&file, lines).unwrap();
        let server = Server::fresh(GROUNDPLANE, &["--token-auth-file", file.to_str().unwrap()]).unwrap();
        let admin = server.client();
        let people =
            (0..PRINCIPALS).map(|number| server.stranger().with_token(&format!("p{number}-token"))).collect();
        let world = World {
            _server: server,
            _folder: folder,
            admin,
            people,
            rights: vec![Rights::default(); PRINCIPALS],
            accounts: vec![BTreeSet::new(); ACCOUNTS],
            made: Vec::new(),
            after: String::new(),
            dice: Dice(seed),
            seed,
        };
        world.prepared().await
    }

    async fn prepared(mut self) -> World {
        for namespace in NAMESPACES {
            let object = json!({"metadata": {"name": namespace}});
            done(self.admin.post("/api/v1/namespaces", &object).await.unwrap(), &[201]).await;
        }
        for number in 0..PRINCIPALS {
            let user = json!({
                "apiVersion": "iam.miloapis.com/v1alpha1", "kind": "User", "metadata": {"name": format!("p{number}")},
                "spec": {"email": format!("p{number}@example.com")},
            });
            done(self.admin.post(&format!("{IAM}/users"), &user).await.unwrap(), &[201]).await;
            self.bind(&format!("p{number}"), json!({"kind": "User", "name": format!("p{number}")})).await;
        }
        for number in 0..ACCOUNTS {
            let account = json!({"metadata": {"name": format!("sa{number}")}});
            let accounts = "/api/v1/namespaces/red/serviceaccounts";
            done(self.admin.post(accounts, &account).await.unwrap(), &[201]).await;
            let name = format!("system:serviceaccount:red:sa{number}");
            self.bind(&format!("sa{number}"), json!({"kind": "User", "name": name})).await;
        }
        let minter = json!({
            "metadata": {"name": "minter"},
            "rules": [{"apiGroups": [""], "resources": ["serviceaccounts/token"], "verbs": ["create"]}],
        });
        done(self.admin.post(&format!("{RBAC}/clusterroles"), &minter).await.unwrap(), &[201]).await;
        let first = json!({"metadata": {"name": "first"}});
        let first = self.admin.post("/api/v1/namespaces/default/configmaps", &first).await.unwrap();
        self.after = done(first, &[201]).await["metadata"]["resourceVersion"].as_str().unwrap().to_owned();
        for _ in 0..8 {
            self.make().await;
        }
        self
    }

    /// Roles without rules, one for all namespaces and one in each, which are bound for good and changed later.
    async fn bind(&self, name: &str, mut subject: Value) {
        subject["apiGroup"] = "rbac.authorization.k8s.io".into();
        let role = json!({"metadata": {"name": name}, "rules": []});
        let binding = |kind: &str| {
            json!({
                "metadata": {"name": name}, "subjects": [subject],
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name},
            })
        };
        done(self.admin.post(&format!("{RBAC}/clusterroles"), &role).await.unwrap(), &[201]).await;
        let bindings = format!("{RBAC}/clusterrolebindings");
        done(self.admin.post(&bindings, &binding("ClusterRole")).await.unwrap(), &[201]).await;
        for namespace in NAMESPACES {
            let there = format!("{RBAC}/namespaces/{namespace}");
            done(self.admin.post(&format!("{there}/roles"), &role).await.unwrap(), &[201]).await;
            let bound = self.admin.post(&format!("{there}/rolebindings"), &binding("Role")).await.unwrap();
            done(bound, &[201]).await;
        }
    }

    /// Writes the rules of somebody's roles.
    async fn write_rights(&self, name: &str, rights: &BTreeSet<Right>) {
        let role = |rules: Vec<Value>| json!({"rules": rules});
        let everywhere = rules(rights.iter().filter(|right| right.namespace.is_none()).copied());
        let answer =
            self.admin.merge(&format!("{RBAC}/clusterroles/{name}"), &role(everywhere)).await.unwrap();
        done(answer, &[200]).await;
        for (number, namespace) in NAMESPACES.iter().enumerate() {
            let local = rules(rights.iter().filter(|right| right.namespace == Some(number)).copied());
            let at = format!("{RBAC}/namespaces/{namespace}/roles/{name}");
            done(self.admin.merge(&at, &role(local)).await.unwrap(), &[200]).await;
        }
    }

    fn some_rights(&mut self) -> BTreeSet<Right> {
        let count = self.dice.below(6);
        (0..count)
            .map(|_| Right {
                verb: self.dice.one_of(&VERBS),
                resource: self.dice.one_of(&RESOURCES),
                namespace: self.dice.one_of(&[None, Some(0), Some(1), Some(2)]),
            })
            // History shows values of Secrets only to those who may read them, which is another story.
            .filter(|right| !(right.verb == "history" && right.resource == "secrets"))
            .collect()
    }

    /// The administrator makes an object.
    async fn make(&mut self) {
        let object = Made {
            resource: self.dice.one_of(&RESOURCES),
            namespace: self.dice.below(NAMESPACES.len()),
            name: self.dice.word("n"),
            value: self.dice.word("v"),
        };
        let body = body(&object);
        let answer = self.admin.post(&path(object.resource, object.namespace), &body).await.unwrap();
        done(answer, &[201]).await;
        self.made.push(object);
    }

    /// The administrator changes what somebody may do.
    async fn change(&mut self) {
        let who = self.dice.below(PRINCIPALS);
        let name = format!("p{who}");
        match self.dice.below(10) {
            0 => {
                let is_inactive = !self.rights[who].is_inactive;
                let state = if is_inactive { "Inactive" } else { "Active" };
                let change = json!({"status": {"state": state}});
                let at = format!("{IAM}/users/{name}/status");
                done(self.admin.merge(&at, &change).await.unwrap(), &[200]).await;
                self.rights[who].is_inactive = is_inactive;
            }
            1 => {
                let bindings = format!("{IAM}/namespaces/milo-system/policybindings");
                let sees = !self.rights[who].sees_secrets;
                let answer = match sees {
                    true => {
                        let binding = json!({
                            "apiVersion": "iam.miloapis.com/v1alpha1", "kind": "PolicyBinding", "metadata": {"name": name},
                            "spec": {
                                "roleRef": {"name": "core.miloapis.com-viewer", "namespace": "milo-system"},
                                "subjects": [{"kind": "User", "name": name}],
                                "resourceSelector": {"resourceKind": {"apiGroup": "", "kind": "Secret"}},
                            },
                        });
                        self.admin.post(&bindings, &binding).await.unwrap()
                    }
                    false => self.admin.delete(&format!("{bindings}/{name}")).await.unwrap(),
                };
                done(answer, &[200, 201]).await;
                self.rights[who].sees_secrets = sees;
            }
            2 => {
                let bindings = format!("{RBAC}/clusterrolebindings");
                let mints = !self.rights[who].mints;
                let answer = match mints {
                    true => {
                        let binding = json!({
                            "metadata": {"name": format!("{name}-mints")},
                            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": name}],
                            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "minter"},
                        });
                        self.admin.post(&bindings, &binding).await.unwrap()
                    }
                    false => self.admin.delete(&format!("{bindings}/{name}-mints")).await.unwrap(),
                };
                done(answer, &[200, 201]).await;
                self.rights[who].mints = mints;
            }
            3 => {
                let account = self.dice.below(ACCOUNTS);
                let rights = self.some_rights();
                self.write_rights(&format!("sa{account}"), &rights).await;
                self.accounts[account] = rights;
            }
            _ => {
                let rights = self.some_rights();
                self.write_rights(&name, &rights).await;
                self.rights[who].by_rbac = rights;
            }
        }
    }

    /// Somebody asks for something.
    async fn ask(&mut self) {
        let who = self.dice.below(PRINCIPALS);
        let (client, rights) = (self.people[who].clone(), self.rights[who].clone());
        let object = self.made[self.dice.below(self.made.len())].clone();
        let (resource, namespace) = (object.resource, object.namespace);
        let there = path(resource, namespace);
        let at = format!("{there}/{}", object.name);
        // What was asked, what came of it, and whether the model allows it, where that is certain.
        let (asked, answer, allowed) = match self.dice.below(14) {
            0 => (at.clone(), client.get(&at).await.unwrap(), Some(rights.may("get", resource, namespace))),
            1 => (
                there.clone(),
                client.get(&there).await.unwrap(),
                Some(rights.may("list", resource, namespace)),
            ),
            2 => {
                let all = format!("/api/v1/{resource}?limit=3");
                (all.clone(), client.get(&all).await.unwrap(), None)
            }
            3 => {
                let new = Made { name: self.dice.word("n"), value: self.dice.word("v"), ..object.clone() };
                let body = body(&new);
                let answer = client.post(&there, &body).await.unwrap();
                if answer.code == 201 {
                    self.made.push(new);
                }
                (body.to_string(), answer, Some(rights.rbac("create", resource, namespace)))
            }
            4 => {
                let change = json!({"metadata": {"labels": {"l": self.dice.word("l")}}});
                let answer = client.merge(&at, &change).await.unwrap();
                (at.clone(), answer, Some(rights.rbac("patch", resource, namespace)))
            }
            5 => {
                let answer = client.delete(&at).await.unwrap();
                (at.clone(), answer, Some(rights.rbac("delete", resource, namespace)))
            }
            6 | 7 => {
                let undo =
                    json!({"spec": {"undo": {"after": self.after, "skipForgotten": true, "force": true}}});
                let path = format!("{BEYOND}/transactions?dryRun=All");
                (undo.to_string(), client.post(&path, &undo).await.unwrap(), None)
            }
            8 => {
                let item = json!({"operation": "delete", "target": {
                    "apiVersion": "v1", "kind": kind(resource), "namespace": NAMESPACES[namespace], "name": object.name,
                }});
                let delete = json!({"spec": {"items": [item]}});
                let path = format!("{BEYOND}/transactions?dryRun=All");
                (delete.to_string(), client.post(&path, &delete).await.unwrap(), None)
            }
            9 => {
                let path = format!("{at}/history?diff=1");
                (path.clone(), client.get(&path).await.unwrap(), None)
            }
            10 => {
                let path = format!("{BEYOND}/search?q=n");
                (path.clone(), client.get(&path).await.unwrap(), None)
            }
            11 => {
                let path = format!("{there}?fieldSelector=metadata.name%3D{}", object.name);
                (path.clone(), client.get(&path).await.unwrap(), None)
            }
            12 => {
                let path = format!("{at}/referrers");
                (path.clone(), client.get(&path).await.unwrap(), None)
            }
            _ => {
                let account = self.dice.below(ACCOUNTS);
                let request =
                    json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
                let path = format!("/api/v1/namespaces/red/serviceaccounts/sa{account}/token");
                let allowed = !rights.is_inactive && rights.mints && rights.covers(&self.accounts[account]);
                (path.clone(), client.post(&path, &request).await.unwrap(), Some(allowed))
            }
        };
        let told = answer.text();
        let story =
            || format!("seed {}: p{who} with {rights:?} asked {asked}: {} {told}", self.seed, answer.code);
        match allowed {
            Some(true) => assert!(!matches!(answer.code, 401 | 403), "refused what is allowed: {}", story()),
            Some(false) => {
                assert!(matches!(answer.code, 401 | 403 | 404), "done what is not allowed: {}", story());
            }
            None if rights.is_inactive => assert_eq!(answer.code, 403, "inactive: {}", story()),
            None => {}
        }
        for made in &self.made {
            let encoded = krm::base64::encode(made.value.as_bytes());
            let tells = |word: &str| told.contains(word) && !asked.contains(word);
            let own_word = asked.contains(&made.name);
            assert!(
                own_word || !tells(&made.name) || rights.sees(made),
                "tells the name of {made:?}: {}",
                story()
            );
            assert!(
                asked.contains(&made.value)
                    || !(tells(&made.value) || tells(&encoded))
                    || rights.sees_value(made),
                "tells the value of {made:?}: {}",
                story()
            );
        }
    }
}

fn kind(resource: &str) -> &'static str {
    if resource == "secrets" { "Secret" } else { "ConfigMap" }
}

fn body(object: &Made) -> Value {
    let field = if object.resource == "secrets" { "stringData" } else { "data" };
    json!({"metadata": {"name": object.name}, field: {"k": object.value}})
}

#[tokio::test]
async fn no_answer_tells_more_than_its_reader_may_know() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seconds = number("GROUNDPLANE_ATTACK_SECONDS").unwrap_or(0);
    let (begun, mut seed) = (Instant::now(), number("GROUNDPLANE_ATTACK_SEED").unwrap_or(1));
    loop {
        let mut world = World::new(seed).await;
        for _ in 0..REQUESTS {
            match world.dice.below(8) {
                0 => world.change().await,
                1 => world.make().await,
                _ => world.ask().await,
            }
        }
        eprintln!("seed {seed}: {REQUESTS} requests, {} objects", world.made.len());
        if begun.elapsed() >= Duration::from_secs(seconds) {
            return;
        }
        seed += 1;
    }
}

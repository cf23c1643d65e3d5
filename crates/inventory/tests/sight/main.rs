//! Every question is answered as if the objects that whoever asks may not read did not exist, and says that it is incomplete
//! wherever that makes a difference: random rights on a fleet, against the answer computed without the hidden objects.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

#[path = "../../../apiserver/tests/shelves/dice.rs"]
mod dice;
mod oracle;
#[path = "../../../apiserver/tests/shelves/server.rs"]
#[allow(dead_code, reason = "these tests don't do everything that the others do")]
mod server;

use std::collections::{BTreeMap, BTreeSet};

use apiserver::identity::Identity;
use apiserver::plane::Plane;
use apiserver::sight::Sight;
use inventory::demo::{Size, fleet};
use inventory::kinds::GROUP;
use inventory::topology::REGION;
use krm::Object;
use krm::kind::{Answered, Form};
use serde_json::{Value, json};
use testbed::server::Client;

use dice::Dice;
use oracle::Oracle;
use server::Server;

/// The kinds that the servers of these tests serve.
mod served {
    pub use inventory::all;
}

const ROOT: &str = "/apis/inventory.miloapis.com/v1alpha1";
const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";
const CASES: u64 = 16;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_is_that_of_a_fleet_without_what_is_hidden() {
    let server = Server::embedded().await;
    let admin = server.client();
    let system = apiserver::client::Client::system(&server.api, "tests");
    let mut all = BTreeMap::new();
    for object in labelled(fleet(Size { sites: 2, racks: 2, hosts: 2 }, 7)) {
        let made = system.create(object).await.unwrap();
        all.insert((plural(made.kind()), made.name().to_owned()), made);
    }
    let whole = Oracle::of(&all, |_| true);
    let (mut incomplete, mut complete) = (0, 0);
    for case in 0..CASES {
        let mut dice = Dice::new(case + 1);
        let visible = rights(&admin, case, &all, &mut dice).await;
        let asker = server.client().with("impersonate-user", &format!("user-{case}"));
        let hidden = Hidden::of(&all, &visible);
        let seen = Oracle::of(&all, |at| visible.contains(at));
        for question in oracle::questions(&all, &mut dice) {
            let at = question.address().filter(|at| !visible.contains(at));
            if let Some((plural, name)) = at {
                // Whether there is such an object is told by the question no more than by the object itself.
                let said = asker.get(&question.path("json")).await.unwrap();
                let read = asker.get(&format!("{ROOT}/{plural}/{name}")).await.unwrap();
                assert_eq!((said.code, said.text()), (403, read.text()), "case {case}: {question:?}");
                continue;
            }
            let said = asker.get(&question.path("json")).await.unwrap();
            let mut said = said.json();
            let is_incomplete = said.as_object_mut().unwrap().remove("incomplete").is_some();
            seen.lacks(is_incomplete);
            let expected = seen.answer(&question, Form::Json).map(json_of);
            assert_eq!(Some(said), expected.ok(), "case {case}: {question:?}");
            let differs = seen.answer(&question, Form::Json) != whole.answer(&question, Form::Json);
            assert!(
                is_incomplete || !differs,
                "case {case}: {question:?} lacks something and does not say so"
            );
            assert!(!is_incomplete || visible.len() < all.len(), "case {case}: {question:?} lacks nothing");
            for (output, form) in [("json", Form::Json), ("text", Form::Text), ("svg", Form::Svg)] {
                let said = asker.get(&question.path(output)).await.unwrap();
                if form == Form::Svg && seen.answer(&question, form).is_err() {
                    assert_eq!(said.code, 406, "{question:?}: {}", said.text());
                    continue;
                }
                let text = said.text();
                assert_eq!(said.code, 200, "case {case}: {question:?}: {text}");
                hidden.is_not_in(&text, &format!("case {case}: {question:?} as {output}"));
                assert_eq!(says_incomplete(&text, form), is_incomplete, "case {case}: {question:?}: {text}");
                match seen.answer(&question, form).unwrap() {
                    Answered::Text(expected) | Answered::Svg(expected) => {
                        assert_eq!(without_notice(&text), expected, "case {case}: {question:?}");
                    }
                    _ => {}
                }
                if is_incomplete {
                    for all_clear in ["Nothing else loses", "Not connected.", "No rack has enough space"] {
                        assert!(!text.contains(all_clear), "case {case}: {question:?}: {text}");
                    }
                }
            }
            *(if is_incomplete { &mut incomplete } else { &mut complete }) += 1;
        }
    }
    assert!(incomplete > 100 && complete > 100, "{incomplete} incomplete, {complete} complete");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rights_that_change_while_an_answer_is_computed_are_noticed() {
    let server = Server::embedded().await;
    let admin = server.client();
    let system = apiserver::client::Client::system(&server.api, "tests");
    let objects = labelled(fleet(Size { sites: 1, racks: 1, hosts: 1 }, 7));
    let mut all = BTreeMap::new();
    for object in objects.into_iter().filter(|object| matches!(object.kind(), "Provider" | "Region" | "Site"))
    {
        let made = system.create(object).await.unwrap();
        all.insert((plural(made.kind()), made.name().to_owned()), made);
    }
    rights(&admin, 0, &all, &mut Dice::new(1)).await;
    let who = Identity::new("user-0", &["system:authenticated"]);
    let sight = || Sight::new(&server.api, &Plane::root(), &who);
    let (before, unasked) = (sight(), sight());
    assert!(before.sees_all(GROUP, "sites", "") && !before.sees_all(GROUP, "cables", ""));
    rights(&admin, 1, &all, &mut Dice::new(1)).await;
    assert!(before.still_holds(), "what somebody else is granted does not matter");
    let gone = admin.delete(&format!("{RBAC}/clusterrolebindings/user-0")).await.unwrap();
    assert_eq!(gone.code, 200, "{}", gone.text());
    assert!(!before.still_holds(), "what was decided before is no longer so");
    assert!(unasked.still_holds() && !unasked.sees_all(GROUP, "sites", ""));
}

/// The topology labels that the controller would set.
fn labelled(mut objects: Vec<Object>) -> Vec<Object> {
    let sites: Vec<(String, String)> = objects
        .iter()
        .filter(|object| object.kind() == "Site")
        .map(|site| {
            let region = site.at("spec.regionRef.name").and_then(Value::as_str).unwrap();
            (site.name().to_owned(), region.to_owned())
        })
        .collect();
    for object in objects.iter_mut().filter(|one| matches!(one.kind(), "Cluster" | "Node" | "Rack")) {
        let site = sites.iter().find(|(site, _)| object.name().starts_with(site)).unwrap();
        object.set_meta("labels", Some(json!({REGION: site.1})));
    }
    objects
}

fn plural(kind: &str) -> String {
    let kind = inventory::kinds::all().into_iter().find(|known| known.names.kind == kind).unwrap();
    kind.names.plural
}

type At = (String, String);

/// Gives somebody random rights: all of a kind, some objects of it, or nothing. Returns what they may read.
async fn rights(admin: &Client, case: u64, all: &BTreeMap<At, Object>, dice: &mut Dice) -> BTreeSet<At> {
    let plurals: BTreeSet<&String> = all.keys().map(|(plural, _)| plural).collect();
    let mut visible = BTreeSet::new();
    let questions = ["*/tree", "*/summary", "*/elevation", "*/find-space", "*/trace", "*/impact"];
    let mut rules = vec![json!({"verbs": ["get"], "apiGroups": [GROUP], "resources": questions})];
    // Some see nearly everything, some nearly nothing, and one all.
    let (whole, one) =
        [(10, 10), (9, 9), (7, 8), (4, 5), (2, 3)][if case == 0 { 0 } else { dice.below(5) as usize }];
    for of in plurals {
        let mut rule = json!({"verbs": ["get"], "apiGroups": [GROUP], "resources": [of]});
        let names: Vec<&String> =
            all.keys().filter(|(plural, _)| plural == of).map(|(_, name)| name).collect();
        let seen: Vec<&String> = match dice.below(10) < whole {
            true => names,
            false => {
                let seen: Vec<&String> = names.into_iter().filter(|_| dice.below(10) < one).collect();
                rule["resourceNames"] = json!(seen);
                seen
            }
        };
        visible.extend(seen.iter().map(|name| (of.clone(), (*name).clone())));
        // No names would be all of them.
        if !seen.is_empty() {
            rules.push(rule);
        }
    }
    let name = format!("user-{case}");
    let role = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": name},
        "rules": rules,
    });
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": name}],
    });
    for (plural, object) in [("clusterroles", role), ("clusterrolebindings", binding)] {
        let made = admin.post(&format!("{RBAC}/{plural}"), &object).await.unwrap();
        assert_eq!(made.code, 201, "{}", made.text());
    }
    visible
}

/// The names of hidden objects that nothing else has.
struct Hidden(BTreeSet<String>);

impl Hidden {
    fn of(all: &BTreeMap<At, Object>, visible: &BTreeSet<At>) -> Hidden {
        let shown: BTreeSet<&String> = visible.iter().map(|(_, name)| name).collect();
        let hidden = all.keys().filter(|at| !visible.contains(at) && !shown.contains(&at.1));
        Hidden(hidden.map(|(_, name)| name.clone()).collect())
    }

    fn is_not_in(&self, text: &str, context: &str) {
        let is_end = |c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '.');
        for word in text.split(is_end).map(|word| word.trim_end_matches('.')) {
            assert!(!self.0.contains(word), "{context} names {word}:\n{text}");
        }
    }
}

fn json_of(answered: Answered) -> Value {
    let Answered::Json(value) = answered else { panic!("{answered:?}") };
    value
}

fn says_incomplete(text: &str, form: Form) -> bool {
    match form {
        Form::Json => serde_json::from_str::<Value>(text).unwrap()["incomplete"] == true,
        _ => text.contains("Incomplete: "),
    }
}

/// A text or drawing without the line that says that it is incomplete.
fn without_notice(text: &str) -> String {
    let lines = text.split_inclusive('\n').filter(|line| !line.contains("Incomplete: "));
    lines.collect()
}

//! Effects: what belongs to a change lands with it or not at all, also for kinds that were not written for it.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, RwLock};

use apiserver::server_module::Plugins;
use krm::Object;
use krm::kind::{Address, Effect, EffectPlugin, Kind, Project, RawChange, Refusal, View};
use serde_json::{Value, json};
use testbed::server::Client;

use super::across_planes::{make_desks, make_project, taken};
use super::objects::{found, make, names};
use super::reading_room::desk_class::TAKEN;
use super::reading_room::{BOOKINGS, CLASSES, DESKS, SEATS, booking, class, seat};
use super::server::{Extras, Server, until};

const PROJECTS: &str = "/apis/tenants.example.groundplane.dev/v1alpha1/tenants";
const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn of(project: &str, path: &str) -> String {
    format!("{PROJECTS}/{project}/control-plane{path}")
}

async fn counted(client: &Client, class: &str) -> Value {
    found(client, &format!("{CLASSES}/{class}")).await.unwrap()["status"]["taken"].clone()
}

#[tokio::test]
async fn a_desk_that_is_taken_is_labelled_with_the_project_in_the_same_commit() {
    let server = Server::embedded().await;
    let client = server.client();
    make_desks(&client, "oak", None, 1).await;
    client.merge(&format!("{DESKS}/oak-00"), &json!({"metadata": {"labels": {"mine": "x"}}})).await.unwrap();
    make_project(&client, "p1").await;
    make(&client, &of("p1", SEATS), &seat("s", "oak")).await;
    let desk = found(&client, &format!("{DESKS}/oak-00")).await.unwrap();
    assert_eq!(desk["metadata"]["labels"], json!({"mine": "x", "example.groundplane.dev/taken-by": "p1"}));
    assert_eq!(desk["status"]["seat"]["project"], "p1");
    let managed = desk["metadata"]["managedFields"].to_string();
    assert!(managed.contains("taken-by") && managed.contains("seats.example.groundplane.dev"), "{managed}");
    let selected = format!("{DESKS}?labelSelector=example.groundplane.dev/taken-by=p1");
    assert_eq!(client.get(&selected).await.unwrap().json()["items"].as_array().unwrap().len(), 1);
    assert_eq!(client.delete(&of("p1", &format!("{SEATS}/s"))).await.unwrap().code, 200);
    let desk = found(&client, &format!("{DESKS}/oak-00")).await.unwrap();
    assert_eq!(desk["metadata"]["labels"], json!({"mine": "x"}));
}

#[tokio::test]
async fn what_an_effect_creates_and_deletes_has_its_own_effects() {
    let server = Server::embedded().await;
    let client = server.client();
    make_desks(&client, "oak", Some(4), 6).await;
    make_project(&client, "p1").await;
    let made = make(&client, &of("p1", BOOKINGS), &booking("b", "oak", 3)).await;
    assert_eq!(made["kind"], "Booking", "the answer is the object that was sent: {made}");
    assert_eq!(names(&client, &of("p1", SEATS)).await, ["b-0", "b-1", "b-2"]);
    assert_eq!(taken(&client).await.len(), 3);
    assert_eq!(counted(&client, "oak").await, 3, "the additions of one transaction add up");

    // The fifth seat is one too many: nothing of the booking lands, and the words are those of the seat.
    let refused = client.post(&of("p1", BOOKINGS), &booking("c", "oak", 2)).await.unwrap();
    assert_eq!(refused.code, 409, "{}", refused.text());
    let message = refused.json()["message"].as_str().unwrap().to_owned();
    assert!(
        message.contains("bookings.example.groundplane.dev \"c\"") && message.contains("at most 4 desks"),
        "{message}"
    );
    assert_eq!(taken(&client).await.len(), 3);
    assert_eq!(names(&client, &of("p1", BOOKINGS)).await, ["b"]);

    assert_eq!(client.delete(&of("p1", &format!("{BOOKINGS}/b"))).await.unwrap().code, 200);
    assert!(names(&client, &of("p1", SEATS)).await.is_empty());
    assert!(taken(&client).await.is_empty());
    assert_eq!(counted(&client, "oak").await, 0);
}

#[tokio::test]
async fn several_seats_of_one_transaction_are_counted_and_the_count_of_the_past_is_kept() {
    let server = Server::embedded().await;
    let client = server.client();
    make_desks(&client, "oak", Some(3), 6).await;
    make_project(&client, "p1").await;
    let item = |name: &str| json!({"operation": "create", "object": seat(name, "oak")});
    let transactions = of("p1", "/apis/groundplane.dev/v1alpha1/transactions");
    let body = json!({"spec": {"items": [item("a"), item("b")]}});
    let done = client.post(&transactions, &body).await.unwrap();
    assert!(matches!(done.code, 200 | 201), "{}", done.text());
    assert_eq!(counted(&client, "oak").await, 2);
    let body = json!({"spec": {"items": [item("c"), item("d")]}});
    let full = client.post(&transactions, &body).await.unwrap();
    assert!(full.code == 409 && full.text().contains("at most 3 desks"), "{}", full.text());
    assert_eq!(counted(&client, "oak").await, 2, "all or nothing");
    make(&client, &of("p1", SEATS), &seat("c", "oak")).await;
    assert_eq!(client.delete(&of("p1", &format!("{SEATS}/a"))).await.unwrap().code, 200);
    let history = client.get(&format!("{CLASSES}/oak/history")).await.unwrap().json();
    let items = history["items"].as_array().unwrap();
    assert_eq!(items.len(), 4, "made, and three changes of the count: {history}");
    let mut past = Vec::new();
    for item in items {
        let version =
            item["resourceVersion"].as_str().or(item["revision"].as_str()).unwrap_or_default().to_owned();
        let then = client.get(&format!("{CLASSES}/oak?asOf={version}")).await.unwrap();
        past.push(then.json()["status"]["taken"].as_i64());
    }
    assert_eq!(past, [Some(2), Some(3), Some(2), None], "{history}");
}

/// Counts objects of some kinds in a class of desks named after their group, of which `limited` are allowed, and furnishes
/// new projects with a ConfigMap.
#[derive(Default)]
struct Meter {
    /// The kinds that are metered, as ConfigMaps of the root say.
    kinds: RwLock<BTreeSet<String>>,
    asked: AtomicUsize,
}

impl EffectPlugin for Meter {
    fn name(&self) -> &'static str {
        "meter"
    }

    fn concerns(&self, kind: &Kind, _: Option<&str>) -> bool {
        kind.names.plural == "tenants" || self.kinds.read().unwrap().contains(&kind.names.plural)
    }

    fn effects(
        &self,
        kind: &Kind,
        change: &RawChange<'_>,
        view: &mut View<'_>,
    ) -> Result<Vec<Effect>, Refusal> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let class = kind.names.plural.as_str();
        let full = || Refusal::Forbidden(format!("quota of {class} is used up"));
        Ok(match (change.old, change.new) {
            (None, Some(project)) if class == "tenants" => vec![first_object(project)],
            _ if class == "tenants" => Vec::new(),
            (None, Some(_)) => {
                TAKEN.read(&mut view.root(), "", class).ok_or_else(full)?;
                vec![TAKEN.add_within("", class, 1, 2, full()).in_root()]
            }
            (Some(_), None) => vec![TAKEN.subtract("", class, 1).in_root()],
            _ => Vec::new(),
        })
    }

    fn follows(&self) -> &[(&'static str, &'static str)] {
        &[("", "configmaps")]
    }

    fn take_in(&self, project: Option<&str>, at: &Address, object: Option<&Object>) {
        let Some(kind) = at.name.strip_prefix("meter-").filter(|_| project.is_none()) else { return };
        let mut kinds = self.kinds.write().unwrap();
        match object {
            Some(_) => kinds.insert(kind.to_owned()),
            None => kinds.remove(kind),
        };
    }
}

fn first_object(project: &Object) -> Effect {
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "welcome", "namespace": "default"},
        "data": {"project": project.name()}});
    let life = Project { name: project.name().to_owned(), uid: project.uid().to_owned() };
    Effect::create_object(Object::from_value(map).unwrap()).in_project(life)
}

async fn with_meter() -> (Server, Arc<Meter>) {
    let meter = Arc::new(Meter::default());
    let plugins = Plugins { effects: vec![meter.clone()], ..Plugins::default() };
    (Server::with(Extras { plugins, ..Extras::default() }).await, meter)
}

fn definition(plural: &str, kind: &str) -> Value {
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.example.com")},
        "spec": {"group": "example.com", "scope": "Namespaced",
            "names": {"plural": plural, "singular": kind.to_lowercase(), "kind": kind},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "properties": {"spec": {"type": "object",
                    "x-kubernetes-preserve-unknown-fields": true}}}}}]}})
}

fn instance(kind: &str, name: &str) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": kind, "metadata": {"name": name}})
}

#[tokio::test]
async fn objects_of_a_users_definition_are_metered_in_the_transaction_that_makes_them() {
    let (server, meter) = with_meter().await;
    let client = server.client();
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    make_project(&client, "p1").await;
    for (plural, kind) in [("lamps", "Lamp"), ("chairs", "Chair")] {
        make(&client, &of("p1", definitions), &definition(plural, kind)).await;
    }
    let at = |plural: &str| of("p1", &format!("/apis/example.com/v1/namespaces/default/{plural}"));
    make(&client, CLASSES, &class("lamps", None)).await;
    make(&client, CONFIG_MAPS, &json!({"metadata": {"name": "meter-lamps"}})).await;
    let asked = meter.asked.load(Ordering::Relaxed);
    for name in ["a", "b"] {
        make(&client, &at("lamps"), &instance("Lamp", name)).await;
        make(&client, &at("chairs"), &instance("Chair", name)).await;
    }
    assert_eq!(meter.asked.load(Ordering::Relaxed) - asked, 2, "nobody meters chairs");
    let refused = client.post(&at("lamps"), &instance("Lamp", "c")).await.unwrap();
    assert_eq!(refused.code, 403, "{}", refused.text());
    assert!(
        refused.text().contains("lamps.example.com \\\"c\\\" is forbidden: quota of lamps is used up"),
        "{}",
        refused.text()
    );
    assert_eq!(counted(&client, "lamps").await, 2);
    make(&client, &at("chairs"), &instance("Chair", "c")).await;
    assert_eq!(client.delete(&format!("{}/a", at("lamps"))).await.unwrap().code, 200);
    assert_eq!(counted(&client, "lamps").await, 1);
    make(&client, &at("lamps"), &instance("Lamp", "c")).await;

    // What a project had is given back with the project, though its definitions go too.
    assert_eq!(client.delete(&format!("{PROJECTS}/p1")).await.unwrap().code, 200);
    until("the project is gone", || async { found(&client, &format!("{PROJECTS}/p1")).await.is_none() })
        .await;
    assert_eq!(counted(&client, "lamps").await, 0);
}

#[tokio::test]
async fn a_project_begins_with_what_an_effect_puts_into_its_plane() {
    let (server, _) = with_meter().await;
    let client = server.client();
    let project = json!({"apiVersion": "tenants.example.groundplane.dev/v1alpha1", "kind": "Tenant", "metadata": {"name": "p1"}});
    let tried = client.post(&format!("{PROJECTS}?dryRun=All"), &project).await.unwrap();
    assert_eq!(tried.code, 201, "{}", tried.text());
    let made = make(&client, PROJECTS, &project).await;
    assert_eq!((&made["kind"], &made["metadata"]["name"]), (&json!("Tenant"), &json!("p1")));
    let welcome = found(&client, &of("p1", &format!("{CONFIG_MAPS}/welcome"))).await.unwrap();
    assert_eq!(welcome["data"]["project"], "p1");
    // One commit: the versions of both begin with the same revision.
    let version = |object: &Value| {
        object["metadata"]["resourceVersion"].as_str().unwrap().parse::<u64>().unwrap() >> 16
    };
    assert_eq!(version(&welcome), version(&made));
    assert!(found(&client, &format!("{CONFIG_MAPS}/welcome")).await.is_none(), "not in the root");
}

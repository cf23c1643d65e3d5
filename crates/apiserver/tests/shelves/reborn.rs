//! A project that is gone: nothing is written into its plane by those who have not heard of it, and a later project of the
//! same name inherits nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use apiserver::call::Call;
use apiserver::plane::Plane;
use apiserver::request::query::WriteOptions;
use apiserver::write;
use krm::Object;
use krm::status::Status;
use serde_json::json;
use testbed::server::Client;
use tokio::sync::Notify;

use super::objects::{CONFIG_MAPS, found, loan, make, names};
use super::server::{Pair, Server, until};

const PROJECTS: &str = "/apis/tenants.example.groundplane.dev/v1alpha1/tenants";
const PLANE: &str = "/apis/tenants.example.groundplane.dev/v1alpha1/tenants/p1/control-plane";

async fn make_project(client: &Client) {
    let project = json!({"apiVersion": "tenants.example.groundplane.dev/v1alpha1", "kind": "Tenant",
        "metadata": {"name": "p1"}});
    make(client, PROJECTS, &project).await;
    assert_eq!(names(client, &format!("{PLANE}/api/v1/namespaces")).await.len(), 3);
}

async fn delete_project(client: &Client) {
    let project = format!("{PROJECTS}/p1");
    assert_eq!(client.delete(&project).await.unwrap().code, 200);
    until("the project is gone", || async { found(client, &project).await.is_none() }).await;
}

/// A namespace, which needs no other: nothing but the project itself keeps it out.
fn call(server: &Server) -> Arc<Call> {
    let plane = Plane::project("p1");
    let kind = server.api.kinds().of(&plane).resource("", "namespaces").unwrap().clone();
    let client = apiserver::client::Client::system(&server.api, "tests").in_plane(&plane);
    Arc::new(client.call(&kind, "", "late", ""))
}

/// Creates a namespace as a server does that has not heard of what happens between `decided` and `go_on`.
async fn create_late(
    call: Arc<Call>,
    decided: Arc<Notify>,
    go_on: std::sync::mpsc::Receiver<()>,
) -> Result<(), Status> {
    let (go_on, is_first) = (std::sync::Mutex::new(go_on), AtomicBool::new(true));
    let options = WriteOptions { manager: "tests".to_owned(), ..WriteOptions::default() };
    let deciding = options.clone();
    let written = write::run(&call, &options, move |call, view| {
        let mut namespace = Object::new("v1", "Namespace");
        namespace.set_meta("name", Some("late".into()));
        let (namespace, _) = write::admit::shape(call, namespace).unwrap();
        let outcome = write::create::decide(call, view, &deciding, namespace, Vec::new());
        if is_first.swap(false, Ordering::SeqCst) {
            assert!(outcome.is_ok(), "as far as it knows, all is well");
            decided.notify_one();
            go_on.lock().unwrap().recv_timeout(Duration::from_secs(60)).unwrap();
        }
        outcome
    });
    written.await.map(drop)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn who_lags_creates_nothing_in_a_project_that_is_gone_or_going_on_one_server() {
    let server = Server::embedded().await;
    nothing_is_created_late(&server, &server).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn who_lags_creates_nothing_in_a_project_that_is_gone_or_going_on_two_servers_of_one_etcd() {
    let Some(pair) = Pair::on_etcd().await else { return };
    let [first, second] = &pair.servers;
    nothing_is_created_late(first, second).await;
}

async fn nothing_is_created_late(server: &Server, lagging: &Server) {
    let client = server.client();
    for again in [false, true] {
        make_project(&client).await;
        until("the other server knows the project", || async {
            apiserver::planes::project_of(&lagging.api, &Plane::project("p1")).is_some()
        })
        .await;
        let (decided, (send, go_on)) = (Arc::new(Notify::new()), std::sync::mpsc::channel());
        let writing = tokio::spawn(create_late(call(lagging), decided.clone(), go_on));
        decided.notified().await;
        delete_project(&client).await;
        if again {
            make_project(&client).await;
        }
        send.send(()).unwrap();
        let refused = writing.await.unwrap().unwrap_err();
        assert_eq!(refused.code, 404, "{}", refused.message);
        assert!(refused.message.contains("tenants.tenants.example.groundplane.dev \"p1\" not found"));
        if !again {
            make_project(&client).await;
        }
        assert_eq!(
            names(&client, &format!("{PLANE}/api/v1/namespaces")).await.len(),
            3,
            "nothing is inherited"
        );
        delete_project(&client).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn who_decided_before_a_project_began_to_go_decides_again() {
    let server = Server::embedded().await;
    let client = server.client();
    make_project(&client).await;
    let maps = format!("{PLANE}{CONFIG_MAPS}");
    make(&client, &maps, &json!({"metadata": {"name": "a", "finalizers": ["example.com/wait"]}})).await;
    let (decided, (send, go_on)) = (Arc::new(Notify::new()), std::sync::mpsc::channel());
    let writing = tokio::spawn(create_late(call(&server), decided.clone(), go_on));
    decided.notified().await;
    assert_eq!(client.delete(&format!("{PROJECTS}/p1")).await.unwrap().code, 200);
    send.send(()).unwrap();
    let refused = writing.await.unwrap().unwrap_err();
    assert_eq!(refused.code, 403, "{}", refused.message);
    assert!(refused.message.contains("the tenant is being deleted"), "{}", refused.message);
}

#[tokio::test]
async fn who_was_admitted_to_a_project_writes_nothing_into_a_later_one_of_its_name() {
    let server = Server::embedded().await;
    let client = server.client();
    make_project(&client).await;
    let admitted = call(&server);
    delete_project(&client).await;
    make_project(&client).await;
    let (options, deciding) = (WriteOptions::default(), WriteOptions::default());
    let written = write::run(&admitted, &options, move |call, view| {
        let mut namespace = Object::new("v1", "Namespace");
        namespace.set_meta("name", Some("late".into()));
        let (namespace, _) = write::admit::shape(call, namespace).unwrap();
        write::create::decide(call, view, &deciding, namespace, Vec::new())
    });
    assert_eq!(written.await.map(drop).unwrap_err().code, 404);
    assert_eq!(names(&client, &format!("{PLANE}/api/v1/namespaces")).await.len(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plane_is_emptied_within_the_limits_of_etcd_however_much_each_object_touches() {
    let Some(pair) = Pair::on_etcd().await else { return };
    let client = pair.servers[0].client();
    make_project(&client).await;
    let loans = format!("{PLANE}/apis/example.groundplane.dev/v1alpha1/namespaces/default/loans");
    for number in 0..40 {
        // Each touches the buckets of twenty books.
        let books: Vec<_> = (0..20).map(|book| json!({"name": format!("b{number}-{book}")})).collect();
        let mut loan = loan(&format!("l{number}"), "b");
        loan["spec"]["bookRefs"] = books.into();
        make(&client, &loans, &loan).await;
    }
    delete_project(&client).await;
    make_project(&client).await;
    assert!(names(&client, &loans).await.is_empty());
}

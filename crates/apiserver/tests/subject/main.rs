//! `docs/adding-a-subject.md` shows what works: its Rust is the code of this test, and the subject that it adds is served.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

mod greetings;
#[path = "../shelves/server.rs"]
#[allow(dead_code, reason = "these tests don't do everything that the others do")]
mod server;

use apiserver::client::Client;
use apiserver::controllers::host;
use greetings::Module;
use reconcile::module::Module as _;
use server::{Server, until};

/// The kinds that the servers of these tests serve.
mod served {
    use krm::kind::Kind;
    use reconcile::module::Module as _;

    pub fn all() -> Vec<Kind> {
        super::Module.kinds()
    }
}

const PAGE: &str = include_str!("../../../../docs/adding-a-subject.md");
const FILES: [&str; 3] = [
    include_str!("greetings/greeting.rs"),
    include_str!("greetings/controller.rs"),
    include_str!("greetings.rs"),
];
const MANIFEST: &str = include_str!("../../../../crates/inventory/Cargo.toml");
const MODULES: &str = include_str!("../../../groundplane/src/modules.rs");
const GREETINGS: &str = "/apis/greetings.example.groundplane.dev/v1alpha1/namespaces/default/greetings";
const TEXTS: &str = "/api/v1/namespaces/default/configmaps";

/// The fenced blocks of the page in a language.
fn blocks(language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    PAGE.split(&fence).skip(1).filter_map(|rest| Some(rest.split_once("```")?.0.to_owned())).collect()
}

#[test]
fn the_page_shows_the_subject_whole_and_no_other_code() {
    let blocks = blocks("rust");
    for file in FILES {
        assert!(blocks.iter().any(|block| block == file), "this is not on the page as it is:\n{file}");
    }
    // Besides, there is the line in the list of the modules.
    let [line] = blocks.iter().filter(|block| !FILES.contains(&block.as_str())).collect::<Vec<_>>()[..]
    else {
        panic!("code on the page is compiled nowhere");
    };
    let listed = line.trim().replace("greetings", "inventory");
    assert!(MODULES.contains(&listed), "modules.rs has no line like {line}");
}

#[test]
fn the_page_names_the_dependencies_of_a_domain() {
    for name in ["krm", "reconcile", "schemars", "serde", "serde_json"] {
        assert!(MANIFEST.contains(&format!("\n{name} = {{ workspace = true }}")), "{name}");
        assert!(blocks("toml").iter().any(|block| block.contains(&format!("{name}.workspace = true"))));
    }
}

#[tokio::test]
async fn a_subject_from_nothing_is_served_and_its_controller_sets_ready() {
    let server = Server::embedded().await;
    for controller in Module.controllers() {
        tokio::spawn(host::run(controller, server.api.clone(), Some("holder".to_owned())));
    }
    let writer = Client::system(&server.api, "tests");
    let demo = Module.demo().unwrap();
    let [text, greeting] = &demo.objects[..] else { panic!("the demo has two objects") };
    writer.create(greeting.clone()).await.unwrap();
    let client = server.client();
    let ready = async || {
        let greeting = client.get(&format!("{GREETINGS}/entrance")).await.unwrap().json();
        let condition = greeting["status"]["conditions"][0].clone();
        (condition["status"].clone(), condition["reason"].clone())
    };
    let becomes = async |status: &str, reason: &str| {
        let what = format!("the greeting is Ready={status}, {reason}");
        until(&what, || async { ready().await == (status.into(), reason.into()) }).await;
    };
    becomes("False", "TextNotFound").await;
    let told = client.get(&format!("{GREETINGS}/entrance")).await.unwrap().json();
    assert_eq!(told["status"]["conditions"][0]["message"], r#"ConfigMap "hello" not found"#);
    // What the plan has read comes and goes: the greeting is planned again.
    writer.create(text.clone()).await.unwrap();
    becomes("True", "Accepted").await;
    let referrers = client.get(&format!("{TEXTS}/hello/referrers")).await.unwrap();
    assert!(referrers.text().contains("entrance"), "{}", referrers.text());
    assert_eq!(client.delete(&format!("{TEXTS}/hello")).await.unwrap().code, 200);
    becomes("False", "TextNotFound").await;
}

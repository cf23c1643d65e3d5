//! The first deploy: `groundplane serve`, `groundplane compute deploy`, and nothing else.

use std::process::Command;

use testbed::server::Server;

use crate::GROUNDPLANE;
use crate::commands::{compute, done};
use crate::image::Image;
use crate::machine::{Machine, can_run, fetch, url};

#[test]
fn after_serve_alone_a_deploy_answers_at_its_url() {
    if !can_run() {
        return;
    }
    let machine = Machine::new();
    let layout = machine.folder().join("hello");
    Image::of(&["serve", "hello"]).write_layout(&layout);
    let archive = machine.folder().join("hello.tar");
    let packed = Command::new("tar").arg("-C").arg(&layout).arg("-cf").arg(&archive).arg(".").status();
    assert!(packed.unwrap().success());
    let server = Server::start_plain(GROUNDPLANE, &machine.data(), None).unwrap();
    let image = layout.display().to_string();
    let at = url(&server, &["deploy", "web", "--image", &image, "--city", "dfw", "--port", "80"]);
    assert_eq!(fetch(&at).unwrap(), "hello");
    let archive = archive.display().to_string();
    assert_eq!(url(&server, &["deploy", "web", "--image", &archive]), at);
    assert_eq!(fetch(&at).unwrap(), "hello");
    let (findings, _) = doctor(&server);
    assert!(!findings.contains("machine"), "{findings}");
    done(&server, &["destroy", "web", "--yes"]);
    machine.assert_clean();

    // What somebody has taken away at the first start stays away.
    let gone = ["delete", "project", "default"];
    let deleted =
        Command::new(GROUNDPLANE).args(gone).env("KUBECONFIG", server.kubeconfig()).output().unwrap();
    assert!(deleted.status.success(), "{deleted:?}");
    server.stop();
    let server = Server::start_plain(GROUNDPLANE, &machine.data(), None).unwrap();
    let refused = compute(&server, &["workloads"]);
    let told = String::from_utf8(refused.stderr).unwrap();
    assert!(told.contains("project \"default\" does not exist"), "{told}");
    server.stop();
}

#[test]
fn a_machine_that_can_not_run_containers_says_what_is_missing() {
    let machine = Machine::new();
    let server = Server::start_plain(GROUNDPLANE, &machine.data(), Some("/nonexistent")).unwrap();
    let words = ["deploy", "web", "--image", "ghcr.io/acme/web:1", "--city", "DFW", "--timeout", "240s"];
    let failed = compute(&server, &words);
    let told = String::from_utf8(failed.stderr).unwrap();
    assert_eq!(failed.status.code(), Some(3), "{told}");
    assert!(
        told.contains("The program runc is missing: install it with \"apt-get install runc\"."),
        "{told}"
    );
    assert!(told.contains("Next: groundplane doctor"), "{told}");
    let (findings, is_well) = doctor(&server);
    assert!(!is_well && findings.contains("The program runc is missing"), "{findings}");
    server.stop();
}

fn doctor(server: &Server) -> (String, bool) {
    let output =
        Command::new(GROUNDPLANE).arg("doctor").env("KUBECONFIG", server.kubeconfig()).output().unwrap();
    (String::from_utf8(output.stdout).unwrap(), output.status.success())
}

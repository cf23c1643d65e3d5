//! The first minute with the server: it starts on an empty folder, prints its kubeconfig, keeps private files private,
//! and stops on a signal.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

#[path = "first_start/demo.rs"]
mod demo;
#[path = "first_start/listening.rs"]
mod listening;

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use serde_json::json;
use tempfile::TempDir;
use testbed::server::{Client, Server};

const GROUNDPLANE: &str = env!("CARGO_BIN_EXE_groundplane");

#[tokio::test]
async fn an_empty_folder_becomes_a_server_at_once() {
    let server = Server::first_start(GROUNDPLANE, &[]).unwrap();
    eprintln!("ready after {:?}", server.took);
    assert!(
        server.took < Duration::from_secs(5),
        "ready after {:?}, and half a second is meant",
        server.took
    );
    let ready = server.client().get("/readyz").await.unwrap();
    assert_eq!((ready.code, ready.text().as_str()), (200, "ok"));
    for namespace in ["default", "kube-system", "kube-public", "kube-node-lease"] {
        assert_eq!(server.client().get(&format!("/api/v1/namespaces/{namespace}")).await.unwrap().code, 200);
    }
    assert!(server.data().join("ca.crt").is_file() && server.data().join("admin.kubeconfig").is_file());
}

#[tokio::test]
async fn what_is_secret_is_readable_by_its_owner_alone() {
    let server = Server::first_start(GROUNDPLANE, &[]).unwrap();
    let secret = json!({"metadata": {"name": "s"}, "stringData": {"password": "correct horse battery"}});
    assert_eq!(server.client().post("/api/v1/namespaces/default/secrets", &secret).await.unwrap().code, 201);
    let files = files_below(server.data());
    assert!(files.len() > 4, "{files:?}");
    for file in files {
        let mode = file.metadata().unwrap().permissions().mode() & 0o777;
        if file.extension().is_none_or(|extension| extension != "crt") {
            assert_eq!(mode, 0o600, "{} has mode {mode:o}", file.display());
        }
        let bytes = std::fs::read(&file).unwrap();
        for word in ["correct horse battery", "Y29ycmVjdCBob3JzZSBiYXR0ZXJ5"] {
            let found = bytes.windows(word.len()).any(|window| window == word.as_bytes());
            assert!(!found, "the secret lies open in {}", file.display());
        }
    }
    assert_eq!(server.data().metadata().unwrap().permissions().mode() & 0o777, 0o700);
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files.extend(files_below(&path)),
            false => files.push(path),
        }
    }
    files
}

#[tokio::test]
async fn a_second_start_is_the_same_server_to_its_clients() {
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("data");
    let first = Server::start(GROUNDPLANE, &data, &[]).unwrap();
    let client = first.client();
    let map = json!({"metadata": {"name": "kept"}, "data": {"a": "b"}});
    let made = client.post("/api/v1/namespaces/default/configmaps", &map).await.unwrap();
    assert_eq!(made.code, 201);
    let authority = std::fs::read(data.join("ca.crt")).unwrap();
    let token = token(&client, "default").await;
    let address = client.address().to_owned();
    assert!(first.stop().unwrap().success());

    let second = Server::start_on(GROUNDPLANE, &data, &address, &[]).unwrap();
    assert_eq!(std::fs::read(data.join("ca.crt")).unwrap(), authority);
    // The client still has the certificates of before.
    let kept = client.apart().get("/api/v1/namespaces/default/configmaps/kept").await.unwrap();
    assert_eq!(kept.json(), made.json());
    let holder = second.stranger().with_token(&token);
    assert_eq!(
        holder.get("/api/v1/namespaces/default/configmaps").await.unwrap().code,
        403,
        "known, not allowed"
    );
}

#[test]
fn a_port_that_is_taken_is_told_in_one_line() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let folder = TempDir::new().unwrap();
    let ended = serve(&["--listen", &address, "--data", folder.path().to_str().unwrap()]);
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(1), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains(&address) && said.contains("--listen"), "{said}");
    assert_eq!(ended.stdout, b"");
}

#[test]
fn a_folder_that_another_server_has_is_told_in_one_line() {
    let server = Server::first_start(GROUNDPLANE, &[]).unwrap();
    let before = std::fs::read(server.kubeconfig()).unwrap();
    let ended = serve(&["--listen", "127.0.0.1:0", "--data", server.data().to_str().unwrap()]);
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(1), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert_eq!(
        std::fs::read(server.kubeconfig()).unwrap(),
        before,
        "the kubeconfig still leads to the first"
    );
}

#[test]
fn a_node_listener_without_a_module_for_it_and_an_unknown_feature_are_refused() {
    let folder = TempDir::new().unwrap();
    let refused = |flag: &str, value: &str| {
        let data = folder.path().to_str().unwrap();
        let ended = serve(&["--listen", "127.0.0.1:0", "--data", data, "--log", "error", flag, value]);
        assert_eq!((ended.status.code(), &ended.stdout[..]), (Some(1), &b""[..]));
        String::from_utf8(ended.stderr).unwrap()
    };
    let said = refused("--node-listen", "127.0.0.1:0");
    assert!(said.contains("nothing serves nodes"), "{said}");
    let said = refused("--feature-gates", "NoSuchFeature=true");
    assert!(said.contains("unknown feature gate \"NoSuchFeature\"; this program has none"), "{said}");
}

#[test]
fn wrong_usage_has_a_code_of_its_own() {
    for wrong in [&["--no-such-flag"][..], &["--listen", "nonsense"], &["--max-requests", "-1"], &["extra"]] {
        let ended = serve(wrong);
        assert_eq!(ended.status.code(), Some(2), "{wrong:?}: {}", String::from_utf8_lossy(&ended.stderr));
        assert_eq!(ended.stdout, b"", "{wrong:?}");
    }
    let folder = TempDir::new().unwrap();
    let data = folder.path().to_str().unwrap();
    let ended = serve(&["--data", data, "--listen", "127.0.0.1:0", "--controllers", "no-such"]);
    assert_eq!(ended.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&ended.stderr).contains("no-such"));
}

fn serve(arguments: &[&str]) -> Output {
    let mut command = Command::new(GROUNDPLANE);
    command.arg("serve").args(arguments).env_remove("GROUNDPLANE_LOG").env_remove("GROUNDPLANE_DATA");
    command.output().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_told_to_stop_ends_its_watches_and_goes() {
    let server = Server::first_start(GROUNDPLANE, &[]).unwrap();
    let client = server.client();
    let mut watches = Vec::new();
    for _ in 0..8 {
        watches.push(client.watch("/api/v1/configmaps?watch=1&resourceVersion=0").await.unwrap());
        watches.push(client.shared().await.unwrap().watch("/api/v1/secrets?watch=1").await.unwrap());
    }
    let begun = Instant::now();
    let ended = tokio::task::spawn_blocking(move || server.stop());
    for watch in watches {
        assert!(watch.ends_well().await, "the stream of a watch broke off");
    }
    assert_eq!(ended.await.unwrap().and_then(|status| status.code()), Some(0));
    assert!(begun.elapsed() < Duration::from_secs(10), "it took {:?}", begun.elapsed());
}

async fn token(client: &Client, name: &str) -> String {
    let account = json!({"metadata": {"name": name}});
    client.post("/api/v1/namespaces/default/serviceaccounts", &account).await.unwrap();
    let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
    let path = format!("/api/v1/namespaces/default/serviceaccounts/{name}/token");
    let answer = client.post(&path, &request).await.unwrap();
    assert_eq!(answer.code, 201, "{}", answer.text());
    answer.json()["status"]["token"].as_str().unwrap().to_owned()
}

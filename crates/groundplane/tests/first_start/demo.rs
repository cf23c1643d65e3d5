//! `serve --demo` and `demo remove`: a fleet in a store of its own, all of it or nothing, and gone when it is removed.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use tempfile::TempDir;
use testbed::server::{Client, Server};

use crate::GROUNDPLANE;

const RACKS: &str = "/apis/inventory.miloapis.com/v1alpha1/racks";
const MARKER: &str = "/api/v1/namespaces/kube-system/configmaps/groundplane-demo";

/// `serve --demo` without a data folder, with a folder for temporary files of its own.
struct Demo {
    child: Child,
    temporary: TempDir,
    kubeconfig: PathBuf,
    first_word: Duration,
}

impl Demo {
    fn start(more: &[&str]) -> Demo {
        let temporary = TempDir::with_prefix("temporary files ").unwrap();
        let begun = Instant::now();
        let mut child = Command::new(GROUNDPLANE)
            .args(["serve", "--demo", "--listen", "127.0.0.1:0"])
            .args(more)
            .env("TMPDIR", temporary.path())
            // A server's own data, which the demo must not touch.
            .env("XDG_DATA_HOME", temporary.path().join("own"))
            .env_remove("GROUNDPLANE_DATA")
            .env_remove("GROUNDPLANE_LOG")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        let first_word = begun.elapsed();
        assert!(line.contains("Starting"), "{line}");
        std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
        let mut ready = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut ready).unwrap();
        // Pasted, as it is printed.
        let pasted = format!("{ready}printf %s \"$KUBECONFIG\"");
        let pasted = Command::new("sh").args(["-c", &pasted]).output().unwrap();
        let kubeconfig = PathBuf::from(String::from_utf8(pasted.stdout).unwrap());
        Demo { child, temporary, kubeconfig, first_word }
    }

    fn folders(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.temporary.path()).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    fn stop(&mut self) {
        assert!(Command::new("kill").arg(self.child.id().to_string()).status().unwrap().success());
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn groundplane(kubeconfig: &Path, words: &[&str]) -> Output {
    Command::new(GROUNDPLANE).args(words).env("KUBECONFIG", kubeconfig).output().unwrap()
}

fn told(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

async fn racks(client: &Client) -> usize {
    client.get(RACKS).await.unwrap().json()["items"].as_array().unwrap().len()
}

#[test]
fn a_demo_has_a_folder_of_its_own_that_goes_with_it() {
    let mut demo = Demo::start(&[]);
    assert!(demo.first_word < Duration::from_secs(1), "it said nothing for {:?}", demo.first_word);
    let folders = demo.folders();
    assert_eq!(folders.len(), 1, "{folders:?}");
    assert!(demo.kubeconfig.starts_with(&folders[0]), "{}", demo.kubeconfig.display());
    let shown = groundplane(&demo.kubeconfig, &["get", "racks"]);
    assert!(told(&shown).contains("fra1-a01"), "{shown:?}");
    demo.stop();
    assert_eq!(demo.folders(), [""; 0].map(PathBuf::from), "the folder is removed");
}

#[test]
fn a_demo_that_is_kept_starts_again_as_it_was() {
    let mut demo = Demo::start(&["--keep-demo"]);
    let made = groundplane(&demo.kubeconfig, &["create", "configmap", "mine"]);
    assert!(made.status.success(), "{made:?}");
    demo.stop();
    let folders = demo.folders();
    assert_eq!(folders.len(), 1, "{folders:?}");
    let again = Server::start(GROUNDPLANE, &folders[0], &["--demo"]).unwrap();
    let shown = groundplane(again.kubeconfig(), &["get", "configmap/mine", "rack/fra1-a01"]);
    assert!(shown.status.success(), "{}", told(&shown));
}

#[tokio::test]
async fn a_demo_is_not_loaded_into_a_store_with_other_data() {
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("data");
    let server = Server::start(GROUNDPLANE, &data, &[]).unwrap();
    let map = json!({"metadata": {"name": "mine"}});
    assert_eq!(server.client().post("/api/v1/namespaces/default/configmaps", &map).await.unwrap().code, 201);
    server.stop().unwrap();

    let refused = Command::new(GROUNDPLANE)
        .args(["serve", "--demo", "--listen", "127.0.0.1:0", "--data"])
        .arg(&data)
        .output()
        .unwrap();
    let said = told(&refused);
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(said.contains("configmaps/mine of system:admin") && said.contains("--data"), "{said}");
    let server = Server::start(GROUNDPLANE, &data, &[]).unwrap();
    assert_eq!(racks(&server.client()).await, 0, "nothing of the demo is there");
    assert_eq!(server.client().get(MARKER).await.unwrap().code, 404);
    let nothing = groundplane(server.kubeconfig(), &["demo", "remove"]);
    assert!(!nothing.status.success() && told(&nothing).contains("holds no demo"), "{}", told(&nothing));
}

#[tokio::test]
async fn a_demo_is_removed_but_for_what_somebody_changed() {
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("data");
    // A server that was started before and not used since is as good as a new one.
    Server::start(GROUNDPLANE, &data, &[]).unwrap().stop().unwrap();
    let server = Server::start(GROUNDPLANE, &data, &["--demo"]).unwrap();
    let client = server.client();
    assert!(racks(&client).await > 4);
    let label = json!({"metadata": {"labels": {"mine": "yes"}}});
    assert_eq!(client.merge(&format!("{RACKS}/fra1-a02"), &label).await.unwrap().code, 200);
    let map = json!({"metadata": {"name": "mine"}});
    assert_eq!(client.post("/api/v1/namespaces/default/configmaps", &map).await.unwrap().code, 201);

    let data_flag = ["demo", "remove", "--data", data.to_str().unwrap()];
    let removed = groundplane(Path::new("/nowhere"), &data_flag);
    let said = told(&removed);
    assert!(removed.status.success(), "{said}");
    assert!(said.contains("kept rack.inventory.miloapis.com/fra1-a02: changed by "), "{said}");
    let site = "kept site.inventory.miloapis.com/fra1: still referenced by Rack fra1-a02";
    assert!(said.contains(site), "{said}");
    assert_eq!(racks(&client).await, 1, "{said}");

    assert_eq!(client.delete(&format!("{RACKS}/fra1-a02")).await.unwrap().code, 200);
    let removed = groundplane(server.kubeconfig(), &["demo", "remove"]);
    assert!(removed.status.success() && !told(&removed).contains("kept"), "{}", told(&removed));
    let left =
        groundplane(server.kubeconfig(), &["get", "sites,regions,providers,racks,cables", "-o", "name"]);
    assert_eq!(String::from_utf8_lossy(&left.stdout), "");
    assert_eq!(client.get(MARKER).await.unwrap().code, 404);
    let mine = client.get("/api/v1/namespaces/default/configmaps/mine").await.unwrap();
    assert_eq!(mine.code, 200, "what others made stays");
}

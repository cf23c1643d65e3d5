//! A sync of the store's file fails under a running server: no write is acknowledged that the disk may not have, the
//! server says what is wrong, and a restart has everything that was acknowledged.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;
use tempfile::TempDir;
use testbed::server::{Answer, Client, Server};

const GROUNDPLANE: &str = env!("CARGO_BIN_EXE_groundplane");
const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";

#[tokio::test]
async fn after_a_failed_sync_whose_pages_are_still_shown_a_restart_has_what_was_acknowledged() {
    let trial = Trial::until_the_sync_fails("hidden", 3).await;
    trial.restart().await;
}

#[tokio::test]
async fn after_a_failed_sync_whose_pages_are_gone_a_restart_has_what_was_acknowledged() {
    let trial = Trial::until_the_sync_fails("shown", 4).await;
    trial.restart().await;
}

#[tokio::test]
async fn after_a_failed_sync_and_a_power_failure_everything_acknowledged_is_there() {
    let trial = Trial::until_the_sync_fails("hidden", 5).await;
    // What the disk holds, and a note that was never synced.
    std::fs::copy(trial.faults.path().join("image"), trial.file()).unwrap();
    std::fs::remove_file(trial.note()).unwrap();
    trial.restart().await;
}

/// A server whose file could not be synced, and which was killed since.
struct Trial {
    /// What the preloaded library needs.
    faults: TempDir,
    data: PathBuf,
    acknowledged: Vec<String>,
}

impl Trial {
    /// Creates objects until the sync number `call` from then on fails.
    async fn until_the_sync_fails(loss: &str, call: u64) -> Trial {
        let faults = TempDir::with_prefix("groundplane-failed-sync-").unwrap();
        let faults_path = faults.path().canonicalize().unwrap();
        let data = faults_path.join("data");
        let mut trial = Trial { faults, data, acknowledged: Vec::new() };
        let server = Server::start(&trial.preloaded(loss, call), &trial.data, &[]).unwrap();
        let client = server.client();
        for number in 0..3 {
            let answer = trial.create(&client, number).await;
            assert_eq!(answer.code, 201, "{}", answer.text());
        }
        std::fs::write(trial.faults.path().join("armed"), "").unwrap();
        let mut number = 3;
        let refused = loop {
            let answer = trial.create(&client, number).await;
            if answer.code != 201 {
                break answer;
            }
            number += 1;
            assert!(number < 200, "no sync fails");
        };
        // Its own outcome is unknown; or the sync that failed was of another write, and this one came behind it.
        let status = refused.json();
        assert!(
            [(504, "Timeout"), (503, "ServiceUnavailable")]
                .contains(&(refused.code, status["reason"].as_str().unwrap())),
            "{status}"
        );
        assert!(!refused.headers.contains_key("retry-after"), "a repeated write might be made twice");
        says_why(status["message"].as_str().unwrap());

        let ready = client.get("/readyz").await.unwrap();
        assert_eq!(ready.code, 500, "{}", ready.text());
        assert!(ready.text().contains("[-]store failed: the store takes no writes:"), "{}", ready.text());
        says_why(&ready.text());
        assert_eq!(client.get("/livez").await.unwrap().code, 200);

        let later = client.post(CONFIG_MAPS, &config_map(1_000)).await.unwrap();
        assert_eq!(later.code, 503, "{}", later.text());
        says_why(&later.text());
        for name in &trial.acknowledged {
            assert_eq!(client.get(&format!("{CONFIG_MAPS}/{name}")).await.unwrap().code, 200, "reads go on");
        }
        let log = server.said();
        let told = log.lines().find(|line| line.contains("the store takes no more writes"));
        assert!(told.is_some_and(|line| line.contains("ERROR") && line.contains("store.redb")), "{log}");
        assert!(trial.note().is_file());
        server.kill();
        trial
    }

    async fn create(&mut self, client: &Client, number: u64) -> Answer {
        let answer = client.post(CONFIG_MAPS, &config_map(number)).await.unwrap();
        if answer.code == 201 {
            self.acknowledged.push(answer.json()["metadata"]["name"].as_str().unwrap().to_owned());
        }
        answer
    }

    /// Without the fault, everything that was acknowledged is there, verifies, and can be added to.
    async fn restart(mut self) {
        let server = Server::start(GROUNDPLANE, &self.data, &[]).unwrap();
        let client = server.client();
        for name in &self.acknowledged {
            let found = client.get(&format!("{CONFIG_MAPS}/{name}")).await.unwrap();
            assert_eq!(found.code, 200, "{name} was acknowledged: {}", found.text());
        }
        assert_eq!(client.get(&format!("{CONFIG_MAPS}/failed-sync-1000")).await.unwrap().code, 404);
        assert_eq!(client.get("/readyz").await.unwrap().text(), "ok");
        assert!(!self.note().exists(), "the file is trusted again");
        let created = self.create(&client, 2_000).await;
        assert_eq!(created.code, 201, "{}", created.text());
        let mut verify = Command::new(GROUNDPLANE);
        let verified =
            verify.args(["audit", "verify", "--kubeconfig"]).arg(server.kubeconfig()).output().unwrap();
        assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
        assert!(server.stop().unwrap().success());
    }

    fn file(&self) -> PathBuf {
        self.data.join("store").join("store.redb")
    }

    fn note(&self) -> PathBuf {
        self.data.join("store").join("store.redb.unsynced")
    }

    /// A program that is groundplane with the library that fails a sync.
    fn preloaded(&self, loss: &str, call: u64) -> String {
        let folder = self.faults.path().canonicalize().unwrap();
        let script = folder.join("groundplane");
        let text = format!(
            "#!/bin/sh\n\
             export LD_PRELOAD={library} FAULT_DISK_FILE={file} FAULT_DISK_IMAGE={folder}/image\n\
             export FAULT_DISK_ARMED={folder}/armed FAULT_DISK_CALL={call} FAULT_DISK_LOSS={loss}\n\
             exec {GROUNDPLANE} \"$@\"\n",
            library = library().display(),
            file = self.file().display(),
            folder = folder.display(),
        );
        std::fs::write(&script, text).unwrap();
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o700)).unwrap();
        script.display().to_string()
    }
}

/// Cargo puts a library that a test depends on beside the test.
fn library() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let library = test.parent().map(|folder: &Path| folder.join("libfault_disk.so")).unwrap();
    assert!(library.is_file(), "{} is built with the tests", library.display());
    library
}

fn says_why(text: &str) {
    for part in ["store.redb", "could not be synced to disk (Input/output error", "restart the server"] {
        assert!(text.contains(part), "{part:?} is missing: {text}");
    }
}

fn config_map(number: u64) -> serde_json::Value {
    json!({"metadata": {"name": format!("failed-sync-{number}")}, "data": {"number": number.to_string()}})
}

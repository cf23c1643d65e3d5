//! Restores that can't be: each is refused before anything is written, with what is missing and what to do.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::json;
use testbed::etcd::Cluster;
use testbed::need;
use testbed::server::Server;

use crate::{GROUNDPLANE, MAPS, map};

/// A server, a backup of it and its keys.
struct Ground {
    server: Server,
    folder: tempfile::TempDir,
}

impl Ground {
    async fn make() -> Ground {
        let server = Server::fresh(GROUNDPLANE, &[]).unwrap();
        let ground = Ground { server, folder: tempfile::tempdir().unwrap() };
        let client = ground.server.client();
        client.post(MAPS, &map("kept", "x")).await.unwrap();
        let backup = client.post("/apis/groundplane.dev/v1alpha1/backups", &json!({})).await.unwrap();
        std::fs::write(ground.at("a.backup"), &backup.body).unwrap();
        let keys = Command::new(GROUNDPLANE)
            .args(["keys", "--data"])
            .arg(ground.server.data())
            .arg("--copy-to")
            .arg(ground.at("keys"))
            .output()
            .unwrap();
        assert!(keys.status.success(), "{keys:?}");
        ground
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Whether it went well, and all that was said.
    fn restore(&self, backup: &str, data: &Path, more: &[&str]) -> (bool, String) {
        let output = Command::new(GROUNDPLANE)
            .arg("restore-backup")
            .arg(self.at(backup))
            .arg("--data")
            .arg(data)
            .args(more)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        (output.status.success(), format!("{out}{err}"))
    }

    fn refused(&self, backup: &str, more: &[&str]) -> String {
        let data = self.at("new");
        let (is_done, said) = self.restore(backup, &data, more);
        assert!(!is_done, "{said}");
        assert!(!data.exists(), "nothing is written: {said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        said
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restore_without_its_keys_writes_nothing_and_names_them() {
    let ground = Ground::make().await;
    let keys = ground.at("keys").display().to_string();
    let said = ground.refused("a.backup", &[]);
    for named in ["sealing.keys and signing.key not found", "--copy-to", "--keys"] {
        assert!(said.contains(named), "{named} in {said}");
    }
    let was = ground.server.data().join("store/sealing.keys").display().to_string();
    assert!(said.contains(&was), "where it was: {said}");
    let kid = std::fs::read_to_string(ground.at("keys/sealing.keys")).unwrap();
    let kid = kid.lines().find(|line| !line.starts_with('#')).unwrap().split(' ').next().unwrap();
    assert!(said.contains(kid), "{said}");

    assert!(ground.refused("a.backup", &["--keys", "/no/such/folder"]).contains("/no/such/folder"));

    // The sealing keys alone.
    std::fs::create_dir(ground.at("half")).unwrap();
    std::fs::copy(ground.at("keys/sealing.keys"), ground.at("half/sealing.keys")).unwrap();
    let half = ground.at("half/sealing.keys").display().to_string();
    let said = ground.refused("a.backup", &["--keys", &half]);
    assert!(said.contains("signing.key not found") && said.contains("--new-signing-key"), "{said}");
    let (is_done, said) =
        ground.restore("a.backup", &ground.at("other"), &["--keys", &half, "--new-signing-key"]);
    assert!(is_done, "{said}");
    for named in ["pki/ca.pem", "pki/service-accounts.pem", "audit verify --trusted-key "] {
        assert!(said.contains(named), "{named} in {said}");
    }
    let mut trusted = said.split("--trusted-key ").nth(1).unwrap().lines();
    let restored = Server::start(GROUNDPLANE, &ground.at("other"), &[]).unwrap();
    let verify = json!({"spec": {"trustedKeys": [trusted.next().unwrap()]}});
    let report =
        restored.client().post("/apis/groundplane.dev/v1alpha1/verifications", &verify).await.unwrap();
    assert_eq!(report.json()["status"]["verified"], true, "{}", report.text());
    drop(restored);

    // Those of another server.
    let other = Server::first_start(GROUNDPLANE, &[]).unwrap();
    let said = ground.refused("a.backup", &["--keys", other.data().to_str().unwrap()]);
    assert!(said.contains(&other.data().join("store/sealing.keys").display().to_string()), "{said}");
    std::fs::copy(other.data().join("store/signing.key"), ground.at("half/signing.key")).unwrap();
    let said = ground.refused("a.backup", &["--keys", &half]);
    assert!(said.contains("half/signing.key") && said.contains("signed with another one"), "{said}");

    // In place already, and others given.
    let data = ground.at("taken");
    std::fs::create_dir_all(data.join("store")).unwrap();
    std::fs::copy(other.data().join("store/sealing.keys"), data.join("store/sealing.keys")).unwrap();
    let (is_done, said) = ground.restore("a.backup", &data, &["--keys", &keys]);
    assert!(!is_done && said.contains("another key is at"), "{said}");
    assert!(!data.join("store/store.redb").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_that_is_cut_off_or_changed_is_named_and_nothing_is_written() {
    let ground = Ground::make().await;
    let keys = ground.at("keys").display().to_string();
    let whole = std::fs::read(ground.at("a.backup")).unwrap();
    let mut changed = whole.clone();
    changed[whole.len() / 2] ^= 1;
    for (name, bytes) in [
        ("cut.backup", &whole[..whole.len() - 9]),
        ("changed.backup", &changed),
        ("text.backup", b"hello, this is a text file"),
    ] {
        std::fs::write(ground.at(name), bytes).unwrap();
        let said = ground.refused(name, &["--keys", &keys]);
        assert!(said.contains(&ground.at(name).display().to_string()), "{said}");
        assert!(said.contains("nothing was restored"), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_with_data_is_not_restored_into_and_an_interrupted_restore_is_not_served() {
    let ground = Ground::make().await;
    let keys = ground.at("keys").display().to_string();
    let data = ground.at("new data");
    let (is_done, said) = ground.restore("a.backup", &data, &["--keys", &keys]);
    assert!(is_done, "{said}");
    assert!(said.contains(&format!("serve --data '{}'", data.display())), "quoted for a shell: {said}");
    let (is_done, said) = ground.restore("a.backup", &data, &["--keys", &keys]);
    assert!(!is_done && said.contains("store.redb exists already") && said.contains("--data"), "{said}");

    // As a kill in the middle leaves it: the mark is there, and a file without content.
    let half = ground.at("half");
    let (is_done, said) = ground.restore("a.backup", &half, &["--keys", &keys]);
    assert!(is_done, "{said}");
    std::fs::write(half.join("restore-unfinished"), "").unwrap();
    let refused = Server::start(GROUNDPLANE, &half, &[]).map(|_| ()).unwrap_err().to_string();
    assert!(refused.contains("interrupted") && refused.contains("restore-backup"), "{refused}");
    let (is_done, said) = ground.restore("a.backup", &half, &["--keys", &keys]);
    assert!(is_done, "it is done again: {said}");
    let restored = Server::start(GROUNDPLANE, &half, &[]).unwrap();
    assert_eq!(restored.client().get(&format!("{MAPS}/kept")).await.unwrap().code, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn etcd_with_data_is_not_restored_into_and_the_folder_is_left_as_it_was() {
    if !Cluster::available() {
        return need::passed_over("there is no etcd");
    }
    let cluster = Cluster::start(1).unwrap();
    let endpoint = cluster.endpoints()[0].clone();
    let ground = Ground::make().await;
    let keys = ground.at("keys").display().to_string();
    cluster.etcdctl(&["put", "/groundplane/something", "x"]).unwrap();
    let data = ground.at("new");
    let flags = ["--keys", &keys, "--etcd", &endpoint];
    let (is_done, said) = ground.restore("a.backup", &data, &flags);
    assert!(!is_done && said.contains("--etcd-prefix") && said.contains("etcdctl del --prefix"), "{said}");
    assert!(!data.join("sealing.keys").exists(), "the keys are taken back");
    let (is_done, said) =
        ground.restore("a.backup", &data, &[&flags[..], &["--etcd-prefix", "/it's new/"]].concat());
    assert!(is_done, "{said}");
    assert!(said.contains(&format!(" --etcd {endpoint} --etcd-prefix '/it'\\''s new/'")), "{said}");
}

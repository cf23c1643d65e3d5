//! Today's binary on the data of earlier versions: everything is there, the past too, and it can be written on.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use testbed::server::Server;

const GROUNDPLANE: &str = env!("CARGO_BIN_EXE_groundplane");

fn archives() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/upgrade");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut archives: Vec<_> = files.filter(|path| path.extension().is_some_and(|end| end == "gz")).collect();
    archives.sort();
    archives
}

#[tokio::test]
async fn the_data_of_every_earlier_version_is_read_and_written_on() {
    let archives = archives();
    assert!(!archives.is_empty());
    for archive in archives {
        let said = format!("{}", archive.display());
        let folder = tempfile::tempdir().unwrap();
        let unpacked = Command::new("tar").arg("-xzf").arg(&archive).arg("-C").arg(folder.path()).status();
        assert!(unpacked.unwrap().success(), "{said}");
        let before = read(folder.path(), &said).await;
        let after = read(folder.path(), &said).await;
        assert!(after > before, "{said}: a restart goes on where the last one ended");
    }
}

/// Reads everything and writes a little; gives the newest version.
async fn read(data: &Path, said: &str) -> u64 {
    let server = Server::start(GROUNDPLANE, data, &[]).unwrap();
    let client = server.client();
    let get = async |path: &str| -> Value {
        let answer = client.get(path).await.unwrap();
        assert_eq!(answer.code, 200, "{said}: {path}: {}", answer.text());
        answer.json()
    };
    let kept = "/api/v1/namespaces/kept";
    assert_eq!(get(&format!("{kept}/configmaps/menu")).await["data"]["soup"], "tomato");
    assert_eq!(get(&format!("{kept}/secrets/safe")).await["data"]["word"], "YWJyYWNhZGFicmE=");
    assert_eq!(get(&format!("{kept}/serviceaccounts/cook")).await["metadata"]["name"], "cook");
    let spoons = get("/apis/kept.example.com/v1/spoons?labelSelector=size%3Dlarge").await;
    assert_eq!(spoons["items"][0]["spec"], json!({"length": 30}), "{said}");

    let maps = get(&format!("{kept}/configmaps")).await;
    let names: Vec<_> =
        maps["items"].as_array().unwrap().iter().map(|map| &map["metadata"]["name"]).collect();
    for (name, there) in [("gone-1", false), ("gone-2", false), ("gone-3", true), ("menu", true)] {
        assert_eq!(names.iter().any(|found| *found == name), there, "{said}: {name} in {names:?}");
    }
    let may = json!({"spec": {
        "user": "system:serviceaccount:kept:cook",
        "resourceAttributes": {"verb": "get", "resource": "configmaps", "namespace": "kept"},
    }});
    let may = client.post("/apis/authorization.k8s.io/v1/subjectaccessreviews", &may).await.unwrap();
    assert_eq!(may.json()["status"]["allowed"], true, "{said}");

    let spoons = "/apis/kept.example.com/v1/namespaces/kept/spoons";
    let spoon = |length: u32| {
        json!({
            "apiVersion": "kept.example.com/v1",
            "kind": "Spoon",
            "metadata": {"generateName": "new-"},
            "spec": {"length": length},
        })
    };
    assert_eq!(client.post(spoons, &spoon(0)).await.unwrap().code, 422, "{said}: the schema still holds");
    let made = client.post(spoons, &spoon(3)).await.unwrap();
    assert_eq!(made.code, 201, "{said}: {}", made.text());
    made.json()["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap()
}

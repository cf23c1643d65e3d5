//! `groundplane compute` as a developer types it: deploy, look, roll back, scale, destroy.

use std::process::{Command, Output};
use std::time::{Duration, Instant};

use serde_json::Value;
use testbed::server::Server;

use crate::{GROUNDPLANE, PATIENCE};

/// A server whose cities are ready to be deployed to.
pub fn server() -> Server {
    let server =
        Server::fresh(GROUNDPLANE, &["--local-cities", "DFW,IAD", "--instances", "simulated"]).unwrap();
    let deadline = Instant::now() + PATIENCE;
    while done(&server, &["cities", "-o", "name"]).0 != "DFW\nIAD\n" {
        assert!(Instant::now() < deadline, "the cities were not ready within {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
    server
}

pub fn compute(server: &Server, words: &[&str]) -> Output {
    Command::new(GROUNDPLANE)
        .arg("compute")
        .args(words)
        .env("KUBECONFIG", server.kubeconfig())
        .env_remove("GROUNDPLANE_PROJECT")
        .output()
        .unwrap()
}

/// What a command that must succeed prints: data, and messages.
pub fn done(server: &Server, words: &[&str]) -> (String, String) {
    let output = compute(server, words);
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success(), "{words:?}: {}\n{out}{err}", output.status);
    (out, err)
}

/// What a command that must fail complains of.
fn refused(server: &Server, words: &[&str], code: i32) -> String {
    let output = compute(server, words);
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{words:?}: {err}");
    err
}

pub fn json(server: &Server, words: &[&str]) -> Value {
    let words: Vec<&str> = words.iter().copied().chain(["-o", "json"]).collect();
    serde_json::from_str(&done(server, &words).0).unwrap()
}

#[test]
fn a_workload_is_deployed_changed_rolled_back_and_destroyed() {
    let server = server();
    let (empty, _) = done(&server, &["workloads"]);
    assert!(empty.starts_with("No workloads found in project default.\nGet started:\n"), "{empty}");

    let first = [
        "deploy",
        "web",
        "--image",
        "ghcr.io/acme/web:1",
        "--city",
        "dfw,IAD",
        "--min",
        "2",
        "--port",
        "8080",
    ];
    let (_, told) = done(&server, &[&first[..], &["--env", "LOG=info", "--label", "team=web"]].concat());
    assert!(told.contains("workload/web created") && told.contains("Rollout complete in"), "{told}");
    let (list, _) = done(&server, &["workloads", "--no-headers"]);
    let cells: Vec<&str> = list.split_whitespace().collect();
    assert_eq!(cells[..6], ["web", "Available", "4/4", "4/4", "default", "acme/web:1"]);

    let (preview, _) =
        done(&server, &["deploy", "web", "--image", "ghcr.io/acme/web:2", "--env", "LOG-", "--dry-run"]);
    assert_eq!(preview, "- env LOG\nimage: ghcr.io/acme/web:1 → ghcr.io/acme/web:2\n");
    let (_, told) = done(&server, &["deploy", "web", "--image", "ghcr.io/acme/web:2", "--message", "faster"]);
    assert!(told.contains("image: ghcr.io/acme/web:1 → ghcr.io/acme/web:2"), "{told}");
    let (_, told) = done(&server, &["deploy", "web", "--image", "ghcr.io/acme/web:2"]);
    assert!(told.contains("No changes detected."), "{told}");

    let status = json(&server, &["status", "web"]);
    assert_eq!(status["health"], "Available");
    let container = &status["workload"]["spec"]["template"]["spec"]["runtime"]["sandbox"]["containers"][0];
    assert_eq!(container["image"], "ghcr.io/acme/web:2");
    assert_eq!(container["env"][0]["value"], "info", "what was not named stays");
    assert_eq!(container["ports"][0]["port"], 8080);

    let history = json(&server, &["rollout", "history", "web"]);
    assert_eq!(history[0]["message"], "faster");
    assert_eq!(history[1]["changes"], "initial deploy");
    let (_, told) = done(&server, &["rollout", "undo", "web"]);
    assert!(told.contains("Creating revision #3 (copy of #1)..."), "{told}");
    let instances = json(&server, &["instances", "--workload", "web"]);
    let images: Vec<&Value> = instances
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["instance"]["spec"]["runtime"]["sandbox"]["containers"][0]["image"])
        .collect();
    assert_eq!(images, ["ghcr.io/acme/web:1"; 4]);

    let (_, told) = done(&server, &["scale", "web", "--min", "3", "--wait"]);
    assert!(told.contains("min replicas set to 3 across 1 placement."), "{told}");
    let before = json(&server, &["instances", "--city", "DFW"]);
    done(&server, &["rollout", "restart", "web", "--city", "DFW"]);
    let after = json(&server, &["instances", "--city", "DFW"]);
    for (old, new) in before.as_array().unwrap().iter().zip(after.as_array().unwrap()) {
        assert_eq!(old["name"], new["name"]);
        assert_ne!(old["instance"]["metadata"]["uid"], new["instance"]["metadata"]["uid"]);
    }

    let told = refused(&server, &["destroy", "web"], 2);
    assert!(told.contains("without a terminal, --yes is needed"), "{told}");
    done(&server, &["destroy", "web", "--yes"]);
    assert_eq!(json(&server, &["instances"]), serde_json::json!([]));
    let used = json(&server, &["quota"]);
    assert!(used["items"].as_array().unwrap().iter().all(|one| one["used"] == 0), "{used}");
}

#[test]
fn mistakes_name_the_thing_and_the_next_command() {
    let server = server();
    let told = refused(&server, &["deploy"], 2);
    assert!(told.contains("workload name and --image are required"), "{told}");
    let told = refused(&server, &["deploy", "web", "--image", "acme/web:1"], 2);
    assert!(told.contains("--city is required (e.g. --city=DFW,IAD)"), "{told}");
    let told = refused(&server, &["deploy", "web", "--image", "acme/web:1", "--city", "XXX"], 1);
    assert!(told.contains("XXX"), "{told}");
    let told = refused(&server, &["status", "nope"], 1);
    assert!(told.contains("workload \"nope\" not found in project default"), "{told}");
    assert!(told.contains("\"groundplane compute workloads\" lists those that there are"), "{told}");
    let told = refused(&server, &["workloads", "--project", "nope"], 1);
    assert!(told.contains("project \"nope\" does not exist"), "{told}");
    let told = refused(&server, &["scale", "web"], 2);
    assert!(told.contains("at least one of --min, --max or --cpu-percent must be set"), "{told}");
    let told = refused(&server, &["workloads", "destory"], 2);
    assert!(told.contains("destory"), "{told}");
}

#[test]
fn a_manifest_is_deployed_saved_and_deployed_again_without_a_change() {
    let server = server();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("workload.yaml").display().to_string();
    let first = ["deploy", "web", "--image", "acme/web:1", "--city", "DFW", "--save", &file];
    done(&server, &first);
    let saved = std::fs::read_to_string(&file).unwrap();
    assert!(
        !saved.contains("uid") && !saved.contains("status") && !saved.contains("resourceVersion"),
        "{saved}"
    );
    let (_, told) = done(&server, &["deploy", "-f", &file]);
    assert!(told.contains("No changes detected."), "{told}");
    std::fs::write(&file, saved.replace("acme/web:1", "acme/web:2")).unwrap();
    let (_, told) = done(&server, &["deploy", "-f", &file]);
    assert!(told.contains("image: acme/web:1 → acme/web:2"), "{told}");
}

#[test]
fn the_plugin_has_a_manifest_and_takes_its_context_from_datumctl() {
    let folder = tempfile::tempdir().unwrap();
    let plugin = folder.path().join("datumctl-compute");
    std::os::unix::fs::symlink(GROUNDPLANE, &plugin).unwrap();
    let output = Command::new(&plugin).arg("--plugin-manifest").output().unwrap();
    let manifest: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(manifest["name"], "compute");
    assert_eq!(manifest["api_version"], 1);
    let output = Command::new(&plugin).args(["workloads"]).env_clear().output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(
        told.contains("no project set — pass --project or run 'datumctl config set project <name>'"),
        "{told}"
    );
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_paused_rollout_waits_and_goes_on() {
    let server = server();
    done(&server, &["deploy", "web", "--image", "acme/web:1", "--city", "DFW", "--min", "2"]);
    done(&server, &["rollout", "pause", "web"]);
    let (_, told) = done(&server, &["deploy", "web", "--image", "acme/web:2"]);
    assert!(
        told.contains("The rollout is paused. Go on with: groundplane compute rollout resume web"),
        "{told}"
    );
    let image = |server: &Server| {
        json(server, &["instances"])[0]["instance"]["spec"]["runtime"]["sandbox"]["containers"][0]["image"]
            .clone()
    };
    assert_eq!(image(&server), "acme/web:1");
    done(&server, &["rollout", "resume", "web"]);
    assert_eq!(image(&server), "acme/web:2");
}

#[test]
fn a_canary_runs_one_instance_until_somebody_lets_the_others_follow() {
    let server = server();
    done(&server, &["deploy", "web", "--image", "acme/web:1", "--city", "DFW", "--min", "3", "--canary"]);
    let (_, told) = done(&server, &["deploy", "web", "--image", "acme/web:2"]);
    assert!(told.contains("The new version runs on one instance; the others wait."), "{told}");
    let new = |server: &Server| {
        let instances = json(server, &["instances"]);
        let is_new = |one: &&Value| {
            one["instance"]["spec"]["runtime"]["sandbox"]["containers"][0]["image"] == "acme/web:2"
        };
        instances.as_array().unwrap().iter().filter(is_new).count()
    };
    assert_eq!(new(&server), 1);
    done(&server, &["rollout", "resume", "web"]);
    assert_eq!(new(&server), 3);
}

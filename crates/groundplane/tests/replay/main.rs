//! What a real kube-apiserver answered, request by request, is answered the same way here.
//!
//! The scenarios are in `tests/cases/kube`. Those that are not answered the same are named below with the reason; one
//! that is named and replays clean fails the test too, so that the list only gets shorter.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

mod expected;
mod told;
mod webhook;

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::sync::Arc;

use serde_json::json;
use testbed::need;
use testbed::server::Server;

/// Scenarios that are answered differently, and why.
const DIFFERENT: &[(&str, &str)] = &[
    (
        "scenarios/crd/new-version",
        "an object stored in a version that its definition no longer has is still served, converted, where the recorded \
         server fails",
    ),
    (
        "scenarios/reviews/access",
        "the recorded server allowed everything to everybody; here somebody without a group has no rights",
    ),
    (
        "scenarios/update/core-immutable",
        "an error about a patch of a Secret quotes no values, since errors are also in the audit log",
    ),
    ("scenarios/server/request-shapes", "there is no apps/v1: kinds that run pods are not served"),
];

const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cases/kube");
/// Scenarios of our own, where Kubernetes' sources or our documents say more than what was recorded.
const OWN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cases/kube-own");

#[test]
fn what_kube_apiserver_answered_is_answered_the_same() {
    let Some(report) = replay(CASES) else { return };
    let told = outcomes(&report);
    assert!(told.len() > 150, "{report}");
    let failed: BTreeSet<&str> = told.iter().filter(|(_, ok)| !**ok).map(|(name, _)| *name).collect();
    let named: BTreeSet<&str> = DIFFERENT.iter().map(|(name, _)| *name).collect();
    let surprising: Vec<_> = failed.difference(&named).copied().collect();
    let mended: Vec<_> = named.difference(&failed).copied().collect();
    for name in &surprising {
        eprintln!("{}", about(&report, name));
    }
    assert!(surprising.is_empty(), "answered differently, and not named: {surprising:#?}");
    assert!(mended.is_empty(), "answered the same, and still named as different: {mended:#?}");
}

#[test]
fn scenarios_of_our_own_are_answered_as_written() {
    let Some(report) = replay(OWN) else { return };
    let told = outcomes(&report);
    assert!(told.len() > 10, "{report}");
    let failed: Vec<&str> = told.iter().filter(|(_, ok)| !**ok).map(|(name, _)| *name).collect();
    for name in &failed {
        eprintln!("{}", about(&report, name));
    }
    assert!(failed.is_empty(), "answered differently: {failed:#?}");
}

/// Scenarios that are answered differently while controllers run, besides those above, and why.
const DIFFERENT_WITH_CONTROLLERS: &[(&str, &str)] = &[
    ("scenarios/create/terminating-namespace", "an empty namespace that is deleted is gone at once"),
    ("scenarios/delete/existing-gc-finalizers", "the garbage collector takes off its finalizers"),
    ("scenarios/delete/owner-blocking", "what an owner waits for is deleted"),
    ("scenarios/delete/propagation-background", "dependents are collected"),
    ("scenarios/delete/propagation-errors", "what waits for dependents that are not there goes"),
    ("scenarios/delete/propagation-orphan", "orphans lose their owner, which then goes"),
    ("scenarios/get-list/table-core", "the namespace has a default service account"),
    ("scenarios/namespaces/delete-finalize", "an empty namespace that is deleted is gone at once"),
    ("scenarios/patch/strategic-owners", "an object whose owners never were is collected"),
    ("scenarios/update/immutable-metadata", "an object whose owner never was is collected"),
    ("scenarios/watch/core", "an empty namespace that is deleted is gone at once"),
];

/// All controllers but the one that puts a config map into every namespace, in which scenarios count theirs.
const CONTROLLERS: &str = "garbage-collector,namespace-controller,clusterrole-aggregation-controller,\
    serviceaccount-controller,project-controller,iam-controller,iam-definitions-controller,tenancy-controller,\
    inventory-controller,design-controller";

/// The recorded server ran no controllers. Most of what it answered does not depend on that.
#[test]
fn what_kube_apiserver_answered_is_answered_the_same_while_controllers_run() {
    let Some(report) = replay_on(CASES, CONTROLLERS) else { return };
    let told = outcomes(&report);
    assert!(told.len() > 150, "{report}");
    let failed: BTreeSet<&str> = told.iter().filter(|(_, ok)| !**ok).map(|(name, _)| *name).collect();
    let named: BTreeSet<&str> =
        DIFFERENT.iter().chain(DIFFERENT_WITH_CONTROLLERS).map(|(name, _)| *name).collect();
    let surprising: Vec<_> = failed.difference(&named).copied().collect();
    for name in &surprising {
        eprintln!("{}", about(&report, name));
    }
    assert!(surprising.is_empty(), "answered differently, and not named: {surprising:#?}");
}

#[test]
fn what_kubernetes_is_told_to_do_is_done() {
    play_all("none");
}

#[test]
fn what_kubernetes_is_told_to_do_is_done_while_controllers_run() {
    play_all(CONTROLLERS);
}

/// Plays the stories of `told`; `GROUNDPLANE_TOLD=part-of-a-name` plays only some of them. One that says
/// `controllers: true` or `false` is played with or without controllers alone.
fn play_all(controllers: &str) {
    let only = std::env::var("GROUNDPLANE_TOLD").unwrap_or_default();
    let (server, _tokens) = server_for_replays(controllers);
    let client = server.client().stranger().with_token("golden");
    let mut files: Vec<_> =
        std::fs::read_dir(format!("{OWN}/told")).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let (mut names, mut stories) = (BTreeSet::new(), Vec::new());
    for file in files {
        let family = file.file_stem().unwrap().to_string_lossy().into_owned();
        for scenario in told::scenarios(&std::fs::read_to_string(&file).unwrap()) {
            let name = format!("{family}/{}", scenario["name"].as_str().unwrap());
            let fits = scenario["controllers"].as_bool().is_none_or(|needs| needs == (controllers != "none"));
            if fits && name.contains(&only) {
                assert!(names.insert(name.clone()), "two scenarios are called {name}");
                stories.push((name, scenario));
            }
        }
    }
    assert!(!only.is_empty() || stories.len() > 280, "only {} scenarios were found", stories.len());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let faults = runtime.block_on(async {
        // Many of them wait for the end of a watch.
        let places = Arc::new(tokio::sync::Semaphore::new(8));
        let mut playing = tokio::task::JoinSet::new();
        for (number, (name, scenario)) in stories.into_iter().enumerate() {
            // What tells of all kinds stays the same only while nobody defines any.
            let _alone =
                match ["discovery/", "openapi/", "server/"].iter().any(|family| name.starts_with(family)) {
                    true => Some(places.clone().acquire_many_owned(8).await.unwrap()),
                    false => None,
                };
            if _alone.is_some() {
                let found = told::play(&client, &scenario, &format!("t{number}")).await;
                playing.spawn(async move { found.iter().map(|fault| format!("{name}: {fault}")).collect() });
                continue;
            }
            let (client, places) = (client.clone(), places.clone());
            playing.spawn(async move {
                let _place = places.acquire().await.unwrap();
                let found = told::play(&client, &scenario, &format!("t{number}")).await;
                found.iter().map(|fault| format!("{name}: {fault}")).collect::<Vec<_>>()
            });
        }
        playing.join_all().await.concat()
    });
    assert!(faults.is_empty(), "{} answers are not as told:\n{}", faults.len(), faults.join("\n"));
}

/// Replays all scenarios below `root` on a server of their own; what the replayer reports.
fn replay(root: &str) -> Option<String> {
    replay_on(root, "none")
}

/// The same on a server with these controllers.
fn replay_on(root: &str, controllers: &str) -> Option<String> {
    let python = Command::new("python3").args(["-c", "import ssl"]).output();
    if !python.is_ok_and(|ended| ended.status.success()) {
        need::passed_over("there is no python3 to replay with");
        return None;
    }
    let (server, _tokens) = server_for_replays(controllers);
    let replayed = Command::new("python3")
        .arg(format!("{CASES}/replay.py"))
        .args(["--root", root, "--jobs", "4", "--token", "golden"])
        .args(["--server", &format!("https://{}", server.client().address())])
        .arg("--ca")
        .arg(server.data().join("ca.crt"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
    let report = String::from_utf8_lossy(&replayed.stdout).into_owned();
    let words = String::from_utf8_lossy(&replayed.stderr);
    assert!(!report.is_empty(), "the replayer said: {words}");
    eprintln!("{}", report.lines().last().unwrap_or_default());
    Some(report)
}

/// As the recorded one ran, everybody is this admin. It ran without controllers: nothing was collected behind the
/// scenarios' backs.
fn server_for_replays(controllers: &str) -> (Server, tempfile::TempDir) {
    let folder = tempfile::TempDir::new().unwrap();
    let tokens = folder.path().join("tokens.csv");
    std::fs::write(&tokens, "golden,admin,1,\"system:masters\"\n").unwrap();
    let arguments = ["--controllers", controllers, "--token-auth-file", tokens.to_str().unwrap()];
    let server = Server::fresh(env!("CARGO_BIN_EXE_groundplane"), &arguments).unwrap();
    everybody_may_do_everything(&server);
    (server, folder)
}

/// The recorded server had no access control.
fn everybody_may_do_everything(server: &Server) {
    let subjects = ["system:authenticated", "system:unauthenticated"]
        .map(|group| json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": group}));
    let binding = json!({
        "metadata": {"name": "everybody"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": subjects,
    });
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let path = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
    let made = runtime.block_on(server.client().post(path, &binding)).unwrap();
    assert_eq!(made.code, 201, "{}", made.text());
}

/// Every scenario that ran, and whether it was answered the same.
fn outcomes(report: &str) -> BTreeMap<&str, bool> {
    let told = report.lines().filter_map(|line| match line.split_once(' ')? {
        ("ok", rest) => Some((scenario(rest), true)),
        ("FAIL", rest) => Some((scenario(rest), false)),
        _ => None,
    });
    told.collect()
}

/// The name that a line begins with.
fn scenario(line: &str) -> &str {
    line.trim_start().split([' ', ':']).next().unwrap_or_default()
}

/// What the report says about one scenario.
fn about(report: &str, name: &str) -> String {
    let is_heading = |line: &str| line.strip_prefix("FAIL").is_some_and(|rest| scenario(rest) == name);
    let mut lines = report.lines().skip_while(|line| !is_heading(line));
    let heading = lines.next().unwrap_or_default().to_owned();
    lines.take_while(|line| line.starts_with("  ")).fold(heading, |text, line| format!("{text}\n{line}"))
}

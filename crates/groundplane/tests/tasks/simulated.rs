//! With a simulated provisioner: what a user can try without a machine.

use serde_json::json;
use testbed::server::Server;

use crate::site::{GROUNDPLANE, Site};

fn fresh(names: &[&str]) -> Site {
    Site::with_nodes(Server::fresh(GROUNDPLANE, &["--audit-log", "none"]).unwrap(), names, "")
}

#[test]
fn a_site_is_planned_deployed_and_destroyed() {
    let site = fresh(&["n1", "n2", "n3"]);
    let none = site.told("task plan deploy_nodes -n site");
    assert!(none.err.contains("there is no Provisioner"), "{}", none.err);
    site.provisioner("{type: Simulated, simulated: {seconds: 2}}");

    let validated = site.told("task create validate_design -n site --name validate --watch");
    assert_eq!(validated.code, 0, "{}{}", validated.out, validated.err);
    assert_eq!(
        site.json("get validation.orchestration.groundplane.dev validate -n site -o json")["spec"]["errors"],
        0
    );

    let plan = site.run("task plan deploy_nodes -n site --node n1,n2");
    assert!(plan.contains("lost: the content of disk boot") && plan.contains("install jammy"), "{plan}");
    assert!(!plan.contains("\nn3"), "{plan}");
    let unconfirmed = site.told("task create deploy_nodes -n site --plan");
    assert!(unconfirmed.code != 0 && unconfirmed.err.contains("nothing was created"), "{unconfirmed:?}");

    site.run("task create prepare_site -n site --name prepare-site --watch");
    let prepared = site.told("task create prepare_nodes -n site --name prepare --watch");
    assert_eq!(prepared.code, 0, "{}", prepared.err);
    assert!(prepared.err.contains("3/3 nodes, 0 failed"), "{}", prepared.err);
    let deployed =
        site.told("task create deploy_nodes -n site --name deploy --plan --yes --watch --parallel 2");
    assert_eq!(deployed.code, 0, "{}", deployed.err);
    let task = site.task("deploy");
    assert_eq!(task["task"]["status"]["result"], "Success", "{task:#}");
    assert_eq!(task["nodes"].as_array().unwrap().len(), 3);
    let states: Vec<&str> = task["nodes"][0]["status"]["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["state"].as_str().unwrap())
        .collect();
    assert!(states.iter().all(|state| *state == "Done"), "{states:?}");

    // Hosts were made from the design, and nobody holds them any more.
    let host = site.json("get host n1 -o json");
    assert_eq!(host["spec"]["bmc"]["url"], "redfish://10.0.1.10");
    assert!(site.json("get hostclaim n1 -o json")["spec"].get("holder").is_none());
    let ports = site.json("get builddata -n site -o json");
    let ports = ports["items"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["spec"]["generator"] == "network:ports")
        .count();
    assert_eq!(ports, 6, "before and after the installation of each");

    let described = site.run("node describe n1 -n site");
    assert!(described.contains("platform.image: jammy") && described.contains("deploy-n1"), "{described}");
    let listed = site.run("task list -n site");
    assert!(listed.lines().nth(1).unwrap().starts_with("deploy "), "the newest first: {listed}");
    site.run("task create destroy_nodes -n site --name destroy --rack r1 --watch");
    assert_eq!(site.task("destroy")["task"]["status"]["nodes"]["total"], 2);
}

#[test]
fn failures_are_named_and_retried_and_a_hanging_task_is_cancelled() {
    let site = fresh(&["good", "bad", "stuck"]);
    site.provisioner("{type: Simulated, simulated: {seconds: 1, failing: [bad]}, tries: 2}");
    let failed = site.told("task create deploy_nodes -n site --name first --node good,bad --watch");
    assert_eq!(failed.code, 3, "{}{}", failed.out, failed.err);
    let task = site.task("first");
    assert_eq!(task["task"]["status"]["result"], "PartialSuccess", "{task:#}");
    assert_eq!(task["task"]["status"]["failures"], json!(["bad"]));
    let why = site.run("why task.orchestration.groundplane.dev/first -n site");
    assert!(why.contains("deploy_node failed: the simulated installation failed"), "{why}");
    let bad = task["nodes"].as_array().unwrap().iter().find(|child| child["spec"]["node"] == "bad").unwrap();
    let step =
        bad["status"]["steps"].as_array().unwrap().iter().find(|step| step["state"] == "Failed").unwrap();
    assert_eq!((&step["name"], &step["tries"]), (&json!("deploy_node"), &json!(2)));

    site.provisioner("{type: Simulated, simulated: {seconds: 1, hanging: [stuck]}, tries: 2}");
    site.run("task retry first -n site");
    let again = site.until("first", |task| task["task"]["status"]["result"] == "Success");
    assert_eq!(again["task"]["status"]["retry"], 1);
    let good =
        again["nodes"].as_array().unwrap().iter().find(|child| child["spec"]["node"] == "good").unwrap();
    assert_eq!(good["status"]["retry"], 0, "what had succeeded was not repeated");

    // Two tasks on one node: the second waits for the host, and says so.
    site.run("task create deploy_nodes -n site --name hangs --node stuck");
    site.until("hangs", |task| {
        let child = &task["nodes"][0]["status"];
        child["steps"].as_array().is_some_and(|steps| {
            steps.iter().any(|step| step["name"] == "deploy_node" && step["state"] == "Running")
        })
    });
    site.run("task create reboot_nodes -n site --name reboot --node stuck");
    let waiting = site.until("reboot", |task| task["nodes"][0]["status"]["waitingFor"].is_string());
    let waits = waiting["nodes"][0]["status"]["waitingFor"].as_str().unwrap();
    assert!(waits.contains("host stuck is held by Task/site/hangs-stuck"), "{waits}");
    let why = site.run("why host/stuck -n site");
    assert!(why.contains("Task/site/hangs-stuck holds it"), "{why}");
    site.run("task cancel hangs -n site");
    let cancelled = site.ended("hangs");
    assert_eq!(cancelled["task"]["status"]["phase"], "Terminated");
    assert_eq!(site.ended("reboot")["task"]["status"]["result"], "Success");
    assert!(site.told("task cancel hangs -n site").err.contains("has ended already"));
}

#[test]
fn a_killed_server_goes_on_where_it_was() {
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join("data");
    let start = || Server::start(GROUNDPLANE, &data, &["--audit-log", "none"]).unwrap();
    let mut site = Site::with_nodes(start(), &["n1", "n2"], "");
    site.provisioner("{type: Simulated, simulated: {seconds: 8}}");
    site.run("task create deploy_nodes -n site --name deploy");
    for _ in 0..3 {
        std::thread::sleep(std::time::Duration::from_millis(1500));
        site.server.kill();
        site.server = start();
    }
    let task = site.ended("deploy");
    assert_eq!(task["task"]["status"]["result"], "Success", "{task:#}");
    for child in task["nodes"].as_array().unwrap() {
        for step in child["status"]["steps"].as_array().unwrap() {
            assert_eq!(step["tries"], 1, "no step was begun twice: {child:#}");
        }
    }
}

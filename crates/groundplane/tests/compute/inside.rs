//! What happens in instances: logs, commands, failures, who may connect, and usage that has more of them started.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use testbed::server::Server;

use crate::GROUNDPLANE;
use crate::commands::{compute, done, json as output};
use crate::containers::until;
use crate::image::Image;
use crate::machine::{Machine, can_run, fetch, fetch_path, url};

const FLAGS: [&str; 4] = ["--local-cities", "DFW", "--instances", "containers"];
const LIMIT: [&str; 2] = ["--timeout", "240s"];

/// A machine with a workload that answers `hello`; its URL.
fn deployed(words: &[&str]) -> (Machine, Server, String) {
    let machine = Machine::new();
    let layout = machine.folder().join("hello");
    Image::of(&["serve", "hello"]).write_layout(&layout);
    let server = machine.start(&FLAGS);
    // An image on disk is named by its folder.
    let image = layout.display().to_string();
    let deploy = ["deploy", "web", "--image", &image, "--city", "DFW", "--port", "80"];
    let at = url(&server, &[&deploy[..], words, &LIMIT].concat());
    (machine, server, at)
}

fn end(machine: &Machine, server: Server) {
    done(&server, &["destroy", "web", "--yes"]);
    machine.assert_clean();
    server.stop();
}

#[test]
fn logs_are_merged_followed_and_cut_and_commands_end_with_their_code() {
    if !can_run() {
        return;
    }
    let (machine, server, at) = deployed(&["--min", "2"]);
    until("both have written", || done(&server, &["logs", "web"]).0.lines().count() == 2);
    let (text, _) = done(&server, &["logs", "web"]);
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["[default-dfw-0] serving hello", "[default-dfw-1] serving hello"]);
    assert_eq!(done(&server, &["logs", "web-default-dfw-1"]).0, "serving hello\n");

    // Followed lines come as they are written.
    let mut follower = Command::new(GROUNDPLANE)
        .args(["compute", "logs", "web", "--follow", "--no-prefix", "--tail", "0"])
        .env("KUBECONFIG", server.kubeconfig())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut followed = BufReader::new(follower.stdout.take().unwrap());
    let mut line = String::new();
    // It may not follow yet when the first request comes.
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                let _ = fetch_path(&at, "/print/ping");
                std::thread::sleep(std::time::Duration::from_millis(50));
            }
        });
        followed.read_line(&mut line).unwrap();
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    assert_eq!(line, "ping\n");
    follower.kill().unwrap();
    follower.wait().unwrap();
    let one = output_lines(
        &server,
        &["logs", "web", "--tail", "1", "-o", "json", "--instance", "web-default-dfw-0"],
    );
    assert_eq!((one.len(), &one[0]["instance"]), (1, &json!("web-default-dfw-0")));
    let (none, _) = done(&server, &["logs", "web", "--since", "0s"]);
    assert_eq!(none, "");

    assert!(!done(&server, &["exec", "web", "--", "/program", "env", "PATH"]).0.trim_end().is_empty());
    let failed =
        compute(&server, &["exec", "web-default-dfw-0", "--", "/program", "crash", "7", "went wrong"]);
    assert_eq!(failed.status.code(), Some(7));
    assert_eq!(String::from_utf8(failed.stderr).unwrap(), "went wrong\n");
    let mut echo = Command::new(GROUNDPLANE)
        .args(["compute", "exec", "web", "-i", "--", "/program", "echo"])
        .env("KUBECONFIG", server.kubeconfig())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let sent = "a line\n".repeat(20_000);
    echo.stdin.take().unwrap().write_all(sent.as_bytes()).unwrap();
    let answer = echo.wait_with_output().unwrap();
    assert!(answer.status.success());
    assert_eq!(String::from_utf8(answer.stdout).unwrap(), sent);
    let (terminal, _) = done(&server, &["exec", "web", "--tty=true", "--", "/program", "tty"]);
    assert_eq!(terminal, "true\r\n");
    let missing = compute(&server, &["exec", "nope", "--", "true"]);
    let told = String::from_utf8(missing.stderr).unwrap();
    assert!(told.contains("there is no instance or workload \"nope\""), "{told}");
    end(&machine, server);
}

fn output_lines(server: &Server, words: &[&str]) -> Vec<Value> {
    done(server, words).0.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_failure_is_told_with_its_cause_and_its_last_lines() {
    if !can_run() {
        return;
    }
    let machine = Machine::new();
    let server = machine.start(&FLAGS);
    let image = |name: &str, words: &[&str]| {
        let layout = machine.folder().join(name);
        Image::of(words).write_layout(&layout);
        layout.display().to_string()
    };
    let failed = |words: &[&str]| {
        let output = compute(&server, &[&["deploy", "web", "--city", "DFW"][..], words, &LIMIT].concat());
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(3), "{told}");
        told
    };
    let told = failed(&["--image", &image("crash", &["crash", "9", "no database at 10.0.0.1"])]);
    assert!(told.contains("the instance crashes") && told.contains("exit code 9"), "{told}");
    assert!(told.contains("no database at 10.0.0.1"), "{told}");
    let told = failed(&["--image", &image("good", &["serve", "hello"]), "--env-from-secret", "db"]);
    assert!(told.contains("Secret") && told.contains("db"), "{told}");
    end(&machine, server);
}

#[test]
fn a_policy_says_who_may_connect() {
    if !can_run() {
        return;
    }
    let (machine, server, at) = deployed(&["--min", "2"]);
    let address =
        |ordinal: usize| output(&server, &["instances"])[ordinal]["internalIP"].as_str().unwrap().to_owned();
    let ask = |port: u16| {
        let to = format!("{}:{port}", address(1));
        done(&server, &["exec", "web-default-dfw-0", "--", "/program", "get", &to]).0.trim().to_owned()
    };
    assert_eq!(ask(80), "hello", "without a policy, instances of a network reach each other");

    let file = machine.folder().join("workload.yaml").display().to_string();
    let admit = |cidr: &str| {
        let (saved, _) = done(&server, &["workloads", "describe", "web", "-o", "json"]);
        let mut workload: Value = serde_json::from_str(&saved).unwrap();
        let workload = if workload["workload"].is_object() { workload["workload"].take() } else { workload };
        let mut new = json!({
            "apiVersion": workload["apiVersion"], "kind": "Workload", "metadata": {"name": "web"},
            "spec": workload["spec"],
        });
        new["spec"]["template"]["spec"]["networkInterfaces"][0]["networkPolicy"] =
            json!({"ingress": [{"ports": [{"port": "http"}], "from": [{"ipBlock": {"cidr": cidr}}]}]});
        std::fs::write(&file, new.to_string()).unwrap();
        done(&server, &[&["deploy", "-f", &file][..], &LIMIT].concat());
    };
    admit("127.0.0.0/8");
    assert_eq!(fetch(&at).unwrap(), "hello", "the machine's own loopback is admitted");
    assert_eq!(ask(80), "unreachable", "a neighbour in the network is not");
    admit("203.0.113.0/24");
    assert!(fetch(&at).is_err(), "nobody here is in that range");
    end(&machine, server);
}

#[test]
fn a_container_that_burns_its_cpu_gets_company() {
    if !can_run() {
        return;
    }
    let machine = Machine::new();
    let layout = machine.folder().join("burn");
    Image::of(&["burn", "hot"]).write_layout(&layout);
    let server = machine.start(&FLAGS);
    let image = layout.display().to_string();
    let deploy = [
        "deploy",
        "web",
        "--image",
        &image,
        "--city",
        "DFW",
        "--min",
        "1",
        "--max",
        "2",
        "--cpu-percent",
        "20",
    ];
    done(&server, &[&deploy[..], &["--no-wait"]].concat());
    until("a second one was started", || output(&server, &["instances"]).as_array().unwrap().len() == 2);
    end(&machine, server);
}

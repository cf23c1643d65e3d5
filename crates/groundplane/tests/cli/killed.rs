//! The server is killed while `groundplane apply` waits for five thousand objects: all of them are there or none, and
//! the command says truly which.

use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use testbed::server::Server;

use crate::program::{GROUNDPLANE, Ground, Told, ended, words};

const OBJECTS: usize = 5_000;
const ROUNDS: u32 = 5;
const QUIET: [&str; 2] = ["--audit-log", "none"];

/// A folder of many objects, a thousand in each file.
fn folder(ground: &Ground, round: u32) {
    let filling = "the same in every one ".repeat(10);
    for file in 0..OBJECTS / 1_000 {
        let one = |number: usize| {
            format!(
                "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: r{round}-{number}\n  labels: {{round: r{round}}}\ndata: {{k: '{round}', filling: '{filling}'}}\n"
            )
        };
        let text: Vec<String> = (file * 1_000..(file + 1) * 1_000).map(one).collect();
        ground.file(&format!("site-{round}/{file}.yaml"), &text.join("---\n"));
    }
}

fn begun(ground: &Ground, line: &str) -> Child {
    ground.command(Path::new(GROUNDPLANE), &words(line)).spawn().unwrap()
}

fn count(ground: &Ground, round: u32) -> usize {
    ground.run(&format!("get cm -l round=r{round} -o name")).lines().count()
}

fn address(server: &Server) -> String {
    let kubeconfig = std::fs::read_to_string(server.kubeconfig()).unwrap();
    let (_, rest) = kubeconfig.split_once("https://").unwrap();
    rest.split(['\n', '"']).next().unwrap().to_owned()
}

#[test]
fn a_killed_server_leaves_all_or_nothing_and_the_command_says_which() {
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join("data");
    let server = Server::start(GROUNDPLANE, &data, &QUIET).unwrap();
    let listen = address(&server);
    let mut ground = Ground { server, files: tempfile::tempdir().unwrap() };
    folder(&ground, 0);
    let started = Instant::now();
    let told = ground.told("apply -f site-0");
    assert_eq!((told.code, told.out.lines().count()), (0, OBJECTS), "{}", told.err);
    let took = started.elapsed();
    let mut kept = Vec::new();
    // Killed at moments spread over the time that one takes: while files are read, sent, decided, written, answered.
    for round in 1..=ROUNDS {
        folder(&ground, round);
        let waiting = begun(&ground, &format!("apply -f site-{round}"));
        std::thread::sleep(took.mul_f64(f64::from(round) / f64::from(ROUNDS)));
        ground.server = {
            ground.server.kill();
            Server::start_on(GROUNDPLANE, &data, &listen, &QUIET).unwrap()
        };
        let told = ended(waiting.wait_with_output().unwrap());
        let found = count(&ground, round);
        assert!(found == 0 || found == OBJECTS, "{found} of {OBJECTS} objects in round {round}");
        is_true(&told, found, round);
        kept.push((found, told.code));
    }
    // What it says to do next works, whatever happened.
    let again = ground.told("apply -f site-3");
    assert_eq!((again.code, count(&ground, 3)), (0, OBJECTS), "{}", again.err);
    eprintln!("found and exit code, round by round: {kept:?}; one takes {took:?}");
}

/// Holds what the command said against what is there.
fn is_true(told: &Told, found: usize, round: u32) {
    let head: String = told.err.lines().take(8).collect::<Vec<_>>().join("\n");
    match told.code {
        0 => {
            assert_eq!((found, told.out.lines().count()), (OBJECTS, OBJECTS), "round {round}: {head}");
            assert!(
                head.contains("in one commit") || head.contains("the transaction was committed"),
                "{head}"
            );
        }
        // It had not got as far as sending anything, or was told that nothing was done.
        1 => assert_eq!((found, told.out.as_str()), (0, ""), "round {round}: {head}"),
        3 => {
            assert!(head.contains("either all 5000 objects were applied or none"), "{head}");
            assert!(head.contains(&format!("groundplane plan -f site-{round}")), "{head}");
        }
        code => panic!("round {round}: {code}: {head}"),
    }
}

#[test]
fn a_server_that_stays_away_leaves_it_open() {
    let mut ground = Ground::fresh();
    folder(&ground, 1);
    // The connection is there, and the server does nothing any more: as one whose machine lost its power.
    let pause = |signal: &str, pid: u32| {
        let sent = std::process::Command::new("kill").args([signal, &pid.to_string()]).status();
        assert!(sent.unwrap().success());
    };
    ground.run("get cm");
    let pid = ground.server.pid();
    let waiting = begun(&ground, "apply -f site-1 --request-timeout 2s");
    std::thread::sleep(Duration::from_millis(1));
    pause("-STOP", pid);
    let told = ended(waiting.wait_with_output().unwrap());
    pause("-CONT", pid);
    assert!(ground.server.runs());
    assert!(matches!(told.code, 1 | 3), "{told:?}");
    if told.code == 3 {
        assert!(
            told.err.contains("(--request-timeout)") && told.err.contains("has to be available"),
            "{told:?}"
        );
    } else {
        assert_eq!(count(&ground, 1), 0, "{told:?}");
    }
}

#[test]
fn a_plan_that_was_being_applied_is_known_to_be_applied_or_not() {
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join("data");
    let server = Server::start(GROUNDPLANE, &data, &QUIET).unwrap();
    let listen = address(&server);
    let mut ground = Ground { server, files: tempfile::tempdir().unwrap() };
    folder(&ground, 0);
    ground.run("plan -f site-0 --save=first");
    let started = Instant::now();
    ground.run("apply --plan first");
    let took = started.elapsed();
    for round in 1..=2_u32 {
        folder(&ground, round);
        ground.run(&format!("plan -f site-{round} --save=next-{round}"));
        let waiting = begun(&ground, &format!("apply --plan next-{round}"));
        std::thread::sleep(took.mul_f64(f64::from(round) / 3.0));
        ground.server = {
            ground.server.kill();
            Server::start_on(GROUNDPLANE, &data, &listen, &QUIET).unwrap()
        };
        let told = ended(waiting.wait_with_output().unwrap());
        let found = count(&ground, round);
        let head: String = told.err.lines().take(8).collect::<Vec<_>>().join("\n");
        match told.code {
            0 => assert_eq!(found, OBJECTS, "round {round}: {head}"),
            1 => assert_eq!(found, 0, "round {round}: {head}"),
            code => {
                assert_eq!(code, 3, "{head}");
                assert!(found == 0 || found == OBJECTS, "{found} of {OBJECTS} in round {round}");
            }
        }
    }
}

//! Instances that really run: from a real registry, rolled under load, kept over kills, and gone at the end.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::PATIENCE;
use crate::commands::{compute, done, json as output};
use crate::image::{Image, Registry};
use crate::load::Load;
use crate::machine::{Machine, can_run, fetch, url};

const FLAGS: [&str; 4] = ["--local-cities", "DFW,IAD", "--instances", "containers"];
const LIMIT: [&str; 2] = ["--timeout", "240s"];

#[test]
fn a_release_is_rolled_under_load_taken_back_and_leaves_nothing() {
    if !can_run() {
        return;
    }
    let (machine, registry) = (Machine::new(), Registry::start());
    let first = registry.push("1", &Image::of(&["serve", "hello"]));
    let second = registry.push("2", &Image::of(&["serve", "world"]));
    let server = machine.start(&FLAGS);

    let deploy = ["deploy", "web", "--image", &first, "--city", "DFW", "--min", "2", "--port", "80"];
    let at = url(&server, &[&deploy[..], &LIMIT].concat());
    assert_eq!(fetch(&at).unwrap(), "hello");
    assert_eq!(url(&server, &["open", "web", "--print"]), at);

    // A new version rolls while requests come, and none of them fails.
    let load = Load::start(&at);
    assert_eq!(url(&server, &[&["deploy", "web", "--image", &second][..], &LIMIT].concat()), at);
    let answers = load.stop();
    let failed: Vec<_> = answers.iter().filter(|(answer, _)| answer.is_err()).collect();
    assert!(failed.is_empty(), "{failed:?} of {answers:?}");
    let count = |text: &str| answers.get(&Ok(text.to_owned())).copied().unwrap_or(0);
    assert!(count("hello") > 0 && count("world") > 0, "both versions have answered: {answers:?}");
    assert_eq!(fetch(&at).unwrap(), "world");

    // A version that can't be pulled fails fast, in the registry's words, and the old one goes on.
    let missing = registry.reference("missing");
    let failed = compute(&server, &[&["deploy", "web", "--image", &missing][..], &LIMIT].concat());
    let told = String::from_utf8(failed.stderr).unwrap();
    assert_eq!(failed.status.code(), Some(3), "{told}");
    assert!(told.contains("the image can't be pulled") && told.contains("manifest unknown"), "{told}");
    assert!(told.contains("Next: groundplane compute rollout undo web"), "{told}");
    assert_eq!(fetch(&at).unwrap(), "world");
    done(&server, &[&["rollout", "undo", "web"][..], &LIMIT].concat());
    assert_eq!(fetch(&at).unwrap(), "world");

    done(&server, &[&["scale", "web", "--min", "1", "--wait"][..], &LIMIT].concat());
    assert_eq!(machine.shims().len(), 1);

    // A second city has an address and instances of its own; a restart of one city is one of that city.
    let (_, told) = done(&server, &[&["deploy", "web", "--city", "DFW,IAD"][..], &LIMIT].concat());
    assert!(told.contains("Traffic between cities is not carried"), "{told}");
    let there = url(&server, &["open", "web", "--city", "IAD", "--print"]);
    assert_ne!(there, at);
    assert_eq!(fetch(&there).unwrap(), "world");
    let uid = |city: &str| {
        output(&server, &["instances", "--city", city])[0]["instance"]["metadata"]["uid"].clone()
    };
    let before = (uid("DFW"), uid("IAD"));
    done(&server, &[&["rollout", "restart", "web", "--city", "IAD"][..], &LIMIT].concat());
    assert_eq!(uid("DFW"), before.0);
    assert_ne!(uid("IAD"), before.1);

    done(&server, &["destroy", "web", "--yes"]);
    machine.assert_clean();
    assert!(fetch(&at).unwrap_err().starts_with("connecting"), "nothing listens there any more");
    let used = output(&server, &["quota"]);
    assert!(used["items"].as_array().unwrap().iter().all(|one| one["used"] == 0), "{used}");
    server.stop();
}

#[test]
fn containers_outlive_kills_of_the_server_and_of_shims() {
    if !can_run() {
        return;
    }
    let (machine, registry) = (Machine::new(), Registry::start());
    let first = registry.push("1", &Image::of(&["serve", "hello"]));
    let second = registry.push("2", &Image::of(&["serve", "world"]));
    let server = machine.start(&FLAGS);
    let deploy = ["deploy", "web", "--image", &first, "--city", "DFW", "--min", "2", "--port", "80"];
    let at = url(&server, &[&deploy[..], &LIMIT].concat());
    let before = machine.shims();
    assert_eq!(before.len(), 2, "{before:?}");

    // Killed, not stopped: containers go on, and the next server takes them up as they are, at the same address.
    server.kill();
    assert_eq!(machine.shims(), before);
    let server = machine.start(&FLAGS);
    until("it answers again", || fetch(&at) == Ok("hello".to_owned()));
    assert_eq!(machine.shims(), before);

    // Killed in the middle of a roll, with a shim: the roll goes on to its end.
    done(&server, &["deploy", "web", "--image", &second, "--no-wait"]);
    until("the roll has begun", || machine.shims() != before);
    server.kill();
    let shim = machine.shims().first().cloned();
    if let Some(shim) = shim {
        assert!(Command::new("kill").args(["-KILL", &shim]).status().unwrap().success());
    }
    let server = machine.start(&FLAGS);
    done(&server, &[&["rollout", "status", "web"][..], &LIMIT].concat());
    until("the new version answers", || fetch(&at) == Ok("world".to_owned()));
    assert_eq!(machine.shims().len(), 2, "neither lost nor doubled");

    done(&server, &["destroy", "web", "--yes"]);
    machine.assert_clean();
    server.stop();
}

pub fn until(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "not within {PATIENCE:?}: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

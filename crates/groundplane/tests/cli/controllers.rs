//! `groundplane controllers`: what the controllers of a server do.

use crate::program::Ground;

#[test]
fn controllers_are_listed_with_their_queues_and_attempts() {
    let ground = Ground::fresh();
    ground.run("create namespace gone");
    ground.run("delete namespace gone");
    let table = ground.run("controllers");
    let mut lines = table.lines();
    let heading: Vec<&str> = lines.next().unwrap().split_whitespace().collect();
    assert_eq!(heading, ["NAME", "ACTIVE", "QUEUE", "DELAYED", "OLDEST", "ATTEMPTS", "FAILED"]);
    let of = |name: &str| {
        let line =
            table.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{name}: {table}"));
        line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    let namespaces = of("namespace-controller");
    assert_eq!(namespaces[1], "true", "{table}");
    assert!(namespaces[5].parse::<u32>().unwrap() > 0, "it emptied a namespace: {table}");
    assert_eq!(of("inventory-controller")[1], "true", "{table}");

    let only = ground.run("controllers garbage-collector --no-headers");
    assert!(only.starts_with("garbage-collector ") && only.lines().count() == 1, "{only}");
    let json = ground.run("controllers garbage-collector -o jsonpath={.items[*].status.active}");
    assert_eq!(json, "true");
    let wrong = ground.told("controllers no-such");
    assert_ne!(wrong.code, 0);
    assert!(wrong.err.contains("no-such") && wrong.err.contains("garbage-collector"), "{wrong:?}");
}

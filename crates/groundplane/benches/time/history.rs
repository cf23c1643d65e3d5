//! The history of an object with a thousand revisions.

use std::time::{Duration, Instant};

use serde_json::json;
use testbed::server::Server;

use crate::report::{Report, median};
use crate::{Arguments, GROUNDPLANE};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const READS: usize = 50;

pub async fn measure(arguments: &Arguments, report: &mut Report) {
    let server = Server::fresh(GROUNDPLANE, &["--audit-log", "none"]).unwrap();
    let client = server.client();
    let revisions = arguments.scaled(1000);
    let filling = "the same in every revision ".repeat(40);
    let map = json!({"metadata": {"name": "a"}, "data": {"k": "0", "filling": filling}});
    assert_eq!(client.post(MAPS, &map).await.unwrap().code, 201);
    for number in 1..revisions {
        let patch = json!({"data": {"k": number.to_string()}});
        assert_eq!(client.merge(&format!("{MAPS}/a"), &patch).await.unwrap().code, 200);
    }
    for (what, query, floor) in [
        ("the newest 100 of 1,000 revisions", "", Some(Duration::from_millis(5))),
        ("the same with what they changed", "?diff=true", None),
        ("all 1,000 revisions", "?limit=1000", None),
    ] {
        let mut times = Vec::new();
        for _ in 0..READS {
            let begun = Instant::now();
            let answer = client.get(&format!("{MAPS}/a/history{query}")).await.unwrap();
            times.push(begun.elapsed());
            assert_eq!(answer.code, 200);
        }
        report.time(&format!("history: {what}"), median(times), floor);
    }
}

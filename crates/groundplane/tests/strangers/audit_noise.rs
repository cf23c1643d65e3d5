//! The audit log under requests of those who may do nothing.

use serde_json::Value;

use super::City;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_audit_log_is_not_flushed_by_strangers() {
    let rotation = ["--audit-log-megabytes", "1", "--audit-log-files", "1"];
    let city = City::of(&["eve"], &rotation).await;
    assert_eq!(city.admin.get("/api/v1/namespaces/default/configmaps/first").await.unwrap().code, 404);
    let query = "q".repeat(10_000);
    let (stranger, eve) = (city.server.stranger(), city.person("eve"));
    for _ in 0..1_500 {
        assert_eq!(stranger.get(&format!("/api/v1/secrets?{query}")).await.unwrap().code, 403);
        assert_eq!(eve.get(&format!("/api/v1/secrets?{query}")).await.unwrap().code, 403);
    }
    assert_eq!(city.admin.get("/api/v1/namespaces/default/configmaps/last").await.unwrap().code, 404);
    let data = city.data().to_owned();
    let City { server, _folder, .. } = city;
    // The log is complete once the server has stopped; its folder goes with the server.
    let copy = tempfile::TempDir::new().unwrap();
    let pid = server.pid().to_string();
    let asked = std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap();
    assert!(asked.success());
    let main = data.join("audit.log");
    let mut text = String::new();
    for _ in 0..600 {
        text = std::fs::read_to_string(&main).unwrap_or_default();
        if text.contains("configmaps/last") {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    for file in ["audit.log", "audit-unauthenticated.log"] {
        std::fs::copy(data.join(file), copy.path().join(file)).unwrap();
    }
    let older = std::fs::read_to_string(data.join("audit.log.1")).unwrap_or_default();
    let all = format!("{older}{text}");
    assert!(
        all.contains("configmaps/first") && all.contains("configmaps/last"),
        "the administrator's are there"
    );
    let mut left_out = 0;
    for line in all.lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        assert_ne!(event["user"]["username"], "system:anonymous", "strangers have a file of their own");
        assert!(line.len() < 8_000, "{} bytes", line.len());
        let said = event["annotations"]["groundplane.dev/events-left-out"].as_str();
        left_out += said.map_or(0, |said| said.parse::<u64>().unwrap());
    }
    let eves = all.lines().filter(|line| line.contains("\"eve\"")).count();
    assert!((1_000..=1_500).contains(&eves), "{eves} of eve's, {left_out} left out");
}

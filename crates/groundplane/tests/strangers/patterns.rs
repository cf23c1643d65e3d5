//! Regular expressions that are short to write and large to compile.

use serde_json::{Value, json};

use super::{City, DEFINITIONS, definition};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn patterns_have_a_budget() {
    let city = City::of(&[], &[]).await;
    let before = city.server.memory();
    let bombs: serde_json::Map<String, Value> = (0..8)
        .map(|number| {
            (format!("f{number}"), json!({"type": "string", "pattern": format!("^\\pL{{1000}}{number}$")}))
        })
        .collect();
    let refused = city
        .admin
        .post(DEFINITIONS, &definition("bombs", json!({"type": "object", "properties": bombs})))
        .await
        .unwrap();
    assert_eq!(refused.code, 422, "{}", refused.text());
    assert!(refused.text().contains("\\\\pL{1000}0$"), "it names the pattern: {}", refused.text());
    // Each of these is allowed alone, and together they are not.
    let several: serde_json::Map<String, Value> = (0..8)
        .map(|number| {
            (
                format!("f{number}"),
                json!({"type": "string", "pattern": format!("^[\\p{{L}}\\p{{N}}]{{1,100}}{number}$")}),
            )
        })
        .collect();
    let refused = city
        .admin
        .post(DEFINITIONS, &definition("piles", json!({"type": "object", "properties": several})))
        .await
        .unwrap();
    assert_eq!(refused.code, 422, "{}", refused.text());
    assert!(refused.text().contains("MiB are allowed"), "{}", refused.text());
    // Many definitions share one room.
    for number in 0..10 {
        let pattern = format!("^[\\p{{L}}\\p{{N}}]{{1,100}}{number}$");
        let spec = json!({"type": "object", "properties": {"f": {"type": "string", "pattern": pattern}}});
        let made = city.admin.post(DEFINITIONS, &definition(&format!("n{number}s"), spec)).await.unwrap();
        assert_eq!(made.code, 201, "{}", made.text());
    }
    let after = city.server.memory();
    eprintln!("memory: {before} MiB before, {after} MiB after");
    assert!(after < before + 300, "from {before} to {after} MiB");
}

//! get --watch and wait.

use std::time::Duration;

use crate::program::with_each;

const WIDGETS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cases/kube/fixtures/widgets.json");

#[test]
fn a_watch_tells_what_is_there_and_what_happens() {
    with_each(|kubectl| {
        kubectl.run("create configmap before");
        kubectl.run("wait --for=create configmap/kube-root-ca.crt --timeout=30s");
        let all = kubectl.start("get configmaps --watch --output-watch-events --no-headers");
        let only =
            kubectl.start("get configmaps --watch-only -l color=red -o jsonpath={.metadata.name}{\"\\n\"}");
        let table = kubectl.start("get configmaps --watch");
        // They are following once they are through discovery and their first request.
        std::thread::sleep(Duration::from_millis(1_500));
        kubectl.run("create configmap during");
        kubectl.run("label configmap during color=red");
        kubectl.run("delete configmap during");
        std::thread::sleep(Duration::from_millis(500));
        let told = all.interrupt();
        let told: Vec<String> =
            told.lines().map(|line| line.split_whitespace().take(2).collect::<Vec<_>>().join(" ")).collect();
        let expected =
            ["ADDED before", "ADDED kube-root-ca.crt", "ADDED during", "MODIFIED during", "DELETED during"];
        assert_eq!(told, expected);
        assert_eq!(only.interrupt().trim(), "during\nduring", "it came into the selection, and went");
        let table = table.interrupt();
        assert_eq!(table.lines().filter(|line| line.starts_with("during")).count(), 3, "{table}");
        assert_eq!(table.lines().filter(|line| line.starts_with("NAME")).count(), 1, "{table}");
    });
}

#[test]
fn wait_ends_when_what_it_waits_for_happens() {
    with_each(|kubectl| {
        kubectl.run("create configmap awaited");
        let set = kubectl.start("wait configmap/awaited --for=jsonpath={.data.done}=yes --timeout=20s");
        std::thread::sleep(Duration::from_millis(300));
        kubectl.run("patch configmap awaited --type=merge -p '{\"data\":{\"done\":\"yes\"}}'");
        assert_eq!(set.end(), "configmap/awaited condition met\n");
        let gone = kubectl.start("wait configmap/awaited --for=delete --timeout=20s");
        std::thread::sleep(Duration::from_millis(300));
        kubectl.run("delete configmap awaited");
        assert!(gone.end().contains("condition met"));
        let made = kubectl.start("wait configmap/later --for=create --timeout=20s");
        std::thread::sleep(Duration::from_millis(300));
        kubectl.run("create configmap later");
        assert!(made.end().contains("condition met"));
        let said = kubectl.refused("wait configmap/later --for=jsonpath={.data.done}=yes --timeout=1s");
        assert!(said.contains("timed out waiting for the condition"), "{said}");
        kubectl.run("wait namespace/default --for=jsonpath={.status.phase}=Active --timeout=5s");
    });
}

#[test]
fn wait_knows_conditions_of_custom_kinds() {
    with_each(|kubectl| {
        kubectl.run(&format!("create -f {WIDGETS}"));
        kubectl.run("wait --for=condition=Established crd/widgets.golden.example.com --timeout=10s");
        let widget =
            "apiVersion: golden.example.com/v1\nkind: Widget\nmetadata: {name: one}\nspec: {size: 1}\n";
        kubectl.run_with("create -f -", widget);
        let ready = |status: &str| {
            let condition = format!("{{\"type\":\"Ready\",\"status\":\"{status}\",\"reason\":\"Told\"}}");
            kubectl.run(&format!(
                "patch widget one --subresource=status --type=merge -p '{{\"status\":{{\"conditions\":[{condition}]}}}}'"
            ));
        };
        let waiting = kubectl.start("wait widget/one --for=condition=Ready --timeout=20s");
        ready("False");
        assert!(
            kubectl
                .refused("wait widget/one --for=condition=Ready --timeout=0s")
                .contains("condition not met")
        );
        kubectl.run("wait widget/one --for=condition=Ready=False --timeout=10s");
        ready("True");
        assert_eq!(waiting.end(), "widget.golden.example.com/one condition met\n");
        assert!(kubectl.run("get widget one").lines().nth(1).unwrap().contains("True"), "a column shows it");
    });
}

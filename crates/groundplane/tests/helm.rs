//! helm: a chart of ours with a definition and custom resources is installed, upgraded, rolled back and uninstalled.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::{Value, json};
use testbed::server::{Client, Server};
use testbed::{need, parts};

const CHART: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/kitchen");
const KETTLES: &str = "/apis/kitchen.example.com/v1/namespaces/default/kettles";
const MAPS: &str = "/api/v1/namespaces/default/configmaps";

struct Helm {
    program: PathBuf,
    server: Server,
}

/// Who merges: the server, as helm 4 does it, or helm itself, as it did before.
const WAYS: [&str; 2] = ["--server-side=true", "--server-side=false"];

fn start() -> Option<Helm> {
    let Some(program) = parts::find("helm/helm") else {
        need::passed_over("helm was not fetched; `cargo xtask test` does that");
        return None;
    };
    let server = Server::fresh(env!("CARGO_BIN_EXE_groundplane"), &[]).unwrap();
    Some(Helm { program, server })
}

impl Helm {
    fn command(&self, line: &str) -> Output {
        let home = self.server.data().with_file_name("home");
        let mut command = Command::new(&self.program);
        command.args(line.split_whitespace()).env("KUBECONFIG", self.server.kubeconfig()).env("HOME", home);
        for variable in
            ["HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME", "HELM_NAMESPACE", "HELM_DRIVER"]
        {
            command.env_remove(variable);
        }
        command.output().unwrap()
    }

    /// Types a command that works, and gives what it printed.
    fn run(&self, line: &str) -> String {
        let ended = self.command(line);
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.success(), "helm {line}: {said}{}", String::from_utf8_lossy(&ended.stdout));
        String::from_utf8_lossy(&ended.stdout).into_owned()
    }

    /// Types a command that is refused, and gives what it said.
    fn refused(&self, line: &str) -> String {
        let ended = self.command(line);
        assert!(!ended.status.success(), "helm {line} was not refused");
        String::from_utf8_lossy(&ended.stderr).into_owned()
    }

    fn json(&self, line: &str) -> Value {
        let printed = self.run(&format!("{line} --output json"));
        serde_json::from_str(&printed).unwrap_or_else(|error| panic!("helm {line}: {error}: {printed}"))
    }

    /// The litres of every kettle, by name.
    async fn kettles(&self) -> Value {
        let list = get(&self.server.client(), KETTLES).await;
        let litres = |item: &Value| {
            (item["metadata"]["name"].as_str().unwrap().to_owned(), item["spec"]["litres"].clone())
        };
        Value::Object(list["items"].as_array().unwrap().iter().map(litres).collect())
    }
}

async fn get(client: &Client, path: &str) -> Value {
    let answer = client.get(path).await.unwrap();
    assert_eq!(answer.code, 200, "{path}: {}", String::from_utf8_lossy(&answer.body));
    serde_json::from_slice(&answer.body).unwrap()
}

#[tokio::test]
async fn a_chart_is_installed_upgraded_rolled_back_and_uninstalled() {
    for way in WAYS {
        let Some(helm) = start() else { return };
        let client = helm.server.client();
        let said = helm.run(&format!("install tea {CHART} {way} --wait --timeout 60s"));
        assert!(said.contains("STATUS: deployed") && said.contains("2 kettles on the gas stove."), "{said}");
        assert_eq!(helm.kettles().await, json!({"tea-copper": 2, "tea-enamel": 5}));
        let copper = get(&client, &format!("{KETTLES}/tea-copper")).await;
        assert_eq!(copper["metadata"]["annotations"]["meta.helm.sh/release-name"], "tea");
        assert_eq!(
            copper["spec"]["spouts"],
            json!([{"name": "main", "side": "left"}]),
            "defaults are the server's"
        );
        assert_eq!(get(&client, &format!("{MAPS}/tea-bell")).await["data"]["rung"], "1", "hooks were run");
        let greeting = get(&client, &format!("{MAPS}/tea-greeting")).await;
        assert_eq!(greeting["data"]["before"], "{}");
        let secrets =
            get(&client, "/api/v1/namespaces/default/secrets?fieldSelector=type%3Dhelm.sh%2Frelease.v1")
                .await;
        assert_eq!(secrets["items"].as_array().unwrap().len(), 1, "the release is kept as a secret");

        // Somebody else's fields are none of helm's business.
        let labelled = json!({"metadata": {"labels": {"by": "hand"}}, "spec": {"spouts": [{"name": "main"}, {"name": "spare"}]}});
        client.merge(&format!("{KETTLES}/tea-copper"), &labelled).await.unwrap();
        let said = helm.run(&format!(
            "upgrade tea {CHART} {way} --set kettles.enamel=null,kettles.copper=3,kettles.iron=1,greeting=welcome --wait --timeout 60s"
        ));
        assert!(said.contains("REVISION: 2"), "{said}");
        assert_eq!(helm.kettles().await, json!({"tea-copper": 3, "tea-iron": 1}));
        let copper = get(&client, &format!("{KETTLES}/tea-copper")).await;
        assert_eq!(copper["metadata"]["labels"]["by"], "hand");
        let greeting = get(&client, &format!("{MAPS}/tea-greeting")).await;
        assert_eq!(greeting["data"]["greeting"], "welcome");
        assert_eq!(greeting["data"]["kettlesAreKnown"], "true", "discovery tells the new kind");
        assert!(
            greeting["data"]["before"].as_str().unwrap().contains("hello"),
            "what was there was looked up"
        );
        assert_eq!(get(&client, &format!("{MAPS}/tea-bell")).await["data"]["rung"], "2");

        helm.run(&format!("rollback tea 1 {way} --wait --timeout 60s"));
        assert_eq!(helm.kettles().await, json!({"tea-copper": 2, "tea-enamel": 5}));
        let history = helm.json("history tea");
        let told: Vec<_> =
            history.as_array().unwrap().iter().map(|each| each["status"].as_str().unwrap()).collect();
        assert_eq!(told, ["superseded", "superseded", "deployed"]);
        assert_eq!(helm.json("list")[0]["revision"], "3");
        assert!(helm.run("get manifest tea").contains("kind: Kettle"));
        assert!(helm.run("status tea").contains("STATUS: deployed"));

        helm.run("uninstall tea --wait --timeout 60s");
        assert_eq!(helm.kettles().await, json!({}), "the kettles are gone, their kind is not");
        assert_eq!(client.get(&format!("{MAPS}/tea-greeting")).await.unwrap().code, 404);
        assert_eq!(helm.json("list"), json!([]));
    }
}

#[tokio::test]
async fn what_breaks_a_rule_fails_and_can_be_taken_back() {
    for way in WAYS {
        let Some(helm) = start() else { return };
        let said = helm.refused(&format!("install tea {CHART} {way} --skip-crds"));
        assert!(
            said.contains("no matches for kind \"Kettle\" in version \"kitchen.example.com/v1\""),
            "{said}"
        );
        assert!(said.contains("ensure CRDs are installed first"), "{said}");
        helm.run(&format!("install tea {CHART} {way}"));
        let rehearsed =
            helm.run(&format!("upgrade tea {CHART} {way} --set kettles.copper=4 --dry-run=server"));
        assert!(rehearsed.contains("litres: 4"), "{rehearsed}");
        assert_eq!(helm.json("list")[0]["revision"], "1", "a rehearsal leaves nothing");
        let said = helm.refused(&format!("upgrade tea {CHART} {way} --set stove=candle"));
        assert!(said.contains("a candle boils no more than a litre"), "{said}");
        assert_eq!(helm.json("history tea")[1]["status"], "failed");
        assert_eq!(helm.kettles().await, json!({"tea-copper": 2, "tea-enamel": 5}));
        let said = helm.refused(&format!(
            "upgrade tea {CHART} {way} --set kettles.copper=0 --rollback-on-failure --timeout 60s"
        ));
        assert!(said.contains("spec.litres"), "{said}");
        assert_eq!(helm.kettles().await, json!({"tea-copper": 2, "tea-enamel": 5}));
        helm.run(&format!("upgrade --install tea {CHART} {way} --set stove=wood --reuse-values"));
        let copper = get(&helm.server.client(), &format!("{KETTLES}/tea-copper")).await;
        assert_eq!(copper["spec"]["stove"], "wood");
        assert!(
            helm.refused(&format!("install tea {CHART}"))
                .contains("cannot reuse a name that is still in use")
        );
    }
}

#[tokio::test]
async fn helm_says_whose_a_field_is_and_takes_it_when_told() {
    let Some(helm) = start() else { return };
    helm.run(&format!("install tea {CHART}"));
    let theirs = json!({
        "apiVersion": "kitchen.example.com/v1", "kind": "Kettle", "metadata": {"name": "tea-copper"}, "spec": {"litres": 7},
    });
    let client = helm.server.client();
    let path = format!("{KETTLES}/tea-copper?fieldManager=cook&force=true");
    assert_eq!(client.apply(&path, &theirs).await.unwrap().code, 200);
    let said = helm.refused(&format!("upgrade tea {CHART} --set kettles.copper=4"));
    assert!(said.contains("conflict with \"cook\"") && said.contains(".spec.litres"), "{said}");
    helm.run(&format!("upgrade tea {CHART} --set kettles.copper=4 --force-conflicts"));
    assert_eq!(helm.kettles().await["tea-copper"], 4);
}

//! Definitions as their projects publish them are served unchanged, take real objects, and refuse what is wrong with
//! others by naming the fields.
//!
//! The definitions are other people's and read where they lie; the objects, in `tests/cases/definitions`, are ours.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use testbed::server::{Client, Server};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const SAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cases/definitions/samples.json");
/// How long a definition may take until it is served, far longer than it does.
const PATIENCE: u32 = 300;

#[tokio::test]
async fn published_definitions_take_real_objects_and_refuse_wrong_ones() {
    let Some(crds) = require::cases("crds") else { return };
    let theirs = crds.parent().unwrap();
    let samples: Vec<Value> = serde_json::from_slice(&std::fs::read(SAMPLES).unwrap()).unwrap();
    for sample in &samples {
        // Two projects publish the same kind: each has a server of its own.
        let server = Server::fresh(env!("CARGO_BIN_EXE_groundplane"), &[]).unwrap();
        tell(&server.client(), sample, theirs).await;
    }
}

async fn tell(client: &Client, sample: &Value, theirs: &Path) {
    let name = sample["definition"].as_str().unwrap();
    let definition = std::fs::read_to_string(theirs.join(name)).unwrap();
    let definition = krm::decode::read_yaml(definition.as_bytes()).unwrap().value;
    let made = client.post(DEFINITIONS, &definition).await.unwrap();
    assert_eq!(made.code, 201, "{name}: {}", made.text());
    assert_eq!(made.json()["spec"]["versions"], definition_as_kept(&definition, &made.json()), "{name}");

    let path = sample["path"].as_str().unwrap();
    served(client, path).await;
    if definition["metadata"]["annotations"].get("api-approved.kubernetes.io").is_some() {
        let path = format!("{DEFINITIONS}/{}", definition["metadata"]["name"].as_str().unwrap());
        let kept = client.get(&path).await.unwrap().json();
        let conditions = kept["status"]["conditions"].as_array().unwrap();
        let kind = "KubernetesAPIApprovalPolicyConformant";
        let approval = conditions.iter().find(|condition| condition["type"] == kind);
        assert_eq!(approval.unwrap()["reason"], "ApprovedAnnotation", "{name}");
    }
    for object in sample["good"].as_array().unwrap() {
        let made = client.post(&format!("{path}?fieldValidation=Strict"), object).await.unwrap();
        assert_eq!(made.code, 201, "{name}: {}", made.text());
        let found =
            client.get(&format!("{path}/{}", object["metadata"]["name"].as_str().unwrap())).await.unwrap();
        assert!(holds(&found.json()["spec"], &object["spec"]), "{name}: {}", found.text());
    }
    for wrong in sample["bad"].as_array().unwrap() {
        let refused = client.post(path, &wrong["object"]).await.unwrap();
        assert_eq!(refused.code, 422, "{name}: {}", refused.text());
        let status = refused.json();
        let causes = status["details"]["causes"].as_array().unwrap();
        for field in wrong["fields"].as_array().unwrap() {
            assert!(causes.iter().any(|cause| cause["field"] == *field), "{name}: {field} in {status}");
        }
    }
}

/// What is kept of a definition is what was sent, but for what defaults add.
fn definition_as_kept(sent: &Value, kept: &Value) -> Value {
    let (sent, kept) = (&sent["spec"]["versions"], &kept["spec"]["versions"]);
    assert!(holds(kept, sent), "something was lost of a definition");
    kept.clone()
}

/// Whether everything in `part` is in `whole`, where defaults may have been added.
fn holds(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => {
            part.iter().all(|(field, part)| whole.get(field).is_some_and(|whole| holds(whole, part)))
        }
        (Value::Array(whole), Value::Array(part)) => {
            whole.len() == part.len() && whole.iter().zip(part).all(|(whole, part)| holds(whole, part))
        }
        (Value::Number(whole), Value::Number(part)) => whole.as_f64() == part.as_f64(),
        (whole, part) => whole == part,
    }
}

async fn served(client: &Client, path: &str) {
    for _ in 0..PATIENCE {
        if client.get(path).await.unwrap().code == 200 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("{path} is not served");
}

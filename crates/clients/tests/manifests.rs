//! The manifests and the chart in `packaging`, read with Kubernetes' own types: a field that Kubernetes does not know
//! would be lost between reading and writing.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

use std::path::{Path, PathBuf};
use std::process::Command;

use k8s_openapi::api::{apps, core, policy};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use testbed::{need, parts};

fn packaging(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging").join(path)
}

fn known<T: DeserializeOwned + Serialize>(object: &Value) {
    let read: T = serde_json::from_value(object.clone()).unwrap_or_else(|error| panic!("{error}: {object}"));
    assert_eq!(serde_json::to_value(read).unwrap(), *object);
}

fn are_known(command: &mut Command) {
    let built = command.output().unwrap();
    assert!(built.status.success(), "{command:?}: {}", String::from_utf8_lossy(&built.stderr));
    let text = String::from_utf8(built.stdout).unwrap();
    let documents = text.split("\n---\n").filter(|document| document.contains("kind: "));
    let mut kinds = Vec::new();
    for document in documents {
        let object = krm::decode::read_yaml(document.as_bytes()).unwrap().value;
        let kind = object["kind"].as_str().unwrap().to_owned();
        match kind.as_str() {
            "Namespace" => known::<core::v1::Namespace>(&object),
            "ConfigMap" => known::<core::v1::ConfigMap>(&object),
            "Service" => known::<core::v1::Service>(&object),
            "Deployment" => known::<apps::v1::Deployment>(&object),
            "PodDisruptionBudget" => known::<policy::v1::PodDisruptionBudget>(&object),
            other => panic!("add {other} to this test"),
        }
        kinds.push(kind);
    }
    for kind in ["Service", "Deployment", "PodDisruptionBudget"] {
        assert!(kinds.iter().any(|found| found == kind), "{kind} in {kinds:?}");
    }
}

#[test]
fn the_manifests_have_fields_that_kubernetes_knows() {
    let Some(kubectl) = parts::find("kubectl-1.35/kubectl") else {
        return need::passed_over("there is no kubectl 1.35");
    };
    are_known(Command::new(kubectl).arg("kustomize").arg(packaging("kubernetes")));
}

#[test]
fn the_chart_has_fields_that_kubernetes_knows() {
    let Some(helm) = parts::find("helm/helm") else {
        return need::passed_over("helm was not fetched; `cargo xtask test` does that");
    };
    let everything = packaging("../crates/clients/tests/manifests/values.yaml");
    are_known(
        Command::new(helm)
            .args(["template", "site", "--namespace", "infra", "--values"])
            .arg(everything)
            .arg(packaging("helm/groundplane")),
    );
}

#[test]
#[should_panic(expected = "replicass")]
fn a_field_that_kubernetes_does_not_know_is_found() {
    let text = r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"},"spec":{"replicass":3,
        "selector":{},"template":{}}}"#;
    known::<apps::v1::Deployment>(&serde_json::from_str(text).unwrap());
}

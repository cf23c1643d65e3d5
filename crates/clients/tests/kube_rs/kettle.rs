//! A kind as a program in Rust defines it.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, Patch, PatchParams};
use kube::runtime::wait::{await_condition, conditions};
use kube::{Client, CustomResource, CustomResourceExt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Water to be boiled.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(group = "kitchen.example.com", version = "v1", kind = "Kettle", namespaced, shortname = "kt")]
#[kube(
    status = "KettleStatus",
    printcolumn = r#"{"name":"Litres","type":"integer","jsonPath":".spec.litres"}"#
)]
#[serde(rename_all = "camelCase")]
pub struct KettleSpec {
    /// How much water.
    #[schemars(range(min = 1, max = 60))]
    pub litres: u32,
    /// How hot it is to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub degrees: Option<f64>,
}

/// How far it is.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct KettleStatus {
    /// Whether it boils.
    pub boils: bool,
}

/// Has the kind served.
pub async fn define(client: &Client) {
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    let apply = PatchParams::apply("kettles").force();
    let definition =
        definitions.patch(Kettle::crd_name(), &apply, &Patch::Apply(Kettle::crd())).await.unwrap();
    assert_eq!(definition.spec.names.kind, "Kettle");
    let established = await_condition(definitions, Kettle::crd_name(), conditions::is_crd_established());
    tokio::time::timeout(std::time::Duration::from_secs(10), established).await.unwrap().unwrap();
}

//! A kind with rules, known by its name alone.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind, Patch, PatchParams, PostParams};
use kube::runtime::wait::{await_condition, conditions};
use kube::{Client, Error};
use serde_json::{Value, json};

const GAUGES: &str = include_str!("../../../groundplane/tests/fixtures/gauges.json");

async fn gauges(client: &Client) -> Api<DynamicObject> {
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    let definition = serde_json::from_str(GAUGES).unwrap();
    definitions.create(&PostParams::default(), &definition).await.unwrap();
    let name = "gauges.rules.example.com";
    await_condition(definitions, name, conditions::is_crd_established()).await.unwrap();
    let kind = GroupVersionKind::gvk("rules.example.com", "v1", "Gauge");
    Api::default_namespaced_with(client.clone(), &ApiResource::from_gvk_with_plural(&kind, "gauges"))
}

fn gauge(low: u32, count: u32) -> Value {
    json!({
        "apiVersion": "rules.example.com/v1", "kind": "Gauge", "metadata": {"name": "one"},
        "spec": {"low": low, "high": 10, "count": count},
    })
}

/// What was wrong, by field.
fn causes<T: std::fmt::Debug>(refused: Result<T, Error>) -> Vec<(String, String)> {
    match refused {
        Err(Error::Api(status)) if status.code == 422 && status.reason == "Invalid" => {
            let causes = status.details.unwrap().causes;
            causes.into_iter().map(|cause| (cause.field, cause.message)).collect()
        }
        other => panic!("not refused as invalid: {other:?}"),
    }
}

#[tokio::test]
async fn rules_are_told_field_by_field_whatever_the_verb() {
    let Some((_server, client)) = crate::start().await else { return };
    let gauges = gauges(&client).await;
    let made = |value: Value| serde_json::from_value::<DynamicObject>(value).unwrap();
    let told = causes(gauges.create(&PostParams::default(), &made(gauge(11, 0))).await);
    assert!(told[0].0 == "spec" && told[0].1.contains("low is 11, above high"), "{told:?}");
    let mut one = gauges.create(&PostParams::default(), &made(gauge(1, 5))).await.unwrap();

    one.data["spec"]["count"] = json!(4);
    let told = causes(gauges.replace("one", &PostParams::default(), &one).await);
    assert!(told[0].0 == "spec.count" && told[0].1.contains("a count never falls"), "{told:?}");
    let merge = Patch::Merge(json!({"spec": {"low": 12, "count": 1}}));
    assert_eq!(causes(gauges.patch("one", &PatchParams::default(), &merge).await).len(), 2, "both at once");
    let apply = PatchParams::apply("me").force();
    assert_eq!(causes(gauges.patch("one", &apply, &Patch::Apply(gauge(12, 5))).await).len(), 1);
    let dry = PatchParams { dry_run: true, ..PatchParams::apply("me").force() };
    assert_eq!(causes(gauges.patch("one", &dry, &Patch::Apply(gauge(1, 0))).await).len(), 1);
    let raised = gauges.patch("one", &apply, &Patch::Apply(gauge(2, 6))).await.unwrap();
    assert_eq!(raised.data["spec"], json!({"low": 2, "high": 10, "count": 6}));
}

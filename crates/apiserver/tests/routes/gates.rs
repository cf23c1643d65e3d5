//! Feature gates: what is behind a closed one is not there, and everybody can see which are open.

use krm::kind::{Kind, Scope, Version};
use reconcile::feature::{FeatureGate, Stage};
use reconcile::module::{Gated, Module, brought, feature_gates};
use serde_json::json;

use super::server::{Extras, Server};

/// A subject with a kind, and with another one that is young.
struct Weather;

/// What of it is behind the gate.
struct Forecasts;

const GATE: FeatureGate = FeatureGate {
    name: "WeatherForecasts",
    stage: Stage::Alpha,
    default: false,
    description: "Serves forecasts.",
};
const GROUP: &str = "/apis/weather.example.groundplane.dev/v1alpha1";

impl Module for Weather {
    fn name(&self) -> &'static str {
        "weather"
    }

    fn kinds(&self) -> Vec<Kind> {
        vec![kind("Observation", "observations")]
    }

    fn gated(&self) -> Vec<Gated> {
        vec![Gated { gate: GATE, part: Box::new(Forecasts) }]
    }
}

impl Module for Forecasts {
    fn name(&self) -> &'static str {
        "forecasts"
    }

    fn kinds(&self) -> Vec<Kind> {
        vec![kind("Forecast", "forecasts")]
    }
}

fn kind(name: &str, plural: &str) -> Kind {
    let version = Version::new("v1alpha1", json!({"type": "object", "description": "What the weather is."}));
    Kind::new("weather.example.groundplane.dev", name, plural, Scope::Cluster, version.unwrap())
}

async fn server(settings: &str) -> Server {
    let gates = feature_gates([&Weather as &dyn Module]).set(settings).unwrap();
    let kinds = brought([&Weather as &dyn Module], &gates, |module| module.kinds());
    Server::with(Extras { kinds, gates, ..Extras::default() }).await
}

#[tokio::test]
async fn what_is_behind_a_closed_gate_is_not_served() {
    for (settings, is_open) in [("", false), ("WeatherForecasts=true", true), ("AllAlpha=true", true)] {
        let server = server(settings).await;
        let client = server.client();
        assert_eq!(client.get(&format!("{GROUP}/observations")).await.unwrap().code, 200);
        let forecasts = client.get(&format!("{GROUP}/forecasts")).await.unwrap().code;
        assert_eq!(forecasts == 200, is_open, "{settings:?}: {forecasts}");
        let discovery = client.get(GROUP).await.unwrap().text();
        assert_eq!(discovery.contains("forecasts"), is_open, "{discovery}");
        let gates = client.get("/apis/groundplane.dev/v1alpha1/featuregates").await.unwrap().json();
        let status = json!({"gate": "WeatherForecasts", "stage": "ALPHA", "default": false, "enabled": is_open,
            "description": "Serves forecasts."});
        assert_eq!(gates["items"][0]["status"], status);
        let metrics = client.get("/metrics").await.unwrap().text();
        let line = format!(
            "kubernetes_feature_enabled{{name=\"WeatherForecasts\",stage=\"ALPHA\"}} {}",
            u8::from(is_open)
        );
        assert!(metrics.contains(&line), "{metrics}");
    }
}

//! Greetings on screens: a kind and its controller.

mod controller;
mod greeting;

use std::sync::Arc;

use krm::Object;
use krm::kind::{Kind, Resource};
use reconcile::module::Demo;
use reconcile::reconciler::Reconciler;
use serde_json::json;

/// API group of the subject.
pub const GROUP: &str = "greetings.example.groundplane.dev";

/// Greetings on screens.
pub struct Module;

impl reconcile::module::Module for Module {
    fn name(&self) -> &'static str {
        "greetings"
    }

    fn kinds(&self) -> Vec<Kind> {
        vec![greeting::Greeting::kind()]
    }

    fn controllers(&self) -> Vec<Arc<dyn Reconciler>> {
        vec![Arc::new(controller::GreetingController)]
    }

    fn demo(&self) -> Option<Demo> {
        let mut text = Object::new("v1", "ConfigMap");
        text.set_meta("namespace", Some("default".into()));
        text.set_meta("name", Some("hello".into()));
        text.set("data", Some(json!({"text": "Hello"})));
        let mut greeting = Object::new(&format!("{GROUP}/v1alpha1"), "Greeting");
        greeting.set_meta("namespace", Some("default".into()));
        greeting.set_meta("name", Some("entrance".into()));
        greeting.set("spec", Some(json!({"textRef": {"name": "hello"}})));
        Some(Demo {
            objects: vec![text, greeting],
            commands: &["get greetings"],
            note: "Without its text, a greeting is not Ready.",
        })
    }
}

//! What people ask of a design: pure functions of what is there, as JSON for programs and as text for a terminal.

pub mod compiled;
pub mod diff;
pub mod effective;
pub mod findings;
pub mod nodes;
pub mod reach;

use design::compile::Site;
use krm::kind::{Answered, Form, Look, Questioned, Resource};
use krm::status::Status;
use serde::Deserialize;
use serde_json::Value;

use crate::drawn::Drawn;
use crate::kinds::Design;

/// The design that is asked about.
fn design_of(asked: &Questioned<'_>, look: &dyn Look) -> Result<Design, Status> {
    let object = look.get(&Design::address(asked.namespace, asked.name));
    let design = object.and_then(|object| Design::deserialize(&Value::Object(object.0.clone())).ok());
    design.ok_or_else(|| Status::bad_request("say which design: this is asked of one, not of all"))
}

/// What documents come to, or why they come to nothing.
fn site_of(drawn: &Drawn) -> Result<&Site, Status> {
    drawn.compiled.site().filter(|_| drawn.problems.is_empty()).ok_or_else(|| {
        let told: Vec<String> = drawn.told().iter().take(5).map(|one| one.message.clone()).collect();
        Status::failure(422, "Invalid", format!("the design does not compile: {}", told.join("; ")))
    })
}

/// An answer in the form that is asked for.
fn shown(asked: &Questioned<'_>, json: Value, text: impl FnOnce() -> String) -> Result<Answered, Status> {
    match asked.form {
        Form::Json => Ok(Answered::Json(json)),
        Form::Text => Ok(Answered::Text(text())),
        Form::Svg => Err(Status::not_acceptable("application/json, application/yaml, text/plain")),
    }
}

//! Queries over designs: pure functions with JSON and text output.

pub mod compiled;
pub mod diff;
pub mod effective;
pub mod findings;
pub mod nodes;
pub mod reach;

use design::compile::Site;
use krm::kind::{Answered, Form, QueryContext, Questioned, Resource};
use krm::status::Status;
use serde::Deserialize;
use serde_json::Value;

use crate::compiled_design::CompiledDesign;
use crate::kinds::Design;

/// The design of a query.
fn design_of(asked: &Questioned<'_>, look: &dyn QueryContext) -> Result<Design, Status> {
    let object = look.get(&Design::address(asked.namespace, asked.name));
    let design = object.and_then(|object| Design::deserialize(&Value::Object(object.0.clone())).ok());
    design.ok_or_else(|| Status::bad_request("name one design: this query does not support all designs (-)"))
}

/// The compiled site, or the errors that prevent it.
fn site_of(result: &CompiledDesign) -> Result<&Site, Status> {
    result.compiled.site().filter(|_| result.problems.is_empty()).ok_or_else(|| {
        let told: Vec<String> = result.diagnostics().iter().take(5).map(|one| one.message.clone()).collect();
        Status::failure(422, "Invalid", format!("the design does not compile: {}", told.join("; ")))
    })
}

/// Renders an answer in the requested format.
fn shown(asked: &Questioned<'_>, json: Value, text: impl FnOnce() -> String) -> Result<Answered, Status> {
    match asked.form {
        Form::Json => Ok(Answered::Json(json)),
        Form::Text => Ok(Answered::Text(text())),
        Form::Svg => Err(Status::not_acceptable("application/json, application/yaml, text/plain")),
    }
}

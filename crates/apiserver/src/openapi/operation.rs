//! An operation and its path, in both formats.

use serde_json::{Map, Value, json};

use super::definitions::GROUP_VERSION_KIND;
use super::form::Form;
use super::parameters::{self, Parameter};

/// What answers are written in.
const PRODUCES: [&str; 2] = ["application/json", "application/yaml"];

/// One thing that can be done at a path.
pub struct Operation {
    /// The HTTP method, in small letters.
    pub method: &'static str,
    /// Its name, unique in all documents.
    pub id: String,
    /// What it is sorted under.
    pub tag: String,
    /// What it does, in a few words.
    pub about: String,
    /// What the server does to objects of which kind; `None` where no objects are.
    pub action: Option<(&'static str, Value)>,
    /// Its parameters besides the body.
    pub parameters: Vec<Parameter>,
    /// What may be sent, in which media types.
    pub body: Option<Body>,
    /// The definition of what is answered, and with which codes.
    pub returns: (String, &'static [u16]),
}

/// What is sent with a request.
pub struct Body {
    /// Its definition.
    pub definition: String,
    /// Whether it has to be there.
    pub required: bool,
    /// What it may be written in.
    pub media: &'static [&'static str],
}

/// A path with all that can be done there; what takes the same parameters says so once.
pub fn path(mut operations: Vec<Operation>, form: Form) -> Value {
    let everywhere = |parameter: &Parameter| {
        let takes = |operation: &Operation| operation.parameters.iter().any(|has| has.name == parameter.name);
        operations.iter().all(takes)
    };
    let first = operations.first().map_or(&[][..], |operation| &operation.parameters);
    let common: Vec<Parameter> = first.iter().filter(|parameter| everywhere(parameter)).cloned().collect();
    let mut path = json!({});
    for operation in &mut operations {
        operation.parameters.retain(|parameter| common.iter().all(|same| same.name != parameter.name));
        path[operation.method] = operation.written(form);
    }
    if !common.is_empty() {
        path["parameters"] = listed(&common, form);
    }
    path
}

fn listed(parameters: &[Parameter], form: Form) -> Value {
    let mut sorted: Vec<&Parameter> = parameters.iter().collect();
    sorted.sort_by_key(|parameter| parameter.name);
    sorted.into_iter().map(|parameter| parameter.listed(form)).collect()
}

impl Operation {
    fn written(&self, form: Form) -> Value {
        let mut written = json!({
            "operationId": self.id,
            "description": self.about,
            "tags": [self.tag],
            "responses": self.responses(form),
        });
        let mut parameters = listed(&self.parameters, form);
        match (form, &self.body) {
            (Form::V2, body) => {
                let any: &[&str] = &PRODUCES;
                written["consumes"] = json!(body.as_ref().map_or(any, |body| body.media));
                written["produces"] = json!(PRODUCES);
                written["schemes"] = json!(["https"]);
                if let (Some(body), Some(parameters)) = (body, parameters.as_array_mut()) {
                    parameters.insert(0, parameters::body(&body.definition, body.required));
                }
            }
            (Form::V3, Some(body)) => {
                written["requestBody"] = json!({ "content": content(&body.definition, body.media) });
                if body.required {
                    written["requestBody"]["required"] = true.into();
                }
            }
            (Form::V3, None) => {}
        }
        if parameters.as_array().is_some_and(|parameters| !parameters.is_empty()) {
            written["parameters"] = parameters;
        }
        if let Some((action, kind)) = &self.action {
            written["x-kubernetes-action"] = (*action).into();
            written[GROUP_VERSION_KIND] = kind.clone();
        }
        written
    }

    fn responses(&self, form: Form) -> Value {
        let (definition, codes) = &self.returns;
        let mut responses = json!({ "401": { "description": "Unauthorized" } });
        for code in *codes {
            let about = match code {
                201 => "Created",
                202 => "Accepted",
                _ => "OK",
            };
            responses[code.to_string()] = match form {
                Form::V2 => json!({ "description": about, "schema": form.refer(definition) }),
                Form::V3 => json!({ "description": about, "content": content(definition, &PRODUCES) }),
            };
        }
        responses
    }
}

fn content(definition: &str, media: &[&str]) -> Value {
    let schema = json!({ "schema": Form::V3.refer(definition) });
    let types = media.iter().map(|media| ((*media).to_owned(), schema.clone()));
    Value::Object(types.collect::<Map<String, Value>>())
}

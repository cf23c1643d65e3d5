//! The editor: YAML that the server checks as one types, and a plan with the differences before anything is saved.

use apiserver::answer::Answer;
use krm::decode;
use maud::{Markup, html};
use serde_json::{Value, json};

use crate::kinds::{Collection, plane_of};
use crate::layout::{self, Page};
use crate::refusal::Refusal;
use crate::viewer::Viewer;
use crate::{address, answers, plans, text};

/// The YAML of an object, in an editor if it may be changed.
pub fn shown(viewer: &Viewer, collection: &Collection, object: &Value) -> Markup {
    let mut plain = object.clone();
    if let Some(metadata) = plain.pointer_mut("/metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
    let yaml = krm::encode::to_yaml(&plain);
    let namespace = text::at(object, "/metadata/namespace");
    let may = viewer.as_of.is_none()
        && collection.kind.takes("update")
        && viewer.may(&collection.plane, "update", &collection.kind, "", namespace);
    html! {
        @if may { (editor(viewer, collection, &yaml, &viewer.path, "edit")) }
        @else { pre.yaml tabindex="0" aria-label="YAML" { code { (yaml) } } }
    }
}

fn editor(viewer: &Viewer, collection: &Collection, yaml: &str, action: &str, what: &str) -> Markup {
    let group = if collection.kind.group.is_empty() { "core" } else { &collection.kind.group };
    html! {
        form.editor method="post" action=(action) data-check=(address::page(&["check"], &[])) {
            (layout::csrf(viewer))
            input type="hidden" name="do" value=(what);
            input type="hidden" name="plane" value=(collection.plane.as_str());
            input type="hidden" name="group" value=(group);
            input type="hidden" name="plural" value=(collection.kind.names.plural);
            div.side {
                label.code { span { "YAML" }
                    textarea name="yaml" rows="30" spellcheck="false" autocapitalize="off" autocomplete="off" { (yaml) }
                }
                section.check aria-label="Check by the server" {
                    h2 { "Check" }
                    div data-result="" role="status" { p.muted { "The server checks what you type, and says what would change. Nothing is saved." } }
                    h2 { "Fields" }
                    (schema(&collection.version().openapi, 0))
                }
            }
            div.foot {
                label { span { "Why" } input name="message" maxlength="300" placeholder="for the history"; }
                button.primary { "Review change" }
            }
        }
    }
}

/// The fields that objects of the kind may have, with what they mean.
fn schema(schema: &Value, depth: usize) -> Markup {
    let fields = schema["properties"].as_object();
    let is_of_the_user =
        |name: &str| depth > 0 || !matches!(name, "apiVersion" | "kind" | "metadata" | "status");
    html! {
        @if let Some(fields) = fields {
            ul.schema { @for (name, field) in fields.iter().filter(|(name, _)| is_of_the_user(name)).take(80) {
                @let inner = if field["type"] == "array" { &field["items"] } else { field };
                li {
                    @if inner["properties"].is_object() && depth < 5 {
                        details open[depth == 0] { summary { code { (name) } " " span.muted { (kind(field)) } } (description(field)) (self::schema(inner, depth + 1)) }
                    } @else { code { (name) } " " span.muted { (kind(field)) } (description(field)) }
                }
            } }
        }
    }
}

fn kind(field: &Value) -> String {
    let of = text::at(field, "/type");
    let choices: Vec<&str> = text::items(field, "/enum").iter().filter_map(Value::as_str).take(12).collect();
    match (of, choices.is_empty()) {
        (_, false) => choices.join(" | "),
        ("array", _) => format!("list of {}", text::at(field, "/items/type")),
        _ => of.to_owned(),
    }
}

fn description(field: &Value) -> Markup {
    let text = text::at(field, "/description");
    html! { @if !text.is_empty() { span.small.muted { (text::limited(text, 200)) } } }
}

/// The page for a new object.
pub fn new(viewer: &Viewer, plane: &str, group: &str, plural: &str) -> Result<Page, Refusal> {
    let collection = Collection::find(viewer, plane, group, plural)?;
    let mut object = json!({
        "apiVersion": collection.api_version(), "kind": collection.kind.names.kind, "metadata": {"name": ""},
    });
    if collection.kind.is_namespaced() {
        object["metadata"]["namespace"] = "default".into();
    }
    if collection.version().openapi.pointer("/properties/spec").is_some() {
        object["spec"] = json!({});
    }
    let content = editor(viewer, &collection, &krm::encode::to_yaml(&object), &viewer.path, "create");
    Ok(Page {
        crumbs: vec![(collection.title(), collection.page(viewer, &[]))],
        at: collection.page(viewer, &[]),
        plane: collection.plane.clone(),
        has_time: false,
        ..Page::new(format!("New {}", collection.kind.names.kind), content)
    })
}

/// Plans the creation of an object.
pub async fn plan_new(viewer: &Viewer, plane: &str, group: &str, plural: &str) -> Result<String, Refusal> {
    let collection = Collection::find(viewer, plane, group, plural)?;
    let mut item = item(viewer, &collection)?;
    item["operation"] = "create".into();
    plans::make(viewer, &collection.plane, vec![item], viewer.parameter("message")).await
}

/// The object in the editor, as an item of a plan.
pub fn item(viewer: &Viewer, collection: &Collection) -> Result<Value, Refusal> {
    let object = read(viewer.parameter("yaml"))?;
    let (group, _) = krm::kind::split_api_version(text::at(&object, "/apiVersion"));
    let is_of_kind =
        group == collection.kind.group && text::at(&object, "/kind") == collection.kind.names.kind;
    match is_of_kind {
        true => Ok(json!({"operation": "update", "object": object})),
        false => Err(Refusal::new(
            400,
            format!("This is no {}: apiVersion and kind can't be changed.", collection.kind.names.kind),
        )),
    }
}

fn read(yaml: &str) -> Result<Value, Refusal> {
    let decoded = decode::read(yaml.as_bytes(), decode::Format::Yaml);
    let decoded = decoded.map_err(|refusal| Refusal::new(400, refusal.why()))?;
    Ok(Value::Object(decoded.object))
}

/// What the server says to what is in the editor, as a part of a page.
pub async fn check(viewer: &Viewer) -> Result<Answer, Refusal> {
    let plane = plane_of(viewer, address::or_dash(viewer.parameter("plane")))?;
    let result = async {
        let group = if viewer.parameter("group") == "core" { "" } else { viewer.parameter("group") };
        let collection = Collection::of(viewer, &plane, group, viewer.parameter("plural"))?;
        let mut item = item(viewer, &collection)?;
        if viewer.parameter("do") == "create" {
            item["operation"] = "create".into();
        }
        let path =
            viewer.api.kinds().path_of(&plane) + "/apis/groundplane.dev/v1alpha1/transactions?dryRun=All";
        let body = json!({"apiVersion": "groundplane.dev/v1alpha1", "kind": "Transaction", "spec": {"items": [item]}});
        viewer.post(&path, &body).await
    };
    let said = match result.await {
        Ok(answer) => {
            let item = answer.pointer("/status/items/0").cloned().unwrap_or_default();
            let diff = text::items(&item, "/diff").to_vec();
            html! {
                @if let Some(error) = item.get("error") { (refused(&Refusal::of_status(422, error))) }
                @else if diff.is_empty() { p.state.good { "Valid. Nothing changes." } }
                @else { p.state.good { "Valid." } (super::plan::diff(&diff)) }
            }
        }
        Err(refusal) => refused(&refusal),
    };
    Ok(answers::page(200, said))
}

fn refused(refusal: &Refusal) -> Markup {
    html! {
        p.bad { (text::foreign(&refusal.message)) }
        @if !refusal.causes.is_empty() { ul { @for (field, message) in &refusal.causes { li { code { (field) } " " (text::foreign(message)) } } } }
    }
}

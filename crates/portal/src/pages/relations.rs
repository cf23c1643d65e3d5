//! Relations of an object in both directions: what it refers to, and what refers to it.

use apiserver::plane::Plane;
use krm::kind::Reference;
use maud::{Markup, html};
use serde_json::Value;

use crate::draw::relations as drawing;
use crate::kinds::Collection;
use crate::text;
use crate::viewer::Viewer;

/// An object at the other end of a reference.
pub struct Related {
    /// Kind of the object.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// The field that refers.
    pub field: String,
    /// The address of its page, if its kind is served.
    pub page: Option<String>,
    /// Whether the reference blocks a deletion.
    pub blocks: bool,
}

/// What an object refers to, by the references that its kind declares, and its owners.
pub fn outgoing(viewer: &Viewer, collection: &Collection, object: &Value) -> Vec<Related> {
    let namespace = text::at(object, "/metadata/namespace");
    let mut found = Vec::new();
    for reference in &collection.kind.references {
        for name in names(reference, object) {
            let plane = if reference.in_root { Plane::root() } else { collection.plane.clone() };
            let target = Collection::of(viewer, &plane, &reference.group, &reference.plural).ok();
            let within = if reference.same_namespace { namespace } else { "" };
            let kind = target.as_ref().map(|target| target.kind.names.kind.clone());
            found.push(Related {
                kind: kind.unwrap_or_else(|| reference.plural.clone()),
                field: reference.path.clone(),
                page: target
                    .filter(|_| viewer.belongs_to(&plane))
                    .map(|target| target.object_page(viewer, within, &name, &[])),
                name,
                blocks: false,
            });
        }
    }
    for owner in text::items(object, "/metadata/ownerReferences") {
        let (group, _) = krm::kind::split_api_version(text::at(owner, "/apiVersion"));
        let target = Collection::of_kind(viewer, &collection.plane, group, text::at(owner, "/kind"));
        let name = text::at(owner, "/name").to_owned();
        let within = |target: &Collection| if target.kind.is_namespaced() { namespace } else { "" };
        found.push(Related {
            kind: text::at(owner, "/kind").to_owned(),
            field: "metadata.ownerReferences".to_owned(),
            page: target.map(|target| target.object_page(viewer, within(&target), &name, &[])),
            name,
            blocks: false,
        });
    }
    found
}

/// The names that a reference has in an object.
fn names(reference: &Reference, object: &Value) -> Vec<String> {
    let mut parents = vec![object];
    let segments: Vec<&str> = reference.path.split('.').collect();
    let Some((last, above)) = segments.split_last() else { return Vec::new() };
    for segment in above {
        parents = parents.into_iter().flat_map(|parent| step(parent, segment)).collect();
    }
    let applies = |parent: &&Value| reference.when.is_none_or(|(field, value)| parent[field] == value);
    let found = parents.into_iter().filter(applies).flat_map(|parent| step(parent, last));
    found.filter_map(Value::as_str).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

fn step<'a>(parent: &'a Value, segment: &str) -> Vec<&'a Value> {
    match segment.strip_suffix("[]") {
        Some(list) => parent[list].as_array().map(|items| items.iter().collect()).unwrap_or_default(),
        None => parent.get(segment).into_iter().collect(),
    }
}

/// What refers to an object.
pub async fn incoming(
    viewer: &Viewer,
    collection: &Collection,
    namespace: &str,
    name: &str,
) -> (Vec<Related>, bool) {
    let path = collection.path(viewer, namespace, name) + "/referrers";
    // Kinds that nothing can refer to have no such question.
    let Ok(answer) = viewer.get(&path, &[]).await else { return (Vec::new(), false) };
    let related = |item: &Value| {
        let (group, _) = krm::kind::split_api_version(text::at(item, "/apiVersion"));
        let plane = match text::at(item, "/project") {
            "" => collection.plane.clone(),
            project => Plane::project(project),
        };
        let target = Collection::of_kind(viewer, &plane, group, text::at(item, "/kind"));
        let (namespace, name) = (text::at(item, "/namespace"), text::at(item, "/name"));
        Related {
            kind: text::at(item, "/kind").to_owned(),
            name: name.to_owned(),
            field: text::at(item, "/fieldPath").to_owned(),
            page: target.map(|target| target.object_page(viewer, namespace, name, &[])),
            blocks: item["blocksDeletion"] == true,
        }
    };
    (text::items(&answer, "/items").iter().map(related).collect(), answer["incomplete"] == true)
}

/// Both directions, as a drawing and as lists.
pub fn shown(title: &str, outgoing: &[Related], incoming: &[Related], is_incomplete: bool) -> Markup {
    html! {
        @if outgoing.is_empty() && incoming.is_empty() {
            p.empty { "It refers to nothing, and nothing that you may read refers to it." }
        } @else {
            div.scroll tabindex="0" role="region" aria-label="Graph of relations" { (drawing::graph(title, incoming, outgoing)) }
            div.cards {
                (list("Refers to", outgoing))
                (list("Referred to by", incoming))
            }
        }
        @if is_incomplete { p.muted.small { "There may be more that you may not read." } }
    }
}

fn list(title: &str, related: &[Related]) -> Markup {
    html! {
        section.card { h2 { (title) " " span.count { (related.len()) } }
            @if related.is_empty() { p.muted { "Nothing." } }
            ul.plain { @for one in related.iter().take(300) { li {
                (one.kind) " "
                @match &one.page { Some(page) => a href=(page) { (text::foreign(&one.name)) }, None => (text::foreign(&one.name)) }
                " " code.small { (one.field) }
                @if one.blocks { " " span.tag { "blocks deletion" } }
            } } }
            @if related.len() > 300 { p.muted { "… and " (related.len() - 300) " more." } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_are_found_in_lists_and_by_the_kind_beside_them() {
        let object = json!({"spec": {"ends": [{"kind": "Port", "name": "p1"}, {"kind": "Site", "name": "s1"}], "siteRef": {"name": "fra1"}}});
        let mut reference = Reference::at("spec.ends[].name", "g", "ports");
        assert_eq!(names(&reference, &object), ["p1", "s1"]);
        reference.when = Some(("kind", "Port"));
        assert_eq!(names(&reference, &object), ["p1"]);
        assert_eq!(names(&Reference::at("spec.siteRef.name", "g", "sites"), &object), ["fra1"]);
        assert!(names(&Reference::at("spec.other.name", "g", "sites"), &object).is_empty());
    }
}

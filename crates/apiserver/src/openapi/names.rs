//! Names of definitions and operations, as generated clients expect them.

use krm::kind::Kind;

/// The packages of Kubernetes that hold its kinds: all but one follow from the name of the group.
const API: &str = "io.k8s.api";
const DEFINITIONS: (&str, &str) =
    ("apiextensions.k8s.io", "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions");

/// The definition of a kind, or of its list: `com.example.v1.Widget`, `io.k8s.api.core.v1.ConfigMap`.
pub fn definition(of: &Kind, version: &str, kind: &str) -> String {
    if of.strategic {
        return go_type(&of.group, version, kind);
    }
    let package = of.group.rsplit('.').collect::<Vec<&str>>().join(".");
    format!("{package}.{version}.{kind}")
}

/// The definition of a Go type of Kubernetes, within a kind of this group: `io.k8s.api.rbac.v1.PolicyRule`.
pub fn go_type(group: &str, version: &str, name: &str) -> String {
    match (name, group) {
        ("LabelSelector" | "LabelSelectorRequirement" | "FieldSelectorRequirement", _) => {
            format!("io.k8s.apimachinery.pkg.apis.meta.v1.{name}")
        }
        ("ObjectReference" | "LocalObjectReference" | "EventSource", _) => format!("{API}.core.v1.{name}"),
        (_, "") => format!("{API}.core.{version}.{name}"),
        (_, group) if group == DEFINITIONS.0 => format!("{}.{version}.{name}", DEFINITIONS.1),
        (_, group) => format!("{API}.{}.{version}.{name}", group.split('.').next().unwrap_or(group)),
    }
}

/// The path that a version of a group is found under: `/api/v1`, `/apis/example.com/v1`.
pub fn root(group: &str, version: &str) -> String {
    match group.is_empty() {
        true => format!("/api/{version}"),
        false => format!("/apis/{group}/{version}"),
    }
}

/// How operations of a version of a group are sorted: `exampleCom_v1`.
pub fn tag(group: &str, version: &str) -> String {
    let group = camel(short(group), false);
    match version.is_empty() {
        true => group,
        false => format!("{group}_{}", camel(version, false)),
    }
}

/// The name of an operation: `readExampleComV1NamespacedWidgetStatus`.
pub fn operation(verb: &str, group: &str, version: &str, what: &str) -> String {
    format!("{verb}{}{}{}", camel(short(group), true), camel(version, true), camel(what, true))
}

/// A name with its article, with spaces around: ` a Widget`, ` an Apple`, ` Endpoints`.
pub fn with_article(kind: &str) -> String {
    let is_plural = kind.ends_with('s') && !kind.ends_with("ss");
    let vowel = kind.starts_with(['a', 'e', 'i', 'o', 'u', 'A', 'E', 'I', 'O', 'U']);
    match (is_plural, vowel) {
        (true, _) => format!(" {kind}"),
        (_, true) => format!(" an {kind}"),
        (_, false) => format!(" a {kind}"),
    }
}

/// With a capital letter at the beginning, and small ones after it.
pub fn title(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn short(group: &str) -> &str {
    match group {
        "" => "core",
        group => group.strip_suffix(".k8s.io").unwrap_or(group),
    }
}

/// Letters and digits only; each word after a sign that was left out begins with a capital.
fn camel(text: &str, capital: bool) -> String {
    let mut camel = String::with_capacity(text.len());
    let mut capital = capital;
    for (index, sign) in text.char_indices() {
        let fits = sign.is_alphabetic() || sign == '_' || (index != 0 && sign.is_numeric());
        match (fits, capital) {
            (true, true) => camel.extend(sign.to_uppercase()),
            (true, false) => camel.push(sign),
            (false, _) => {}
        }
        capital = !fits;
    }
    camel
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_named_as_generated_clients_expect() {
        assert_eq!(
            operation("read", "rbac.authorization.k8s.io", "v1", "NamespacedRole"),
            "readRbacAuthorizationV1NamespacedRole"
        );
        assert_eq!(operation("delete", "", "v1", "collectionPod"), "deleteCoreV1CollectionPod");
        assert_eq!(operation("list", "9a-b.example.com", "v1", "X"), "listABExampleComV1X");
        assert_eq!(tag("oa-9x.example.com", "v1"), "oa9xExampleCom_v1");
        assert_eq!(with_article("Ingress"), " an Ingress");
        assert_eq!(with_article("Endpoints"), " Endpoints");
    }
}

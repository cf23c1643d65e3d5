//! Values as Kubernetes' messages show them: structures with the names of their Go fields.

use std::fmt::Write as _;

use serde_json::Value;

use super::json_schema::{Additional, Dependency, Items, JsonSchema, Rule};
use super::spec::{Column, PerVersion, Subresources, Version};

/// A text in JSON, as Go writes it: `<`, `>` and `&` escaped.
pub(super) fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    push_text(&mut out, text);
    out
}

/// A value in JSON, as Go writes it.
fn json(value: &Value) -> String {
    crate::shown::json(value)
}

/// A list of texts.
pub(super) fn texts(list: &[&str]) -> String {
    array(list.iter(), |out, item| push_text(out, item))
}

/// The versions of a definition, without what they share.
pub(super) fn versions(versions: Option<&[Version<'_>]>) -> String {
    let Some(versions) = versions else { return "null".to_owned() };
    array(versions.iter(), |out, version| {
        let mut fields = Fields::open(out);
        fields.text("Name", version.name);
        fields.raw("Served", version.served);
        fields.raw("Storage", version.storage);
        fields.raw("Deprecated", version.deprecated);
        fields.raw("DeprecationWarning", version.deprecation_warning.map_or("null".to_owned(), text));
        own(&mut fields, &version.own);
        fields.close();
    })
}

/// A schema with all its fields, those that are not set too.
pub(super) fn schema(schema: &JsonSchema<'_>) -> String {
    let mut out = String::new();
    push_schema(&mut out, schema);
    out
}

/// A rule of `x-kubernetes-validations`.
pub(super) fn rule(rule: &Rule<'_>) -> String {
    let mut out = String::new();
    push_rule(&mut out, rule);
    out
}

fn push_text(out: &mut String, text: &str) {
    out.push_str(&json(&Value::from(text)));
}

fn array<T>(items: impl Iterator<Item = T>, mut push: impl FnMut(&mut String, T)) -> String {
    let mut out = String::from("[");
    for (index, item) in items.enumerate() {
        if index > 0 {
            out.push(',');
        }
        push(&mut out, item);
    }
    out.push(']');
    out
}

/// `null` for a list without items, as Go writes one that was never made.
fn array_or_null<T>(items: &[T], mut push: impl FnMut(&mut String, &T)) -> String {
    if items.is_empty() {
        return "null".to_owned();
    }
    array(items.iter(), |out, item| push(out, item))
}

struct Fields<'o> {
    out: &'o mut String,
    first: bool,
}

impl<'o> Fields<'o> {
    fn open(out: &'o mut String) -> Fields<'o> {
        out.push('{');
        Fields { out, first: true }
    }

    fn name(&mut self, name: &str) {
        if !std::mem::replace(&mut self.first, false) {
            self.out.push(',');
        }
        push_text(self.out, name);
        self.out.push(':');
    }

    fn raw(&mut self, name: &str, value: impl std::fmt::Display) {
        self.name(name);
        let _ = write!(self.out, "{value}");
    }

    fn text(&mut self, name: &str, value: &str) {
        self.raw(name, text(value));
    }

    fn optional(&mut self, name: &str, value: Option<String>) {
        self.raw(name, value.as_deref().unwrap_or("null"));
    }

    fn number(&mut self, name: &str, value: Option<i64>) {
        self.optional(name, value.map(|number| number.to_string()));
    }

    fn close(self) {
        self.out.push('}');
    }
}

fn own(fields: &mut Fields<'_>, own: &PerVersion<'_>) {
    let validation = own.validation.as_ref().map(|validation| {
        let schema = validation.schema.as_ref().map_or("null".to_owned(), schema);
        format!("{{\"OpenAPIV3Schema\":{schema}}}")
    });
    fields.optional("Schema", validation);
    fields.optional("Subresources", own.subresources.as_ref().map(subresources));
    fields.raw("AdditionalPrinterColumns", array_or_null(&own.columns, push_column));
    let selectable = array_or_null(&own.selectable, |out, path| {
        let mut fields = Fields::open(out);
        fields.text("JSONPath", path);
        fields.close();
    });
    fields.raw("SelectableFields", selectable);
}

fn subresources(subresources: &Subresources<'_>) -> String {
    let mut out = String::new();
    let mut fields = Fields::open(&mut out);
    fields.raw("Status", if subresources.status { "{}" } else { "null" });
    let scale = subresources.scale.as_ref().map(|scale| {
        let mut out = String::new();
        let mut fields = Fields::open(&mut out);
        fields.text("SpecReplicasPath", scale.spec_replicas);
        fields.text("StatusReplicasPath", scale.status_replicas);
        fields.optional("LabelSelectorPath", scale.label_selector.map(text));
        fields.close();
        out
    });
    fields.optional("Scale", scale);
    fields.close();
    out
}

fn push_column(out: &mut String, column: &Column<'_>) {
    let mut fields = Fields::open(out);
    fields.text("Name", column.name);
    fields.text("Type", column.kind);
    fields.text("Format", column.format);
    fields.text("Description", column.description);
    fields.raw("Priority", column.priority);
    fields.text("JSONPath", column.json_path);
    fields.close();
}

fn push_rule(out: &mut String, rule: &Rule<'_>) {
    let mut fields = Fields::open(out);
    fields.text("Rule", rule.rule);
    fields.text("Message", rule.message);
    fields.text("MessageExpression", rule.message_expression);
    fields.optional("Reason", rule.reason.map(text));
    fields.text("FieldPath", rule.field_path);
    fields.optional("OptionalOldSelf", rule.optional_old_self.map(|flag| flag.to_string()));
    fields.close();
}

fn push_schema(out: &mut String, it: &JsonSchema<'_>) {
    let mut fields = Fields::open(out);
    fields.text("ID", it.id);
    fields.text("Schema", it.dialect);
    fields.optional("Ref", it.reference.map(text));
    fields.text("Description", it.description);
    fields.text("Type", it.kind);
    fields.raw("Nullable", it.nullable);
    fields.text("Format", it.format);
    fields.text("Title", it.title);
    fields.optional("Default", it.default.map(json));
    fields.optional("Maximum", it.maximum.map(json));
    fields.raw("ExclusiveMaximum", it.exclusive_maximum);
    fields.optional("Minimum", it.minimum.map(json));
    fields.raw("ExclusiveMinimum", it.exclusive_minimum);
    fields.number("MaxLength", it.max_length);
    fields.number("MinLength", it.min_length);
    fields.text("Pattern", it.pattern);
    fields.number("MaxItems", it.max_items);
    fields.number("MinItems", it.min_items);
    fields.raw("UniqueItems", it.unique_items);
    fields.optional("MultipleOf", it.multiple_of.map(json));
    fields.raw("Enum", array_or_null(it.allowed, |out, value| out.push_str(&json(value))));
    fields.number("MaxProperties", it.max_properties);
    fields.number("MinProperties", it.min_properties);
    fields.raw("Required", array_or_null(&it.required, |out, name| push_text(out, name)));
    fields.optional("Items", it.items.as_ref().map(items));
    fields.raw("AllOf", array_or_null(&it.all_of, push_schema));
    fields.raw("OneOf", array_or_null(&it.one_of, push_schema));
    fields.raw("AnyOf", array_or_null(&it.any_of, push_schema));
    fields.optional("Not", it.not.as_deref().map(schema));
    fields.raw("Properties", named(&it.properties, push_schema));
    fields.optional("AdditionalProperties", it.additional_properties.as_ref().map(additional));
    fields.raw("PatternProperties", named(&it.pattern_properties, push_schema));
    fields.raw("Dependencies", named(&it.dependencies, push_dependency));
    fields.optional("AdditionalItems", it.additional_items.as_ref().map(additional));
    fields.raw("Definitions", named(&it.definitions, push_schema));
    fields.optional("ExternalDocs", it.external_docs.map(external_docs));
    fields.optional("Example", it.example.map(json));
    fields.optional("XPreserveUnknownFields", it.preserve_unknown.map(|flag| flag.to_string()));
    fields.raw("XEmbeddedResource", it.embedded);
    fields.raw("XIntOrString", it.int_or_string);
    fields.raw("XListMapKeys", array_or_null(&it.list_map_keys, |out, key| push_text(out, key)));
    fields.optional("XListType", it.list_type.map(text));
    fields.optional("XMapType", it.map_type.map(text));
    fields.raw("XValidations", array_or_null(&it.rules, push_rule));
    fields.close();
}

pub(super) fn items(items: &Items<'_>) -> String {
    match items {
        Items::One(one) => format!("{{\"Schema\":{},\"JSONSchemas\":null}}", schema(one)),
        Items::Each(each) => {
            format!("{{\"Schema\":null,\"JSONSchemas\":{}}}", array_or_null(each, push_schema))
        }
    }
}

fn additional(additional: &Additional<'_>) -> String {
    let schema = additional.schema.as_deref().map_or("null".to_owned(), schema);
    format!("{{\"Allows\":{},\"Schema\":{schema}}}", additional.allowed)
}

fn push_dependency(out: &mut String, dependency: &Dependency<'_>) {
    let _ = match dependency {
        Dependency::Schema(it) => write!(out, "{{\"Schema\":{},\"Property\":null}}", schema(it)),
        Dependency::Properties(names) => {
            write!(
                out,
                "{{\"Schema\":null,\"Property\":{}}}",
                array_or_null(names, |out, it| push_text(out, it))
            )
        }
    };
}

fn external_docs(docs: &serde_json::Map<String, Value>) -> String {
    let at = |field: &str| docs.get(field).and_then(Value::as_str).unwrap_or("");
    let mut out = String::new();
    let mut fields = Fields::open(&mut out);
    fields.text("Description", at("description"));
    fields.text("URL", at("url"));
    fields.close();
    out
}

fn named<T>(map: &[(&str, T)], mut push: impl FnMut(&mut String, &T)) -> String {
    if map.is_empty() {
        return "null".to_owned();
    }
    let mut out = String::new();
    let mut fields = Fields::open(&mut out);
    for (name, value) in map {
        fields.name(name);
        push(fields.out, value);
    }
    fields.close();
    out
}

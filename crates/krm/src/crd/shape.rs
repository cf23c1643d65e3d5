//! CustomResourceDefinitions as a Go type.

use serde_json::Value;

use crate::field::Path;
use crate::meta::OBJECT_META;
use crate::shape::{Field, INT32, INT64, LeftOut, STRING, STRING_LIST, Shape, Struct, conform};
use crate::{Object, number};

/// The type of a CustomResourceDefinition.
pub static SHAPE: Shape = Shape::Struct(&DEFINITION);

/// A CustomResourceDefinition whose fields have the wrong JSON types: a bad request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("CustomResourceDefinition in version \"v1\" cannot be handled as a CustomResourceDefinition: {0}")]
pub struct Malformed(String);

/// Brings a definition into the form it is kept and shown in, and gives the fields that were not known.
///
/// Everything else here expects a definition that went through this.
pub fn decode(object: &mut Object) -> Result<Vec<String>, Malformed> {
    let mut unknown = Vec::new();
    let mut value = Value::Object(std::mem::take(&mut object.0));
    conform(&mut value, &SHAPE, &Path::ROOT, &mut unknown).map_err(Malformed)?;
    if let Value::Object(map) = value {
        object.0 = map;
    }
    Ok(unknown)
}

const fn if_empty(name: &'static str, shape: Shape) -> Field {
    Field { name, shape, left_out: LeftOut::IfEmpty }
}

const fn if_absent(name: &'static str, shape: Shape) -> Field {
    Field { name, shape, left_out: LeftOut::IfAbsent }
}

const fn always(name: &'static str, shape: Shape) -> Field {
    Field { name, shape, left_out: LeftOut::Never }
}

static DEFINITION: Struct = Struct {
    name: "CustomResourceDefinition",
    type_name: "v1.CustomResourceDefinition",
    fields: &[
        if_empty("apiVersion", STRING),
        if_empty("kind", STRING),
        if_empty("metadata", OBJECT_META),
        always("spec", Shape::Struct(&SPEC)),
        always("status", Shape::Struct(&STATUS)),
    ],
};

static SPEC: Struct = Struct {
    name: "CustomResourceDefinitionSpec",
    type_name: "v1.CustomResourceDefinitionSpec",
    fields: &[
        always("group", STRING),
        always("names", Shape::Struct(&NAMES)),
        always("scope", Shape::Text("v1.ResourceScope")),
        always("versions", Shape::List("[]v1.CustomResourceDefinitionVersion", &VERSION_SHAPE)),
        if_absent("conversion", Shape::Struct(&CONVERSION)),
        if_empty("preserveUnknownFields", Shape::Flag),
    ],
};

static STATUS: Struct = Struct {
    name: "CustomResourceDefinitionStatus",
    type_name: "v1.CustomResourceDefinitionStatus",
    fields: &[
        always("conditions", Shape::List("[]v1.CustomResourceDefinitionCondition", &CONDITION_SHAPE)),
        always("acceptedNames", Shape::Struct(&NAMES)),
        always("storedVersions", STRING_LIST),
        if_empty("observedGeneration", INT64),
    ],
};

static NAMES: Struct = Struct {
    name: "CustomResourceDefinitionNames",
    type_name: "v1.CustomResourceDefinitionNames",
    fields: &[
        always("plural", STRING),
        if_empty("singular", STRING),
        if_empty("shortNames", STRING_LIST),
        always("kind", STRING),
        if_empty("listKind", STRING),
        if_empty("categories", STRING_LIST),
    ],
};

static CONDITION_SHAPE: Shape = Shape::Struct(&CONDITION);
static CONDITION: Struct = Struct {
    name: "CustomResourceDefinitionCondition",
    type_name: "v1.CustomResourceDefinitionCondition",
    fields: &[
        always("type", Shape::Text("v1.CustomResourceDefinitionConditionType")),
        always("status", Shape::Text("v1.ConditionStatus")),
        always("lastTransitionTime", Shape::Time),
        if_empty("reason", STRING),
        if_empty("message", STRING),
        if_empty("observedGeneration", INT64),
    ],
};

static CONVERSION: Struct = Struct {
    name: "CustomResourceConversion",
    type_name: "v1.CustomResourceConversion",
    fields: &[
        always("strategy", Shape::Text("v1.ConversionStrategyType")),
        if_absent("webhook", Shape::Struct(&WEBHOOK)),
    ],
};

static WEBHOOK: Struct = Struct {
    name: "WebhookConversion",
    type_name: "v1.WebhookConversion",
    fields: &[
        if_absent("clientConfig", Shape::Struct(&CLIENT_CONFIG)),
        always("conversionReviewVersions", STRING_LIST),
    ],
};

static CLIENT_CONFIG: Struct = Struct {
    name: "WebhookClientConfig",
    type_name: "v1.WebhookClientConfig",
    fields: &[
        if_absent("url", STRING),
        if_absent("service", Shape::Struct(&SERVICE)),
        if_empty("caBundle", Shape::Own(bytes)),
    ],
};

static SERVICE: Struct = Struct {
    name: "ServiceReference",
    type_name: "v1.ServiceReference",
    fields: &[
        always("namespace", STRING),
        always("name", STRING),
        if_absent("path", STRING),
        if_absent("port", INT32),
    ],
};

static VERSION_SHAPE: Shape = Shape::Struct(&VERSION);
static VERSION: Struct = Struct {
    name: "CustomResourceDefinitionVersion",
    type_name: "v1.CustomResourceDefinitionVersion",
    fields: &[
        always("name", STRING),
        always("served", Shape::Flag),
        always("storage", Shape::Flag),
        if_empty("deprecated", Shape::Flag),
        if_absent("deprecationWarning", STRING),
        if_absent("schema", Shape::Struct(&VALIDATION)),
        if_absent("subresources", Shape::Struct(&SUBRESOURCES)),
        if_empty(
            "additionalPrinterColumns",
            Shape::List("[]v1.CustomResourceColumnDefinition", &COLUMN_SHAPE),
        ),
        if_empty("selectableFields", Shape::List("[]v1.SelectableField", &SELECTABLE_SHAPE)),
    ],
};

static VALIDATION: Struct = Struct {
    name: "CustomResourceValidation",
    type_name: "v1.CustomResourceValidation",
    fields: &[if_absent("openAPIV3Schema", Shape::Struct(&SCHEMA))],
};

static SUBRESOURCES: Struct = Struct {
    name: "CustomResourceSubresources",
    type_name: "v1.CustomResourceSubresources",
    fields: &[
        if_absent("status", Shape::Struct(&SUBRESOURCE_STATUS)),
        if_absent("scale", Shape::Struct(&SCALE)),
    ],
};

static SUBRESOURCE_STATUS: Struct = Struct {
    name: "CustomResourceSubresourceStatus",
    type_name: "v1.CustomResourceSubresourceStatus",
    fields: &[],
};

static SCALE: Struct = Struct {
    name: "CustomResourceSubresourceScale",
    type_name: "v1.CustomResourceSubresourceScale",
    fields: &[
        always("specReplicasPath", STRING),
        always("statusReplicasPath", STRING),
        if_absent("labelSelectorPath", STRING),
    ],
};

static COLUMN_SHAPE: Shape = Shape::Struct(&COLUMN);
static COLUMN: Struct = Struct {
    name: "CustomResourceColumnDefinition",
    type_name: "v1.CustomResourceColumnDefinition",
    fields: &[
        always("name", STRING),
        always("type", STRING),
        if_empty("format", STRING),
        if_empty("description", STRING),
        if_empty("priority", INT32),
        always("jsonPath", STRING),
    ],
};

static SELECTABLE_SHAPE: Shape = Shape::Struct(&SELECTABLE);
static SELECTABLE: Struct = Struct {
    name: "SelectableField",
    type_name: "v1.SelectableField",
    fields: &[always("jsonPath", STRING)],
};

static SCHEMA_SHAPE: Shape = Shape::Struct(&SCHEMA);
static SCHEMA: Struct = Struct {
    name: "JSONSchemaProps",
    type_name: "v1.JSONSchemaProps",
    fields: &[
        if_empty("id", STRING),
        if_empty("$schema", Shape::Text("v1.JSONSchemaURL")),
        if_absent("$ref", STRING),
        if_empty("description", STRING),
        if_empty("type", STRING),
        if_empty("format", STRING),
        if_empty("title", STRING),
        if_absent("default", Shape::Own(json)),
        if_absent("maximum", Shape::Number),
        if_empty("exclusiveMaximum", Shape::Flag),
        if_absent("minimum", Shape::Number),
        if_empty("exclusiveMinimum", Shape::Flag),
        if_absent("maxLength", INT64),
        if_absent("minLength", INT64),
        if_empty("pattern", STRING),
        if_absent("maxItems", INT64),
        if_absent("minItems", INT64),
        if_empty("uniqueItems", Shape::Flag),
        if_absent("multipleOf", Shape::Number),
        if_empty("enum", Shape::List("[]v1.JSON", &Shape::Own(json))),
        if_absent("maxProperties", INT64),
        if_absent("minProperties", INT64),
        if_empty("required", STRING_LIST),
        if_absent("items", Shape::Own(schema_or_list)),
        if_empty("allOf", Shape::List("[]v1.JSONSchemaProps", &SCHEMA_SHAPE)),
        if_empty("oneOf", Shape::List("[]v1.JSONSchemaProps", &SCHEMA_SHAPE)),
        if_empty("anyOf", Shape::List("[]v1.JSONSchemaProps", &SCHEMA_SHAPE)),
        if_absent("not", Shape::Struct(&SCHEMA)),
        if_empty("properties", Shape::Map("map[string]v1.JSONSchemaProps", &SCHEMA_SHAPE)),
        if_absent("additionalProperties", Shape::Own(schema_or_bool)),
        if_empty("patternProperties", Shape::Map("map[string]v1.JSONSchemaProps", &SCHEMA_SHAPE)),
        if_empty("dependencies", Shape::Map("v1.JSONSchemaDependencies", &Shape::Own(schema_or_texts))),
        if_absent("additionalItems", Shape::Own(schema_or_bool)),
        if_empty("definitions", Shape::Map("v1.JSONSchemaDefinitions", &SCHEMA_SHAPE)),
        if_absent("externalDocs", Shape::Struct(&EXTERNAL_DOCS)),
        if_absent("example", Shape::Own(json)),
        if_empty("nullable", Shape::Flag),
        if_absent("x-kubernetes-preserve-unknown-fields", Shape::Flag),
        if_empty("x-kubernetes-embedded-resource", Shape::Flag),
        if_empty("x-kubernetes-int-or-string", Shape::Flag),
        if_empty("x-kubernetes-list-map-keys", STRING_LIST),
        if_absent("x-kubernetes-list-type", STRING),
        if_absent("x-kubernetes-map-type", STRING),
        if_empty("x-kubernetes-validations", Shape::List("v1.ValidationRules", &RULE_SHAPE)),
    ],
};

static EXTERNAL_DOCS: Struct = Struct {
    name: "ExternalDocumentation",
    type_name: "v1.ExternalDocumentation",
    fields: &[if_empty("description", STRING), if_empty("url", STRING)],
};

static RULE_SHAPE: Shape = Shape::Struct(&RULE);
static RULE: Struct = Struct {
    name: "ValidationRule",
    type_name: "v1.ValidationRule",
    fields: &[
        always("rule", STRING),
        if_empty("message", STRING),
        if_empty("messageExpression", STRING),
        if_absent("reason", Shape::Text("v1.FieldValueErrorReason")),
        if_empty("fieldPath", STRING),
        if_absent("optionalOldSelf", Shape::Flag),
    ],
};

fn schema(value: &mut Value) -> Result<(), String> {
    conform(value, &SCHEMA_SHAPE, &Path::ROOT, &mut Vec::new())
}

fn schema_or_bool(value: &mut Value) -> Result<(), String> {
    match value {
        Value::Object(_) => schema(value),
        Value::Bool(_) => Ok(()),
        _ => Err("boolean or JSON schema expected".to_owned()),
    }
}

fn schema_or_list(value: &mut Value) -> Result<(), String> {
    match value {
        Value::Object(_) => schema(value),
        Value::Array(items) => items.iter_mut().try_for_each(schema),
        // Whatever else stands there is read as nothing.
        other => {
            *other = Value::Null;
            Ok(())
        }
    }
}

fn schema_or_texts(value: &mut Value) -> Result<(), String> {
    match value {
        Value::Array(_) => conform(value, &STRING_LIST, &Path::ROOT, &mut Vec::new()),
        other => schema_or_list(other),
    }
}

/// Any value; whole numbers lose the fraction they were written with.
fn json(value: &mut Value) -> Result<(), String> {
    number::reread(value);
    Ok(())
}

fn bytes(value: &mut Value) -> Result<(), String> {
    let Value::String(text) = value else {
        return Err(format!(
            "json: cannot unmarshal {} into Go struct field WebhookClientConfig.caBundle of type []uint8",
            crate::body::kind_of(value)
        ));
    };
    let bytes = crate::base64::decode(text)?;
    *text = crate::base64::encode(&bytes);
    Ok(())
}

//! `apiextensions.k8s.io`.

use super::meta::OBJECT_META;
use crate::proto::message::{Either, Field, Holds, Message, Other};

pub(crate) static DEFINITION: Message = Message {
    name: "CustomResourceDefinition",
    fields: &[
        Field::new(1, "metadata", Holds::One(&OBJECT_META)),
        Field::new(2, "spec", Holds::One(&SPEC)),
        Field::new(3, "status", Holds::One(&STATUS)),
    ],
};

static SPEC: Message = Message {
    name: "CustomResourceDefinitionSpec",
    fields: &[
        Field::new(1, "group", Holds::Text),
        Field::new(3, "names", Holds::One(&NAMES)),
        Field::new(4, "scope", Holds::Text),
        Field::new(7, "versions", Holds::Many(&VERSION)),
        Field::kept(9, "conversion", Holds::One(&CONVERSION)),
        Field::new(10, "preserveUnknownFields", Holds::Bool),
    ],
};

static NAMES: Message = Message {
    name: "CustomResourceDefinitionNames",
    fields: &[
        Field::new(1, "plural", Holds::Text),
        Field::new(2, "singular", Holds::Text),
        Field::new(3, "shortNames", Holds::Texts),
        Field::new(4, "kind", Holds::Text),
        Field::new(5, "listKind", Holds::Text),
        Field::new(6, "categories", Holds::Texts),
    ],
};

static VERSION: Message = Message {
    name: "CustomResourceDefinitionVersion",
    fields: &[
        Field::new(1, "name", Holds::Text),
        Field::new(2, "served", Holds::Bool),
        Field::new(3, "storage", Holds::Bool),
        Field::new(7, "deprecated", Holds::Bool),
        Field::kept(8, "deprecationWarning", Holds::Text),
        Field::kept(4, "schema", Holds::One(&VALIDATION)),
        Field::kept(5, "subresources", Holds::One(&SUBRESOURCES)),
        Field::new(6, "additionalPrinterColumns", Holds::Many(&COLUMN)),
        Field::new(9, "selectableFields", Holds::Many(&SELECTABLE)),
    ],
};

static VALIDATION: Message = Message {
    name: "CustomResourceValidation",
    fields: &[Field::kept(1, "openAPIV3Schema", Holds::One(&SCHEMA))],
};

static SUBRESOURCES: Message = Message {
    name: "CustomResourceSubresources",
    fields: &[
        Field::kept(1, "status", Holds::One(&SUBRESOURCE_STATUS)),
        Field::kept(2, "scale", Holds::One(&SUBRESOURCE_SCALE)),
    ],
};

static SUBRESOURCE_STATUS: Message = Message { name: "CustomResourceSubresourceStatus", fields: &[] };

static SUBRESOURCE_SCALE: Message = Message {
    name: "CustomResourceSubresourceScale",
    fields: &[
        Field::new(1, "specReplicasPath", Holds::Text),
        Field::new(2, "statusReplicasPath", Holds::Text),
        Field::kept(3, "labelSelectorPath", Holds::Text),
    ],
};

static COLUMN: Message = Message {
    name: "CustomResourceColumnDefinition",
    fields: &[
        Field::new(1, "name", Holds::Text),
        Field::new(2, "type", Holds::Text),
        Field::new(3, "format", Holds::Text),
        Field::new(4, "description", Holds::Text),
        Field::new(5, "priority", Holds::Int32),
        Field::new(6, "jsonPath", Holds::Text),
    ],
};

static SELECTABLE: Message =
    Message { name: "SelectableField", fields: &[Field::new(1, "jsonPath", Holds::Text)] };

static CONVERSION: Message = Message {
    name: "CustomResourceConversion",
    fields: &[
        Field::new(1, "strategy", Holds::Text),
        Field::kept(2, "webhook", Holds::One(&WEBHOOK_CONVERSION)),
    ],
};

static WEBHOOK_CONVERSION: Message = Message {
    name: "WebhookConversion",
    fields: &[
        Field::kept(2, "clientConfig", Holds::One(&CLIENT_CONFIG)),
        Field::new(3, "conversionReviewVersions", Holds::Texts),
    ],
};

static CLIENT_CONFIG: Message = Message {
    name: "WebhookClientConfig",
    fields: &[
        Field::kept(3, "url", Holds::Text),
        Field::kept(1, "service", Holds::One(&SERVICE_REFERENCE)),
        Field::new(2, "caBundle", Holds::Bytes),
    ],
};

static SERVICE_REFERENCE: Message = Message {
    name: "ServiceReference",
    fields: &[
        Field::new(1, "namespace", Holds::Text),
        Field::new(2, "name", Holds::Text),
        Field::kept(3, "path", Holds::Text),
        Field::kept(4, "port", Holds::Int32),
    ],
};

static STATUS: Message = Message {
    name: "CustomResourceDefinitionStatus",
    fields: &[
        Field::new(1, "conditions", Holds::Many(&CONDITION)),
        Field::new(2, "acceptedNames", Holds::One(&NAMES)),
        Field::new(3, "storedVersions", Holds::Texts),
        Field::new(4, "observedGeneration", Holds::Int64),
    ],
};

static CONDITION: Message = Message {
    name: "CustomResourceDefinitionCondition",
    fields: &[
        Field::new(1, "type", Holds::Text),
        Field::new(2, "status", Holds::Text),
        Field::new(3, "lastTransitionTime", Holds::Time),
        Field::new(4, "reason", Holds::Text),
        Field::new(5, "message", Holds::Text),
        Field::new(6, "observedGeneration", Holds::Int64),
    ],
};

static SCHEMA: Message = Message {
    name: "JSONSchemaProps",
    fields: &[
        Field::new(1, "id", Holds::Text),
        Field::new(2, "$schema", Holds::Text),
        Field::kept(3, "$ref", Holds::Text),
        Field::new(4, "description", Holds::Text),
        Field::new(5, "type", Holds::Text),
        Field::new(6, "format", Holds::Text),
        Field::new(7, "title", Holds::Text),
        Field::kept(8, "default", Holds::Json),
        Field::kept(9, "maximum", Holds::Double),
        Field::new(10, "exclusiveMaximum", Holds::Bool),
        Field::kept(11, "minimum", Holds::Double),
        Field::new(12, "exclusiveMinimum", Holds::Bool),
        Field::kept(13, "maxLength", Holds::Int64),
        Field::kept(14, "minLength", Holds::Int64),
        Field::new(15, "pattern", Holds::Text),
        Field::kept(16, "maxItems", Holds::Int64),
        Field::kept(17, "minItems", Holds::Int64),
        Field::new(18, "uniqueItems", Holds::Bool),
        Field::kept(19, "multipleOf", Holds::Double),
        Field::new(20, "enum", Holds::Jsons),
        Field::kept(21, "maxProperties", Holds::Int64),
        Field::kept(22, "minProperties", Holds::Int64),
        Field::new(23, "required", Holds::Texts),
        Field::kept(24, "items", Holds::Either(&SCHEMA_OR_ARRAY)),
        Field::new(25, "allOf", Holds::Many(&SCHEMA)),
        Field::new(26, "oneOf", Holds::Many(&SCHEMA)),
        Field::new(27, "anyOf", Holds::Many(&SCHEMA)),
        Field::kept(28, "not", Holds::One(&SCHEMA)),
        Field::new(29, "properties", Holds::OneByText(&SCHEMA)),
        Field::kept(30, "additionalProperties", Holds::Either(&SCHEMA_OR_BOOL)),
        Field::new(31, "patternProperties", Holds::OneByText(&SCHEMA)),
        Field::new(32, "dependencies", Holds::EitherByText(&SCHEMA_OR_TEXTS)),
        Field::kept(33, "additionalItems", Holds::Either(&SCHEMA_OR_BOOL)),
        Field::new(34, "definitions", Holds::OneByText(&SCHEMA)),
        Field::kept(35, "externalDocs", Holds::One(&EXTERNAL_DOCUMENTATION)),
        Field::kept(36, "example", Holds::Json),
        Field::new(37, "nullable", Holds::Bool),
        Field::kept(38, "x-kubernetes-preserve-unknown-fields", Holds::Bool),
        Field::new(39, "x-kubernetes-embedded-resource", Holds::Bool),
        Field::new(40, "x-kubernetes-int-or-string", Holds::Bool),
        Field::new(41, "x-kubernetes-list-map-keys", Holds::Texts),
        Field::kept(42, "x-kubernetes-list-type", Holds::Text),
        Field::kept(43, "x-kubernetes-map-type", Holds::Text),
        Field::new(44, "x-kubernetes-validations", Holds::Many(&RULE)),
    ],
};

static SCHEMA_OR_ARRAY: Either =
    Either { name: "JSONSchemaPropsOrArray", object: (1, &SCHEMA), other: (2, Other::Many) };

static SCHEMA_OR_BOOL: Either =
    Either { name: "JSONSchemaPropsOrBool", object: (2, &SCHEMA), other: (1, Other::Flag) };

static SCHEMA_OR_TEXTS: Either =
    Either { name: "JSONSchemaPropsOrStringArray", object: (1, &SCHEMA), other: (2, Other::Texts) };

static EXTERNAL_DOCUMENTATION: Message = Message {
    name: "ExternalDocumentation",
    fields: &[Field::new(1, "description", Holds::Text), Field::new(2, "url", Holds::Text)],
};

static RULE: Message = Message {
    name: "ValidationRule",
    fields: &[
        Field::new(1, "rule", Holds::Text),
        Field::new(2, "message", Holds::Text),
        Field::new(3, "messageExpression", Holds::Text),
        Field::kept(4, "reason", Holds::Text),
        Field::new(5, "fieldPath", Holds::Text),
        Field::kept(6, "optionalOldSelf", Holds::Bool),
    ],
};

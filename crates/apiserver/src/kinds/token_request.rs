//! TokenRequest: the body of `serviceaccounts/token`, returned with a token.

use krm::field::{FieldError, Path};
use krm::meta::OBJECT_META;
use krm::object::Object;
use krm::shape::{Field, INT64, STRING, STRING_LIST, Shape, Struct};
use serde_json::{Value, json};

/// How long a token is good for when nobody says.
const USUAL_SECONDS: i64 = 60 * 60;
const LEAST_SECONDS: i64 = 10 * 60;
const MOST_SECONDS: i64 = 1 << 32;

/// The type of a TokenRequest.
pub static TOKEN_REQUEST: Shape = Shape::Struct(&Struct {
    name: "TokenRequest",
    type_name: "v1.TokenRequest",
    fields: &[
        Field::if_empty("apiVersion", STRING),
        Field::if_empty("kind", STRING),
        Field::always("metadata", OBJECT_META),
        Field::always("spec", Shape::Struct(&SPEC)),
        Field::always("status", Shape::Struct(&STATUS)),
    ],
});

static SPEC: Struct = Struct {
    name: "TokenRequestSpec",
    type_name: "v1.TokenRequestSpec",
    fields: &[
        Field::always("audiences", STRING_LIST),
        Field::if_absent("expirationSeconds", INT64),
        Field::if_absent("boundObjectRef", Shape::Struct(&BOUND_OBJECT)),
    ],
};

static BOUND_OBJECT: Struct = Struct {
    name: "BoundObjectReference",
    type_name: "v1.BoundObjectReference",
    fields: &[
        Field::if_empty("kind", STRING),
        Field::if_empty("apiVersion", STRING),
        Field::if_empty("name", STRING),
        Field::if_empty("uid", Shape::Text("types.UID")),
    ],
};

static STATUS: Struct = Struct {
    name: "TokenRequestStatus",
    type_name: "v1.TokenRequestStatus",
    fields: &[Field::always("token", STRING), Field::always("expirationTimestamp", Shape::Time)],
};

/// Fills in what a request that has the type leaves open.
pub fn complete(request: &mut Object) {
    let spec = request.0.entry("spec").or_insert_with(|| json!({}));
    if let Some(spec) = spec.as_object_mut() {
        spec.entry("expirationSeconds").or_insert_with(|| USUAL_SECONDS.into());
        spec.entry("boundObjectRef").or_insert(Value::Null);
    }
}

/// What is wrong with a complete request.
pub fn validate(request: &Object) -> Vec<FieldError> {
    let seconds = request.at("spec.expirationSeconds").and_then(Value::as_i64).unwrap_or(0);
    let detail = match seconds {
        ..LEAST_SECONDS => "may not specify a duration less than 10 minutes",
        LEAST_SECONDS..=MOST_SECONDS => return Vec::new(),
        _ => "may not specify a duration larger than 2^32 seconds",
    };
    let spec = Path::of("spec");
    vec![FieldError::invalid(&spec.field("expirationSeconds"), &seconds.into(), detail)]
}

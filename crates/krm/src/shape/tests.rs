use serde_json::json;

use super::*;

const OWNER: Struct = Struct {
    name: "Owner",
    type_name: "v1.Owner",
    fields: &[
        Field { name: "name", shape: STRING, left_out: LeftOut::Never },
        Field { name: "since", shape: Shape::Time, left_out: LeftOut::IfAbsent },
    ],
};

const THING: Struct = Struct {
    name: "Thing",
    type_name: "v1.Thing",
    fields: &[
        Field { name: "count", shape: INT32, left_out: LeftOut::IfEmpty },
        Field { name: "grace", shape: INT64, left_out: LeftOut::IfAbsent },
        Field { name: "labels", shape: STRING_MAP, left_out: LeftOut::IfEmpty },
        Field {
            name: "owners",
            shape: Shape::List("[]v1.Owner", &Shape::Struct(&OWNER)),
            left_out: LeftOut::IfEmpty,
        },
        Field { name: "renewed", shape: Shape::MicroTime, left_out: LeftOut::IfAbsent },
        Field { name: "free", shape: Shape::Anything, left_out: LeftOut::IfAbsent },
        Field { name: "on", shape: Shape::Flag, left_out: LeftOut::IfEmpty },
    ],
};

fn decoded(mut value: Value) -> Result<(Value, Vec<String>), String> {
    let mut unknown = Vec::new();
    conform(&mut value, &Shape::Struct(&THING), &Path::of("thing"), &mut unknown)?;
    Ok((value, unknown))
}

#[test]
fn what_is_empty_or_unknown_is_left_out() {
    let (value, unknown) = decoded(json!({
        "count": 0, "grace": 0, "labels": {}, "on": false, "nope": 1, "free": {"any": [null]}, "renewed": null,
        "owners": [{"what": 1}, null],
    }))
    .unwrap();
    assert_eq!(value, json!({"grace": 0, "free": {"any": [null]}, "owners": [{"name": ""}, {"name": ""}]}));
    assert_eq!(unknown, ["thing.nope", "thing.owners[0].what"]);
}

#[test]
fn null_stands_for_the_empty_value_within_maps_and_lists() {
    let (value, _) = decoded(json!({"labels": {"a": null, "b": "c"}, "owners": null})).unwrap();
    assert_eq!(value, json!({"labels": {"a": "", "b": "c"}}));
}

#[test]
fn times_are_kept_to_their_precision() {
    let (value, _) = decoded(json!({
        "owners": [{"name": "a", "since": "2020-01-01T01:00:00.5+01:00"}, {"name": "b", "since": "0001-01-01T00:00:00Z"}],
        "renewed": "2020-01-01T01:00:00.500000+01:00",
    }))
    .unwrap();
    assert_eq!(
        value,
        json!({"owners": [{"name": "a", "since": "2020-01-01T00:00:00Z"}, {"name": "b"}], "renewed": "2020-01-01T00:00:00.500000Z"})
    );
}

#[test]
fn a_wrong_type_is_refused_in_gos_words() {
    for (value, says) in [
        (json!([]), "json: cannot unmarshal array into Go value of type v1.Thing"),
        (
            json!({"count": "x"}),
            "json: cannot unmarshal string into Go struct field Thing.count of type int32",
        ),
        (
            json!({"count": 2_147_483_648i64}),
            "json: cannot unmarshal number 2147483648 into Go struct field Thing.count of type int32",
        ),
        (
            json!({"grace": 1.5}),
            "json: cannot unmarshal number 1.5 into Go struct field Thing.grace of type int64",
        ),
        (
            json!({"labels": {"a": 1}}),
            "json: cannot unmarshal number into Go struct field Thing.labels of type string",
        ),
        (
            json!({"labels": []}),
            "json: cannot unmarshal array into Go struct field Thing.labels of type map[string]string",
        ),
        (
            json!({"owners": {}}),
            "json: cannot unmarshal object into Go struct field Thing.owners of type []v1.Owner",
        ),
        (
            json!({"owners": ["x"]}),
            "json: cannot unmarshal string into Go struct field Thing.owners of type v1.Owner",
        ),
        (
            json!({"owners": [{"name": true}]}),
            "json: cannot unmarshal bool into Go struct field Owner.owners.name of type string",
        ),
        (
            json!({"owners": [{"since": 5}]}),
            "json: cannot unmarshal number into Go struct field Owner.owners.since of type string",
        ),
        (
            json!({"renewed": "yesterday"}),
            r#"parsing time "yesterday" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "yesterday" as "2006""#,
        ),
        (json!({"on": 1}), "json: cannot unmarshal number into Go struct field Thing.on of type bool"),
    ] {
        assert_eq!(decoded(value).unwrap_err(), says);
    }
}

#[test]
fn no_more_than_a_hundred_unknown_fields_are_told() {
    let many: Map<String, Value> = (0..300).map(|number| (format!("f{number:03}"), json!(1))).collect();
    let (value, unknown) = decoded(Value::Object(many)).unwrap();
    assert_eq!((value, unknown.len()), (json!({}), 100));
}

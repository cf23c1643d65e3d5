use serde_json::json;

use super::*;

fn at(seconds: i64) -> Moment {
    Moment::of_seconds(seconds)
}

#[test]
fn ages_have_two_or_three_digits() {
    const MINUTE: i64 = 60;
    const HOUR: i64 = 60 * MINUTE;
    const DAY: i64 = 24 * HOUR;
    for (elapsed, expected) in [
        (-2, "<invalid>"),
        (-1, "0s"),
        (0, "0s"),
        (119, "119s"),
        (120, "2m"),
        (5 * MINUTE + 30, "5m30s"),
        (10 * MINUTE + 30, "10m"),
        (179 * MINUTE, "179m"),
        (3 * HOUR, "3h"),
        (7 * HOUR + 5 * MINUTE, "7h5m"),
        (8 * HOUR + 5 * MINUTE, "8h"),
        (47 * HOUR, "47h"),
        (2 * DAY, "2d"),
        (7 * DAY + 3 * HOUR, "7d3h"),
        (8 * DAY + 3 * HOUR, "8d"),
        (729 * DAY, "729d"),
        (730 * DAY, "2y"),
        (740 * DAY, "2y10d"),
        (8 * 365 * DAY + 3 * DAY, "8y"),
        (500 * 365 * DAY, "292y"),
    ] {
        assert_eq!(age(at(0), at(elapsed)), expected, "{elapsed}");
    }
    // Half a second is cut off, towards now.
    let half = |seconds| Moment { seconds, nanoseconds: 500_000_000 };
    assert_eq!(age(half(0), at(60)), "59s");
    assert_eq!(age(half(1), at(0)), "0s");
    assert_eq!(age_of(None, at(0)), "<unknown>");
    assert_eq!(age_of(Some(&json!("0001-01-01T00:00:00Z")), at(0)), "<unknown>");
    assert_eq!(age_of(Some(&json!("yesterday")), at(0)), "<invalid>");
}

fn columns() -> Columns {
    Columns::of_custom_resource(&[
        json!({"name": "Color", "type": "string", "jsonPath": ".spec.color", "description": "its color"}),
        json!({"name": "Size", "type": "integer", "jsonPath": ".spec.size"}),
        json!({"name": "Ready", "type": "string", "jsonPath": ".status.conditions[?(@.type==\"Ready\")].status"}),
        json!({"name": "Tags", "type": "string", "jsonPath": ".spec.tags", "priority": 1}),
        json!({"name": "Ratio", "type": "number", "jsonPath": ".spec.ratio", "format": "double"}),
        json!({"name": "On", "type": "boolean", "jsonPath": ".spec.on"}),
        json!({"name": "Due", "type": "date", "jsonPath": ".spec.due"}),
    ])
}

#[test]
fn cells_show_values_by_the_type_of_their_column() {
    let cells = |spec: Value| {
        let conditions = json!([{"type": "Ready", "status": "True"}]);
        let object = json!({"metadata": {"name": "a"}, "spec": spec, "status": {"conditions": conditions}});
        Value::Array(columns().cells(&object, at(600)))
    };
    assert_eq!(
        cells(
            json!({"color": "red", "size": 3, "tags": ["x", "<"], "ratio": 2, "on": true, "due": "1970-01-01T00:00:00Z"})
        ),
        json!(["a", "red", 3, "True", "[\"x\",\"\\u003c\"]", 2, true, "10m"])
    );
    assert_eq!(
        cells(json!({"color": 5, "size": 3.7, "tags": null, "ratio": "x", "on": "yes", "due": "soon"})),
        json!(["a", "5", 3, "True", "<no value>", null, null, "<invalid>"])
    );
    assert_eq!(
        cells(json!({"color": 1.5e7, "due": 5})),
        json!(["a", "1.5e+07", null, "True", null, null, null, null])
    );
}

#[test]
fn columns_are_described_in_full() {
    let definitions = columns().definitions().clone();
    assert_eq!(definitions[0]["format"], "name");
    assert_eq!(
        definitions[1],
        json!({"name": "Color", "type": "string", "format": "", "description": "its color", "priority": 0})
    );
    assert_eq!(
        definitions[3]["description"],
        "Custom resource definition column (in JSONPath format): .status.conditions[?(@.type==\"Ready\")].status"
    );
    assert_eq!((&definitions[4]["priority"], &definitions[5]["format"]), (&json!(1), &json!("double")));
    let by_default = Columns::of_custom_resource(&[]);
    let names: Vec<&Value> =
        by_default.definitions().as_array().unwrap().iter().map(|column| &column["name"]).collect();
    assert_eq!(names, ["Name", "Age"]);
    assert_eq!(by_default.cells(&json!({"metadata": {"name": "a"}}), at(0)), ["a", "<unknown>"]);
    assert_eq!(
        Column::of_custom_resource(&json!({"jsonPath": ".a["})).unwrap_err(),
        "unrecognized column definition \".a[\""
    );
}

#[test]
fn a_row_carries_as_much_of_its_object_as_was_asked_for() {
    let columns = Columns::new(vec![Column::name()]);
    let object = json!({"apiVersion": "v1", "kind": "K", "metadata": {"name": "a"}, "spec": {}});
    let row = |include| columns.row(object.clone(), include, "v1", at(0));
    assert_eq!(row(IncludeObject::None), json!({"cells": ["a"], "object": null}));
    assert_eq!(
        row(IncludeObject::Metadata),
        json!({"cells": ["a"], "object": {"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": {"name": "a"}}})
    );
    assert_eq!(row(IncludeObject::Object), json!({"cells": ["a"], "object": object}));
    assert_eq!(IncludeObject::parse(""), Some(IncludeObject::Metadata));
    assert_eq!(IncludeObject::parse("Everything"), None);
}

#[test]
fn a_table_and_a_list_of_metadata_are_objects_of_their_own() {
    let metadata: Map<String, Value> = [("resourceVersion".to_owned(), json!("5"))].into_iter().collect();
    assert_eq!(
        table("v1", metadata.clone(), Value::Null, vec![]),
        json!({"apiVersion": "meta.k8s.io/v1", "kind": "Table", "metadata": {"resourceVersion": "5"}, "columnDefinitions": null, "rows": []})
    );
    let object = Object::from_value(json!({"kind": "K", "metadata": {"name": "a"}, "spec": {}})).unwrap();
    let part = partial_metadata(object.clone(), "v1beta1");
    assert_eq!(
        part,
        json!({"apiVersion": "meta.k8s.io/v1beta1", "kind": "PartialObjectMetadata", "metadata": {"name": "a"}})
    );
    let list = partial_metadata_list("v1beta1", metadata.clone(), vec![part.clone()]);
    assert_eq!((&list["kind"], &list["items"][0]), (&json!("PartialObjectMetadataList"), &part));
    assert_eq!(partial_metadata_list("v1", metadata, vec![])["items"], Value::Null);
}

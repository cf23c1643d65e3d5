//! Filters: every operator, what is refused, and which indexes can answer.

use gateway::filter::{Filter, FilterError, Term};
use gateway::schema;
use serde_json::{Value, json};

use super::host;

/// A moment in October 2026, in nanoseconds.
const NOW: i128 = 1_793_000_000_000_000_000;

fn parse(text: &str) -> Result<Filter, FilterError> {
    Filter::parse(text, &schema::message("osac.private.v1.Host").unwrap(), schema::is_secret)
}

fn matches(text: &str, value: &Value) -> bool {
    parse(text).unwrap_or_else(|error| panic!("{text}: {error}")).matches(&host(value.clone()), NOW)
}

fn sample() -> Value {
    json!({
        "id": "h1",
        "metadata": {
            "name": "node001", "tenants": ["shared"], "version": 7, "labels": {"tier": "gold", "a.b/c": "d"},
            "creation_timestamp": "2026-10-01T00:00:00Z", "finalizers": ["x"],
        },
        "spec": {
            "class": "gpu", "rack": "r'1%_\\ü", "power_state": "HOST_POWER_STATE_ON",
            "bmc": {"url": "ipmi://192.0.2.1", "insecure": true}, "hardware": {"memory_bytes": "1024"},
        },
        "status": {"state": "HOST_STATE_READY"},
    })
}

#[test]
fn every_operator_means_what_it_says() {
    let yes = [
        "this.id == 'h1'",
        "'h1' == this.id",
        "this.id != \"h2\"",
        "this.metadata.version < 8 && this.metadata.version <= 7 && this.metadata.version > 6 && this.metadata.version >= 7",
        "this.metadata.version + 1 == 8",
        "this.metadata.version - 1 == 6",
        "this.metadata.version * 2 == 14",
        "this.metadata.version / 2 == 3",
        "this.metadata.version % 4 == 3",
        "-this.metadata.version == -7",
        "this.metadata.version == 7.0",
        "this.metadata.version < 7.5",
        "this.spec.hardware.memory_bytes == 1024",
        "!(this.id == 'x')",
        "this.id == 'x' || this.spec.class == 'gpu'",
        "this.id == 'x' || this.id == 'h1' && this.spec.class == 'gpu'",
        "(this.id == 'h1' || this.id == 'x') && this.spec.class == 'gpu'",
        "this.spec.bmc.insecure",
        "this.spec.bmc.insecure == true",
        "this.id in ['x', 'h1']",
        "this.metadata.version in [1, 7]",
        "!(this.id in [])",
        "'shared' in this.metadata.tenants",
        "'tier' in this.metadata.labels",
        "this.metadata.labels['tier'] == 'gold'",
        "this.metadata.labels.tier == 'gold'",
        "this.metadata.labels['a.b/c'] == 'd'",
        "this.spec.class.startsWith('g')",
        "this.spec.class.endsWith('pu')",
        "this.spec.class.contains('p')",
        "this.spec.class + 's' == 'gpus'",
        "this.spec.rack == 'r\\'1%_\\\\ü'",
        "this.spec.rack == r\"r'1%_\\ü\"",
        "this.spec.rack.contains('%_')",
        "!this.spec.rack.startsWith('%')",
        "!this.spec.class.contains('_')",
        "this.spec.rack.endsWith('\\u00fc')",
        "has(this.spec.bmc)",
        "has(this.spec.bmc.url)",
        "!has(this.spec.bmc.user)",
        "!has(this.status.cluster)",
        "!has(this.metadata.deletion_timestamp)",
        "has(this.metadata.labels.tier)",
        "!has(this.metadata.labels.other)",
        "has(this.id) && has(this.metadata.name) && has(this.metadata.creation_timestamp)",
        "this.status.cluster == null",
        "this.spec.bmc != null",
        "this.spec.hardware != null && this.metadata.deletion_timestamp == null",
        "this.spec.title == ''",
        "this.status.state == HOST_STATE_READY",
        "this.status.state == 'HOST_STATE_READY'",
        "this.status.state != HOST_STATE_FAILED",
        "this.spec.power_state in [HOST_POWER_STATE_ON]",
        "this.metadata.creation_timestamp < now",
        "this.metadata.creation_timestamp == timestamp('2026-10-01T00:00:00Z')",
        "this.metadata.creation_timestamp + duration('1h') > timestamp('2026-10-01T00:59:59Z')",
        "now - this.metadata.creation_timestamp > duration('1h30m')",
    ];
    for text in yes {
        assert!(matches(text, &sample()), "{text}");
        assert!(!matches(&format!("!({text})"), &sample()), "not {text}");
    }
}

#[test]
fn a_comment_ends_a_line() {
    assert!(matches("this.id == 'h1' // and nothing else", &sample()));
    assert!(!matches("// only\nthis.id == 'x'", &sample()));
}

#[test]
fn what_the_rest_of_the_system_asks_is_answered() {
    let free =
        "!has(this.metadata.deletion_timestamp) && this.spec.class == 'gpu' && !has(this.status.cluster)";
    assert!(matches(free, &sample()));
    assert!(matches(free, &json!({"spec": {"class": "gpu"}})), "a host without a status is free");
    assert!(!matches(free, &json!({"spec": {"class": "gpu"}, "status": {"cluster": "c"}})));
    assert!(!matches(
        free,
        &json!({"spec": {"class": "gpu"}, "metadata": {"deletion_timestamp": "2026-01-01T00:00:00Z"}})
    ));
    assert!(matches("this.id == \"x\" || this.metadata.name == \"node001\"", &sample()));
    assert!(matches("!has(this.spec.bmc.url)", &json!({})), "an absent parent has no field");
}

#[test]
fn what_can_not_be_computed_matches_nothing_unless_the_other_side_decides() {
    for text in [
        "this.metadata.labels['no'] == 'x'",
        "!(this.metadata.labels['no'] == 'x')",
        "1 / 0 == 1",
        "9223372036854775807 + this.metadata.version > 0",
    ] {
        assert!(!matches(text, &sample()), "{text}");
    }
    assert!(matches("this.metadata.labels['no'] == 'x' || this.id == 'h1'", &sample()));
    assert!(!matches("this.metadata.labels['no'] == 'x' && this.id == 'h1'", &sample()));
    assert!(matches("!(this.metadata.labels['no'] == 'x' && this.id == 'other')", &sample()));
}

#[test]
fn what_is_not_part_of_the_language_is_refused_with_its_place() {
    let refused = [
        ("this.id ==", "a value is expected at the end"),
        ("this.id = 'x'", "unexpected character"),
        ("this.id == 'x", "not closed"),
        ("this.colour == 'x'", "has no field \"colour\""),
        ("this.id == 1", "can't be compared"),
        ("this.id", "a bool is expected"),
        ("this.id == null ? true : false", "?: is not supported"),
        ("size(this.id) == 2", "size() is not supported"),
        ("this.id.matches('h.*')", "matches() is not supported"),
        ("this.metadata.tenants.exists(t, t == 'x')", "exists() is not supported"),
        ("this.metadata.tenants == 'x'", "can't be filtered by"),
        ("this.metadata.labels == 'x'", "can't be filtered by"),
        ("this.spec == 'x'", "compared with null"),
        ("this.spec.bmc.password == 'x'", "is secret"),
        ("this.spec.bmc.password.startsWith('x')", "is secret"),
        ("has(this.spec.bmc.password)", "is secret"),
        ("this.status.state == 'READY'", "its values are"),
        ("other.id == 'x'", "a field of `this` is expected"),
        ("x == 'x'", "no variable"),
        ("has(this)", "takes a field"),
        ("this.id in this.id", "can't be in"),
        ("'\\q' == this.id", "no escape"),
        ("b'x' == this.id", "bytes"),
        ("99999999999999999999 == 1", "64-bit"),
        ("this.metadata.creation_timestamp > timestamp('yesterday')", "RFC 3339"),
        ("this.id == 'a' extra", "an operator is expected"),
    ];
    for (text, why) in refused {
        let error = parse(text).expect_err(text);
        assert!(error.to_string().contains(why), "{text}: {error}");
        assert!(error.at <= text.chars().count() + 1, "{text}: {}", error.at);
    }
    assert!(parse(&format!("{}true{}", "(".repeat(40), ")".repeat(40))).is_ok());
    assert!(parse(&format!("{}true{}", "(".repeat(60), ")".repeat(60))).is_err());
    assert!(parse(&"!".repeat(9_000)).is_err());
    assert!(parse(&format!("true{}", " && true".repeat(300))).is_err());
    assert!(parse(&format!("true{}", " && true".repeat(190))).is_ok());
}

#[test]
fn an_index_is_asked_where_a_field_must_have_a_value() {
    let field = |path: &str, value: &str| Term::Field(path.to_owned(), value.to_owned());
    let terms = |text: &str| parse(text).unwrap().terms();
    assert_eq!(terms("this.spec.class == 'a'"), Some(vec![field("spec.class", "a")]));
    assert_eq!(terms("this.id in ['a', 'b', 'a']"), Some(vec![field("id", "a"), field("id", "b")]));
    assert_eq!(terms("this.id in []"), Some(vec![]));
    assert_eq!(
        terms("this.id == 'a' || this.metadata.name == 'b'"),
        Some(vec![field("id", "a"), field("metadata.name", "b")])
    );
    assert_eq!(
        terms("!has(this.status.cluster) && this.spec.class == 'a'"),
        Some(vec![field("spec.class", "a")])
    );
    assert_eq!(
        terms("this.metadata.labels['k'] == 'v'"),
        Some(vec![Term::Label("k".to_owned(), "v".to_owned())])
    );
    for open in [
        "this.spec.class != 'a'",
        "!(this.spec.class == 'a')",
        "this.spec.class == ''",
        "this.spec.class == 'a' || has(this.spec.rack)",
        "this.spec.class.startsWith('a')",
        "true",
    ] {
        assert_eq!(terms(open), None, "{open}");
    }
}

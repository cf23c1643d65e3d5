//! Rules that are refused, and in which words.

use super::*;

fn schema() -> Value {
    json!({"type": "object", "properties": {
        "name": {"type": "string"},
        "count": {"type": "integer"},
        "ratio": {"type": "number"},
        "on": {"type": "boolean"},
        "port": {"x-kubernetes-int-or-string": true},
        "tags": {"type": "array", "items": {"type": "string"}},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "inner": {"type": "object", "properties": {"name": {"type": "string"}}},
        "namespace": {"type": "string"},
        "my-field": {"type": "string"},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
    }})
}

/// What is wrong with a rule, without the lines that point at it.
fn told(rule: &str) -> Vec<String> {
    let text = fault(&schema(), rule).unwrap_or_else(|| panic!("{rule} is not refused"));
    let issues = text.strip_prefix("compilation failed: ").unwrap_or(&text);
    let issues = issues.lines().filter(|line| !line.starts_with(" |"));
    issues.map(|line| line.trim_start_matches("ERROR: <input>:").to_owned()).collect()
}

#[test]
fn types_are_found_out_before_a_rule_runs() {
    let cases = [
        ("self.name > 5", "1:11: found no matching overload for '_>_' applied to '(string, int)'"),
        ("self.count + 'a' == 'b'", "1:12: found no matching overload for '_+_' applied to '(int, string)'"),
        (
            "self.tags.contains('a')",
            "1:19: found no matching overload for 'contains' applied to 'list(string).(string)'",
        ),
        ("self.labels['a'] == 1", "1:18: found no matching overload for '_==_' applied to '(string, int)'"),
        ("size(self.count) > 1", "1:5: found no matching overload for 'size' applied to '(int)'"),
        ("self.nothing == 1", "1:5: undefined field 'nothing'"),
        ("nobody == 1", "1:1: undeclared reference to 'nobody' (in container '')"),
        ("nothing(1)", "1:8: undeclared reference to 'nothing' (in container '')"),
        ("self.free.anything == 1", "1:10: undefined field 'anything'"),
        ("self.name && true", "1:5: expected type 'bool' but found 'string'"),
        ("self.on ? 1 : 'a'", "1:9: found no matching overload for '_?_:_' applied to '(bool, int, string)'"),
        (
            "self.count.all(x, true)",
            "1:5: expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)",
        ),
        ("self.tags.all(x, x + 'a')", "1:20: expected type 'bool' but found 'string'"),
        ("oldSelf.nothing == 1", "1:8: undefined field 'nothing'"),
    ];
    for (rule, issue) in cases {
        assert_eq!(told(rule), [issue], "{rule}");
    }
    assert_eq!(told("self.count"), ["cel expression must evaluate to a bool"]);
}

#[test]
fn all_that_is_wrong_is_told_in_the_order_of_the_source() {
    assert_eq!(told("self.b == 1 && self.a == 2"), ["1:5: undefined field 'b'", "1:20: undefined field 'a'"]);
}

#[test]
fn literals_that_can_never_work_are_refused() {
    let cases = [
        ("duration('1 hour') > duration('1s')", "1:10: invalid duration argument"),
        ("timestamp('yesterday') < timestamp('2020-01-01T00:00:00Z')", "1:11: invalid timestamp argument"),
        ("timestamp(-62135596801) < timestamp(0)", "1:11: invalid timestamp argument"),
        ("self.name.matches('(')", "1:19: invalid matches argument"),
        ("[1, 'a'].size() == 2", "1:5: expected type 'int' but found 'string'"),
        ("{'a': 1, 'b': 'c'}.size() == 2", "1:15: expected type 'int' but found 'string'"),
        (
            "'%d'.format(['a']) == ''",
            "1:14: error during formatting: decimal clause can only be used on integers, was given string",
        ),
        ("'%s'.format([]) == ''", "1:12: index 0 out of range"),
        (
            "'%s'.format([1, 2]) == ''",
            "1:12: too many arguments supplied to string.format (expected 1, got 2)",
        ),
        (
            "'%z'.format([1]) == ''",
            "1:12: could not parse formatting clause: unrecognized formatting clause \"z\"",
        ),
    ];
    for (rule, issue) in cases {
        assert_eq!(told(rule), [issue], "{rule}");
    }
    assert_eq!(
        told("self.name.find(')') == ''"),
        ["program instantiation failed: error parsing regexp: unexpected ): `)`"]
    );
    // What is formatted may be of any type.
    assert_eq!(fault(&schema(), "'%s %d %s'.format(['a', 1, [1, 2]]) != ''"), None);
}

#[test]
fn names_that_no_expression_can_have_are_escaped() {
    for rule in ["self.__namespace__ == 'a'", "self.namespace == 'a'", "self.my__dash__field == 'a'"] {
        assert_eq!(fault(&schema(), rule), None, "{rule}");
    }
    assert!(fault(&schema(), "self.my-field == 'a'").is_some());
}

#[test]
fn an_old_value_that_may_not_be_there_is_no_value() {
    let schema = json!({"type": "integer"});
    let compile = |rule: &str| {
        let rules = json!([{"rule": rule, "optionalOldSelf": true}]);
        let schema = with_rules(&schema, rules);
        let schema = JsonSchema::parse(&schema);
        let compiled = Scope::part(&schema).compile(&schema).unwrap().remove(0);
        (compiled.fault, compiled.uses_old_self)
    };
    for rule in ["self >= oldSelf.value()", "self >= oldSelf.orValue(1)", "!oldSelf.hasValue() || self > 0"] {
        assert_eq!(compile(rule), (None, true), "{rule}");
    }
    assert_eq!(compile("self > 0"), (None, false));
    let refused = compile("self >= oldSelf").0.unwrap();
    assert!(refused.contains("applied to '(int, optional_type(int))'"), "{refused}");
    let refused = compile("self >= oldSelf.orValue('')").0.unwrap();
    assert!(refused.contains("'orValue' applied to 'optional_type(int).(string)'"), "{refused}");
}

#[test]
fn messages_are_texts() {
    let compile = |message: &str| {
        let rules = json!([{"rule": "true", "messageExpression": message}]);
        let schema = with_rules(&schema(), rules);
        let schema = JsonSchema::parse(&schema);
        Scope::part(&schema).compile(&schema).unwrap().remove(0).message_fault
    };
    assert_eq!(compile("'no ' + self.name"), None);
    assert_eq!(compile("self.count").as_deref(), Some("messageExpression must evaluate to a string"));
    let refused = compile("'no").unwrap();
    assert!(
        refused.starts_with("messageExpression compilation failed: ERROR: <input>:1:1: Syntax error"),
        "{refused}"
    );
}

#[test]
fn rules_of_a_version_are_refused_by_their_place() {
    let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
        "tags": {"type": "array", "items": {"type": "string", "x-kubernetes-validations": [{"rule": "self > 1"}]}},
    }}}});
    let errors = Rules::compile(&schema).unwrap_err();
    let places: Vec<String> = errors.iter().map(|error| error.field.clone()).collect();
    assert_eq!(places, ["properties[spec].properties[tags].items.x-kubernetes-validations[0].rule"]);
}

//! What rules cost: at most, by the schema, and really, by what they were run on.

use super::*;
use crate::cel::program::{Inputs, run};
use crate::cel::value::Effort;

fn worst(schema: &Value, rule: &str) -> u64 {
    let schema = with_rule(schema, rule);
    let schema = JsonSchema::parse(&schema);
    let compiled = Scope::part(&schema).compile(&schema).unwrap().remove(0);
    assert_eq!(compiled.fault, None, "{rule}");
    compiled.cost
}

#[test]
fn the_worst_cost_follows_from_the_largest_request() {
    let list = |of: &str| json!({"type": "array", "items": {"type": of}});
    let map = |of: &str| json!({"type": "object", "additionalProperties": {"type": of}});
    let text = json!({"type": "string"});
    let cases = [
        (list("number"), "self.all(x, true)", 4_718_591),
        (list("string"), "self.all(x, true)", 3_145_727),
        (list("boolean"), "self.all(x, true)", 1_887_437),
        (map("number"), "self.all(x, true)", 1_348_169),
        (list("number"), "self[1] == 0.0", 2),
        (list("string"), "self[1] == self[1]", 314_577),
        (text.clone(), "self.contains('test')", 314_574),
        (text.clone(), "self.startsWith('test')", 2),
        (text.clone(), "self.matches('x')", 314_574),
        (text.clone(), "self == 'x'", 2),
        (json!({"type": "string", "enum": ["a", "longest"]}), "self.contains('A')", 2),
    ];
    for (schema, rule, cost) in cases {
        assert_eq!(worst(&schema, rule), cost, "{schema} {rule}");
    }
}

#[test]
fn limits_in_the_schema_make_rules_cheaper() {
    let numbers = json!({"type": "array", "maxItems": 10, "items": {"type": "number"}});
    assert_eq!(worst(&numbers, "self.all(x, true)"), 32);
    assert_eq!(worst(&numbers, "self.all(x, self.all(y, true))"), 352);
    let text = json!({"type": "string", "maxLength": 50});
    assert_eq!(worst(&text, "self.matches('x')"), 22);
    let nested = json!({"type": "object", "maxProperties": 10,
        "additionalProperties": {"type": "string", "maxLength": 10}});
    assert_eq!(worst(&nested, "self.all(x, x.contains(self[x]))"), 72);
}

#[test]
fn a_run_costs_what_it_does() {
    let schema = json!({"type": "object", "properties": {
        "a": {"type": "string"},
        "n": {"type": "integer"},
        "list": {"type": "array", "items": {"type": "integer"}},
        "map": {"type": "object", "additionalProperties": {"type": "integer"}},
    }});
    let value = json!({"a": "0123456789 0123456789", "n": 1, "list": [1, 2, 3], "map": {"k": 1}});
    let cases = [
        ("true", 0),
        ("self.n == 1", 3),
        ("has(self.a)", 1),
        ("self.a == self.a", 7),
        ("self.a.startsWith('0')", 5),
        ("self.a.contains('01')", 5),
        ("self.a.matches('^0')", 5),
        ("size(self.a) > 1", 4),
        ("self.n in [1, 2, 3]", 2),
        ("self.n in self.list", 7),
        ("[1, 2, 3] == [self.n, 2, 3]", 13),
        ("self.list.all(x, x > 0)", 18),
        ("self.list.all(x, x > 1)", 10),
        ("self.list.exists(x, x == 1)", 12),
        ("self.list.exists_one(x, x == 1)", 12),
        ("self.list.map(x, x).size() == 3", 44),
        ("self.list.filter(x, x > 2).size() == 1", 24),
        ("self.list[0] == 1", 4),
        ("self.map['k'] == self.list[self.n]", 8),
        ("(self.n == 1 ? self.a : self.a) == ''", 4),
        ("self.?a.hasValue() && !self.map[?'z'].hasValue()", 7),
        ("[[1], [2]].flatten() == [1, 2]", 14),
        ("self.?n.optMap(x, x + x).value() == 2", 12),
        ("self.a < 'b'", 3),
        ("!(1 / 0 == 1) || true", 3),
    ];
    for (rule, expected) in cases {
        let schema = with_rule(&schema, rule);
        let schema = JsonSchema::parse(&schema);
        let scope = Scope::part(&schema);
        let (decls, decl) = scope.declared().unwrap();
        let compiled = scope.compile(&schema).unwrap().remove(0);
        let Some(program) = &compiled.program else { continue };
        let inputs = Inputs { decls, decl: *decl, itself: &value, old: None, old_is_optional: false };
        let (_, cost) = run(program, inputs, 1_000, &mut Effort::new());
        assert_eq!(cost, expected, "{rule}");
        // The limit is met exactly, and not exceeded.
        assert!(run(program, inputs, cost, &mut Effort::new()).0.is_ok() || rule.contains("1 / 0"), "{rule}");
        if cost > 0 {
            assert!(run(program, inputs, cost - 1, &mut Effort::new()).0.is_err(), "{rule}");
        }
    }
}

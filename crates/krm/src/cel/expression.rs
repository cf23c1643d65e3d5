//! An expression about several named values: what filters and sentences are made with.

use serde_json::{Map as JsonFields, Number, Value as Json};

use super::ast::{Ast, Expr};
use super::decl::Decls;
use super::program::{self, Inputs, Program, run};
use super::value::{Effort, Fault, List, Map, Value};
use super::{check, syntax};
use crate::crd::JsonSchema;

/// What one run may cost.
const MOST_COST: u64 = 1_000_000;
/// How long an expression may be, in bytes.
const LONGEST: usize = 10_000;
/// The name that `link` goes by inside, so that rules of schemas have no such function.
const LINK: &str = "@link";

/// Stands before the text of a link in what `link` gives; no text of an object keeps it.
const LINK_OPENS: char = '\u{f0000}';
/// Stands between the text and what it links to.
const LINK_POINTS: char = '\u{f0001}';
/// Stands behind a link.
const LINK_ENDS: char = '\u{f0002}';

/// An expression that can be run any number of times.
#[derive(Debug)]
pub struct Expression {
    program: Program,
    decls: Decls,
}

/// A text that an expression made, and what it links to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Linked {
    /// The text.
    pub text: String,
    /// Parts of it, and the reference that each was given.
    pub links: Vec<(String, Json)>,
}

impl Expression {
    /// An expression about the values of these names, whatever they are. It may call `link(text, reference)`.
    pub fn about(source: &str, names: &[&str]) -> Result<Expression, String> {
        Expression::build(source, names, Decls::any())
    }

    /// An expression about the properties of a schema; what the schema does not have is refused.
    pub fn of_schema(source: &str, schema: &Json) -> Result<Expression, String> {
        let schema = JsonSchema::parse(schema);
        let names: Vec<&str> = schema.properties.iter().map(|(name, _)| *name).collect();
        let decls = Decls::of(&schema, false).ok_or("the schema declares nothing")?;
        Expression::build(source, &names, decls)
    }

    fn build(source: &str, names: &[&str], decls: Decls) -> Result<Expression, String> {
        if source.len() > LONGEST {
            return Err(format!("the expression has {} bytes; at most {LONGEST} are allowed", source.len()));
        }
        let ast = named(syntax::parse(source)?, names)?;
        let checked = check::check(ast, source, (&decls, decls.root()), false)?;
        Ok(Expression { program: program::build(&checked)?, decls })
    }

    /// Whether it holds; `values` is an object with a field for each name.
    pub fn holds(&self, values: &Json) -> Result<bool, String> {
        self.run(values, |outcome| match outcome {
            Value::Bool(flag) => Ok(flag),
            other => Err(format!("the expression must evaluate to a bool, not {}", other.type_name())),
        })
    }

    /// The text it gives, with what that links to.
    pub fn text(&self, values: &Json) -> Result<Linked, String> {
        let cleaned = has_marks(values).then(|| without_marks(values));
        self.run(cleaned.as_ref().unwrap_or(values), |outcome| match outcome {
            Value::String(text) => Ok(unlinked(&text)),
            Value::Int(number) => Ok(Linked { text: number.to_string(), links: Vec::new() }),
            Value::Uint(number) => Ok(Linked { text: number.to_string(), links: Vec::new() }),
            other => Err(format!("the expression must evaluate to a string, not {}", other.type_name())),
        })
    }

    fn run<T>(&self, values: &Json, read: impl FnOnce(Value<'_>) -> Result<T, String>) -> Result<T, String> {
        let inputs = Inputs {
            decls: &self.decls,
            decl: self.decls.root(),
            itself: values,
            old: None,
            old_is_optional: false,
        };
        match run(&self.program, inputs, MOST_COST, &mut Effort::new()).0 {
            Ok(outcome) => read(outcome),
            Err(Fault::Error(why)) => Err(why),
            Err(Fault::NoOverload) => Err("no such overload".to_owned()),
            Err(Fault::TooExpensive) => Err("the expression exceeds the cost limit".to_owned()),
        }
    }
}

/// Makes the names fields of `self`, and `link` the function that nobody can spell.
fn named(mut ast: Ast, names: &[&str]) -> Result<Ast, String> {
    for id in 0..ast.exprs.len() {
        match &mut ast.exprs[id] {
            Expr::Fold(fold) => {
                let given = [Some(&fold.var), fold.var2.as_ref(), Some(&fold.accu)];
                if let Some(taken) = given.into_iter().flatten().find(|var| names.contains(&var.as_str())) {
                    return Err(format!(
                        "{taken} is a variable of the expression: use another name for the iteration variable"
                    ));
                }
            }
            Expr::Call { function, target: None, args } if function == "link" && args.len() == 2 => {
                LINK.clone_into(function);
            }
            Expr::Ident(name) if name == "self" || name == "oldSelf" => {
                return Err(format!("undeclared reference to '{name}' (in container '')"));
            }
            Expr::Ident(name) if names.contains(&name.as_str()) => {
                let field = std::mem::take(name);
                let offset = ast.offsets[id];
                let operand = ast.add(Expr::Ident("self".to_owned()), offset);
                ast.exprs[id] = Expr::Select { operand, field, test_only: false };
            }
            _ => {}
        }
    }
    Ok(ast)
}

/// What `link` gives: the text, and behind it what it links to.
pub(super) fn link(text: &str, reference: &Value<'_>) -> Result<String, Fault> {
    let reference = json(reference)?;
    Ok(format!("{LINK_OPENS}{text}{LINK_POINTS}{reference}{LINK_ENDS}"))
}

/// Without the marks of links, which no text of an object may bring along.
fn plain(text: &str) -> String {
    text.replace([LINK_OPENS, LINK_POINTS, LINK_ENDS], "")
}

/// Whether a text in it could be taken for a link.
fn has_marks(value: &Json) -> bool {
    match value {
        Json::String(text) => text.contains([LINK_OPENS, LINK_POINTS, LINK_ENDS]),
        Json::Array(items) => items.iter().any(has_marks),
        Json::Object(fields) => fields.values().any(has_marks),
        _ => false,
    }
}

fn without_marks(value: &Json) -> Json {
    match value {
        Json::String(text) => Json::String(plain(text)),
        Json::Array(items) => items.iter().map(without_marks).collect(),
        Json::Object(fields) => {
            fields.iter().map(|(name, value)| (name.clone(), without_marks(value))).collect()
        }
        other => other.clone(),
    }
}

/// Takes the links out of a text.
fn unlinked(text: &str) -> Linked {
    let mut linked = Linked::default();
    let mut rest = text;
    while let Some((before, found)) = rest.split_once(LINK_OPENS) {
        linked.text.push_str(before);
        let Some((inside, after)) = found.split_once(LINK_ENDS) else { break };
        let (shown, reference) = inside.split_once(LINK_POINTS).unwrap_or((inside, "null"));
        linked.text.push_str(shown);
        if let Ok(reference) = serde_json::from_str(reference) {
            linked.links.push((shown.to_owned(), reference));
        }
        rest = after;
    }
    linked.text.push_str(rest);
    linked
}

/// A value as JSON has it.
fn json(value: &Value<'_>) -> Result<Json, Fault> {
    Ok(match value {
        Value::Null | Value::Optional(None) => Json::Null,
        Value::Bool(flag) => Json::Bool(*flag),
        Value::Int(number) => Json::from(*number),
        Value::Uint(number) => Json::from(*number),
        Value::Double(number) => Number::from_f64(*number).map_or(Json::Null, Json::Number),
        Value::String(text) => Json::String(text.to_string()),
        Value::Optional(Some(value)) => json(value)?,
        Value::List(list) => items(list)?,
        Value::Map(map) => fields(map)?,
        Value::Object(object) => Json::Object(object.map.clone()),
        _ => return Err(Fault::NoOverload),
    })
}

fn items(list: &List<'_>) -> Result<Json, Fault> {
    list.iter().map(|item| json(&item?)).collect::<Result<Vec<Json>, Fault>>().map(Json::Array)
}

fn fields(map: &Map<'_>) -> Result<Json, Fault> {
    let mut fields = JsonFields::new();
    for key in map.keys() {
        let Value::String(name) = &key else { return Err(Fault::NoOverload) };
        if let Some(value) = map.get(&key) {
            fields.insert(name.to_string(), json(&value?)?);
        }
    }
    Ok(Json::Object(fields))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_expression_is_about_named_values() {
        let names = ["audit", "actor"];
        let values = json!({
            "actor": "alice",
            "audit": { "verb": "create", "responseStatus": { "code": 201 }, "objectRef": { "name": "r1" } },
        });
        let holds = |source: &str| Expression::about(source, &names).unwrap().holds(&values);
        assert_eq!(holds("audit.verb == 'create' && audit.responseStatus.code < 300"), Ok(true));
        assert_eq!(holds("audit.verb in ['delete', 'patch'] || actor.startsWith('system:')"), Ok(false));
        assert_eq!(holds("has(audit.objectRef) && !has(audit.requestObject)"), Ok(true));
        assert_eq!(holds("type(audit.objectRef) == map"), Ok(true));
        assert_eq!(holds("audit.nothing == 'x'"), Err("no such key: nothing".to_owned()));
        assert!(holds("actor").unwrap_err().contains("must evaluate to a bool"));
        assert!(Expression::about("self.audit", &names).unwrap_err().contains("undeclared reference"));
        assert!(Expression::about("nobody == 1", &names).unwrap_err().contains("undeclared reference"));
        assert!(Expression::about("[1].exists(actor, true)", &names).is_err());
    }

    #[test]
    fn a_link_is_its_text_and_told_besides() {
        let source = "actor + ' placed ' + link('Node ' + audit.name, audit.ref) + ' in ' + link(audit.rack, {'kind': 'Rack'})";
        let expression = Expression::about(source, &["audit", "actor"]).unwrap();
        let values = json!({ "actor": "al\u{f0000}ice", "audit": { "name": "n7", "ref": { "name": "n7" }, "rack": "r12" } });
        let made = expression.text(&values).unwrap();
        assert_eq!(made.text, "alice placed Node n7 in r12");
        assert_eq!(
            made.links,
            [("Node n7".to_owned(), json!({ "name": "n7" })), ("r12".to_owned(), json!({ "kind": "Rack" }))]
        );
    }

    #[test]
    fn a_schema_says_which_fields_there_are() {
        let schema = json!({ "type": "object", "properties": {
            "verb": { "type": "string" },
            "user": { "type": "object", "properties": { "username": { "type": "string" } } },
        } });
        let of = |source: &str| Expression::of_schema(source, &schema);
        let values = json!({ "verb": "get", "user": { "username": "bob" } });
        assert_eq!(of("verb != 'list' && user.username.endsWith('b')").unwrap().holds(&values), Ok(true));
        assert!(of("user.email == 'b'").unwrap_err().contains("undefined field 'email'"));
        assert!(of("verb == 3").is_err());
        assert!(of("verb ==").is_err());
    }
}

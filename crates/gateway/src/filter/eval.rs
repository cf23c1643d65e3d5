//! Evaluates a filter for one object.

use std::cmp::Ordering;

use prost_reflect::{DynamicMessage, MapKey, ReflectMessage, Value as Field};

use super::check::{Expr, Path, Step, TextTest};
use super::syntax::Operator;
use super::value::Value;

/// What an expression can name.
pub struct Scope<'a> {
    pub this: &'a DynamicMessage,
    pub now: i128,
}

/// A value could not be computed.
#[derive(Debug)]
pub struct Undefined;

/// Fields that every object has, though they may be empty.
const ALWAYS: [&str; 3] = ["id", "metadata.name", "metadata.creation_timestamp"];

/// The value of an expression.
pub fn eval(expr: &Expr, scope: &Scope<'_>) -> Result<Value, Undefined> {
    match expr {
        Expr::Const(value) => Ok(value.clone()),
        Expr::Now => Ok(Value::Time(scope.now)),
        Expr::Field(path) => at(scope.this, &path.steps, value),
        Expr::Has(path) => Ok(Value::Bool(has(scope.this, path))),
        Expr::Not(operand) => Ok(Value::Bool(!flag(operand, scope)?)),
        Expr::Negate(operand) => match eval(operand, scope)? {
            Value::Int(number) => number.checked_neg().map(Value::Int).ok_or(Undefined),
            Value::Double(number) => Ok(Value::Double(-number)),
            Value::Duration(nanos) => Ok(Value::Duration(-nanos)),
            _ => Err(Undefined),
        },
        Expr::And(left, right) => decided(left, right, scope, false),
        Expr::Or(left, right) => decided(left, right, scope, true),
        Expr::Compare(operator, left, right) => {
            let order = eval(left, scope)?.order(&eval(right, scope)?);
            Ok(Value::Bool(match operator {
                Operator::Equal => order == Some(Ordering::Equal),
                Operator::Unequal => order != Some(Ordering::Equal),
                Operator::Less => order == Some(Ordering::Less),
                Operator::LessOrEqual => order.is_some_and(Ordering::is_le),
                Operator::Greater => order == Some(Ordering::Greater),
                Operator::GreaterOrEqual => order.is_some_and(Ordering::is_ge),
                _ => return Err(Undefined),
            }))
        }
        Expr::Compute(operator, left, right) => compute(*operator, eval(left, scope)?, eval(right, scope)?),
        Expr::OneOf(of, items) => {
            let of = eval(of, scope)?;
            for item in items {
                if of.order(&eval(item, scope)?) == Some(Ordering::Equal) {
                    return Ok(Value::Bool(true));
                }
            }
            Ok(Value::Bool(false))
        }
        Expr::Contained(of, path) => {
            let of = eval(of, scope)?;
            let contains = |field: &Field| {
                Ok(Value::Bool(match (field, &of) {
                    (Field::List(items), of) => {
                        let is_it =
                            |item| value(item).is_ok_and(|item| item.order(of) == Some(Ordering::Equal));
                        items.iter().any(is_it)
                    }
                    (Field::Map(entries), Value::Text(key)) => {
                        entries.contains_key(&MapKey::String(key.to_string()))
                    }
                    _ => return Err(Undefined),
                }))
            };
            at(scope.this, &path.steps, contains)
        }
        Expr::Text(test, of, by) => match (eval(of, scope)?, eval(by, scope)?) {
            (Value::Text(of), Value::Text(by)) => Ok(Value::Bool(match test {
                TextTest::StartsWith => of.starts_with(&*by),
                TextTest::EndsWith => of.ends_with(&*by),
                TextTest::Contains => of.contains(&*by),
            })),
            _ => Err(Undefined),
        },
    }
}

fn flag(expr: &Expr, scope: &Scope<'_>) -> Result<bool, Undefined> {
    match eval(expr, scope)? {
        Value::Bool(flag) => Ok(flag),
        _ => Err(Undefined),
    }
}

/// `&&` and `||`: either side decides alone if it is `by`, even where the other is undefined.
fn decided(left: &Expr, right: &Expr, scope: &Scope<'_>, by: bool) -> Result<Value, Undefined> {
    let left = flag(left, scope);
    if matches!(left, Ok(left) if left == by) {
        return Ok(Value::Bool(by));
    }
    let right = flag(right, scope);
    match (left, right) {
        (_, Ok(right)) if right == by => Ok(Value::Bool(by)),
        (Ok(_), Ok(_)) => Ok(Value::Bool(!by)),
        _ => Err(Undefined),
    }
}

fn compute(operator: Operator, left: Value, right: Value) -> Result<Value, Undefined> {
    let whole = |number: Option<i64>| number.map(Value::Int).ok_or(Undefined);
    match (left, right) {
        (Value::Int(a), Value::Int(b)) => whole(match operator {
            Operator::Add => a.checked_add(b),
            Operator::Subtract => a.checked_sub(b),
            Operator::Multiply => a.checked_mul(b),
            Operator::Divide => a.checked_div(b),
            Operator::Remainder => a.checked_rem(b),
            _ => None,
        }),
        (Value::Double(a), Value::Double(b)) => Ok(Value::Double(match operator {
            Operator::Add => a + b,
            Operator::Subtract => a - b,
            Operator::Multiply => a * b,
            Operator::Divide => a / b,
            _ => return Err(Undefined),
        })),
        (Value::Text(a), Value::Text(b)) => Ok(Value::Text(format!("{a}{b}").into())),
        (Value::Time(a), Value::Duration(b)) if operator == Operator::Subtract => Ok(Value::Time(a - b)),
        (Value::Time(a), Value::Duration(b)) | (Value::Duration(a), Value::Time(b)) => Ok(Value::Time(a + b)),
        (Value::Time(a), Value::Time(b)) => Ok(Value::Duration(a - b)),
        (Value::Duration(a), Value::Duration(b)) => Ok(Value::Duration(match operator {
            Operator::Add => a + b,
            _ => a - b,
        })),
        _ => Err(Undefined),
    }
}

/// What is read at a path. A field that is not there has its default; a key that is not there has nothing.
fn at<T>(
    message: &DynamicMessage,
    steps: &[Step],
    read: impl FnOnce(&Field) -> Result<T, Undefined>,
) -> Result<T, Undefined> {
    let [Step::Field(field), rest @ ..] = steps else { return Err(Undefined) };
    let found = message.get_field(field);
    let (found, rest): (&Field, _) = match rest {
        [Step::Key(key), rest @ ..] => {
            let Field::Map(entries) = &*found else { return Err(Undefined) };
            (entries.get(&MapKey::String(key.clone())).ok_or(Undefined)?, rest)
        }
        rest => (&*found, rest),
    };
    match (rest, found) {
        ([], found) => read(found),
        (rest, Field::Message(message)) => at(message, rest, read),
        _ => Err(Undefined),
    }
}

/// Whether there is something at a path.
fn has(message: &DynamicMessage, path: &Path) -> bool {
    if path.name().is_some_and(|name| ALWAYS.contains(&name.as_str())) {
        return true;
    }
    has_steps(message, &path.steps)
}

fn has_steps(message: &DynamicMessage, steps: &[Step]) -> bool {
    let [Step::Field(field), rest @ ..] = steps else { return false };
    if !message.has_field(field) {
        return false;
    }
    let found = message.get_field(field);
    let (found, rest): (&Field, _) = match rest {
        [Step::Key(key), rest @ ..] => {
            let Field::Map(entries) = &*found else { return false };
            let Some(found) = entries.get(&MapKey::String(key.clone())) else { return false };
            (found, rest)
        }
        rest => (&*found, rest),
    };
    match (rest, found) {
        ([], _) => true,
        (rest, Field::Message(message)) => has_steps(message, rest),
        _ => false,
    }
}

/// A field's value as expressions have it.
fn value(field: &Field) -> Result<Value, Undefined> {
    Ok(match field {
        Field::Bool(flag) => Value::Bool(*flag),
        Field::I32(number) | Field::EnumNumber(number) => Value::Int((*number).into()),
        Field::I64(number) => Value::Int(*number),
        Field::U32(number) => Value::Int((*number).into()),
        Field::F32(number) => Value::Double((*number).into()),
        Field::F64(number) => Value::Double(*number),
        Field::String(text) => Value::Text(text.as_str().into()),
        Field::Message(message) if message.descriptor().full_name() == "google.protobuf.Timestamp" => {
            let part = |number| message.get_field_by_number(number);
            let seconds = part(1).and_then(|seconds| seconds.as_i64()).unwrap_or(0);
            let nanos = part(2).and_then(|nanos| nanos.as_i32()).unwrap_or(0);
            Value::Time(i128::from(seconds) * 1_000_000_000 + i128::from(nanos))
        }
        _ => return Err(Undefined),
    })
}

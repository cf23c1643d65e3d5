//! Checks a filter against the message that it is about.

use prost_reflect::{EnumDescriptor, FieldDescriptor, Kind, MessageDescriptor};

use super::syntax::{Ast, Node, Operator};
use super::value::Value;
use super::{FilterError, IsHidden};

/// An expression whose types fit.
#[derive(Debug, Clone)]
pub enum Expr {
    Const(Value),
    Now,
    /// The value of a field.
    Field(Path),
    /// Whether a field is there.
    Has(Path),
    Not(Box<Expr>),
    Negate(Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    Compare(Operator, Box<Expr>, Box<Expr>),
    Compute(Operator, Box<Expr>, Box<Expr>),
    /// Whether a value is one of these.
    OneOf(Box<Expr>, Vec<Expr>),
    /// Whether a value is an item of a list, or a key of a map.
    Contained(Box<Expr>, Path),
    Text(TextTest, Box<Expr>, Box<Expr>),
}

/// A test of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextTest {
    StartsWith,
    EndsWith,
    Contains,
}

/// A field of a field of `this`.
#[derive(Debug, Clone)]
pub struct Path {
    pub steps: Vec<Step>,
}

/// One step of a path.
#[derive(Debug, Clone)]
pub enum Step {
    Field(FieldDescriptor),
    Key(String),
}

impl Path {
    /// The names of the fields, joined by dots; `None` where a key of a map is on the way.
    pub fn name(&self) -> Option<String> {
        let names: Option<Vec<&str>> = self
            .steps
            .iter()
            .map(|step| match step {
                Step::Field(field) => Some(field.name()),
                Step::Key(_) => None,
            })
            .collect();
        names.map(|names| names.join("."))
    }
}

/// The type of an expression.
#[derive(Debug, Clone, PartialEq)]
enum Type {
    Bool,
    Int,
    Double,
    Text,
    Time,
    Duration,
    Enum(EnumDescriptor),
    Message(MessageDescriptor),
    /// A map from strings to values of this type.
    Map(Box<Type>),
    List(Box<Type>),
    /// Something that can't be compared, by its name.
    Other(&'static str),
}

impl Type {
    fn name(&self) -> String {
        match self {
            Type::Bool => "bool".to_owned(),
            Type::Int => "int".to_owned(),
            Type::Double => "double".to_owned(),
            Type::Text => "string".to_owned(),
            Type::Time => "timestamp".to_owned(),
            Type::Duration => "duration".to_owned(),
            Type::Enum(of) => of.name().to_owned(),
            Type::Message(of) => of.name().to_owned(),
            Type::Map(of) => format!("map of {}", of.name()),
            Type::List(of) => format!("list of {}", of.name()),
            Type::Other(name) => (*name).to_owned(),
        }
    }

    fn of(kind: &Kind) -> Type {
        match kind {
            Kind::Bool => Type::Bool,
            Kind::Int32 | Kind::Int64 | Kind::Sint32 | Kind::Sint64 | Kind::Sfixed32 | Kind::Sfixed64 => {
                Type::Int
            }
            Kind::Uint32 | Kind::Fixed32 => Type::Int,
            Kind::Uint64 | Kind::Fixed64 => Type::Other("uint"),
            Kind::Float | Kind::Double => Type::Double,
            Kind::String => Type::Text,
            Kind::Bytes => Type::Other("bytes"),
            Kind::Enum(of) => Type::Enum(of.clone()),
            Kind::Message(of) if of.full_name() == "google.protobuf.Timestamp" => Type::Time,
            Kind::Message(of) if of.full_name() == "google.protobuf.Any" => Type::Other("Any"),
            Kind::Message(of) => Type::Message(of.clone()),
        }
    }

    fn of_field(field: &FieldDescriptor) -> Type {
        if field.is_map() {
            let value = field.kind().as_message().map(|entry| entry.map_entry_value_field().kind());
            return value.map_or(Type::Other("map"), |value| Type::Map(Box::new(Type::of(&value))));
        }
        match field.is_list() {
            true => Type::List(Box::new(Type::of(&field.kind()))),
            false => Type::of(&field.kind()),
        }
    }
}

struct Checker<'a> {
    message: &'a MessageDescriptor,
    is_hidden: IsHidden,
}

type Checked = Result<(Expr, Type), FilterError>;

/// Checks a whole filter, which is true or false.
pub fn filter(ast: &Ast, message: &MessageDescriptor, is_hidden: IsHidden) -> Result<Expr, FilterError> {
    Checker { message, is_hidden }.bool(ast)
}

fn error<T>(ast: &Ast, why: impl Into<String>) -> Result<T, FilterError> {
    Err(FilterError { why: why.into(), at: ast.at })
}

impl Checker<'_> {
    fn bool(&self, ast: &Ast) -> Result<Expr, FilterError> {
        match self.check(ast)? {
            (expr, Type::Bool) => Ok(expr),
            (_, of) => error(ast, format!("a bool is expected, not a {}", of.name())),
        }
    }

    fn check(&self, ast: &Ast) -> Checked {
        let constant = |value, of| Ok((Expr::Const(value), of));
        match &ast.node {
            Node::Null => error(ast, "null can only be compared with == and !="),
            Node::Bool(flag) => constant(Value::Bool(*flag), Type::Bool),
            Node::Int(number) => constant(Value::Int(*number), Type::Int),
            Node::Double(number) => constant(Value::Double(*number), Type::Double),
            Node::Text(text) => constant(Value::Text(text.as_str().into()), Type::Text),
            Node::List(_) => error(ast, "a list can only stand after `in`"),
            Node::Name(name) => self.name(ast, name),
            Node::Select(..) | Node::Index(..) => {
                let (path, of) = self.path(ast)?;
                match of {
                    Type::Map(_) | Type::List(_) | Type::Other(_) => {
                        error(ast, format!("a {} can't be filtered by", of.name()))
                    }
                    of => Ok((Expr::Field(path), of)),
                }
            }
            Node::Call(target, name, arguments) => self.call(ast, target.as_deref(), name, arguments),
            Node::Not(operand) => Ok((Expr::Not(Box::new(self.bool(operand)?)), Type::Bool)),
            Node::Negate(operand) => match self.check(operand)? {
                (expr, of @ (Type::Int | Type::Double | Type::Duration)) => {
                    Ok((Expr::Negate(Box::new(expr)), of))
                }
                (_, of) => error(ast, format!("a {} has no negative", of.name())),
            },
            Node::Binary(operator, left, right) => self.binary(ast, *operator, left, right),
        }
    }

    fn name(&self, ast: &Ast, name: &str) -> Checked {
        match name {
            "now" => Ok((Expr::Now, Type::Time)),
            "this" => error(ast, "name a field of `this`"),
            _ => match self.constant(name) {
                Some((number, of)) => Ok((Expr::Const(Value::Int(number.into())), Type::Enum(of))),
                None => error(ast, format!("there is no variable {name:?}; use `this` and `now`")),
            },
        }
    }

    /// The value of an enum of the message's package, by its name.
    fn constant(&self, name: &str) -> Option<(i32, EnumDescriptor)> {
        let of_package = |of: &EnumDescriptor| of.package_name() == self.message.package_name();
        let pool = self.message.parent_pool();
        let mut enums = pool.all_enums().filter(of_package);
        enums.find_map(|of| Some((of.get_value_by_name(name)?.number(), of.clone())))
    }

    /// A path of fields that begins with `this`.
    fn path(&self, ast: &Ast) -> Result<(Path, Type), FilterError> {
        let (mut path, of) = match &ast.node {
            Node::Name(name) if name == "this" => {
                return Ok((Path { steps: Vec::new() }, Type::Message(self.message.clone())));
            }
            Node::Select(operand, _) | Node::Index(operand, _) => self.path(operand)?,
            _ => return error(ast, "a field of `this` is expected here"),
        };
        let step = match (&ast.node, of) {
            (Node::Select(_, name), Type::Message(message)) => {
                let Some(field) = message.get_field_by_name(name) else {
                    return error(ast, format!("{} has no field {name:?}", message.full_name()));
                };
                if (self.is_hidden)(&field) {
                    return error(ast, format!("{name:?} is secret and can't be filtered by"));
                }
                let of = Type::of_field(&field);
                (Step::Field(field), of)
            }
            (Node::Select(_, name), Type::Map(of)) => (Step::Key(name.clone()), *of),
            (Node::Index(_, index), Type::Map(of)) => match &index.node {
                Node::Text(key) => (Step::Key(key.clone()), *of),
                _ => return error(index, "the key of a map must be a string"),
            },
            (Node::Index(..), of) => return error(ast, format!("a {} has no keys", of.name())),
            (_, of) => return error(ast, format!("a {} has no fields", of.name())),
        };
        path.steps.push(step.0);
        Ok((path, step.1))
    }

    fn call(&self, ast: &Ast, target: Option<&Ast>, name: &str, arguments: &[Ast]) -> Checked {
        match (target, name, arguments) {
            (None, "has", [argument]) => {
                if !matches!(argument.node, Node::Select(..)) {
                    return error(argument, "has() takes a field, such as has(this.status.cluster)");
                }
                Ok((Expr::Has(self.path(argument)?.0), Type::Bool))
            }
            (Some(target), "startsWith" | "endsWith" | "contains", [argument]) => {
                let test = match name {
                    "startsWith" => TextTest::StartsWith,
                    "endsWith" => TextTest::EndsWith,
                    _ => TextTest::Contains,
                };
                let (of, by) = (self.text(target)?, self.text(argument)?);
                Ok((Expr::Text(test, Box::new(of), Box::new(by)), Type::Bool))
            }
            (None, "timestamp", [Ast { node: Node::Text(text), .. }]) => {
                match krm::time::Moment::parse(text) {
                    Ok(moment) => {
                        let nanos =
                            i128::from(moment.seconds) * 1_000_000_000 + i128::from(moment.nanoseconds);
                        Ok((Expr::Const(Value::Time(nanos)), Type::Time))
                    }
                    Err(_) => error(ast, format!("{text:?} is no time as RFC 3339 writes it")),
                }
            }
            (None, "duration", [Ast { node: Node::Text(text), .. }]) => match duration(text) {
                Some(nanos) => Ok((Expr::Const(Value::Duration(nanos)), Type::Duration)),
                None => error(ast, format!("{text:?} is no duration; write for example 90m or 1h30m")),
            },
            (None, "has", _) => error(ast, "has() takes one field"),
            (_, name, _) => error(ast, format!("the function {name}() is not supported here")),
        }
    }

    fn text(&self, ast: &Ast) -> Result<Expr, FilterError> {
        match self.check(ast)? {
            (expr, Type::Text) => Ok(expr),
            (_, of) => error(ast, format!("a string is expected, not a {}", of.name())),
        }
    }

    fn binary(&self, ast: &Ast, operator: Operator, left: &Ast, right: &Ast) -> Checked {
        match operator {
            Operator::And => {
                let (left, right) = (self.bool(left)?, self.bool(right)?);
                Ok((Expr::And(Box::new(left), Box::new(right)), Type::Bool))
            }
            Operator::Or => {
                let (left, right) = (self.bool(left)?, self.bool(right)?);
                Ok((Expr::Or(Box::new(left), Box::new(right)), Type::Bool))
            }
            Operator::In => self.contained(left, right),
            Operator::Add
            | Operator::Subtract
            | Operator::Multiply
            | Operator::Divide
            | Operator::Remainder => self.computed(ast, operator, left, right),
            comparison => self.compared(ast, comparison, left, right),
        }
    }

    fn compared(&self, ast: &Ast, operator: Operator, left: &Ast, right: &Ast) -> Checked {
        let is_equality = matches!(operator, Operator::Equal | Operator::Unequal);
        let null = match (&left.node, &right.node) {
            (_, Node::Null) => Some(left),
            (Node::Null, _) => Some(right),
            _ => None,
        };
        if let Some(other) = null {
            if !is_equality {
                return error(ast, "null can only be compared with == and !=");
            }
            if matches!(other.node, Node::Null) {
                return Ok((Expr::Const(Value::Bool(operator == Operator::Equal)), Type::Bool));
            }
            let has = Expr::Has(self.path(other)?.0);
            return Ok(match operator {
                Operator::Equal => (Expr::Not(Box::new(has)), Type::Bool),
                _ => (has, Type::Bool),
            });
        }
        let (left_expr, left_type) = self.check(left)?;
        let (right_expr, right_type) = self.check(right)?;
        let (left_expr, right_expr) = match (&left_type, &right_type) {
            (Type::Enum(of), Type::Text) => (left_expr, named(of, right)?),
            (Type::Text, Type::Enum(of)) => (named(of, left)?, right_expr),
            (Type::Enum(a), Type::Enum(b)) if a == b => (left_expr, right_expr),
            (Type::Enum(_), Type::Int) | (Type::Int, Type::Enum(_)) => (left_expr, right_expr),
            (Type::Int | Type::Double, Type::Int | Type::Double) => (left_expr, right_expr),
            (Type::Message(_), _) | (_, Type::Message(_)) => {
                return error(ast, "a message can only be compared with null");
            }
            (a, b) if a == b => (left_expr, right_expr),
            (a, b) => {
                let why = format!("a {} and a {} can't be compared", a.name(), b.name());
                return error(ast, why);
            }
        };
        Ok((Expr::Compare(operator, Box::new(left_expr), Box::new(right_expr)), Type::Bool))
    }

    fn contained(&self, left: &Ast, right: &Ast) -> Checked {
        let (value, of) = self.check(left)?;
        if let Node::List(items) = &right.node {
            let mut expressions = Vec::with_capacity(items.len());
            for item in items {
                let (expr, item_type) = self.check(item)?;
                let expr = match (&of, &item_type) {
                    (Type::Enum(of), Type::Text) => named(of, item)?,
                    (Type::Enum(_), Type::Int) => expr,
                    (Type::Int | Type::Double, Type::Int | Type::Double) => expr,
                    (a, b) if a == b && !matches!(a, Type::Message(_)) => expr,
                    (a, b) => {
                        return error(item, format!("a {} and a {} can't be compared", a.name(), b.name()));
                    }
                };
                expressions.push(expr);
            }
            return Ok((Expr::OneOf(Box::new(value), expressions), Type::Bool));
        }
        let (path, container) = self.path(right)?;
        match (container, of) {
            (Type::List(item), of) if *item == of => {}
            (Type::Map(_), Type::Text) => {}
            (container, of) => {
                let why = format!("a {} can't be in a {}", of.name(), container.name());
                return error(right, why);
            }
        }
        Ok((Expr::Contained(Box::new(value), path), Type::Bool))
    }

    fn computed(&self, ast: &Ast, operator: Operator, left: &Ast, right: &Ast) -> Checked {
        let (left, left_type) = self.check(left)?;
        let (right, right_type) = self.check(right)?;
        let of = match (operator, &left_type, &right_type) {
            (_, Type::Int, Type::Int) => Type::Int,
            (Operator::Remainder, Type::Double, _) => {
                return error(ast, "% is not defined for doubles");
            }
            (_, Type::Double, Type::Double) => Type::Double,
            (Operator::Add, Type::Text, Type::Text) => Type::Text,
            (Operator::Add | Operator::Subtract, Type::Time, Type::Duration) => Type::Time,
            (Operator::Add, Type::Duration, Type::Time) => Type::Time,
            (Operator::Subtract, Type::Time, Type::Time) => Type::Duration,
            (Operator::Add | Operator::Subtract, Type::Duration, Type::Duration) => Type::Duration,
            (_, a, b) => {
                let why =
                    format!("{} is not defined for a {} and a {}", operator.as_str(), a.name(), b.name());
                return error(ast, why);
            }
        };
        Ok((Expr::Compute(operator, Box::new(left), Box::new(right)), of))
    }
}

/// A value of an enum that a string names.
fn named(of: &EnumDescriptor, ast: &Ast) -> Result<Expr, FilterError> {
    let Node::Text(name) = &ast.node else {
        return error(ast, format!("a {} is compared with the name of one of its values", of.name()));
    };
    match of.get_value_by_name(name) {
        Some(value) => Ok(Expr::Const(Value::Int(value.number().into()))),
        None => {
            let names: Vec<String> = of.values().map(|value| value.name().to_owned()).collect();
            error(ast, format!("{name:?} is no {}; its values are {}", of.name(), names.join(", ")))
        }
    }
}

/// A duration such as `1h30m`, in nanoseconds.
fn duration(text: &str) -> Option<i128> {
    let (sign, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text),
    };
    if rest.is_empty() {
        return None;
    }
    let mut nanos: i128 = 0;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let count: f64 = rest[..end].parse().ok()?;
        rest = &rest[end..];
        let unit = rest.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(rest.len());
        let scale = match &rest[..unit] {
            "ns" => 1.0,
            "us" => 1e3,
            "ms" => 1e6,
            "s" => 1e9,
            "m" => 60e9,
            "h" => 3600e9,
            _ => return None,
        };
        let part = count * scale;
        // CEL's durations have less than 10,000 years; more is a mistake.
        if part > 3.2e20 {
            return None;
        }
        nanos += part as i128;
        rest = &rest[unit..];
    }
    Some(sign * nanos)
}

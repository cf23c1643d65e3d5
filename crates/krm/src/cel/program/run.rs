//! Runs a program, for as long as it may cost.
//!
//! What is charged is what cel-go charges. There, a name with all that is selected from it is one attribute: it costs one,
//! and one for each selection. As a branch of a conditional or as an index the name itself is free.

mod fold;

use std::rc::Rc;

use serde_json::Value as Json;

use super::{Attribute, Call, Constant, MapEntry, Node, NodeId, Program, Way, charge};
use crate::cel::decl::{DeclId, Decls};
use crate::cel::library::{operators, pattern};
use crate::cel::value::{Effort, Fault, MadeMap, Map, Outcome, Text, Value, from_json};

/// What a program sees.
#[derive(Clone, Copy)]
pub(in crate::cel) struct Inputs<'a> {
    pub decls: &'a Decls,
    pub decl: DeclId,
    pub itself: &'a Json,
    pub old: Option<&'a Json>,
    /// Whether the old value is seen as one that may not be there.
    pub old_is_optional: bool,
}

/// Runs a program; gives what it comes to and what that cost. It stops where it would cost more than `limit`.
pub(in crate::cel) fn run<'a>(
    program: &'a Program,
    inputs: Inputs<'a>,
    limit: u64,
    effort: &mut Effort,
) -> (Outcome<'a>, u64) {
    let mut machine = Machine {
        program,
        inputs,
        names: Vec::new(),
        cost: 0,
        limit,
        effort,
        patterns: pattern::PatternCache::default(),
    };
    let outcome = machine.node(program.root);
    (outcome, machine.cost)
}

impl Constant {
    pub(super) fn value(&self) -> Value<'_> {
        match self {
            Constant::Null => Value::Null,
            Constant::Bool(flag) => Value::Bool(*flag),
            Constant::Int(number) => Value::Int(*number),
            Constant::Uint(number) => Value::Uint(*number),
            Constant::Double(number) => Value::Double(*number),
            Constant::String(text) => Value::String(Text::Borrowed(text)),
            Constant::Bytes(bytes) => Value::Bytes(Rc::from(&**bytes)),
            Constant::Duration(nanos) => Value::Duration(*nanos),
            Constant::Timestamp(stamp) => Value::Timestamp(*stamp),
            Constant::Type(name) => Value::Type(name),
            Constant::List(items) => Value::list(items.iter().map(Constant::value).collect()),
            Constant::Map(entries) => {
                let mut made = MadeMap::default();
                for (key, value) in entries {
                    // Keys that no map takes were refused when this was made.
                    let _ = made.set(key.value(), value.value());
                }
                Value::Map(Map::Made(Rc::new(made)))
            }
        }
    }
}

struct Machine<'a, 'e> {
    program: &'a Program,
    inputs: Inputs<'a>,
    names: Vec<Name<'a>>,
    cost: u64,
    limit: u64,
    effort: &'e mut Effort,
    patterns: pattern::PatternCache,
}

/// What a name that a macro gave stands for.
enum Name<'a> {
    Known(Outcome<'a>),
    /// What this step gives, once somebody asks.
    Asked(NodeId),
}

impl<'a> Machine<'a, '_> {
    fn charge(&mut self, cost: u64) -> Result<(), Fault> {
        self.cost = self.cost.saturating_add(cost);
        if self.cost > self.limit { Err(Fault::TooExpensive) } else { Ok(()) }
    }

    fn node(&mut self, id: NodeId) -> Outcome<'a> {
        if self.program.attributes[id] == Attribute::OfName {
            self.charge(1)?;
        }
        self.resolve(id)
    }

    /// The same, where a name is free.
    fn resolve(&mut self, id: NodeId) -> Outcome<'a> {
        let program: &'a Program = self.program;
        match &program.nodes[id] {
            Node::Constant(constant) => Ok(constant.value()),
            Node::Itself => self.converted(self.inputs.itself),
            Node::OldItself => self.old(),
            Node::Local(place) => self.local(*place),
            Node::Field { operand, name } => self.field(*operand, name),
            Node::Has { operand, name } => self.has(*operand, name),
            Node::OptionalField { operand, name } => self.optional_field(*operand, name),
            Node::Index { operand, index, optional } => self.index(*operand, *index, *optional),
            Node::Call(call) => self.call(call),
            Node::Member { item, of } => {
                let item = self.node(*item)?;
                Ok(Value::Bool(of.has(&item)))
            }
            Node::And(terms) => self.logic(terms, false),
            Node::Or(terms) => self.logic(terms, true),
            Node::Conditional { condition, yes, no } => match self.node(*condition)? {
                Value::Bool(true) => self.resolve(*yes),
                Value::Bool(false) => self.resolve(*no),
                _ => Err(Fault::NoOverload),
            },
            Node::Otherwise { first, second, unwrap } => match self.node(*first)? {
                Value::Optional(Some(value)) if *unwrap => Ok((*value).clone()),
                Value::Optional(Some(value)) => Ok(Value::Optional(Some(value))),
                Value::Optional(None) => self.node(*second),
                other => Ok(other),
            },
            Node::List(items) => self.list(items),
            Node::Map(entries) => self.map(entries),
            Node::Fold(fold) => self.fold(fold),
            Node::Bind { value, body } => {
                self.names.push(Name::Asked(*value));
                let result = self.node(*body);
                self.names.pop();
                result
            }
            Node::Nothing => Err(Fault::error("no such attribute")),
        }
    }

    fn converted(&self, json: &'a Json) -> Outcome<'a> {
        from_json(json, self.inputs.decls, self.inputs.decl)
    }

    fn old(&self) -> Outcome<'a> {
        match (self.inputs.old, self.inputs.old_is_optional) {
            (Some(old), false) => self.converted(old),
            (Some(old), true) => Ok(Value::some(self.converted(old)?)),
            (None, true) => Ok(Value::none()),
            (None, false) => Err(Fault::error("no such attribute(s): oldSelf")),
        }
    }

    fn local(&mut self, place: usize) -> Outcome<'a> {
        let step = match self.names.get(place) {
            Some(Name::Known(outcome)) => return outcome.clone(),
            Some(Name::Asked(step)) => *step,
            None => return Err(Fault::error("no such attribute")),
        };
        // The step knows the names that were given before this one.
        let later = self.names.split_off(place);
        let outcome = self.node(step);
        self.names.extend(later);
        self.names[place] = Name::Known(outcome.clone());
        outcome
    }

    /// What is selected from. Only the name that an attribute begins with was charged for.
    fn operand(&mut self, id: NodeId) -> Outcome<'a> {
        if self.program.attributes[id] == Attribute::No { self.node(id) } else { self.resolve(id) }
    }

    /// A field; the inner `None` when it is not there.
    fn select(&mut self, of: &Value<'a>, name: &str) -> Result<Option<Value<'a>>, Fault> {
        let found = match of {
            Value::Object(object) => object.get(name).transpose()?,
            Value::Map(map) => map.get(&Value::text(name)).transpose()?,
            Value::Optional(Some(inner)) => match &**inner {
                Value::Object(object) => object.get(name).transpose()?,
                Value::Map(map) => map.get(&Value::text(name)).transpose()?,
                _ => return Err(Fault::NoOverload),
            },
            Value::Optional(None) => None,
            _ => return Err(Fault::NoOverload),
        };
        if let Some(value) = &found {
            self.effort.read(value)?;
        }
        Ok(found)
    }

    /// A selection that may find nothing costs when it finds something.
    fn optional(&mut self, found: Option<Value<'a>>) -> Outcome<'a> {
        self.charge(u64::from(found.is_some()))?;
        Ok(Value::Optional(found.map(Rc::new)))
    }

    fn field(&mut self, operand: NodeId, name: &'a str) -> Outcome<'a> {
        let of = self.operand(operand)?;
        if let Value::Optional(_) = of {
            let found = self.select(&of, name)?;
            return self.optional(found);
        }
        self.charge(1)?;
        self.select(&of, name)?.ok_or_else(|| Fault::Error(format!("no such key: {name}")))
    }

    fn has(&mut self, operand: NodeId, name: &'a str) -> Outcome<'a> {
        let of = self.operand(operand)?;
        self.charge(1)?;
        Ok(Value::Bool(self.select(&of, name)?.is_some()))
    }

    fn optional_field(&mut self, operand: NodeId, name: &'a str) -> Outcome<'a> {
        let of = self.operand(operand)?;
        let found = self.select(&of, name)?;
        self.optional(found)
    }

    fn index(&mut self, operand: NodeId, index: NodeId, optional: bool) -> Outcome<'a> {
        let of = self.operand(operand)?;
        let index = self.resolve(index)?;
        match &of {
            Value::Optional(inner) => {
                let found = inner.as_deref().map(|of| operators::at(of, &index)).transpose()?.flatten();
                self.optional(found)
            }
            of if optional => {
                let found = operators::at(of, &index)?;
                self.optional(found)
            }
            of => {
                self.charge(1)?;
                let found = operators::at(of, &index)?;
                found.ok_or_else(|| operators::missing(of, &index))
            }
        }
    }

    fn args(&mut self, call: &'a Call) -> Result<Vec<Value<'a>>, Fault> {
        let mut args = Vec::with_capacity(call.args.len());
        for (index, arg) in call.args.iter().enumerate() {
            match self.node(*arg) {
                Ok(value) => args.push(value),
                Err(Fault::TooExpensive) => return Err(Fault::TooExpensive),
                Err(fault) => {
                    // The call is charged for all the same, and so is the other of two arguments.
                    if let ([_, second], 0) = (call.args.as_slice(), index) {
                        let _ = self.node(*second);
                    }
                    self.charge(u64::from(call.args.len() <= 2))?;
                    return Err(fault);
                }
            }
        }
        Ok(args)
    }

    fn call(&mut self, call: &'a Call) -> Outcome<'a> {
        let args = self.args(call)?;
        for arg in &args {
            self.effort.read(arg)?;
        }
        let cost = charge::before(call, &args, self.effort)?;
        self.charge(cost)?;
        let outcome = match &call.way {
            Way::Plain(run) => run(&args),
            Way::Deep(run) => run(&args, self.effort),
            Way::Pattern(Some(pattern)) => pattern::run(call.function, &args, pattern),
            Way::Pattern(None) => self.patterns.run(call.function, &args, self.effort),
        };
        outcome.map_err(|fault| match fault {
            Fault::NoOverload => no_overload(call.function, &args),
            other => other,
        })
    }

    /// Terms of which one that is `decides` is enough; then what is wrong with others does not matter.
    fn logic(&mut self, terms: &'a [NodeId], decides: bool) -> Outcome<'a> {
        let mut fault = None;
        for term in terms {
            match self.node(*term) {
                Ok(Value::Bool(flag)) if flag == decides => return Ok(Value::Bool(decides)),
                Ok(Value::Bool(_)) => {}
                Ok(_) => fault = fault.or(Some(Fault::error("no such overload"))),
                Err(Fault::TooExpensive) => return Err(Fault::TooExpensive),
                Err(why) => fault = fault.or(Some(why)),
            }
        }
        fault.map_or(Ok(Value::Bool(!decides)), Err)
    }

    fn list(&mut self, items: &'a [(NodeId, bool)]) -> Outcome<'a> {
        self.charge(10)?;
        let mut made = Vec::with_capacity(items.len());
        for (item, optional) in items {
            match (self.node(*item)?, optional) {
                (Value::Optional(Some(value)), true) => made.push((*value).clone()),
                (Value::Optional(None), true) => {}
                (value, _) => made.push(value),
            }
        }
        Ok(Value::list(made))
    }

    fn map(&mut self, entries: &'a [MapEntry]) -> Outcome<'a> {
        self.charge(30)?;
        let mut made = MadeMap::default();
        for entry in entries {
            let key = self.node(entry.key)?;
            match (self.node(entry.value)?, entry.optional) {
                (Value::Optional(Some(value)), true) => made.set(key, (*value).clone())?,
                (Value::Optional(None), true) => {}
                (value, _) => made.set(key, value)?,
            }
        }
        Ok(Value::Map(Map::Made(Rc::new(made))))
    }
}

/// Operators say no more than that; functions say what they were given.
fn no_overload(function: &str, args: &[Value<'_>]) -> Fault {
    let is_operator = function.starts_with(['_', '-', '!', '@']);
    if is_operator {
        return Fault::error("no such overload");
    }
    let types: Vec<&str> = args.iter().map(Value::type_name).collect();
    Fault::Error(format!("no such overload: {function}({})", types.join(", ")))
}

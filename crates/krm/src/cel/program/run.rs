//! Runs a program, for as long as it may cost.

use std::rc::Rc;

use serde_json::Value as Json;

use super::{Call, Constant, Fold, MapEntry, Node, NodeId, Program, Way, charge};
use crate::cel::ast::FoldKind;
use crate::cel::decl::{DeclId, Decls};
use crate::cel::library::pattern;
use crate::cel::value::{Effort, Fault, List, MadeMap, Map, Outcome, Text, Value, from_json};

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
pub(in crate::cel) fn run<'a>(program: &'a Program, inputs: Inputs<'a>, limit: u64) -> (Outcome<'a>, u64) {
    let mut machine = Machine {
        program,
        inputs,
        names: Vec::new(),
        cost: 0,
        limit,
        effort: Effort::new(),
        patterns: pattern::Known::default(),
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
        }
    }
}

struct Machine<'a> {
    program: &'a Program,
    inputs: Inputs<'a>,
    /// The values of names that macros gave.
    names: Vec<Value<'a>>,
    cost: u64,
    limit: u64,
    effort: Effort,
    patterns: pattern::Known,
}

impl<'a> Machine<'a> {
    fn charge(&mut self, cost: u64) -> Result<(), Fault> {
        self.cost = self.cost.saturating_add(cost);
        if self.cost > self.limit { Err(Fault::TooExpensive) } else { Ok(()) }
    }

    fn node(&mut self, id: NodeId) -> Outcome<'a> {
        let program: &'a Program = self.program;
        match &program.nodes[id] {
            Node::Constant(constant) => Ok(constant.value()),
            Node::Itself => {
                self.charge(1)?;
                self.converted(self.inputs.itself)
            }
            Node::OldItself => {
                self.charge(1)?;
                self.old()
            }
            Node::Local(place) => {
                self.charge(1)?;
                self.names.get(*place).cloned().ok_or_else(|| Fault::error("no such attribute"))
            }
            Node::Field { operand, name } => self.field(*operand, name),
            Node::Has { operand, name } => self.has(*operand, name),
            Node::OptionalField { operand, name } => self.optional_field(*operand, name),
            Node::Call(call) => self.call(call),
            Node::And(terms) => self.logic(terms, false),
            Node::Or(terms) => self.logic(terms, true),
            Node::Conditional { condition, yes, no } => match self.node(*condition)? {
                Value::Bool(true) => self.node(*yes),
                Value::Bool(false) => self.node(*no),
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
                self.charge(10)?;
                let value = self.node(*value)?;
                self.names.push(value);
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

    /// A field; the inner `None` when it is not there.
    fn select(&mut self, of: &Value<'a>, name: &str) -> Result<Option<Value<'a>>, Fault> {
        match of {
            Value::Object(object) => object.get(name).transpose(),
            Value::Map(map) => map.get(&Value::text(name)).transpose(),
            Value::Optional(Some(inner)) => self.select(&(**inner).clone(), name),
            Value::Optional(None) => Ok(None),
            _ => Err(Fault::NoOverload),
        }
    }

    fn field(&mut self, operand: NodeId, name: &'a str) -> Outcome<'a> {
        let of = self.node(operand)?;
        self.charge(1)?;
        let found = self.select(&of, name)?;
        match (of, found) {
            (Value::Optional(_), found) => Ok(Value::Optional(found.map(Rc::new))),
            (_, Some(value)) => Ok(value),
            (_, None) => Err(Fault::Error(format!("no such key: {name}"))),
        }
    }

    fn has(&mut self, operand: NodeId, name: &'a str) -> Outcome<'a> {
        let of = self.node(operand)?;
        Ok(Value::Bool(self.select(&of, name)?.is_some()))
    }

    fn optional_field(&mut self, operand: NodeId, name: &'a str) -> Outcome<'a> {
        let of = self.node(operand)?;
        self.charge(1)?;
        Ok(Value::Optional(self.select(&of, name)?.map(Rc::new)))
    }

    fn call(&mut self, call: &'a Call) -> Outcome<'a> {
        let args: Vec<Value<'a>> = call.args.iter().map(|arg| self.node(*arg)).collect::<Result<_, _>>()?;
        for arg in &args {
            self.effort.read(arg)?;
        }
        let cost = charge::before(call, &args, &mut self.effort)?;
        self.charge(cost)?;
        let outcome = match &call.way {
            Way::Plain(run) => run(&args),
            Way::Deep(run) => run(&args, &mut self.effort),
            Way::Pattern(Some(pattern)) => pattern::run(call.function, &args, pattern),
            Way::Pattern(None) => self.patterns.run(call.function, &args, &mut self.effort),
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

    fn fold(&mut self, fold: &'a Fold) -> Outcome<'a> {
        let range = self.node(fold.range)?;
        let names = self.names.len();
        let result = match &range {
            Value::List(list) => self.over_list(fold, list),
            Value::Map(map) => self.over_map(fold, map),
            _ => Err(Fault::NoOverload),
        };
        self.names.truncate(names);
        result
    }

    fn over_list(&mut self, fold: &'a Fold, list: &List<'a>) -> Outcome<'a> {
        let mut gathered = Gathered::new(fold.kind);
        for index in 0..list.len() {
            let Some(item) = list.get(index) else { break };
            #[expect(clippy::cast_possible_wrap, reason = "no list is so long")]
            let place = Value::Int(index as i64);
            // An item that cannot be read is as bad as what is worked out with it.
            let step = match item {
                Ok(item) if fold.two_names => self.step(fold, &mut gathered, place, Some(item)),
                Ok(item) => self.step(fold, &mut gathered, item, None),
                Err(fault) => gathered.fault(fault),
            };
            if step? {
                break;
            }
        }
        gathered.result()
    }

    fn over_map(&mut self, fold: &'a Fold, map: &Map<'a>) -> Outcome<'a> {
        let mut gathered = Gathered::new(fold.kind);
        for key in map.keys() {
            let step = if fold.two_names {
                match map.get(&key) {
                    Some(Ok(value)) => self.step(fold, &mut gathered, key, Some(value)),
                    Some(Err(fault)) => gathered.fault(fault),
                    None => Ok(false),
                }
            } else {
                self.step(fold, &mut gathered, key, None)
            };
            if step? {
                break;
            }
        }
        gathered.result()
    }

    /// One item; true when no other has to be looked at.
    fn step(
        &mut self,
        fold: &'a Fold,
        gathered: &mut Gathered<'a>,
        first: Value<'a>,
        second: Option<Value<'a>>,
    ) -> Result<bool, Fault> {
        self.charge(gathered.cost_of_step())?;
        let names = self.names.len();
        let key = matches!(fold.kind, FoldKind::CollectMap).then(|| first.clone());
        self.names.push(first);
        self.names.extend(second);
        let wanted = match fold.filter {
            Some(filter) => match self.node(filter)? {
                Value::Bool(wanted) => wanted,
                _ => return Err(Fault::NoOverload),
            },
            None => true,
        };
        let outcome = if wanted { Some(self.node(fold.body)) } else { None };
        self.names.truncate(names);
        match outcome {
            Some(Err(Fault::TooExpensive)) => Err(Fault::TooExpensive),
            Some(outcome) => gathered.take(key, outcome),
            None => Ok(false),
        }
    }
}

/// What a macro has so far.
struct Gathered<'a> {
    kind: FoldKind,
    fault: Option<Fault>,
    decided: bool,
    count: u64,
    items: Vec<Value<'a>>,
    map: MadeMap<'a>,
}

impl<'a> Gathered<'a> {
    fn new(kind: FoldKind) -> Gathered<'a> {
        Gathered { kind, fault: None, decided: false, count: 0, items: Vec::new(), map: MadeMap::default() }
    }

    /// What a step costs besides what is worked out in it: the macro's own looking and putting.
    fn cost_of_step(&self) -> u64 {
        match self.kind {
            FoldKind::All => 3,
            FoldKind::Exists => 4,
            FoldKind::ExistsOne => 2,
            _ => 12,
        }
    }

    /// Something could not be worked out. Whether that matters, the other items may still say.
    fn fault(&mut self, fault: Fault) -> Result<bool, Fault> {
        match (self.kind, fault) {
            (_, Fault::TooExpensive) => Err(Fault::TooExpensive),
            (FoldKind::All | FoldKind::Exists, fault) => {
                self.fault.get_or_insert(fault);
                Ok(false)
            }
            (_, fault) => Err(fault),
        }
    }

    /// Takes what an item came to; true when no other has to be looked at.
    fn take(&mut self, key: Option<Value<'a>>, outcome: Outcome<'a>) -> Result<bool, Fault> {
        let value = match outcome {
            Ok(value) => value,
            Err(fault) => return self.fault(fault),
        };
        match (self.kind, value) {
            (FoldKind::All, Value::Bool(flag)) => self.decided = !flag,
            (FoldKind::Exists, Value::Bool(flag)) => self.decided = flag,
            (FoldKind::ExistsOne, Value::Bool(flag)) => self.count += u64::from(flag),
            (FoldKind::All | FoldKind::Exists | FoldKind::ExistsOne, _) => {
                return self.fault(Fault::error("no such overload"));
            }
            (FoldKind::CollectMap, value) => self.map.insert(key.unwrap_or(Value::Null), value)?,
            (FoldKind::CollectEntries, Value::Map(entries)) => {
                for key in entries.keys() {
                    if let Some(value) = entries.get(&key) {
                        self.map.insert(key, value?)?;
                    }
                }
            }
            (_, value) => self.items.push(value),
        }
        Ok(self.decided)
    }

    fn result(self) -> Outcome<'a> {
        match self.kind {
            FoldKind::All | FoldKind::Exists => match (self.decided, self.fault) {
                (true, _) => Ok(Value::Bool(self.kind == FoldKind::Exists)),
                (false, Some(fault)) => Err(fault),
                (false, None) => Ok(Value::Bool(self.kind == FoldKind::All)),
            },
            FoldKind::ExistsOne => Ok(Value::Bool(self.count == 1)),
            FoldKind::CollectMap | FoldKind::CollectEntries => Ok(Value::Map(Map::Made(Rc::new(self.map)))),
            FoldKind::Collect | FoldKind::Bind => Ok(Value::list(self.items)),
        }
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

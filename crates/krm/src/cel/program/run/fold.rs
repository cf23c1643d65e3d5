//! Macros that go over a list or a map.

use std::rc::Rc;

use super::{Machine, Name};
use crate::cel::ast::FoldKind;
use crate::cel::program::{Fold, Node};
use crate::cel::value::{Fault, List, MadeMap, Map, Outcome, Value};

impl<'a> Machine<'a, '_> {
    pub(super) fn fold(&mut self, fold: &'a Fold) -> Outcome<'a> {
        let range = self.node(fold.range)?;
        let names = self.names.len();
        let constant_body = matches!(self.program.nodes[fold.body], Node::Constant(_));
        let mut gathered = Gathered::new(fold.kind, constant_body);
        let walked = match &range {
            Value::List(list) => self.over_list(fold, list, &mut gathered),
            Value::Map(map) => self.over_map(fold, map, &mut gathered),
            _ => Err(Fault::NoOverload),
        };
        self.names.truncate(names);
        walked?;
        self.charge(gathered.cost_of_result())?;
        gathered.result()
    }

    fn over_list(
        &mut self,
        fold: &'a Fold,
        list: &List<'a>,
        gathered: &mut Gathered<'a>,
    ) -> Result<(), Fault> {
        for index in 0..list.len() {
            let Some(item) = list.get(index) else { break };
            #[expect(clippy::cast_possible_wrap, reason = "no list is so long")]
            let place = Ok(Value::Int(index as i64));
            let more = match fold.two_names {
                true => self.step(fold, gathered, place, Some(item))?,
                false => self.step(fold, gathered, item, None)?,
            };
            if !more {
                break;
            }
        }
        Ok(())
    }

    fn over_map(&mut self, fold: &'a Fold, map: &Map<'a>, gathered: &mut Gathered<'a>) -> Result<(), Fault> {
        for key in map.keys() {
            let value = if fold.two_names { map.get(&key) } else { None };
            if !self.step(fold, gathered, Ok(key), value)? {
                break;
            }
        }
        Ok(())
    }

    /// One item; false when it did not have to be looked at, nor does any other.
    fn step(
        &mut self,
        fold: &'a Fold,
        gathered: &mut Gathered<'a>,
        first: Outcome<'a>,
        second: Option<Outcome<'a>>,
    ) -> Result<bool, Fault> {
        self.charge(gathered.cost_of_condition())?;
        if gathered.decided {
            return Ok(false);
        }
        self.charge(gathered.cost_of_joining())?;
        let names = self.names.len();
        let key = match fold.kind {
            FoldKind::CollectMap => first.clone()?,
            _ => Value::Null,
        };
        self.names.push(Name::Known(first));
        self.names.extend(second.map(Name::Known));
        let outcome = self.one(fold, gathered);
        self.names.truncate(names);
        match outcome {
            Ok(Some(value)) => gathered.take(key, value)?,
            Ok(None) => {}
            Err(fault) => gathered.fault(fault)?,
        }
        Ok(true)
    }

    /// What an item comes to, unless it is left out.
    fn one(&mut self, fold: &'a Fold, gathered: &Gathered<'a>) -> Result<Option<Value<'a>>, Fault> {
        if let Some(filter) = fold.filter {
            match self.node(filter)? {
                Value::Bool(true) => {}
                Value::Bool(false) => return Ok(None),
                _ => return Err(Fault::NoOverload),
            }
        }
        let value = self.node(fold.body)?;
        self.charge(gathered.cost_of_taking(&value))?;
        Ok(Some(value))
    }
}

/// What a macro has so far.
struct Gathered<'a> {
    kind: FoldKind,
    /// Whether what is worked out for each item is always the same.
    constant_body: bool,
    fault: Option<Fault>,
    decided: bool,
    count: u64,
    items: Vec<Value<'a>>,
    map: MadeMap<'a>,
}

impl<'a> Gathered<'a> {
    fn new(kind: FoldKind, constant_body: bool) -> Gathered<'a> {
        Gathered {
            kind,
            constant_body,
            fault: None,
            decided: false,
            count: 0,
            items: Vec::new(),
            map: MadeMap::default(),
        }
    }

    /// What it costs to see whether to go on: `@not_strictly_false(@result)`, or the same of `!@result`.
    fn cost_of_condition(&self) -> u64 {
        match self.kind {
            FoldKind::All => 2,
            FoldKind::Exists => 3,
            _ => 0,
        }
    }

    /// What it costs to join an item with what was before it: `@result && item`.
    fn cost_of_joining(&self) -> u64 {
        u64::from(matches!(self.kind, FoldKind::All | FoldKind::Exists))
    }

    /// What it costs to put what an item came to with the others, such as `@result + [item]`.
    fn cost_of_taking(&self, value: &Value<'_>) -> u64 {
        match self.kind {
            FoldKind::ExistsOne if matches!(value, Value::Bool(true)) => 2,
            FoldKind::All | FoldKind::Exists | FoldKind::ExistsOne | FoldKind::Bind => 0,
            // A list that is always the same was made before.
            FoldKind::Collect if self.constant_body => 2,
            FoldKind::Collect => 12,
            FoldKind::CollectMap => 3,
            FoldKind::CollectEntries => 2,
        }
    }

    /// What the result costs: `@result`, or `@result == 1`.
    fn cost_of_result(&self) -> u64 {
        if self.kind == FoldKind::ExistsOne { 2 } else { 1 }
    }

    /// Something could not be worked out. Whether that matters, the other items may still say.
    fn fault(&mut self, fault: Fault) -> Result<(), Fault> {
        match (self.kind, fault) {
            (FoldKind::All | FoldKind::Exists, fault) if fault != Fault::TooExpensive => {
                self.fault.get_or_insert(fault);
                Ok(())
            }
            (_, fault) => Err(fault),
        }
    }

    fn take(&mut self, key: Value<'a>, value: Value<'a>) -> Result<(), Fault> {
        match (self.kind, value) {
            (FoldKind::All, Value::Bool(flag)) => self.decided = !flag,
            (FoldKind::Exists, Value::Bool(flag)) => self.decided = flag,
            (FoldKind::ExistsOne, Value::Bool(flag)) => self.count += u64::from(flag),
            (FoldKind::All | FoldKind::Exists | FoldKind::ExistsOne, _) => {
                return self.fault(Fault::error("no such overload"));
            }
            (FoldKind::CollectMap, value) => self.map.insert(key, value)?,
            (FoldKind::CollectEntries, Value::Map(entries)) => {
                for key in entries.keys() {
                    if let Some(value) = entries.get(&key) {
                        self.map.insert(key, value?)?;
                    }
                }
            }
            (_, value) => self.items.push(value),
        }
        Ok(())
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

//! A tree and an object to text.

use std::collections::HashMap;

use serde_json::Value;

use super::arguments::Arguments;
use super::formats;
use super::functions;
use super::items::{IntType, Item};
use super::tree::{Block, Command, Node, Operand, Pipeline, Span, Term};

/// How often templates may use each other in a row.
const DEEPEST: usize = 50;

/// Why it failed, and where.
pub struct Failed {
    pub why: String,
    pub span: Span,
}

/// Why something did not run to its end.
pub enum Stop {
    Failed(Failed),
    Break,
    Continue,
}

pub type Ran<T> = Result<T, Stop>;

/// A failure at a place.
pub fn failed<T>(span: Span, why: impl Into<String>) -> Ran<T> {
    Err(Stop::Failed(Failed { why: why.into(), span }))
}

/// One run of a template.
pub struct Run<'a> {
    defined: &'a HashMap<String, Vec<Node>>,
    missing_keys_fail: bool,
    variables: Vec<(&'a str, Item<'a>)>,
    depth: usize,
    out: Vec<u8>,
}

impl<'a> Run<'a> {
    /// A run that has not begun.
    pub fn new(defined: &'a HashMap<String, Vec<Node>>, missing_keys_fail: bool) -> Run<'a> {
        Run { defined, missing_keys_fail, variables: Vec::new(), depth: 0, out: Vec::new() }
    }

    /// What comes out for an object.
    pub fn of(mut self, root: &'a [Node], object: &'a Value) -> Result<Vec<u8>, Failed> {
        let dot = Item::Held(object).open();
        self.variables.push(("$", dot.clone()));
        match self.nodes(root, &dot) {
            Err(Stop::Failed(failed)) => Err(failed),
            // Nobody can write those outside of a range.
            Ok(()) | Err(Stop::Break | Stop::Continue) => Ok(self.out),
        }
    }

    fn nodes(&mut self, nodes: &'a [Node], dot: &Item<'a>) -> Ran<()> {
        nodes.iter().try_for_each(|node| self.node(node, dot))
    }

    fn node(&mut self, node: &'a Node, dot: &Item<'a>) -> Ran<()> {
        match node {
            Node::Text(text) => self.out.extend(text.as_bytes()),
            Node::Action(pipeline) => {
                let value = self.pipeline(pipeline, dot)?;
                if pipeline.variables.is_empty() {
                    match value {
                        Item::Nothing => self.out.extend(b"<no value>"),
                        value => self.out.extend(formats::sprint(&[value])),
                    }
                }
            }
            Node::If(block) | Node::With(block) => {
                let known = self.variables.len();
                let value = self.pipeline(&block.pipeline, dot)?;
                let body_dot = if matches!(node, Node::With(_)) { &value } else { dot };
                match value.is_true() {
                    true => self.nodes(&block.body, body_dot)?,
                    false => self.nodes(&block.otherwise, dot)?,
                }
                self.variables.truncate(known);
            }
            Node::Range(block) => {
                let known = self.variables.len();
                let ran = self.range(block, dot);
                self.variables.truncate(known);
                match ran {
                    Err(Stop::Break) => {}
                    ran => ran?,
                }
            }
            Node::Template { name, argument, span } => self.template(name, argument.as_ref(), *span, dot)?,
            Node::Break => return Err(Stop::Break),
            Node::Continue => return Err(Stop::Continue),
        }
        Ok(())
    }

    fn template(
        &mut self,
        name: &'a str,
        argument: Option<&'a Pipeline>,
        span: Span,
        dot: &Item<'a>,
    ) -> Ran<()> {
        let Some(nodes) = self.defined.get(name) else {
            return failed(span, format!("template {} not defined", krm::field::quote(name)));
        };
        if self.depth == DEEPEST {
            return failed(span, format!("exceeded maximum template depth ({DEEPEST})"));
        }
        let dot = match argument {
            Some(argument) => self.pipeline(argument, dot)?,
            None => Item::Nothing,
        };
        let variables = std::mem::replace(&mut self.variables, vec![("$", dot.clone())]);
        self.depth += 1;
        self.nodes(nodes, &dot)?;
        self.depth -= 1;
        self.variables = variables;
        Ok(())
    }

    fn range(&mut self, block: &'a Block, dot: &Item<'a>) -> Ran<()> {
        let pipeline = &block.pipeline;
        let mut has_run = false;
        match self.pipeline(pipeline, dot)? {
            Item::Int(count, of) => {
                if pipeline.variables.len() > 1 {
                    let why = format!("can't use {count} to iterate over more than one variable");
                    return failed(pipeline.span, why);
                }
                for at in 0..count {
                    has_run = true;
                    self.once(block, Item::Nothing, Item::Int(at, of))?;
                }
            }
            Item::List(items) => {
                for (at, item) in items.iter().enumerate() {
                    has_run = true;
                    let at = Item::Int(i64::try_from(at).unwrap_or(i64::MAX), IntType::Int);
                    self.once(block, at, Item::Held(item))?;
                }
            }
            Item::Map(entries) => {
                let mut entries: Vec<_> = entries.iter().collect();
                entries.sort_by_key(|(key, _)| *key);
                for (key, value) in entries {
                    has_run = true;
                    self.once(block, Item::text(key.as_bytes()), Item::Held(value))?;
                }
            }
            Item::Nothing => {}
            other => {
                let shown = formats::sprint(&[other]);
                let why = format!("range can't iterate over {}", String::from_utf8_lossy(&shown));
                return failed(pipeline.span, why);
            }
        }
        if has_run { Ok(()) } else { self.nodes(&block.otherwise, dot) }
    }

    fn once(&mut self, block: &'a Block, at: Item<'a>, item: Item<'a>) -> Ran<()> {
        let pipeline = &block.pipeline;
        match pipeline.variables.as_slice() {
            [] => {}
            [only] => self.assign(only, item.clone(), pipeline.span)?,
            [first, second, ..] => {
                self.assign(first, at, pipeline.span)?;
                self.assign(second, item.clone(), pipeline.span)?;
            }
        }
        let known = self.variables.len();
        let ran = self.nodes(&block.body, &item);
        self.variables.truncate(known);
        match ran {
            Err(Stop::Continue) => Ok(()),
            ran => ran,
        }
    }

    fn assign(&mut self, name: &str, value: Item<'a>, span: Span) -> Ran<()> {
        match self.variables.iter_mut().rev().find(|(known, _)| *known == name) {
            Some((_, held)) => {
                *held = value;
                Ok(())
            }
            None => failed(span, format!("undefined variable: {name}")),
        }
    }

    fn pipeline(&mut self, pipeline: &'a Pipeline, dot: &Item<'a>) -> Ran<Item<'a>> {
        let mut value = None;
        for command in &pipeline.commands {
            value = Some(self.command(command, dot, value)?.open());
        }
        let value = value.unwrap_or(Item::Nothing);
        for name in &pipeline.variables {
            match pipeline.assigns {
                true => self.assign(name, value.clone(), pipeline.span)?,
                false => self.variables.push((name, value.clone())),
            }
        }
        Ok(value)
    }

    /// What a command gives; `last` is what the one before it gave.
    fn command(&mut self, command: &'a Command, dot: &Item<'a>, last: Option<Item<'a>>) -> Ran<Item<'a>> {
        let Some((first, arguments)) = command.words.split_first() else { return Ok(Item::Nothing) };
        if let Term::Function(name) = &first.term {
            let arguments = Arguments { words: arguments, last, name: first.span, call: command.span };
            return functions::call(self, name, arguments, dot);
        }
        let has_arguments = !arguments.is_empty() || last.is_some();
        let fields = match &first.term {
            Term::Field(fields) | Term::Chain(_, fields) => fields.last(),
            Term::Variable(_, fields) => fields.last(),
            _ => None,
        };
        match (&first.term, fields) {
            (Term::Nil, _) if !has_arguments => failed(first.span, "nil is not a command"),
            (_, Some(field)) if has_arguments => {
                failed(first.span, format!("{field} is not a method but has arguments"))
            }
            _ if has_arguments => failed(first.span, "can't give argument to non-function"),
            _ => self.value(first, dot),
        }
    }

    /// What an operand gives.
    pub fn value(&mut self, operand: &'a Operand, dot: &Item<'a>) -> Ran<Item<'a>> {
        let span = operand.span;
        match &operand.term {
            Term::Dot => Ok(dot.clone()),
            Term::Nil => Ok(Item::Nothing),
            Term::Bool(flag) => Ok(Item::Bool(*flag)),
            Term::Int(number) => Ok(Item::Int(*number, IntType::Int)),
            Term::Float(number) => Ok(Item::Float(*number)),
            Term::Text(text) => Ok(Item::Text(text.as_slice().into())),
            Term::Field(fields) => self.fields(dot.clone(), fields, span),
            Term::Variable(name, fields) => {
                let held = self.variables.iter().rev().find(|(known, _)| known == name);
                match held.map(|(_, value)| value.clone()) {
                    Some(value) => self.fields(value, fields, span),
                    None => failed(span, format!("undefined variable: {name}")),
                }
            }
            Term::Function(name) => {
                let arguments = Arguments { words: &[], last: None, name: span, call: span };
                functions::call(self, name, arguments, dot)
            }
            Term::Pipeline(pipeline) => self.pipeline(pipeline, dot),
            Term::Chain(start, fields) => {
                let start = self.value(start, dot)?;
                self.fields(start, fields, span)
            }
        }
    }

    fn fields(&self, mut value: Item<'a>, fields: &[String], span: Span) -> Ran<Item<'a>> {
        for field in fields {
            let type_name = value.type_name();
            if value.is_held_nil() {
                return failed(span, format!("nil pointer evaluating {type_name}.{field}"));
            }
            value = match value.open() {
                Item::Nothing if self.missing_keys_fail => {
                    let key = krm::field::quote(field);
                    return failed(span, format!("nil data; no entry for key {key}"));
                }
                Item::Nothing => Item::Nothing,
                Item::Map(entries) => match entries.get(field) {
                    Some(found) => Item::Held(found),
                    None if self.missing_keys_fail => {
                        let key = krm::field::quote(field);
                        return failed(span, format!("map has no entry for key {key}"));
                    }
                    None => Item::Nothing,
                },
                _ => return failed(span, format!("can't evaluate field {field} in type {type_name}")),
            };
        }
        Ok(value)
    }
}

//! Makes a program of a checked expression.

use super::members::Members;
use super::{Attribute, Call, Constant, Fold, MapEntry, Node, NodeId, Program, Way};
use crate::cel::ast::{Expr, ExprId, FoldKind, Literal};
use crate::cel::check::Checked;
use crate::cel::decl::unescape;
use crate::cel::functions;
use crate::cel::library::{self, pattern};
use crate::cel::value::{Fault, Value};

/// Makes a program; the error says what about it can never work.
pub(in crate::cel) fn build(checked: &Checked) -> Result<Program, String> {
    let mut builder =
        Builder { checked, nodes: Vec::new(), attributes: Vec::new(), built: Vec::new(), names: Vec::new() };
    builder.built.resize(checked.ast.exprs.len(), None);
    let root = builder.node(checked.ast.root)?;
    Ok(Program { nodes: builder.nodes, attributes: builder.attributes, root })
}

struct Builder<'c> {
    checked: &'c Checked,
    nodes: Vec<Node>,
    attributes: Vec<Attribute>,
    /// What an expression became, for those that stand somewhere once more.
    built: Vec<Option<NodeId>>,
    names: Vec<String>,
}

impl Builder<'_> {
    fn node(&mut self, id: ExprId) -> Result<NodeId, String> {
        let checked = self.checked;
        let node = match checked.ast.get(id) {
            Expr::Literal(literal) => Node::Constant(constant(literal)),
            Expr::Ident(name) => self.ident(name),
            Expr::Select { operand, field, test_only } => {
                let operand = self.node(*operand)?;
                let name = property(field);
                if *test_only { Node::Has { operand, name } } else { Node::Field { operand, name } }
            }
            Expr::Call { function, target, args } => self.call(id, function, *target, args)?,
            Expr::List { items, optional } => {
                let items = items.iter().map(|item| self.node(*item)).collect::<Result<Vec<_>, _>>()?;
                match self.constants(&items).filter(|_| !optional.contains(&true)) {
                    Some(constants) => Node::Constant(Constant::List(constants)),
                    None => Node::List(items.into_iter().zip(optional.iter().copied()).collect()),
                }
            }
            Expr::Map { entries } => {
                let mut made = Vec::with_capacity(entries.len());
                for entry in entries {
                    let (key, value) = (self.node(entry.key)?, self.node(entry.value)?);
                    made.push(MapEntry { key, value, optional: entry.optional });
                }
                match self.constant_map(&made) {
                    Some(constants) => Node::Constant(Constant::Map(constants)),
                    None => Node::Map(made),
                }
            }
            Expr::Fold(fold) if fold.kind == FoldKind::Bind => {
                let value = self.node(fold.init)?;
                self.names.push(fold.accu.clone());
                let body = self.node(fold.body)?;
                self.names.pop();
                Node::Bind { value, body }
            }
            Expr::Fold(fold) => {
                let range = self.node(fold.range)?;
                self.names.push(fold.var.clone());
                self.names.extend(fold.var2.clone());
                let filter = fold.filter.map(|filter| self.node(filter)).transpose()?;
                let body = self.node(fold.body)?;
                self.names.truncate(self.names.len() - 1 - usize::from(fold.var2.is_some()));
                let two_names = fold.var2.is_some();
                Node::Fold(Fold { kind: fold.kind, range, two_names, filter, body })
            }
            Expr::Again(other) => {
                // Names that stand between the two places make it another step.
                return match self.built[*other] {
                    Some(built) => Ok(built),
                    None => self.node(*other),
                };
            }
            Expr::Message { .. } | Expr::Broken => Node::Nothing,
        };
        self.attributes.push(self.attribute(&node));
        self.nodes.push(node);
        self.built[id] = Some(self.nodes.len() - 1);
        Ok(self.nodes.len() - 1)
    }

    fn attribute(&self, node: &Node) -> Attribute {
        match node {
            Node::Itself | Node::OldItself | Node::Local(_) => Attribute::OfName,
            Node::Field { operand, .. }
            | Node::OptionalField { operand, .. }
            | Node::Index { operand, .. } => match self.attributes[*operand] {
                Attribute::No => Attribute::OfName,
                of => of,
            },
            // Asking whether something is there costs nothing but the way to it.
            Node::Conditional { .. } | Node::Has { .. } => Attribute::OfConditional,
            _ => Attribute::No,
        }
    }

    fn ident(&self, name: &str) -> Node {
        let plain = name.strip_prefix('.').unwrap_or(name);
        if let Some(place) = self.names.iter().rposition(|given| given == plain) {
            return Node::Local(place);
        }
        match plain {
            "self" => Node::Itself,
            "oldSelf" => Node::OldItself,
            _ => {
                functions::type_name(plain).map_or(Node::Nothing, |name| Node::Constant(Constant::Type(name)))
            }
        }
    }

    fn call(
        &mut self,
        id: ExprId,
        function: &str,
        target: Option<ExprId>,
        args: &[ExprId],
    ) -> Result<Node, String> {
        let nodes: Vec<NodeId> =
            target.iter().chain(args).map(|arg| self.node(*arg)).collect::<Result<_, _>>()?;
        Ok(match (function, nodes.as_slice()) {
            ("_&&_", _) => Node::And(nodes),
            ("_||_", _) => Node::Or(nodes),
            ("_?_:_", [condition, yes, no]) => {
                Node::Conditional { condition: *condition, yes: *yes, no: *no }
            }
            ("_?._", [operand, _]) => {
                let Expr::Literal(Literal::String(name)) = self.checked.ast.get(args[1]) else {
                    return Ok(Node::Nothing);
                };
                Node::OptionalField { operand: *operand, name: property(name) }
            }
            ("_[_]" | "_[?_]", [operand, index]) => {
                Node::Index { operand: *operand, index: *index, optional: function == "_[?_]" }
            }
            ("@in", [item, list]) => match self.membership(*item, *list) {
                Some(node) => node,
                None => return self.plain_call(id, function, nodes),
            },
            ("or", [first, second]) => Node::Otherwise { first: *first, second: *second, unwrap: false },
            ("orValue", [first, second]) => Node::Otherwise { first: *first, second: *second, unwrap: true },
            _ => return self.plain_call(id, function, nodes),
        })
    }

    fn plain_call(&mut self, id: ExprId, function: &str, args: Vec<NodeId>) -> Result<Node, String> {
        let found = functions::find(function);
        let Some(found) = found else { return Ok(Node::Nothing) };
        let overload = match self.checked.overloads[id].as_slice() {
            [one] => one.id,
            _ => "",
        };
        let is_conversion = matches!(
            function,
            "bool"
                | "bytes"
                | "double"
                | "dyn"
                | "duration"
                | "int"
                | "string"
                | "timestamp"
                | "type"
                | "uint"
        );
        if let ("dyn", [arg]) = (function, args.as_slice())
            && let Some(constant) = self.constant(*arg)
        {
            return Ok(Node::Constant(constant));
        }
        if let (true, [arg]) = (is_conversion, args.as_slice())
            && let Node::Constant(constant) = &self.nodes[*arg]
        {
            let Some(run) = library::of_overload(function, overload) else { return Ok(Node::Nothing) };
            let folded = run(&[constant.value()]).map_err(|fault| match fault {
                Fault::Error(why) => why,
                _ => "no such overload".to_owned(),
            })?;
            if let Some(constant) = of_value(&folded) {
                return Ok(Node::Constant(constant));
            }
        }
        let way = if let ("matches" | "find" | "findAll", Some(arg)) = (function, args.get(1)) {
            Way::Pattern(match &self.nodes[*arg] {
                Node::Constant(Constant::String(text)) => Some(pattern::constant(text)?),
                _ => None,
            })
        } else if let Some(run) = library::find_deep(function) {
            Way::Deep(run)
        } else if let Some(run) = library::of_overload(function, overload) {
            Way::Plain(run)
        } else {
            return Ok(Node::Nothing);
        };
        Ok(Node::Call(Call { function: found.name, overload, way, args }))
    }

    fn constant(&self, node: NodeId) -> Option<Constant> {
        match &self.nodes[node] {
            Node::Constant(constant) => Some(constant.clone()),
            _ => None,
        }
    }

    fn constants(&self, nodes: &[NodeId]) -> Option<Vec<Constant>> {
        nodes.iter().map(|node| self.constant(*node)).collect()
    }

    /// A map of constants, whose keys can be keys.
    fn constant_map(&self, entries: &[MapEntry]) -> Option<Vec<(Constant, Constant)>> {
        let entry = |entry: &MapEntry| {
            let key = self.constant(entry.key)?;
            let can_be_key =
                matches!(key, Constant::Bool(_) | Constant::Int(_) | Constant::Uint(_) | Constant::String(_));
            (can_be_key && !entry.optional).then_some((key, self.constant(entry.value)?))
        };
        entries.iter().map(entry).collect()
    }

    /// Whether an item is in a list of constants.
    fn membership(&self, item: NodeId, list: NodeId) -> Option<Node> {
        let Node::Constant(Constant::List(list)) = &self.nodes[list] else { return None };
        if list.is_empty() {
            return Some(Node::Constant(Constant::Bool(false)));
        }
        Some(Node::Member { item, of: Members::of(list)? })
    }
}

/// The property that a name in an expression means.
fn property(name: &str) -> Box<str> {
    unescape(name).map_or_else(|| name.into(), |name| name.into())
}

fn constant(literal: &Literal) -> Constant {
    match literal {
        Literal::Null => Constant::Null,
        Literal::Bool(flag) => Constant::Bool(*flag),
        Literal::Int(number) => Constant::Int(*number),
        Literal::Uint(number) => Constant::Uint(*number),
        Literal::Double(number) => Constant::Double(*number),
        Literal::String(text) => Constant::String(text.as_str().into()),
        Literal::Bytes(bytes) => Constant::Bytes(bytes.as_slice().into()),
    }
}

fn of_value(value: &Value<'_>) -> Option<Constant> {
    Some(match value {
        Value::Null => Constant::Null,
        Value::Bool(flag) => Constant::Bool(*flag),
        Value::Int(number) => Constant::Int(*number),
        Value::Uint(number) => Constant::Uint(*number),
        Value::Double(number) => Constant::Double(*number),
        Value::String(text) => Constant::String((&**text).into()),
        Value::Bytes(bytes) => Constant::Bytes((&**bytes).into()),
        Value::Duration(nanos) => Constant::Duration(*nanos),
        Value::Timestamp(stamp) => Constant::Timestamp(*stamp),
        Value::Type(name) => Constant::Type(name),
        _ => return None,
    })
}

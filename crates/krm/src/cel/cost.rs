//! Worst-case cost of an expression, estimated from the maximum size of the values that it sees.
//!
//! The reckoning is cel-go's and Kubernetes', because a rule that they refuse for its cost has to be refused here, and
//! one that they take, taken.

mod calls;
mod folds;
mod range;

use std::collections::BTreeMap;

use super::ast::{Expr, ExprId, FoldKind, Literal};
use super::check::Checked;
use super::decl::{DeclId, Decls};
use super::functions::Overload;
use super::types::Type;
use range::Range;

/// The most that an expression can cost.
pub(super) fn worst(checked: &Checked, decls: &Decls, decl: DeclId) -> u64 {
    let count = checked.ast.exprs.len();
    let mut estimator = Estimator {
        checked,
        decls,
        decl,
        costs: vec![None; count],
        ways: vec![Way::None; count],
        sizes: vec![None; count],
        entries: vec![None; count],
        locals: BTreeMap::new(),
    };
    estimator.cost(checked.ast.root).max
}

/// What is known about the items of a list or the entries of a map.
#[derive(Debug, Clone, Copy)]
struct Entries {
    of_list: bool,
    key: Range,
    value: Range,
}

impl Entries {
    fn union(self, other: Entries) -> Entries {
        Entries {
            of_list: self.of_list,
            key: self.key.union(other.key),
            value: self.value.union(other.value),
        }
    }
}

/// Where an expression leads to from what the rule is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// It does not start there.
    None,
    /// To what is declared so.
    To(DeclId),
    /// To something that is not declared.
    Lost,
}

/// A name that a macro gave.
#[derive(Debug, Clone, Copy)]
struct Local {
    way: Way,
    size: Option<Range>,
    entries: Option<Entries>,
}

struct Estimator<'c> {
    checked: &'c Checked,
    decls: &'c Decls,
    /// The declaration of what the rule is about.
    decl: DeclId,
    costs: Vec<Option<Range>>,
    ways: Vec<Way>,
    sizes: Vec<Option<Range>>,
    entries: Vec<Option<Entries>>,
    locals: BTreeMap<String, Vec<Local>>,
}

/// An argument of a call, as its cost is worked out.
struct Argument<'c> {
    id: ExprId,
    of: &'c Type,
    way: Way,
    size: Option<Range>,
}

impl<'c> Estimator<'c> {
    fn cost(&mut self, id: ExprId) -> Range {
        if let Some(cost) = self.costs[id] {
            return cost;
        }
        let checked = self.checked;
        let cost = match checked.ast.get(id) {
            Expr::Literal(_) | Expr::Broken => Range::fixed(0),
            Expr::Ident(name) => {
                self.ways[id] = self.local(name).map_or(Way::To(self.decl), |local| local.way);
                Range::fixed(1)
            }
            Expr::Select { operand, field, test_only } => self.select(id, *operand, field, *test_only),
            Expr::Call { function, target, args } => self.call(id, function, *target, args),
            Expr::List { items, .. } => self.list(id, items),
            Expr::Map { entries } => {
                let pairs: Vec<(ExprId, ExprId)> = entries.iter().map(|it| (it.key, it.value)).collect();
                self.map(id, &pairs)
            }
            Expr::Message { fields, .. } => {
                let sum = fields.iter().fold(Range::fixed(0), |sum, (_, value)| sum.add(self.cost(*value)));
                sum.add(Range::fixed(40))
            }
            Expr::Fold(fold) if fold.kind == FoldKind::Bind => self.bind(id, fold),
            Expr::Fold(fold) => self.fold(id, fold),
            Expr::Again(other) => {
                let cost = self.cost(*other);
                self.ways[id] = self.ways[*other];
                self.copy_sizes(id, *other);
                cost
            }
        };
        self.costs[id] = Some(cost);
        cost
    }

    fn local(&self, name: &str) -> Option<&Local> {
        self.locals.get(name)?.last()
    }

    fn with_local(&mut self, name: &str, local: Local) {
        self.locals.entry(name.to_owned()).or_default().push(local);
    }

    fn without_local(&mut self, name: &str) {
        if let Some(locals) = self.locals.get_mut(name) {
            locals.pop();
        }
    }

    fn way(&self, id: ExprId) -> Way {
        match self.checked.ast.get(id) {
            Expr::Ident(name) => self.local(name).map_or(self.ways[id], |local| local.way),
            _ => self.ways[id],
        }
    }

    /// One step further. The first step of a way that starts elsewhere is taken for its start, which Kubernetes does not
    /// look at: it leads to what the rule is about.
    fn further(&self, way: Way, step: impl FnOnce(&Decls, DeclId) -> Option<DeclId>) -> Way {
        match way {
            Way::None => Way::To(self.decl),
            Way::To(decl) => step(self.decls, decl).map_or(Way::Lost, Way::To),
            Way::Lost => Way::Lost,
        }
    }

    /// How large what lies at the end of a way can be.
    fn declared_size(&self, way: Way) -> Option<Range> {
        match way {
            Way::To(decl) => Some(Range { min: 0, max: self.decls.get(decl).most }),
            Way::None | Way::Lost => None,
        }
    }

    fn select(&mut self, id: ExprId, operand: ExprId, field: &str, test_only: bool) -> Range {
        let cost = self.cost(operand);
        if test_only {
            return cost;
        }
        self.ways[id] = self.further(self.way(operand), |decls, decl| decls.field(decl, field));
        let counts = matches!(
            self.checked.type_of(operand),
            Type::Map(..) | Type::Object(_) | Type::Library(_) | Type::Variable(_)
        );
        if counts { cost.add(Range::fixed(1)) } else { cost }
    }

    fn call(&mut self, id: ExprId, function: &str, target: Option<ExprId>, args: &[ExprId]) -> Range {
        if function == "dyn"
            && let [arg] = args
        {
            let cost = self.cost(*arg);
            self.copy_sizes(id, *arg);
            return cost.add(Range::fixed(1));
        }
        let costs: Vec<Range> = args.iter().map(|arg| self.cost(*arg)).collect();
        let arguments: Vec<Argument<'c>> = args.iter().map(|arg| self.argument(*arg)).collect();
        let overloads: &'c [&'static Overload] = &self.checked.overloads[id];
        if overloads.is_empty() {
            return Range::fixed(0);
        }
        let mut sum = Range::fixed(0);
        let target = target.map(|target| {
            sum = self.cost(target);
            self.argument(target)
        });
        let mut worst = Range { min: u64::MAX, max: 0 };
        let mut size = None;
        for overload in overloads {
            let call = calls::Call { id, function, overload: overload.id, target: target.as_ref() };
            let (cost, result) = self.call_cost(&call, &arguments, &costs);
            worst = worst.union(cost);
            size = match (size, result) {
                (Some(size), Some(result)) => Some(Range::union(size, result)),
                (size, result) => size.or(result),
            };
            if let "index_list" | "index_map" = overload.id
                && let Some(arg) = args.first()
            {
                size = self.entries_of(*arg).map(|entries| entries.value);
                self.ways[id] = self.further(self.way(*arg), Decls::element);
            }
            if size.is_none() {
                size = self.size(id);
            }
        }
        self.sizes[id] = size.or(self.sizes[id]);
        sum.add(worst)
    }

    fn argument(&mut self, id: ExprId) -> Argument<'c> {
        let size = self.size(id);
        Argument { id, of: self.checked.type_of(id), way: self.way(id), size }
    }

    fn list(&mut self, id: ExprId, items: &[ExprId]) -> Range {
        let mut sum = Range::fixed(10);
        let mut size = if items.is_empty() { Range::fixed(0) } else { Range::NONE };
        for item in items {
            sum = sum.add(self.cost(*item));
            size = size.union(self.size_or_any(*item));
        }
        self.entries[id] = Some(Entries { of_list: true, key: Range::fixed(1), value: size });
        sum
    }

    fn map(&mut self, id: ExprId, pairs: &[(ExprId, ExprId)]) -> Range {
        let mut sum = Range::fixed(30);
        let start = if pairs.is_empty() { Range::fixed(0) } else { Range::NONE };
        let (mut keys, mut values) = (start, start);
        for (key, value) in pairs {
            sum = sum.add(self.cost(*key)).add(self.cost(*value));
            keys = keys.union(self.size_or_any(*key));
            values = values.union(self.size_or_any(*value));
        }
        self.entries[id] = Some(Entries { of_list: false, key: keys, value: values });
        sum
    }

    fn size_or_any(&mut self, id: ExprId) -> Range {
        self.size(id).unwrap_or(Range::ANY)
    }

    /// How large what an expression gives can be.
    fn size(&mut self, id: ExprId) -> Option<Range> {
        if let Some(size) = self.sizes[id] {
            return Some(size);
        }
        let checked = self.checked;
        match checked.ast.get(id) {
            Expr::Literal(literal) => return Some(Range::fixed(literal_size(literal))),
            Expr::List { items, .. } => return Some(Range::fixed(items.len() as u64)),
            Expr::Map { entries } => return Some(Range::fixed(entries.len() as u64)),
            _ => {}
        }
        if let Some(size) = self.declared_size(self.way(id)) {
            self.sizes[id] = Some(size);
            return Some(size);
        }
        if checked.type_of(id).is_scalar() {
            return Some(Range::fixed(1));
        }
        match checked.ast.get(id) {
            Expr::Ident(name) => self.local(name).and_then(|local| local.size),
            _ => None,
        }
    }

    fn entries_of(&self, id: ExprId) -> Option<Entries> {
        self.entries[id].or_else(|| match self.checked.ast.get(id) {
            Expr::Ident(name) => self.local(name).and_then(|local| local.entries),
            _ => None,
        })
    }

    fn copy_sizes(&mut self, to: ExprId, from: ExprId) {
        self.sizes[to] = self.size(from).or(self.sizes[to]);
        self.entries[to] = self.entries_of(from).or(self.entries[to]);
    }
}

fn literal_size(literal: &Literal) -> u64 {
    match literal {
        Literal::String(text) => text.chars().count() as u64,
        Literal::Bytes(bytes) => bytes.len() as u64,
        _ => 1,
    }
}

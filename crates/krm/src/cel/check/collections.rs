//! Lists, maps, and macros that go over them.

use super::{Checker, unify};
use crate::cel::ast::{Entry, ExprId, Fold};
use crate::cel::types::Type;

/// How many parts a type may have.
const LARGEST_TYPE: usize = 200;

impl Checker<'_> {
    pub(super) fn list(&mut self, items: &[ExprId], optional: &[bool]) -> Type {
        let mut joined = None;
        for (item, optional) in items.iter().zip(optional) {
            self.visit(*item);
            let of = self.element(*item, *optional);
            joined = Some(self.join(joined, of));
        }
        Type::list(joined.unwrap_or_else(|| self.bindings.variable()))
    }

    pub(super) fn map(&mut self, entries: &[Entry]) -> Type {
        let (mut keys, mut values) = (None, None);
        for entry in entries {
            self.visit(entry.key);
            let of = self.types[entry.key].clone();
            keys = Some(self.join(keys, of));
            self.visit(entry.value);
            let of = self.element(entry.value, entry.optional);
            values = Some(self.join(values, of));
        }
        let key = keys.unwrap_or_else(|| self.bindings.variable());
        let value = values.unwrap_or_else(|| self.bindings.variable());
        // Maps of maps by maps can make a type grow without end.
        if key.is_larger_than(LARGEST_TYPE) || value.is_larger_than(LARGEST_TYPE) {
            return Type::map(Type::Dyn, Type::Dyn);
        }
        Type::map(key, value)
    }

    /// The type of an item, which may be in an optional where it is marked as one.
    fn element(&mut self, id: ExprId, optional: bool) -> Type {
        let of = self.types[id].clone();
        if !optional {
            return of;
        }
        let (inner, was_optional) = of.unwrapped();
        if !was_optional && *inner != Type::Dyn {
            let wanted = Type::optional(inner.clone());
            self.mismatch(id, &wanted, inner);
        }
        inner.clone()
    }

    /// The type of items that are of one type, or of any.
    fn join(&mut self, previous: Option<Type>, current: Type) -> Type {
        let Some(previous) = previous else { return current };
        if self.assignable(&previous, &current) { unify::more_general(previous, current) } else { Type::Dyn }
    }

    pub(super) fn fold(&mut self, fold: &Fold) -> Type {
        self.visit(fold.range);
        self.visit(fold.init);
        let range = self.bindings.known(&self.types[fold.range]);
        let accu = self.types[fold.init].clone();
        let (var, var2) = self.iteration(fold, &range);
        let outside = self.locals.len();
        self.locals.push((fold.accu.clone(), accu.clone()));
        let inside = self.locals.len();
        self.locals.push((fold.var.clone(), var));
        if let Some(name) = &fold.var2 {
            self.locals.push((name.clone(), var2));
        }
        self.visit(fold.condition);
        self.expect(fold.condition, &Type::Bool);
        self.visit(fold.step);
        self.expect(fold.step, &accu);
        self.locals.truncate(inside);
        self.visit(fold.result);
        self.locals.truncate(outside);
        self.bindings.known(&self.types[fold.result])
    }

    /// The types of the variables of a fold.
    fn iteration(&mut self, fold: &Fold, range: &Type) -> (Type, Type) {
        match range {
            Type::List(item) if fold.var2.is_some() => (Type::Int, (**item).clone()),
            Type::List(item) => ((**item).clone(), Type::Error),
            Type::Map(key, value) => ((**key).clone(), (**value).clone()),
            Type::Dyn | Type::Error | Type::Variable(_) => {
                self.assignable(&Type::Dyn, range);
                (Type::Dyn, Type::Dyn)
            }
            other => {
                self.report(
                    fold.range,
                    format!(
                        "expression of type '{other}' cannot be range of a comprehension (must be list, map, or \
                         dynamic)"
                    ),
                );
                (Type::Error, Type::Error)
            }
        }
    }
}

//! Macros that go over lists and maps, and names that they give.

use super::range::Range;
use super::{Estimator, Local};
use crate::cel::ast::{Expr, ExprId, Fold};
use crate::cel::decl::Decls;
use crate::cel::types::Type;

impl Estimator<'_> {
    pub(super) fn bind(&mut self, id: ExprId, fold: &Fold) -> Range {
        let mut sum = self.cost(fold.range).add(self.cost(fold.init));
        self.name_value(&fold.accu, fold.init);
        sum = sum.add(self.cost(fold.result));
        self.without_local(&fold.accu);
        self.copy_sizes(id, fold.result);
        sum
    }

    /// Gives a value a name.
    fn name_value(&mut self, name: &str, value: ExprId) {
        let local = Local { way: self.way(value), size: self.size(value), entries: self.entries_of(value) };
        self.with_local(name, local);
    }

    pub(super) fn fold(&mut self, id: ExprId, fold: &Fold) -> Range {
        let mut sum = self.cost(fold.range).add(self.cost(fold.init));
        self.name_value(&fold.accu, fold.init);
        self.name_items(fold);
        let each = self.cost(fold.condition).add(self.cost(fold.step));
        self.without_local(&fold.var);
        if let Some(var2) = &fold.var2 {
            self.without_local(var2);
        }
        sum = sum.add(self.cost(fold.result));
        self.without_local(&fold.accu);
        let count = self.size_or_any(fold.range);
        sum = sum.add(count.times(each));
        match self.checked.ast.get(fold.init) {
            Expr::Literal(_) => self.sizes[id] = self.size(fold.init),
            Expr::List { .. } | Expr::Map { .. } => {
                self.sizes[id] = Some(count);
                self.entries[id] = self.entries_of(fold.step).or(self.entries[id]);
            }
            _ => {}
        }
        sum
    }

    /// Gives the items of what a fold goes over their names.
    fn name_items(&mut self, fold: &Fold) {
        let entries = self.entries_of(fold.range);
        let is_list = entries.map_or_else(
            || matches!(self.checked.type_of(fold.range), Type::List(_)),
            |entries| entries.of_list,
        );
        let way = self.way(fold.range);
        let keys = Local {
            // Places in a list are not declared.
            way: self.further(way, |decls, decl| if is_list { None } else { decls.key(decl) }),
            size: entries.map(|entries| entries.key),
            entries: None,
        };
        let values = Local {
            way: self.further(way, Decls::element),
            size: entries.map(|entries| entries.value),
            entries: None,
        };
        match &fold.var2 {
            Some(var2) => {
                self.with_local(&fold.var, keys);
                self.with_local(var2, values);
            }
            None if is_list => self.with_local(&fold.var, values),
            None => self.with_local(&fold.var, keys),
        }
    }
}

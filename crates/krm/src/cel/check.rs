//! Finds out the type of an expression and of all its parts, and what is called by every call.

mod collections;
mod literals;
mod unify;

use super::ast::{Ast, Expr, ExprId, Literal};
use super::decl::{DeclId, Decls};
use super::functions::{self, Function, Overload};
use super::report::Issues;
use super::types::Type;
use unify::Bindings;

/// An expression whose types are known.
#[derive(Debug)]
pub(super) struct Checked {
    pub ast: Ast,
    pub types: Vec<Type>,
    /// For each call, the signatures that fit it.
    pub overloads: Vec<Vec<&'static Overload>>,
    /// Whether the old value is looked at.
    pub uses_old_self: bool,
}

impl Checked {
    pub fn type_of(&self, id: ExprId) -> &Type {
        &self.types[id]
    }

    /// The type of the whole.
    pub fn result(&self) -> &Type {
        self.type_of(self.ast.root)
    }
}

/// Checks an expression about values that are declared so; the error is everything that is wrong, for people.
pub(super) fn check(
    ast: Ast,
    source: &str,
    (decls, decl): (&Decls, DeclId),
    old_self_is_optional: bool,
) -> Result<Checked, String> {
    let count = ast.exprs.len();
    let root = ast.root;
    let mut checker = Checker {
        ast,
        decls,
        decl,
        types: vec![Type::Error; count],
        overloads: vec![Vec::new(); count],
        bindings: Bindings::default(),
        locals: Vec::new(),
        issues: Issues::default(),
        old_self_is_optional,
        uses_old_self: false,
    };
    checker.visit(root);
    let Checker { ast, mut types, overloads, bindings, mut issues, uses_old_self, .. } = checker;
    if issues.is_empty() {
        for it in &mut types {
            *it = bindings.settle(it);
        }
    }
    let checked = Checked { ast, types, overloads, uses_old_self };
    if issues.is_empty() {
        literals::check(&checked, &mut issues);
    }
    if issues.is_empty() { Ok(checked) } else { Err(issues.render(source)) }
}

struct Checker<'d> {
    ast: Ast,
    decls: &'d Decls,
    /// The declaration of what the rule is about.
    decl: DeclId,
    types: Vec<Type>,
    overloads: Vec<Vec<&'static Overload>>,
    bindings: Bindings,
    /// Names that macros gave, the innermost last.
    locals: Vec<(String, Type)>,
    issues: Issues,
    old_self_is_optional: bool,
    uses_old_self: bool,
}

impl Checker<'_> {
    fn visit(&mut self, id: ExprId) {
        // Taken out while its parts are visited, and put back with what was found out about it.
        let expr = std::mem::replace(&mut self.ast.exprs[id], Expr::Broken);
        let (of, expr) = match expr {
            Expr::Literal(literal) => (literal_type(&literal), Expr::Literal(literal)),
            Expr::Ident(name) => (self.ident(id, &name), Expr::Ident(name)),
            Expr::Select { operand, field, test_only } => self.select(id, operand, field, test_only),
            Expr::Call { function, target, args } => self.call(id, function, target, args),
            Expr::List { items, optional } => (self.list(&items, &optional), Expr::List { items, optional }),
            Expr::Map { entries } => (self.map(&entries), Expr::Map { entries }),
            Expr::Message { type_name, fields } => {
                (self.message(id, &type_name, &fields), Expr::Message { type_name, fields })
            }
            Expr::Fold(fold) => (self.fold(&fold), Expr::Fold(fold)),
            Expr::Again(other) => (self.types[other].clone(), Expr::Again(other)),
            Expr::Broken => (Type::Error, Expr::Broken),
        };
        self.types[id] = of;
        self.ast.exprs[id] = expr;
    }

    fn report(&mut self, at: ExprId, message: impl Into<String>) {
        self.issues.report(self.ast.offsets[at], message);
    }

    fn undeclared(&mut self, at: ExprId, name: &str) -> Type {
        self.report(at, format!("undeclared reference to '{name}' (in container '')"));
        Type::Error
    }

    fn mismatch(&mut self, at: ExprId, expected: &Type, found: &Type) {
        self.report(at, format!("expected type '{expected}' but found '{found}'"));
    }

    fn assignable(&mut self, to: &Type, from: &Type) -> bool {
        self.bindings.assignable(&[(to, from)])
    }

    fn ident(&mut self, id: ExprId, name: &str) -> Type {
        match self.lookup(name) {
            Some(of) => of,
            None => self.undeclared(id, name),
        }
    }

    /// The type of a name: one that a macro gave, a variable, or the name of a type.
    fn lookup(&mut self, name: &str) -> Option<Type> {
        let plain = name.strip_prefix('.').unwrap_or(name);
        if let Some((_, of)) = self.locals.iter().rev().find(|(local, _)| local == plain) {
            return Some(of.clone());
        }
        match plain {
            "self" => Some(self.decls.type_of(self.decl)),
            "oldSelf" => {
                self.uses_old_self = true;
                let of = self.decls.type_of(self.decl);
                Some(if self.old_self_is_optional { Type::optional(of) } else { of })
            }
            _ => functions::named_type(plain).map(|of| Type::Meta(Some(of.into()))),
        }
    }

    /// The name with dots that an expression spells.
    fn qualified(&self, id: ExprId) -> Option<String> {
        match self.ast.get(id) {
            Expr::Ident(name) => Some(name.clone()),
            Expr::Select { operand, field, test_only: false } => {
                Some(format!("{}.{field}", self.qualified(*operand)?))
            }
            _ => None,
        }
    }

    fn select(&mut self, id: ExprId, operand: ExprId, field: String, test_only: bool) -> (Type, Expr) {
        // Names with dots stand for types alone.
        if !test_only
            && let Some(prefix) = self.qualified(operand)
            && let Some(of) = functions::named_type(&format!("{prefix}.{field}"))
        {
            let name = format!("{prefix}.{field}");
            return (Type::Meta(Some(of.into())), Expr::Ident(name));
        }
        let of = self.field_of(id, operand, &field, false);
        let of = if test_only { Type::Bool } else { self.bindings.known(&of) };
        (of, Expr::Select { operand, field, test_only })
    }

    fn field_of(&mut self, id: ExprId, operand: ExprId, field: &str, optional: bool) -> Type {
        self.visit(operand);
        let of = self.bindings.known(&self.types[operand]);
        let (target, was_optional) = of.unwrapped();
        let found = match target {
            Type::Map(_, value) => (**value).clone(),
            Type::Object(decl) => match self.decls.field(*decl, field) {
                Some(field) => self.decls.type_of(field),
                None => {
                    self.report(id, format!("undefined field '{field}'"));
                    Type::Error
                }
            },
            Type::Library(_) => {
                self.report(id, format!("undefined field '{field}'"));
                Type::Error
            }
            Type::Variable(_) => {
                self.assignable(&Type::Dyn, &target.clone());
                Type::Dyn
            }
            other => {
                if !other.is_dyn_or_error() {
                    self.report(id, format!("type '{other}' does not support field selection"));
                }
                Type::Dyn
            }
        };
        if was_optional || optional { Type::optional(found) } else { found }
    }

    fn call(
        &mut self,
        id: ExprId,
        function: String,
        target: Option<ExprId>,
        args: Vec<ExprId>,
    ) -> (Type, Expr) {
        if function == "_?._" {
            return (self.optional_select(id, &args), Expr::Call { function, target, args });
        }
        for arg in &args {
            self.visit(*arg);
        }
        // What is called on a name with dots may be a function of that name.
        if let Some(target) = target
            && let Some(prefix) = self.qualified(target)
            && let Some(found) = functions::find(&format!("{prefix}.{function}"))
        {
            let of = self.resolve(id, found, None, &args);
            return (of, Expr::Call { function: found.name.to_owned(), target: None, args });
        }
        if let Some(target) = target {
            self.visit(target);
        }
        let of = match functions::find(&function) {
            Some(found) => self.resolve(id, found, target, &args),
            None => self.undeclared(id, &function),
        };
        (of, Expr::Call { function, target, args })
    }

    fn optional_select(&mut self, id: ExprId, args: &[ExprId]) -> Type {
        let (Some(operand), Some(field)) = (args.first(), args.get(1)) else { return Type::Error };
        let Expr::Literal(Literal::String(name)) = self.ast.get(*field).clone() else { return Type::Error };
        self.types[*field] = Type::String;
        let of = self.field_of(id, *operand, &name, true);
        self.overloads[id] = functions::find("_?._").map_or(Vec::new(), |it| it.overloads.iter().collect());
        self.bindings.known(&of)
    }

    /// The type that a call gives, by the signatures that fit it.
    fn resolve(
        &mut self,
        id: ExprId,
        function: &'static Function,
        target: Option<ExprId>,
        args: &[ExprId],
    ) -> Type {
        if matches!(function.name, "_&&_" | "_||_") {
            return self.logic(id, function, args);
        }
        let given: Vec<Type> = target.iter().chain(args).map(|arg| self.types[*arg].clone()).collect();
        let mut result: Option<Type> = None;
        for overload in &function.overloads {
            if overload.member != target.is_some() || overload.args.len() != given.len() {
                continue;
            }
            let fresh = self.bindings.fresh(&overload.open);
            let wanted: Vec<Type> = overload.args.iter().map(|it| fresh.fill(it)).collect();
            let pairs: Vec<(&Type, &Type)> = given.iter().zip(&wanted).collect();
            if !self.bindings.assignable(&pairs) {
                continue;
            }
            self.overloads[id].push(overload);
            let of = self.bindings.known(&fresh.fill(&overload.result));
            result = Some(match result {
                None => of,
                Some(first) if first == Type::Dyn || first == of => first,
                Some(_) => Type::Dyn,
            });
        }
        result.unwrap_or_else(|| {
            let shown: Vec<String> = given.iter().map(|it| self.bindings.settle(it).to_string()).collect();
            let signature = match (target, shown.split_first()) {
                (Some(_), Some((first, rest))) => format!("{first}.({})", rest.join(", ")),
                _ => format!("({})", shown.join(", ")),
            };
            let name = function.name;
            self.report(id, format!("found no matching overload for '{name}' applied to '{signature}'"));
            Type::Error
        })
    }

    fn logic(&mut self, id: ExprId, function: &'static Function, args: &[ExprId]) -> Type {
        let mut fits = true;
        for arg in args {
            let of = self.types[*arg].clone();
            if !self.assignable(&of, &Type::Bool) {
                self.mismatch(*arg, &Type::Bool, &of);
                fits = false;
            }
        }
        self.overloads[id] = function.overloads.iter().collect();
        if fits { Type::Bool } else { Type::Error }
    }

    fn message(&mut self, id: ExprId, type_name: &str, fields: &[(String, ExprId)]) -> Type {
        for (_, value) in fields {
            self.visit(*value);
        }
        match self.lookup(type_name) {
            Some(Type::Meta(Some(of))) => {
                self.report(id, format!("'{of}' is not a message type"));
                Type::Error
            }
            Some(of) => {
                self.report(id, format!("'{of}' is not a type"));
                Type::Error
            }
            None => self.undeclared(id, type_name),
        }
    }

    fn expect(&mut self, id: ExprId, wanted: &Type) {
        let found = self.types[id].clone();
        if !self.assignable(wanted, &found) {
            self.mismatch(id, wanted, &found);
        }
    }
}

fn literal_type(literal: &Literal) -> Type {
    match literal {
        Literal::Null => Type::Null,
        Literal::Bool(_) => Type::Bool,
        Literal::Int(_) => Type::Int,
        Literal::Uint(_) => Type::Uint,
        Literal::Double(_) => Type::Double,
        Literal::String(_) => Type::String,
        Literal::Bytes(_) => Type::Bytes,
    }
}

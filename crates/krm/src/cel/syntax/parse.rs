//! Operators, from the loosest to the tightest.

use super::recover::Stuck;
use super::token::{Kind, Kinds, STARTS, Token};
use super::{DEEPEST, lex};
use crate::cel::ast::{Ast, Expr, ExprId};
use crate::cel::report::Issues;

/// Reads one expression.
pub(super) struct Parser<'s, 'i> {
    pub source: &'s str,
    pub tokens: Vec<Token<'s>>,
    pub at: usize,
    pub issues: &'i mut Issues,
    pub ast: Ast,
    /// What the brackets and the like around here wait for.
    pub awaited: Vec<Kinds>,
    /// Nothing has fitted since the last fault was told: what follows from it is not told.
    pub recovering: bool,
    pub recoveries: usize,
    pub last_stuck: Option<usize>,
    pub given_up: bool,
    depth: usize,
}

impl<'s, 'i> Parser<'s, 'i> {
    pub fn new(source: &'s str, issues: &'i mut Issues) -> Parser<'s, 'i> {
        Parser {
            source,
            tokens: lex::words(source, issues),
            at: 0,
            issues,
            ast: Ast::default(),
            awaited: Vec::new(),
            recovering: false,
            recoveries: 0,
            last_stuck: None,
            given_up: false,
            depth: 0,
        }
    }

    /// The whole expression, to its end.
    pub fn expression(mut self) -> Ast {
        const END: Kinds = Kinds::of(&[Kind::End]);
        self.ast.root = self.within(END, Parser::expr);
        let _ = self.expect(Kind::End, Kinds::default());
        self.ast
    }

    pub(super) fn expr(&mut self) -> ExprId {
        self.depth += 1;
        if self.depth > DEEPEST && !self.given_up {
            self.issues.report_whole(format!("expression recursion limit exceeded: {DEEPEST}"));
            self.give_up();
        }
        let id = if self.given_up { self.broken() } else { self.conditional() };
        self.depth -= 1;
        id
    }

    pub(super) fn broken(&mut self) -> ExprId {
        let offset = self.token().offset;
        self.ast.add(Expr::Broken, offset)
    }

    pub(super) fn call(&mut self, function: &str, args: Vec<ExprId>, offset: usize) -> ExprId {
        self.ast.add(Expr::Call { function: function.to_owned(), target: None, args }, offset)
    }

    fn conditional(&mut self) -> ExprId {
        const COLON: Kinds = Kinds::of(&[Kind::Colon]);
        let condition = self.any_of();
        if self.kind() != Kind::Question {
            return condition;
        }
        let operator = self.take();
        let yes = self.within(COLON, Parser::any_of);
        if let Err(Stuck) = self.expect(Kind::Colon, STARTS) {
            return self.broken();
        }
        let no = self.expr();
        self.call("_?_:_", vec![condition, yes, no], operator.offset)
    }

    fn any_of(&mut self) -> ExprId {
        self.joined(Kind::Or, "_||_", |parser| parser.joined(Kind::And, "_&&_", Parser::relation))
    }

    /// Terms with the same operator between them.
    fn joined(&mut self, kind: Kind, function: &str, term: impl Fn(&mut Self) -> ExprId) -> ExprId {
        let first = term(self);
        let mut terms = vec![first];
        let mut offset = 0;
        while self.kind() == kind {
            offset = self.take().offset;
            terms.push(term(self));
        }
        if terms.len() == 1 { first } else { self.call(function, terms, offset) }
    }

    fn relation(&mut self) -> ExprId {
        let function = |kind| match kind {
            Kind::Less => Some("_<_"),
            Kind::LessEquals => Some("_<=_"),
            Kind::GreaterEquals => Some("_>=_"),
            Kind::Greater => Some("_>_"),
            Kind::Equals => Some("_==_"),
            Kind::NotEquals => Some("_!=_"),
            Kind::In => Some("@in"),
            _ => None,
        };
        self.chained(function, Parser::sum)
    }

    fn sum(&mut self) -> ExprId {
        let function = |kind| match kind {
            Kind::Plus => Some("_+_"),
            Kind::Minus => Some("_-_"),
            _ => None,
        };
        self.chained(function, Parser::product)
    }

    fn product(&mut self) -> ExprId {
        let function = |kind| match kind {
            Kind::Star => Some("_*_"),
            Kind::Slash => Some("_/_"),
            Kind::Percent => Some("_%_"),
            _ => None,
        };
        self.chained(function, Parser::unary)
    }

    /// Operations from left to right.
    fn chained(
        &mut self,
        function: impl Fn(Kind) -> Option<&'static str>,
        operand: fn(&mut Self) -> ExprId,
    ) -> ExprId {
        let mut left = operand(self);
        while let Some(function) = function(self.kind()) {
            let operator = self.take();
            let right = operand(self);
            left = self.call(function, vec![left, right], operator.offset);
        }
        left
    }

    fn unary(&mut self) -> ExprId {
        if let Err(Stuck) = self.expect_one_of(STARTS) {
            return self.broken();
        }
        let (kind, function) = match self.kind() {
            Kind::Not => (Kind::Not, "!_"),
            // A number may have a sign of its own.
            Kind::Minus if !matches!(self.kind_after(1), Kind::Int | Kind::Float) => (Kind::Minus, "-_"),
            _ => return self.member(),
        };
        let offset = self.token().offset;
        let mut count = 0;
        while self.kind() == kind {
            self.take();
            count += 1;
        }
        let operand = self.member();
        if count % 2 == 0 { operand } else { self.call(function, vec![operand], offset) }
    }
}

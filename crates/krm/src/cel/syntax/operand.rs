//! Operands: names, literals, lists, maps, and what is selected of them or called on them.

use super::parse::Parser;
use super::recover::Stuck;
use super::token::{Kind, Kinds, STARTS, Token};
use super::unescape::unescape;
use crate::cel::ast::{Entry, Expr, ExprId, Literal};

const COMMA: Kinds = Kinds::of(&[Kind::Comma]);
const QUESTION: Kinds = Kinds::of(&[Kind::Question]);
const CLOSE_PAREN: Kinds = Kinds::of(&[Kind::CloseParen]);
const CLOSE_BRACKET: Kinds = Kinds::of(&[Kind::CloseBracket]);
const CLOSE_BRACE: Kinds = Kinds::of(&[Kind::CloseBrace]);
const COLON: Kinds = Kinds::of(&[Kind::Colon]);
const NAMES: Kinds = Kinds::of(&[Kind::Ident, Kind::EscapedIdent]);

/// Names that may not be used for variables and functions.
pub(in crate::cel) const RESERVED: [&str; 17] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

impl Parser<'_, '_> {
    pub(super) fn member(&mut self) -> ExprId {
        let mut operand = match self.primary() {
            Ok(id) => id,
            Err(Stuck) => self.broken(),
        };
        loop {
            let next = match self.kind() {
                Kind::Dot => self.selection(operand),
                Kind::OpenBracket => self.index(operand),
                _ => return operand,
            };
            operand = match next {
                Ok(id) => id,
                Err(Stuck) => self.broken(),
            };
        }
    }

    fn selection(&mut self, operand: ExprId) -> Result<ExprId, Stuck> {
        let optional = self.kind_after(1) == Kind::Question;
        let name_at = if optional { 2 } else { 1 };
        if !NAMES.contains(self.kind_after(name_at)) {
            return self.no_way_on(name_at + 1);
        }
        let dot = self.take();
        if optional {
            self.take();
        }
        let name = self.take();
        if name.kind == Kind::Ident && self.kind() == Kind::OpenParen && !optional {
            let open = self.take();
            let args = self.arguments()?;
            return Ok(self.member_call(name.text, operand, args, open.offset));
        }
        let field = self.field_name(name);
        if optional {
            let literal = self.ast.add(Expr::Literal(Literal::String(field)), name.offset);
            return Ok(self.call("_?._", vec![operand, literal], dot.offset));
        }
        Ok(self.ast.add(Expr::Select { operand, field, test_only: false }, dot.offset))
    }

    fn index(&mut self, operand: ExprId) -> Result<ExprId, Stuck> {
        let open = self.take();
        self.expect_one_of(STARTS.with(QUESTION))?;
        let optional = self.kind() == Kind::Question;
        if optional {
            self.take();
        }
        let index = self.within(CLOSE_BRACKET, Parser::expr);
        self.expect(Kind::CloseBracket, self.what_follows())?;
        let function = if optional { "_[?_]" } else { "_[_]" };
        Ok(self.call(function, vec![operand, index], open.offset))
    }

    /// What stands in the parentheses of a call, and the closing one.
    fn arguments(&mut self) -> Result<Vec<ExprId>, Stuck> {
        self.expect_one_of(STARTS.with(CLOSE_PAREN))?;
        let mut args = Vec::new();
        if self.kind() != Kind::CloseParen {
            self.within(COMMA.with(CLOSE_PAREN), |parser| {
                args.push(parser.expr());
                while parser.kind() == Kind::Comma {
                    parser.take();
                    args.push(parser.expr());
                }
            });
        }
        self.expect(Kind::CloseParen, self.what_follows())?;
        Ok(args)
    }

    fn primary(&mut self) -> Result<ExprId, Stuck> {
        match self.kind() {
            Kind::Dot if self.kind_after(1) != Kind::Ident => self.no_way_on(2),
            Kind::Dot | Kind::Ident => self.name(),
            Kind::OpenParen => {
                self.take();
                let inner = self.within(CLOSE_PAREN, Parser::expr);
                self.expect(Kind::CloseParen, self.what_follows())?;
                Ok(inner)
            }
            Kind::OpenBracket => self.list(),
            Kind::OpenBrace => self.map(),
            Kind::Minus if matches!(self.kind_after(1), Kind::Int | Kind::Float) => {
                let sign = self.take();
                Ok(self.literal("-", sign.offset))
            }
            kind if STARTS.contains(kind) && kind != Kind::Minus && kind != Kind::Not => {
                let offset = self.token().offset;
                Ok(self.literal("", offset))
            }
            _ => self.stuck(STARTS),
        }
    }

    /// A variable, a call, or a message of a type.
    fn name(&mut self) -> Result<ExprId, Stuck> {
        if let Some(words) = self.message_name() {
            return self.message(words);
        }
        let start = self.token().offset;
        let dot = if self.kind() == Kind::Dot { self.take().text } else { "" };
        let name = self.take();
        let reserved = RESERVED.contains(&name.text);
        if reserved {
            self.issues.report(start, format!("reserved identifier: {}", name.text));
        }
        let full = format!("{dot}{}", name.text);
        if self.kind() == Kind::OpenParen {
            let open = self.take();
            let args = self.arguments()?;
            if reserved {
                return Ok(self.ast.add(Expr::Broken, start));
            }
            return Ok(self.global_call(&full, args, open.offset));
        }
        if reserved {
            return Ok(self.ast.add(Expr::Broken, start));
        }
        Ok(self.ast.add(Expr::Ident(full), name.offset))
    }

    /// How many words the name of a message takes that starts here; `None` when none does.
    fn message_name(&self) -> Option<usize> {
        let mut words = usize::from(self.kind() == Kind::Dot) + 1;
        while self.kind_after(words) == Kind::Dot && self.kind_after(words + 1) == Kind::Ident {
            words += 2;
        }
        (self.kind_after(words) == Kind::OpenBrace).then_some(words)
    }

    fn message(&mut self, words: usize) -> Result<ExprId, Stuck> {
        let mut type_name = String::new();
        for _ in 0..words {
            type_name.push_str(self.take().text);
        }
        let open = self.take();
        self.expect_one_of(NAMES.with(QUESTION).with(COMMA).with(CLOSE_BRACE))?;
        let mut fields = Vec::new();
        while self.kind() == Kind::Question || NAMES.contains(self.kind()) {
            if self.kind() == Kind::Question {
                self.take();
            }
            if !NAMES.contains(self.kind()) {
                return self.stuck(NAMES);
            }
            let name = self.take();
            let name = self.field_name(name);
            let value = self.within(COMMA.with(CLOSE_BRACE), |parser| {
                parser.expect(Kind::Colon, STARTS)?;
                Ok(parser.expr())
            })?;
            fields.push((name, value));
            if !self.goes_on() {
                break;
            }
        }
        self.closing(Kind::CloseBrace)?;
        Ok(self.ast.add(Expr::Message { type_name, fields }, open.offset))
    }

    fn list(&mut self) -> Result<ExprId, Stuck> {
        let open = self.take();
        self.expect_one_of(STARTS.with(QUESTION).with(COMMA).with(CLOSE_BRACKET))?;
        let (mut items, mut optional) = (Vec::new(), Vec::new());
        while self.kind() == Kind::Question || STARTS.contains(self.kind()) {
            optional.push(self.marked_optional());
            items.push(self.within(COMMA.with(CLOSE_BRACKET), Parser::expr));
            if !self.goes_on() {
                break;
            }
        }
        self.closing(Kind::CloseBracket)?;
        Ok(self.ast.add(Expr::List { items, optional }, open.offset))
    }

    fn map(&mut self) -> Result<ExprId, Stuck> {
        let open = self.take();
        self.expect_one_of(STARTS.with(QUESTION).with(COMMA).with(CLOSE_BRACE))?;
        let mut entries = Vec::new();
        while self.kind() == Kind::Question || STARTS.contains(self.kind()) {
            let optional = self.marked_optional();
            let entry = self.within(COMMA.with(CLOSE_BRACE), |parser| {
                let key = parser.within(COLON, Parser::expr);
                parser.expect(Kind::Colon, STARTS)?;
                Ok(Entry { key, value: parser.expr(), optional })
            })?;
            entries.push(entry);
            if !self.goes_on() {
                break;
            }
        }
        self.closing(Kind::CloseBrace)?;
        Ok(self.ast.add(Expr::Map { entries }, open.offset))
    }

    fn marked_optional(&mut self) -> bool {
        let marked = self.kind() == Kind::Question;
        if marked {
            self.take();
        }
        marked
    }

    /// Whether a comma with another item follows; a last comma is left for the closing.
    fn goes_on(&mut self) -> bool {
        let more = self.kind() == Kind::Comma
            && !matches!(self.kind_after(1), Kind::CloseBracket | Kind::CloseBrace);
        if more {
            self.take();
        }
        more
    }

    /// A last comma, if there is one, and the closing bracket or brace.
    fn closing(&mut self, kind: Kind) -> Result<(), Stuck> {
        self.expect_one_of(COMMA.with(Kinds::of(&[kind])))?;
        if self.kind() == Kind::Comma {
            self.take();
        }
        self.expect(kind, self.what_follows())?;
        Ok(())
    }

    fn field_name(&mut self, token: Token<'_>) -> String {
        if token.kind == Kind::EscapedIdent {
            self.issues.report(token.offset, "unsupported syntax: '`'");
        }
        token.text.to_owned()
    }

    fn literal(&mut self, sign: &str, offset: usize) -> ExprId {
        let token = self.take();
        match read_literal(token, sign) {
            Ok(literal) => self.ast.add(Expr::Literal(literal), offset),
            Err(fault) => {
                self.issues.report(offset, fault);
                self.ast.add(Expr::Broken, offset)
            }
        }
    }
}

fn read_literal(token: Token<'_>, sign: &str) -> Result<Literal, &'static str> {
    let number = |text: &str| match text.strip_prefix("0x") {
        Some(digits) => (format!("{sign}{digits}"), 16),
        None => (format!("{sign}{text}"), 10),
    };
    match token.kind {
        Kind::Int => {
            let (digits, base) = number(token.text);
            i64::from_str_radix(&digits, base).map(Literal::Int).map_err(|_| "invalid int literal")
        }
        Kind::Uint => {
            let (digits, base) = number(&token.text[..token.text.len() - 1]);
            u64::from_str_radix(&digits, base).map(Literal::Uint).map_err(|_| "invalid uint literal")
        }
        Kind::Float => {
            let float: Option<f64> = format!("{sign}{}", token.text).parse().ok();
            float.filter(|it| it.is_finite()).map(Literal::Double).ok_or("invalid double literal")
        }
        Kind::String => {
            let bytes = unescape(token.text, false)?;
            String::from_utf8(bytes).map(Literal::String).map_err(|_| "unable to unescape string")
        }
        Kind::Bytes => unescape(&token.text[1..], true).map(Literal::Bytes),
        Kind::True => Ok(Literal::Bool(true)),
        Kind::False => Ok(Literal::Bool(false)),
        _ => Ok(Literal::Null),
    }
}

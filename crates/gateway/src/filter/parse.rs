//! Reads a filter into a tree.

use super::FilterError;
use super::lex::{Token, tokens};
use super::syntax::{Ast, Node, Operator};

/// How deep expressions may be nested.
const DEEPEST: usize = 48;
/// Operators between two operands that a filter may have.
const MOST_OPERATORS: usize = 200;

/// Reads a filter.
pub fn parse(text: &str) -> Result<Ast, FilterError> {
    let mut parser = Parser { tokens: tokens(text)?, next: 0, depth: 0, operators: 0 };
    let ast = parser.expression(0)?;
    match parser.peek() {
        Token::End => Ok(ast),
        Token::Mark("?") => Err(parser.error("the operator ?: is not supported")),
        _ => Err(parser.error("an operator is expected here")),
    }
}

struct Parser {
    tokens: Vec<(Token, usize)>,
    next: usize,
    depth: usize,
    operators: usize,
}

impl Parser {
    fn peek(&self) -> &Token {
        self.tokens.get(self.next).map_or(&Token::End, |(token, _)| token)
    }

    fn at(&self) -> usize {
        let last = self.tokens.len().saturating_sub(1);
        self.tokens.get(self.next.min(last)).map_or(0, |(_, at)| *at)
    }

    fn error(&self, why: impl Into<String>) -> FilterError {
        FilterError { why: why.into(), at: self.at() }
    }

    fn take(&mut self) -> Token {
        let token = self.peek().clone();
        self.next += 1;
        token
    }

    fn is_next(&mut self, mark: &str) -> bool {
        let is_next = matches!(self.peek(), Token::Mark(found) if *found == mark);
        if is_next {
            self.next += 1;
        }
        is_next
    }

    fn expect(&mut self, mark: &str) -> Result<(), FilterError> {
        match self.is_next(mark) {
            true => Ok(()),
            false => Err(self.error(format!("{mark:?} is expected here"))),
        }
    }

    fn deeper<T>(
        &mut self,
        read: impl FnOnce(&mut Parser) -> Result<T, FilterError>,
    ) -> Result<T, FilterError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.error(format!("expressions are nested more than {DEEPEST} deep")));
        }
        let read = read(self);
        self.depth -= 1;
        read
    }

    fn expression(&mut self, binds: u8) -> Result<Ast, FilterError> {
        self.deeper(|parser| {
            let mut left = parser.unary()?;
            while let Some(operator) = parser.operator().filter(|operator| operator.binds() > binds) {
                // Each operator can make the tree deeper by one.
                parser.operators += 1;
                if parser.operators > MOST_OPERATORS {
                    return Err(parser.error(format!("it has more than {MOST_OPERATORS} operators")));
                }
                let at = left.at;
                parser.next += 1;
                let right = parser.expression(operator.binds())?;
                left = Ast { node: Node::Binary(operator, Box::new(left), Box::new(right)), at };
            }
            Ok(left)
        })
    }

    fn operator(&self) -> Option<Operator> {
        Some(match self.peek() {
            Token::Mark("||") => Operator::Or,
            Token::Mark("&&") => Operator::And,
            Token::Mark("==") => Operator::Equal,
            Token::Mark("!=") => Operator::Unequal,
            Token::Mark("<") => Operator::Less,
            Token::Mark("<=") => Operator::LessOrEqual,
            Token::Mark(">") => Operator::Greater,
            Token::Mark(">=") => Operator::GreaterOrEqual,
            Token::Mark("+") => Operator::Add,
            Token::Mark("-") => Operator::Subtract,
            Token::Mark("*") => Operator::Multiply,
            Token::Mark("/") => Operator::Divide,
            Token::Mark("%") => Operator::Remainder,
            Token::Name(name) if name == "in" => Operator::In,
            _ => return None,
        })
    }

    fn unary(&mut self) -> Result<Ast, FilterError> {
        let at = self.at();
        if self.is_next("!") {
            let operand = self.deeper(Parser::unary)?;
            return Ok(Ast { node: Node::Not(Box::new(operand)), at });
        }
        if self.is_next("-") {
            let operand = self.deeper(Parser::unary)?;
            let node = match operand.node {
                Node::Int(number) => Node::Int(-number),
                Node::Double(number) => Node::Double(-number),
                _ => Node::Negate(Box::new(operand)),
            };
            return Ok(Ast { node, at });
        }
        self.member()
    }

    fn member(&mut self) -> Result<Ast, FilterError> {
        let mut ast = self.primary()?;
        let mut parts = 0;
        loop {
            parts += 1;
            if parts > DEEPEST {
                return Err(self.error(format!("a path has more than {DEEPEST} parts")));
            }
            let at = ast.at;
            if self.is_next(".") {
                let Token::Name(name) = self.take() else {
                    self.next -= 1;
                    return Err(self.error("the name of a field is expected here"));
                };
                ast = match self.is_next("(") {
                    true => {
                        let arguments = self.list(")")?;
                        Ast { node: Node::Call(Some(Box::new(ast)), name, arguments), at }
                    }
                    false => Ast { node: Node::Select(Box::new(ast), name), at },
                };
            } else if self.is_next("[") {
                let index = self.expression(0)?;
                self.expect("]")?;
                ast = Ast { node: Node::Index(Box::new(ast), Box::new(index)), at };
            } else {
                return Ok(ast);
            }
        }
    }

    fn primary(&mut self) -> Result<Ast, FilterError> {
        let at = self.at();
        let node = match self.take() {
            Token::Int(number) => Node::Int(number),
            Token::Double(number) => Node::Double(number),
            Token::Text(text) => Node::Text(text),
            Token::Mark("(") => {
                let inner = self.expression(0)?;
                if matches!(self.peek(), Token::Mark("?")) {
                    return Err(self.error("the operator ?: is not supported"));
                }
                self.expect(")")?;
                return Ok(inner);
            }
            Token::Mark("[") => Node::List(self.list("]")?),
            Token::Mark("{") => return Err(FilterError { why: "maps are not supported".to_owned(), at }),
            Token::Name(name) => match name.as_str() {
                "true" => Node::Bool(true),
                "false" => Node::Bool(false),
                "null" => Node::Null,
                "in" => return Err(FilterError { why: "a value is expected before `in`".to_owned(), at }),
                _ if self.is_next("(") => Node::Call(None, name, self.list(")")?),
                _ => Node::Name(name),
            },
            Token::End => return Err(FilterError { why: "a value is expected at the end".to_owned(), at }),
            Token::Mark(mark) => {
                return Err(FilterError { why: format!("a value is expected, not {mark:?}"), at });
            }
        };
        Ok(Ast { node, at })
    }

    fn list(&mut self, end: &str) -> Result<Vec<Ast>, FilterError> {
        let mut items = Vec::new();
        while !self.is_next(end) {
            items.push(self.expression(0)?);
            if !self.is_next(",") {
                self.expect(end)?;
                break;
            }
        }
        Ok(items)
    }
}

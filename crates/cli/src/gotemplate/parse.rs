//! Words to a tree.

use std::collections::HashMap;

use super::functions;
use super::literals;
use super::tree::{Block, Command, Node, Operand, Pipeline, Span, Term};
use super::words::{self, Kind, Word};

/// More than anybody writes, and less than a stack holds.
const DEEPEST: usize = 32;

/// What is wrong, and where.
pub struct Wrong {
    pub why: String,
    pub at: usize,
    pub line: usize,
}

type Read<T> = Result<T, Wrong>;

/// The tree of a template, and those of the templates it defines.
pub struct Trees {
    pub root: Vec<Node>,
    pub defined: HashMap<String, Vec<Node>>,
}

/// Reads a template.
pub fn read(source: &str) -> Read<Trees> {
    let words = words::of(source);
    let mut parser = Parser {
        source,
        words,
        next: 0,
        variables: vec!["$".to_owned()],
        ranges: 0,
        depth: 0,
        action_line: None,
        defined: HashMap::new(),
    };
    let mut root = Vec::new();
    while parser.peek().kind != Kind::End {
        match parser.piece()? {
            Piece::Node(node) => root.push(node),
            Piece::Nothing => {}
            Piece::End => return Err(parser.wrong("unexpected {{end}}")),
            Piece::Else => return Err(parser.wrong("unexpected {{else}}")),
        }
    }
    Ok(Trees { root, defined: parser.defined })
}

/// What stands next in a list of pieces.
enum Piece {
    Node(Node),
    /// A definition: it leaves nothing where it stands.
    Nothing,
    End,
    Else,
}

struct Parser<'a> {
    source: &'a str,
    words: Vec<Word<'a>>,
    next: usize,
    variables: Vec<String>,
    ranges: usize,
    depth: usize,
    action_line: Option<usize>,
    defined: HashMap<String, Vec<Node>>,
}

impl<'a> Parser<'a> {
    /// The last word is the end, and nobody gets past it.
    fn peek(&self) -> &Word<'a> {
        &self.words[self.next.min(self.words.len() - 1)]
    }

    fn take(&mut self) -> Word<'a> {
        let word = self.peek().clone();
        self.next += 1;
        word
    }

    fn skip_space(&mut self) {
        while self.peek().kind == Kind::Space {
            self.next += 1;
        }
    }

    fn peek_word(&mut self) -> &Word<'a> {
        self.skip_space();
        self.peek()
    }

    fn take_word(&mut self) -> Word<'a> {
        self.skip_space();
        self.take()
    }

    /// The failure at the word that was taken last.
    fn wrong(&self, why: impl Into<String>) -> Wrong {
        let word = &self.words[self.next.saturating_sub(1).min(self.words.len() - 1)];
        Wrong { why: why.into(), at: word.at, line: word.line }
    }

    fn unexpected(&self, word: &Word<'_>, context: &str) -> Wrong {
        let why = match &word.kind {
            Kind::Error(why) => match self.action_line.filter(|line| *line != word.line) {
                Some(line) if why.ends_with(" action") => format!("{why} started at {}:{line}", super::NAME),
                Some(line) => format!("{why} in action started at {}:{line}", super::NAME),
                None => why.clone(),
            },
            _ => format!("unexpected {} in {context}", word.shown()),
        };
        Wrong { why, at: word.at, line: word.line }
    }

    fn expect_right_braces(&mut self, context: &str) -> Read<()> {
        let word = self.take_word();
        match word.kind {
            Kind::RightBraces => Ok(()),
            _ => Err(self.unexpected(&word, context)),
        }
    }

    fn deeper<T>(&mut self, within: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth == DEEPEST {
            return Err(self.wrong("max expression depth exceeded"));
        }
        self.depth += 1;
        let found = within(self);
        self.depth -= 1;
        found
    }

    /// Pieces up to `{{end}}` or `{{else}}`.
    fn pieces(&mut self) -> Read<(Vec<Node>, Piece)> {
        let mut nodes = Vec::new();
        while self.peek_word().kind != Kind::End {
            match self.piece()? {
                Piece::Node(node) => nodes.push(node),
                Piece::Nothing => {}
                end => return Ok((nodes, end)),
            }
        }
        self.next += 1;
        Err(self.wrong("unexpected EOF"))
    }

    fn piece(&mut self) -> Read<Piece> {
        let word = self.take_word();
        match word.kind {
            Kind::Text => Ok(Piece::Node(Node::Text(word.text.to_owned()))),
            Kind::LeftBraces => {
                self.action_line = Some(word.line);
                let piece = self.deeper(Self::action);
                self.action_line = None;
                piece
            }
            _ => Err(self.unexpected(&word, "input")),
        }
    }

    fn action(&mut self) -> Read<Piece> {
        let word = self.peek_word().clone();
        if word.kind != Kind::Keyword {
            return self
                .pipeline("command", &Kind::RightBraces)
                .map(|found| Piece::Node(Node::Action(found)));
        }
        self.take_word();
        match word.text {
            "if" => self.block("if").map(|block| Piece::Node(Node::If(block))),
            "with" => self.block("with").map(|block| Piece::Node(Node::With(block))),
            "range" => self.block("range").map(|block| Piece::Node(Node::Range(block))),
            "end" => self.expect_right_braces("end").map(|()| Piece::End),
            "else" => {
                // With another condition, that is what is read next.
                let next = self.peek_word();
                if next.kind == Kind::Keyword && matches!(next.text, "if" | "with") {
                    return Ok(Piece::Else);
                }
                self.expect_right_braces("else").map(|()| Piece::Else)
            }
            "break" | "continue" => {
                self.expect_right_braces(&format!("{{{{{}}}}}", word.text))?;
                match (self.ranges, word.text) {
                    (0, _) => Err(self.wrong(format!("{{{{{}}}}} outside {{{{range}}}}", word.text))),
                    (_, "break") => Ok(Piece::Node(Node::Break)),
                    _ => Ok(Piece::Node(Node::Continue)),
                }
            }
            "define" => {
                let (name, _) = self.template_name("define clause")?;
                self.expect_right_braces("define clause")?;
                self.definition(name, "define clause")?;
                Ok(Piece::Nothing)
            }
            "template" => {
                let (name, span) = self.template_name("template clause")?;
                let argument = match self.peek_word().kind {
                    Kind::RightBraces => {
                        self.take_word();
                        None
                    }
                    _ => Some(self.pipeline("template clause", &Kind::RightBraces)?),
                };
                Ok(Piece::Node(Node::Template { name, argument, span }))
            }
            _ => {
                let (name, span) = self.template_name("block clause")?;
                let argument = Some(self.pipeline("block clause", &Kind::RightBraces)?);
                self.definition(name.clone(), "block clause")?;
                Ok(Piece::Node(Node::Template { name, argument, span }))
            }
        }
    }

    fn template_name(&mut self, context: &str) -> Read<(String, Span)> {
        let word = self.take_word();
        if !matches!(word.kind, Kind::Quoted | Kind::RawText) {
            return Err(self.unexpected(&word, context));
        }
        let name = literals::text(word.text).map_err(|why| self.wrong(why))?;
        let span = Span { start: word.at, end: word.at + word.text.len(), at: word.at };
        Ok((String::from_utf8_lossy(&name).into_owned(), span))
    }

    fn definition(&mut self, name: String, context: &str) -> Read<()> {
        // What is defined elsewhere sees nothing of what is around its definition.
        let variables = std::mem::replace(&mut self.variables, vec!["$".to_owned()]);
        let ranges = std::mem::take(&mut self.ranges);
        let (nodes, end) = self.pieces()?;
        (self.variables, self.ranges) = (variables, ranges);
        if !matches!(end, Piece::End) {
            return Err(self.wrong(format!("unexpected {{{{else}}}} in {context}")));
        }
        let is_blank = |nodes: &[Node]| {
            nodes.iter().all(|node| matches!(node, Node::Text(text) if text.trim().is_empty()))
        };
        match self.defined.get(&name) {
            Some(before) if !is_blank(before) && is_blank(&nodes) => Ok(()),
            Some(before) if !is_blank(before) => {
                let name = krm::field::quote(&name);
                Err(self.wrong(format!("template: multiple definition of template {name}")))
            }
            _ => {
                self.defined.insert(name, nodes);
                Ok(())
            }
        }
    }

    fn block(&mut self, context: &str) -> Read<Block> {
        let known = self.variables.len();
        let pipeline = self.pipeline(context, &Kind::RightBraces)?;
        let ranges = usize::from(context == "range");
        self.ranges += ranges;
        let (body, end) = self.pieces()?;
        self.ranges -= ranges;
        let mut otherwise = Vec::new();
        if matches!(end, Piece::Else) {
            let next = self.peek();
            let is_chained = next.kind == Kind::Keyword && next.text == context;
            if is_chained && context != "range" {
                self.take();
                let nested = self.deeper(|parser| parser.block(context))?;
                otherwise.push(if context == "if" { Node::If(nested) } else { Node::With(nested) });
            } else {
                let (nodes, end) = self.pieces()?;
                if !matches!(end, Piece::End) {
                    return Err(self.wrong("expected end; found {{else}}"));
                }
                otherwise = nodes;
            }
        }
        self.variables.truncate(known);
        Ok(Block { pipeline, body, otherwise })
    }

    fn pipeline(&mut self, context: &str, end: &Kind) -> Read<Pipeline> {
        let start = self.peek_word().at;
        let (variables, assigns) = self.declarations(context)?;
        let mut commands: Vec<Command> = Vec::new();
        let close = loop {
            let word = self.peek_word().clone();
            if word.kind == *end {
                self.take();
                break word.at;
            }
            match word.kind {
                Kind::Bool
                | Kind::CharConstant
                | Kind::Complex
                | Kind::Dot
                | Kind::Field
                | Kind::Identifier
                | Kind::Number
                | Kind::Nil
                | Kind::RawText
                | Kind::Quoted
                | Kind::Variable
                | Kind::LeftParen => commands.push(self.command()?),
                _ => return Err(self.unexpected(&word, context)),
            }
        };
        if commands.is_empty() {
            return Err(self.wrong(format!("missing value for {context}")));
        }
        let is_fixed = |command: &Command| {
            let term = command.words.first().map(|word| &word.term);
            matches!(
                term,
                Some(Term::Bool(_) | Term::Dot | Term::Nil | Term::Int(_) | Term::Float(_) | Term::Text(_))
            )
        };
        if let Some(stage) = commands.iter().skip(1).position(is_fixed) {
            return Err(self.wrong(format!("non executable command in pipeline stage {}", stage + 2)));
        }
        let end = commands.last().map_or(close, |command| command.span.end);
        Ok(Pipeline { variables, assigns, commands, span: Span { start, end, at: start } })
    }

    /// `$x :=`, `$x =`, and `$i, $x :=` of a range.
    fn declarations(&mut self, context: &str) -> Read<(Vec<String>, bool)> {
        let mut names = Vec::new();
        loop {
            let word = self.peek_word().clone();
            if word.kind != Kind::Variable {
                return Ok((names, false));
            }
            let before = self.next;
            self.take();
            let next = self.peek_word().clone();
            match next.kind {
                Kind::Assign | Kind::Declare => {
                    self.take();
                    names.push(word.text.to_owned());
                    self.variables.push(word.text.to_owned());
                    return Ok((names, next.kind == Kind::Assign));
                }
                Kind::Char if next.text == "," => {
                    self.take();
                    names.push(word.text.to_owned());
                    self.variables.push(word.text.to_owned());
                    if context != "range" || names.len() > 1 {
                        return Err(self.wrong(format!("too many declarations in {context}")));
                    }
                    if self.peek_word().kind != Kind::Variable {
                        return Err(self.wrong("range can only initialize variables"));
                    }
                }
                _ => {
                    self.next = before;
                    return Ok((names, false));
                }
            }
        }
    }

    fn command(&mut self) -> Read<Command> {
        let start = self.peek_word().at;
        let mut words: Vec<Operand> = Vec::new();
        loop {
            words.extend(self.operand()?);
            let word = self.peek().clone();
            match word.kind {
                Kind::Space => {
                    self.take();
                    continue;
                }
                Kind::RightBraces | Kind::RightParen => {}
                Kind::Pipe => {
                    self.take();
                }
                _ => return Err(self.unexpected(&word, "operand")),
            }
            break;
        }
        match words.last() {
            None => Err(self.wrong("empty command")),
            Some(last) => {
                let end = last.span.end;
                Ok(Command { words, span: Span { start, end, at: start } })
            }
        }
    }

    fn operand(&mut self) -> Read<Option<Operand>> {
        let Some(operand) = self.term()? else { return Ok(None) };
        if self.peek().kind != Kind::Field {
            return Ok(Some(operand));
        }
        let mut span = operand.span;
        span.at = self.peek().at;
        let mut fields = Vec::new();
        while self.peek().kind == Kind::Field {
            let word = self.take();
            span.end = word.at + word.text.len();
            fields.push(word.text[1..].to_owned());
        }
        let term = match operand.term {
            Term::Field(mut own) => {
                own.extend(fields);
                Term::Field(own)
            }
            Term::Variable(name, mut own) => {
                own.extend(fields);
                Term::Variable(name, own)
            }
            Term::Bool(_) | Term::Text(_) | Term::Int(_) | Term::Float(_) | Term::Nil | Term::Dot => {
                let text = self.source.get(operand.span.start..operand.span.end).unwrap_or("");
                return Err(self.wrong(format!("unexpected . after term {}", krm::field::quote(text))));
            }
            term => Term::Chain(Box::new(Operand { term, span: operand.span }), fields),
        };
        Ok(Some(Operand { term, span }))
    }

    fn term(&mut self) -> Read<Option<Operand>> {
        let word = self.peek_word().clone();
        let mut span = Span { start: word.at, end: word.at + word.text.len(), at: word.at };
        let text = word.text;
        if word.kind == Kind::LeftParen {
            self.take();
            let pipeline =
                self.deeper(|parser| parser.pipeline("parenthesized pipeline", &Kind::RightParen))?;
            let closing = self.next.saturating_sub(1);
            span.end = self.words.get(closing).map_or(span.end, |word| word.at + 1);
            return Ok(Some(Operand { term: Term::Pipeline(Box::new(pipeline)), span }));
        }
        let term = match word.kind {
            Kind::Identifier if functions::is_known(text) => Ok(Term::Function(text.to_owned())),
            Kind::Identifier if matches!(text, "call" | "js") => {
                Err(format!("function {} is not supported", krm::field::quote(text)))
            }
            Kind::Identifier => Err(format!("function {} not defined", krm::field::quote(text))),
            Kind::Dot => Ok(Term::Dot),
            Kind::Nil => Ok(Term::Nil),
            Kind::Variable if self.variables.iter().any(|known| known == text) => {
                Ok(Term::Variable(text.to_owned(), Vec::new()))
            }
            Kind::Variable => Err(format!("undefined variable {}", krm::field::quote(text))),
            Kind::Field => Ok(Term::Field(vec![text[1..].to_owned()])),
            Kind::Bool => Ok(Term::Bool(text == "true")),
            Kind::CharConstant => literals::character(text),
            Kind::Number | Kind::Complex => literals::number(text),
            Kind::Quoted | Kind::RawText => literals::text(text).map(Term::Text),
            _ => return Ok(None),
        };
        self.take();
        match term {
            Ok(term) => Ok(Some(Operand { term, span })),
            Err(why) => Err(self.wrong(why)),
        }
    }
}

//! A template as words: text outside of braces, and what stands within.

/// What a word is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// Why there are no more words.
    Error(String),
    Assign,
    Bool,
    Char,
    CharConstant,
    Complex,
    Declare,
    Dot,
    End,
    Field,
    Identifier,
    Keyword,
    LeftBraces,
    LeftParen,
    Nil,
    Number,
    Pipe,
    RawText,
    RightBraces,
    RightParen,
    Space,
    Quoted,
    Text,
    Variable,
}

/// A word and where it stands.
#[derive(Debug, Clone)]
pub struct Word<'a> {
    pub kind: Kind,
    pub text: &'a str,
    pub at: usize,
    pub line: usize,
}

impl Word<'_> {
    /// As messages name it.
    pub fn shown(&self) -> String {
        match &self.kind {
            Kind::End => "EOF".to_owned(),
            Kind::Error(why) => why.clone(),
            Kind::Keyword | Kind::Dot | Kind::Nil => format!("<{}>", self.text),
            _ if self.text.len() > 10 => {
                let begin: String = self.text.chars().take(10).collect();
                format!("{}...", krm::field::quote(&begin))
            }
            _ => krm::field::quote(self.text),
        }
    }
}

const KEYWORDS: [&str; 10] =
    ["block", "break", "continue", "define", "else", "end", "if", "range", "template", "with"];
const SPACES: [char; 4] = [' ', '\t', '\r', '\n'];

/// All words; the last is the end, or why it can't go on.
pub fn of(source: &str) -> Vec<Word<'_>> {
    let mut scanner = Scanner { source, at: 0, start: 0, parens: 0, words: Vec::new() };
    if let Err(why) = scanner.template() {
        let line = line_of(source, scanner.start);
        scanner.words.push(Word { kind: Kind::Error(why), text: "", at: scanner.start, line });
    }
    scanner.words
}

fn line_of(source: &str, at: usize) -> usize {
    source.get(..at).unwrap_or(source).matches('\n').count() + 1
}

struct Scanner<'a> {
    source: &'a str,
    at: usize,
    /// Where the present word begins.
    start: usize,
    parens: usize,
    words: Vec<Word<'a>>,
}

impl<'a> Scanner<'a> {
    fn rest(&self) -> &'a str {
        &self.source[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    fn accept(&mut self, accepted: impl Fn(char) -> bool) -> bool {
        let is_next = self.peek().is_some_and(accepted);
        if is_next {
            self.next();
        }
        is_next
    }

    fn accept_all(&mut self, accepted: impl Fn(char) -> bool) {
        while self.accept(&accepted) {}
    }

    fn emit(&mut self, kind: Kind) {
        let text = &self.source[self.start..self.at];
        self.words.push(Word { kind, text, at: self.start, line: line_of(self.source, self.start) });
        self.start = self.at;
    }

    fn template(&mut self) -> Result<(), String> {
        loop {
            let Some(braces) = self.rest().find("{{") else {
                self.at = self.source.len();
                if self.at > self.start {
                    self.emit(Kind::Text);
                }
                self.emit(Kind::End);
                return Ok(());
            };
            let action = self.at + braces;
            let trims = begins_with_trim(&self.source[action + 2..]);
            let text = &self.source[self.at..action];
            self.at += if trims { text.trim_end_matches(SPACES).len() } else { text.len() };
            if self.at > self.start {
                self.emit(Kind::Text);
            }
            self.start = action;
            self.at = action + 2;
            let marker = if trims { 2 } else { 0 };
            if self.source[self.at + marker..].starts_with("/*") {
                self.at += marker;
                self.start = self.at;
                self.comment()?;
                continue;
            }
            self.emit(Kind::LeftBraces);
            self.at += marker;
            self.start = self.at;
            self.parens = 0;
            while self.inside()? {}
        }
    }

    fn comment(&mut self) -> Result<(), String> {
        let end = self.rest().find("*/").ok_or("unclosed comment")?;
        self.at += end + 2;
        match self.right_braces() {
            Some(length) => self.leave(length),
            None => return Err("comment ends before closing delimiter".to_owned()),
        }
        Ok(())
    }

    /// The length of the right braces, with the trim marker before them, if that is what stands here.
    fn right_braces(&self) -> Option<usize> {
        let rest = self.rest();
        let bytes = rest.as_bytes();
        let trims = bytes.len() >= 2 && is_space(char::from(bytes[0])) && bytes[1] == b'-';
        match trims && rest[2..].starts_with("}}") {
            true => Some(4),
            false => rest.starts_with("}}").then_some(2),
        }
    }

    /// Behind the right braces; a trim marker takes the space after them too.
    fn leave(&mut self, length: usize) {
        self.at += length;
        if length == 4 {
            self.at += self.rest().len() - self.rest().trim_start_matches(SPACES).len();
        }
        self.start = self.at;
    }

    /// One word within braces; false after the right ones.
    fn inside(&mut self) -> Result<bool, String> {
        if let Some(length) = self.right_braces() {
            if self.parens > 0 {
                return Err("unclosed left paren".to_owned());
            }
            let line = line_of(self.source, self.start);
            self.words.push(Word { kind: Kind::RightBraces, text: "}}", at: self.at + length - 2, line });
            self.leave(length);
            return Ok(false);
        }
        let Some(next) = self.next() else { return Err("unclosed action".to_owned()) };
        match next {
            _ if is_space(next) => self.space(),
            '=' => self.emit(Kind::Assign),
            ':' if self.accept(|c| c == '=') => self.emit(Kind::Declare),
            ':' => return Err("expected :=".to_owned()),
            '|' => self.emit(Kind::Pipe),
            '"' => self.quoted('"', "unterminated quoted string", Kind::Quoted)?,
            '\'' => self.quoted('\'', "unterminated character constant", Kind::CharConstant)?,
            '`' => {
                let end = self.rest().find('`').ok_or("unterminated raw quoted string")?;
                self.at += end + 1;
                self.emit(Kind::RawText);
            }
            '$' => self.name(Kind::Variable)?,
            '.' if self.peek().is_some_and(|c| !c.is_ascii_digit()) => self.name(Kind::Field)?,
            '+' | '-' | '.' | '0'..='9' => {
                self.at = self.start;
                self.number()?;
            }
            '(' => {
                self.parens += 1;
                self.emit(Kind::LeftParen);
            }
            ')' => {
                self.parens = self.parens.checked_sub(1).ok_or("unexpected right paren")?;
                self.emit(Kind::RightParen);
            }
            _ if is_alphanumeric(next) => self.identifier()?,
            ' '..='~' => self.emit(Kind::Char),
            other => return Err(format!("unrecognized character in action: {}", code_point(other))),
        }
        Ok(true)
    }

    fn space(&mut self) {
        self.accept_all(is_space);
        // The last blank may belong to a trim marker.
        let last = self.at - 1;
        if self.source[last..].starts_with([' ', '\t', '\r', '\n'])
            && self.source[last + 1..].starts_with("-}}")
        {
            self.at = last;
        }
        match self.at > self.start {
            true => self.emit(Kind::Space),
            false => self.start = self.at,
        }
    }

    fn identifier(&mut self) -> Result<(), String> {
        self.accept_all(is_alphanumeric);
        self.check_end()?;
        let word = &self.source[self.start..self.at];
        self.emit(match word {
            "true" | "false" => Kind::Bool,
            "nil" => Kind::Nil,
            _ if KEYWORDS.contains(&word) => Kind::Keyword,
            _ => Kind::Identifier,
        });
        Ok(())
    }

    /// What follows a dot or a dollar.
    fn name(&mut self, kind: Kind) -> Result<(), String> {
        if self.is_at_end() {
            self.emit(if kind == Kind::Field { Kind::Dot } else { kind });
            return Ok(());
        }
        self.accept_all(is_alphanumeric);
        self.check_end()?;
        self.emit(kind);
        Ok(())
    }

    fn is_at_end(&self) -> bool {
        let ends = |c: char| is_space(c) || matches!(c, '.' | ',' | '|' | ':' | ')' | '(');
        self.peek().is_none_or(ends) || self.rest().starts_with("}}")
    }

    fn check_end(&mut self) -> Result<(), String> {
        match (self.is_at_end(), self.peek()) {
            (false, Some(other)) => Err(format!("bad character {}", code_point(other))),
            _ => Ok(()),
        }
    }

    fn quoted(&mut self, mark: char, unterminated: &str, kind: Kind) -> Result<(), String> {
        loop {
            match self.next() {
                Some('\\') if self.next().is_some_and(|c| c != '\n') => {}
                Some(c) if c == mark => break,
                None | Some('\n' | '\\') => return Err(unterminated.to_owned()),
                Some(_) => {}
            }
        }
        self.emit(kind);
        Ok(())
    }

    fn number(&mut self) -> Result<(), String> {
        let is_complete = self.scan_number();
        let has_sign = self.peek().is_some_and(|c| matches!(c, '+' | '-'));
        let is_complex = is_complete && has_sign;
        if !is_complete || (is_complex && !(self.scan_number() && self.source[..self.at].ends_with('i'))) {
            let text = krm::field::quote(&self.source[self.start..self.at]);
            return Err(format!("bad number syntax: {text}"));
        }
        self.emit(if is_complex { Kind::Complex } else { Kind::Number });
        Ok(())
    }

    fn scan_number(&mut self) -> bool {
        self.accept(|c| matches!(c, '+' | '-'));
        let mut radix = 10;
        if self.accept(|c| c == '0') {
            for (letter, of_letter) in [('x', 16), ('o', 8), ('b', 2)] {
                if radix == 10 && self.accept(|c| c.eq_ignore_ascii_case(&letter)) {
                    radix = of_letter;
                }
            }
        }
        let is_digit = |c: char| c == '_' || c.is_digit(radix);
        self.accept_all(is_digit);
        if self.accept(|c| c == '.') {
            self.accept_all(is_digit);
        }
        let exponent = match radix {
            10 => Some('e'),
            16 => Some('p'),
            _ => None,
        };
        if exponent.is_some_and(|letter| self.accept(|c| c.eq_ignore_ascii_case(&letter))) {
            self.accept(|c| matches!(c, '+' | '-'));
            self.accept_all(|c| c == '_' || c.is_ascii_digit());
        }
        self.accept(|c| c == 'i');
        !self.accept(is_alphanumeric)
    }
}

fn begins_with_trim(text: &str) -> bool {
    text.strip_prefix('-').is_some_and(|text| text.starts_with(is_space))
}

fn is_space(c: char) -> bool {
    SPACES.contains(&c)
}

fn is_alphanumeric(c: char) -> bool {
    c == '_' || c.is_alphabetic() || c.is_numeric()
}

/// `U+0040 '@'`
fn code_point(c: char) -> String {
    format!("U+{:04X} '{c}'", u32::from(c))
}

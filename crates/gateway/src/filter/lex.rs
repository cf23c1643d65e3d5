//! The words of a filter.

use super::FilterError;

/// A word of a filter.
#[derive(Debug, Clone, PartialEq)]
pub enum Token {
    Name(String),
    Int(i64),
    Double(f64),
    Text(String),
    /// Punctuation or an operator.
    Mark(&'static str),
    End,
}

/// Longer marks first, so that `<=` is not `<` and `=`.
const MARKS: [&str; 23] = [
    "==", "!=", "<=", ">=", "&&", "||", "<", ">", "!", "+", "-", "*", "/", "%", "(", ")", "[", "]", ".", ",",
    "?", ":", "{",
];

/// All words, and where each begins, in characters.
pub fn tokens(text: &str) -> Result<Vec<(Token, usize)>, FilterError> {
    let mut lexer = Lexer { rest: text, at: 0 };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_space();
        let at = lexer.at;
        let token = lexer.next()?;
        let is_end = token == Token::End;
        tokens.push((token, at));
        if is_end {
            return Ok(tokens);
        }
    }
}

struct Lexer<'a> {
    rest: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    fn error(&self, why: impl Into<String>) -> FilterError {
        FilterError { why: why.into(), at: self.at }
    }

    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        self.at += taken.chars().count();
        taken
    }

    fn skip_space(&mut self) {
        loop {
            let space = self.rest.len() - self.rest.trim_start_matches([' ', '\t', '\n', '\r', '\x0c']).len();
            self.take(space);
            if !self.rest.starts_with("//") {
                return;
            }
            let line = self.rest.find('\n').unwrap_or(self.rest.len());
            self.take(line);
        }
    }

    fn next(&mut self) -> Result<Token, FilterError> {
        let Some(first) = self.rest.chars().next() else { return Ok(Token::End) };
        let second = self.rest.chars().nth(1);
        if matches!(first, 'r' | 'R') && matches!(second, Some('"' | '\'')) {
            self.take(1);
            return self.text(true);
        }
        if matches!(first, 'b' | 'B') && matches!(second, Some('"' | '\'')) {
            return Err(self.error("bytes can't be filtered by"));
        }
        if matches!(first, '"' | '\'') {
            return self.text(false);
        }
        if first.is_ascii_digit() || (first == '.' && second.is_some_and(|c| c.is_ascii_digit())) {
            return self.number();
        }
        if first == '_' || first.is_ascii_alphabetic() {
            let is_part = |c: char| c == '_' || c.is_ascii_alphanumeric();
            let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
            return Ok(Token::Name(self.take(end).to_owned()));
        }
        match MARKS.into_iter().find(|mark| self.rest.starts_with(mark)) {
            Some(mark) => {
                self.take(mark.len());
                Ok(Token::Mark(mark))
            }
            None => Err(self.error(format!("unexpected character {first:?}"))),
        }
    }

    fn number(&mut self) -> Result<Token, FilterError> {
        if let Some(digits) = self.rest.strip_prefix("0x").or_else(|| self.rest.strip_prefix("0X")) {
            let end = digits.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(digits.len());
            let number = i64::from_str_radix(&digits[..end], 16);
            let number = number.map_err(|_| self.error("the number is not a 64-bit integer"))?;
            self.take(end + 2);
            return Ok(Token::Int(number));
        }
        let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let mut end = digits(self.rest);
        let mut is_double = false;
        if let Some(fraction) = self.rest[end..].strip_prefix('.')
            && fraction.starts_with(|c: char| c.is_ascii_digit())
        {
            end += 1 + digits(fraction);
            is_double = true;
        }
        if let Some(exponent) = self.rest[end..].strip_prefix(['e', 'E']) {
            let unsigned = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            if unsigned.starts_with(|c: char| c.is_ascii_digit()) {
                end += 1 + (exponent.len() - unsigned.len()) + digits(unsigned);
                is_double = true;
            }
        }
        let text = &self.rest[..end];
        let token = match is_double {
            true => text.parse().ok().map(Token::Double),
            false => text.parse().ok().map(Token::Int),
        };
        let token = token.ok_or_else(|| self.error("the number is not a 64-bit integer"))?;
        self.take(end);
        if self.rest.starts_with(['u', 'U']) {
            return Err(self.error("unsigned numbers are not supported"));
        }
        Ok(token)
    }

    fn text(&mut self, is_raw: bool) -> Result<Token, FilterError> {
        let quote = self.rest.chars().next().unwrap_or('"');
        let triple: String = [quote; 3].iter().collect();
        let end = if self.rest.starts_with(&triple) { triple } else { quote.to_string() };
        self.take(end.len());
        let mut text = String::new();
        loop {
            if self.rest.starts_with(&end) {
                self.take(end.len());
                return Ok(Token::Text(text));
            }
            match self.rest.chars().next() {
                None => return Err(self.error("a string is not closed")),
                Some('\n' | '\r') if end.len() == 1 => {
                    return Err(self.error("a string is not closed on its line"));
                }
                Some('\\') if !is_raw => text.push(self.escape()?),
                Some(c) => {
                    self.take(c.len_utf8());
                    text.push(c);
                }
            }
        }
    }

    fn escape(&mut self) -> Result<char, FilterError> {
        let Some(kind) = self.rest.chars().nth(1) else { return Err(self.error("a string is not closed")) };
        let simple = match kind {
            'a' => Some('\x07'),
            'b' => Some('\x08'),
            'f' => Some('\x0c'),
            'n' => Some('\n'),
            'r' => Some('\r'),
            't' => Some('\t'),
            'v' => Some('\x0b'),
            '\\' | '\'' | '"' | '`' | '?' => Some(kind),
            _ => None,
        };
        if let Some(c) = simple {
            self.take(1 + kind.len_utf8());
            return Ok(c);
        }
        let (skip, digits, radix) = match kind {
            'x' | 'X' => (2, 2, 16),
            'u' => (2, 4, 16),
            'U' => (2, 8, 16),
            '0'..='3' => (1, 3, 8),
            _ => return Err(self.error(format!("\\{kind} is no escape"))),
        };
        let number =
            self.rest.get(skip..skip + digits).and_then(|text| u32::from_str_radix(text, radix).ok());
        let c = number.and_then(char::from_u32).ok_or_else(|| self.error("the escape names no character"))?;
        self.take(skip + digits);
        Ok(c)
    }
}

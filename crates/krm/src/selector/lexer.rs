//! The words of a label selector.

/// One word, with the text it was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    End,
    Open,
    Close,
    Comma,
    Not,
    Equals,
    DoubleEquals,
    NotEquals,
    Greater,
    Less,
    /// Anything else; `in` and `notin` are operators only where one is expected.
    Word(&'a str),
}

impl Token<'_> {
    /// As messages show it.
    pub(super) fn text(&self) -> &str {
        match self {
            Token::End => "",
            Token::Open => "(",
            Token::Close => ")",
            Token::Comma => ",",
            Token::Not => "!",
            Token::Equals => "=",
            Token::DoubleEquals => "==",
            Token::NotEquals => "!=",
            Token::Greater => ">",
            Token::Less => "<",
            Token::Word(word) => word,
        }
    }
}

/// Reads the words one by one; after the last comes [`Token::End`] for ever.
pub(super) struct Lexer<'a> {
    rest: &'a str,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Lexer<'a> {
        Lexer { rest: text }
    }

    /// The next word, which is read again.
    pub(super) fn peek(&self) -> Token<'a> {
        self.split().0
    }

    /// The next word.
    pub(super) fn next(&mut self) -> Token<'a> {
        let (token, rest) = self.split();
        self.rest = rest;
        token
    }

    fn split(&self) -> (Token<'a>, &'a str) {
        let text = self.rest.trim_start_matches(is_blank);
        let symbol = |length: usize, token| (token, &text[length..]);
        match text.as_bytes() {
            // A NUL ends the selector for Kubernetes too.
            [] | [0, ..] => (Token::End, ""),
            [b'(', ..] => symbol(1, Token::Open),
            [b')', ..] => symbol(1, Token::Close),
            [b',', ..] => symbol(1, Token::Comma),
            [b'>', ..] => symbol(1, Token::Greater),
            [b'<', ..] => symbol(1, Token::Less),
            [b'=', b'=', ..] => symbol(2, Token::DoubleEquals),
            [b'=', ..] => symbol(1, Token::Equals),
            [b'!', b'=', ..] => symbol(2, Token::NotEquals),
            [b'!', ..] => symbol(1, Token::Not),
            _ => {
                let end = text.find(|c| is_blank(c) || is_symbol(c) || c == '\0').unwrap_or(text.len());
                let (word, rest) = text.split_at(end);
                (Token::Word(word), rest.strip_prefix('\0').unwrap_or(rest))
            }
        }
    }
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

fn is_symbol(c: char) -> bool {
    matches!(c, '=' | '!' | '(' | ')' | ',' | '>' | '<')
}

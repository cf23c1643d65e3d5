//! The words of an expression.

use std::fmt;

/// What kind of word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    Equals,
    NotEquals,
    In,
    Less,
    LessEquals,
    GreaterEquals,
    Greater,
    And,
    Or,
    OpenBracket,
    CloseBracket,
    OpenBrace,
    CloseBrace,
    OpenParen,
    CloseParen,
    Dot,
    Comma,
    Minus,
    Not,
    Question,
    Colon,
    Plus,
    Star,
    Slash,
    Percent,
    True,
    False,
    Null,
    Float,
    Int,
    Uint,
    String,
    Bytes,
    Ident,
    EscapedIdent,
    End,
}

use Kind::{
    And, Bytes, CloseBrace, CloseBracket, CloseParen, Colon, Comma, Dot, End, Equals, EscapedIdent, False,
    Float, Greater, GreaterEquals, Ident, In, Int, Less, LessEquals, Minus, Not, NotEquals, Null, OpenBrace,
    OpenBracket, OpenParen, Or, Percent, Plus, Question, Slash, Star, String, True, Uint,
};

/// Every kind of word as messages show what was expected, in their order.
const SHOWN: [(Kind, &str); 36] = [
    (Equals, "'=='"),
    (NotEquals, "'!='"),
    (In, "'in'"),
    (Less, "'<'"),
    (LessEquals, "'<='"),
    (GreaterEquals, "'>='"),
    (Greater, "'>'"),
    (And, "'&&'"),
    (Or, "'||'"),
    (OpenBracket, "'['"),
    (CloseBracket, "']'"),
    (OpenBrace, "'{'"),
    (CloseBrace, "'}'"),
    (OpenParen, "'('"),
    (CloseParen, "')'"),
    (Dot, "'.'"),
    (Comma, "','"),
    (Minus, "'-'"),
    (Not, "'!'"),
    (Question, "'?'"),
    (Colon, "':'"),
    (Plus, "'+'"),
    (Star, "'*'"),
    (Slash, "'/'"),
    (Percent, "'%'"),
    (True, "'true'"),
    (False, "'false'"),
    (Null, "'null'"),
    (Float, "NUM_FLOAT"),
    (Int, "NUM_INT"),
    (Uint, "NUM_UINT"),
    (String, "STRING"),
    (Bytes, "BYTES"),
    (Ident, "IDENTIFIER"),
    (EscapedIdent, "ESC_IDENTIFIER"),
    (End, "<EOF>"),
];

/// A word, and where it stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token<'s> {
    pub kind: Kind,
    pub text: &'s str,
    /// The characters before it.
    pub offset: usize,
    /// The bytes before it.
    pub start: usize,
}

impl Token<'_> {
    /// As messages show what was found.
    pub fn shown(&self) -> std::string::String {
        if self.kind == End { "'<EOF>'".to_owned() } else { format!("'{}'", escaped(self.text)) }
    }
}

/// Text in a message: on one line.
pub(super) fn escaped(text: &str) -> std::string::String {
    text.replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r")
}

/// Several kinds of words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Kinds(u64);

impl Kinds {
    pub const fn of(kinds: &[Kind]) -> Kinds {
        let mut bits = 0;
        let mut index = 0;
        while index < kinds.len() {
            bits |= 1 << kinds[index] as u8;
            index += 1;
        }
        Kinds(bits)
    }

    pub const fn with(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }

    pub const fn contains(self, kind: Kind) -> bool {
        self.0 & (1 << kind as u8) != 0
    }
}

impl fmt::Display for Kinds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let expected = SHOWN.into_iter().filter(|(kind, _)| self.contains(*kind));
        let names: Vec<&str> = expected.map(|(_, name)| name).collect();
        match names.as_slice() {
            [one] => f.write_str(one),
            many => write!(f, "{{{}}}", many.join(", ")),
        }
    }
}

/// What an expression may start with.
pub(super) const STARTS: Kinds = Kinds::of(&[
    OpenBracket,
    OpenBrace,
    OpenParen,
    Dot,
    Minus,
    Not,
    True,
    False,
    Null,
    Float,
    Int,
    Uint,
    String,
    Bytes,
    Ident,
]);

/// What may come after an operand, besides what its surroundings wait for.
pub(super) const OPERATORS: Kinds = Kinds::of(&[
    Equals,
    NotEquals,
    In,
    Less,
    LessEquals,
    GreaterEquals,
    Greater,
    And,
    Or,
    OpenBracket,
    Dot,
    Minus,
    Question,
    Plus,
    Star,
    Slash,
    Percent,
]);

//! From the text of a path to its steps.

use serde_json::Value;

use super::{Comparison, Filter, Slice, Step};
use crate::field::is_printable;

/// The steps of a path; what follows a closing brace is not part of it.
pub(super) fn steps(text: &str) -> Result<Vec<Step>, String> {
    let mut parser = Parser { rest: text };
    let mut steps = Vec::new();
    while parser.step(&mut steps)? {}
    Ok(steps)
}

struct Parser<'a> {
    rest: &'a str,
}

impl<'a> Parser<'a> {
    /// Reads one step; false at the end.
    fn step(&mut self, steps: &mut Vec<Step>) -> Result<bool, String> {
        if let Some(rest) = self.rest.strip_prefix("[?(") {
            self.rest = rest;
            steps.push(Step::Filter(self.filter()?));
            return Ok(true);
        }
        if let Some(rest) = self.rest.strip_prefix("..") {
            if steps.last() == Some(&Step::Descend) {
                return Err("invalid multiple recursive descent".to_owned());
            }
            self.rest = rest;
            steps.push(Step::Descend);
            if rest.starts_with(is_in_word) {
                steps.push(self.field());
            }
            return Ok(true);
        }
        let Some(first) = self.rest.chars().next() else { return Ok(false) };
        match first {
            '}' => return Ok(false),
            '\r' | '\n' => return Err("unclosed action".to_owned()),
            // `@` and `$` are the value at hand.
            ' ' | '@' | '$' => self.skip(1),
            '[' => {
                self.skip(1);
                self.brackets(steps)?;
            }
            '"' | '\'' => {
                self.skip(1);
                steps.push(Step::Constant(Value::String(self.quoted(first)?)));
            }
            '.' => {
                self.skip(1);
                steps.push(self.field());
            }
            '+' | '-' | '0'..='9' => steps.push(Step::Constant(self.number()?)),
            c if is_in_word(c) => {
                let word = self.take_while(|c| !ends_name(c));
                steps.push(match word {
                    "true" => Step::Constant(Value::Bool(true)),
                    "false" => Step::Constant(Value::Bool(false)),
                    other => Step::Word(other.to_owned()),
                });
            }
            c => return Err(format!("unrecognized character in action: {}", show(c))),
        }
        Ok(true)
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = &self.rest[bytes..];
    }

    fn take_while(&mut self, belongs: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !belongs(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    /// The name of a field; a backslash takes the meaning from what follows it.
    fn field(&mut self) -> Step {
        let mut name = String::new();
        let mut chars = self.rest.chars();
        let mut rest = self.rest;
        while let Some(c) = chars.next() {
            if c == '\\' {
                name.extend(chars.next().filter(|c| *c != '\\'));
            } else if ends_name(c) {
                break;
            } else {
                name.push(c);
            }
            rest = chars.as_str();
        }
        self.rest = rest;
        if name == "*" { Step::All } else { Step::Field(name) }
    }

    fn number(&mut self) -> Result<Value, String> {
        let sign = if self.rest.starts_with(['+', '-']) { 1 } else { 0 };
        let end = self.rest[sign..].find(|c: char| c != '.' && !c.is_ascii_digit());
        let (text, rest) = self.rest.split_at(end.map_or(self.rest.len(), |end| sign + end));
        self.rest = rest;
        let float = || text.parse().ok().filter(|float: &f64| float.is_finite());
        // A whole number with a point stays a fraction, and compares with those only.
        let fraction = |float| serde_json::Number::from_f64(float).map(Value::Number);
        match text.parse::<i64>() {
            Ok(number) => Ok(Value::from(number)),
            Err(_) => float().and_then(fraction).ok_or_else(|| format!("cannot parse number {text}")),
        }
    }

    /// A text up to its closing quote.
    fn quoted(&mut self, quote: char) -> Result<String, String> {
        let mut text = String::new();
        let mut chars = self.rest.chars();
        loop {
            match chars.next() {
                None | Some('\n') => return Err("unterminated quoted string".to_owned()),
                Some('\\') => match chars.next() {
                    Some('n') => text.push('\n'),
                    Some('t') => text.push('\t'),
                    Some('r') => text.push('\r'),
                    Some(c @ ('\\' | '"' | '\'')) => text.push(c),
                    _ => return Err("unquote string error invalid syntax".to_owned()),
                },
                Some(c) if c == quote => break,
                Some(c) => text.push(c),
            }
        }
        self.rest = chars.as_str();
        Ok(text)
    }

    /// What stands in brackets: an index, a slice, the name of a field, or several of these.
    fn brackets(&mut self, steps: &mut Vec<Step>) -> Result<(), String> {
        let end = self.rest.find([']', '\n']).filter(|end| self.rest[*end..].starts_with(']'));
        let Some(end) = end else { return Err("unterminated array".to_owned()) };
        let text = &self.rest[..end];
        self.skip(end + 1);
        if !text.contains(',') {
            return single(text, steps);
        }
        let mut union = Vec::new();
        for part in text.split(',') {
            let mut steps = Vec::new();
            single(part.trim_matches(' '), &mut steps)?;
            union.push(steps);
        }
        steps.push(Step::Union(union));
        Ok(())
    }

    /// A condition up to the parenthesis and bracket that close it.
    fn filter(&mut self) -> Result<Filter, String> {
        let mut open_quote = None;
        let mut was_quoted = false;
        let mut before = ' ';
        let mut end = None;
        for (at, c) in self.rest.char_indices() {
            match c {
                '\n' => break,
                '"' | '\'' if open_quote.is_none() && !was_quoted => open_quote = Some(c),
                c if open_quote == Some(c) && before != '\\' => {
                    open_quote = None;
                    was_quoted = true;
                }
                ')' if open_quote.is_none() => {
                    end = Some(at);
                    break;
                }
                _ => {}
            }
            before = c;
        }
        let Some(end) = end else { return Err("unterminated filter".to_owned()) };
        let text = &self.rest[..end];
        self.rest = match self.rest[end + 1..].strip_prefix(']') {
            Some(rest) => rest,
            None => return Err("unclosed array expect ]".to_owned()),
        };
        let is_operator = |c: char| matches!(c, '!' | '<' | '>' | '=');
        let at_operator = text.find(is_operator).filter(|at| *at > 0);
        let Some(at_operator) = at_operator else {
            return Ok(Filter { left: self::steps(text)?, comparison: None });
        };
        let (left, from_operator) = text.split_at(at_operator);
        let right = from_operator.trim_start_matches(is_operator);
        if right.is_empty() {
            return Ok(Filter { left: self::steps(text)?, comparison: None });
        }
        let comparison = comparison(&from_operator[..from_operator.len() - right.len()]);
        Ok(Filter { left: self::steps(left)?, comparison: Some((comparison, self::steps(right)?)) })
    }
}

fn comparison(operator: &str) -> Comparison {
    match operator {
        "==" => Comparison::Equal,
        "!=" => Comparison::NotEqual,
        "<" => Comparison::Less,
        "<=" => Comparison::LessOrEqual,
        ">" => Comparison::Greater,
        ">=" => Comparison::GreaterOrEqual,
        _ => Comparison::Unknown,
    }
}

/// An index, a slice or the name of a field.
fn single(text: &str, steps: &mut Vec<Step>) -> Result<(), String> {
    let quoted = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\''));
    if let Some(name) = quoted.filter(|name| !name.contains('\'')) {
        // As in Kubernetes, dots in it part fields unless a backslash stands before them.
        steps.extend(self::steps(&format!(".{name}"))?);
        return Ok(());
    }
    if text == "*" {
        steps.push(Step::Slice(Slice { start: None, end: None, step: None, is_single: false }));
        return Ok(());
    }
    let mut parts = text.split(':');
    let mut bound = || match parts.next() {
        None | Some("") => Ok(None),
        Some(part) => whole(part).map(Some).ok_or_else(|| format!("invalid array index {text}")),
    };
    let (start, end, step) = (bound()?, bound()?, bound()?);
    if parts.next().is_some() {
        return Err(format!("invalid array index {text}"));
    }
    steps.push(Step::Slice(Slice { start, end, step, is_single: !text.contains(':') }));
    Ok(())
}

fn whole(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

fn is_in_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

fn ends_name(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n' | '.' | ',' | '[' | ']' | '$' | '@' | '{' | '}')
}

/// A character with its number.
fn show(c: char) -> String {
    match is_printable(c) {
        true => format!("U+{:04X} '{c}'", u32::from(c)),
        false => format!("U+{:04X}", u32::from(c)),
    }
}

//! Paths such as `.spec.items['a.b']` that a definition writes, followed through its schema.

use std::fmt::Write as _;

use super::json_schema::JsonSchema;

/// A path that leads somewhere.
#[derive(Debug)]
pub(crate) struct FieldPath<'s, 'a> {
    /// As a message names it, below where it starts.
    pub text: String,
    /// Its first step.
    pub root: String,
    /// What stands at its end, where that is known.
    pub schema: Option<&'s JsonSchema<'a>>,
}

impl<'s, 'a> FieldPath<'s, 'a> {
    /// A path of steps with dots and with brackets.
    pub fn parse(path: &str, schema: &'s JsonSchema<'a>) -> Result<FieldPath<'s, 'a>, String> {
        follow(path, schema, true)
    }

    /// A path of steps with dots alone.
    pub fn without_brackets(path: &str, schema: &'s JsonSchema<'a>) -> Result<FieldPath<'s, 'a>, String> {
        follow(path, schema, false)
    }

    fn step(&mut self, name: &str) -> Result<(), String> {
        let nowhere = || "does not refer to a valid field".to_owned();
        let schema = self.schema.ok_or_else(nowhere)?;
        if self.root.is_empty() {
            name.clone_into(&mut self.root);
        }
        if !schema.properties.is_empty() {
            if !self.text.is_empty() {
                self.text.push('.');
            }
            self.text.push_str(name);
            self.schema = Some(schema.property(name).ok_or_else(nowhere)?);
        } else if schema.additional_properties.is_some() {
            let _ = write!(self.text, "[{name}]");
            self.schema = schema.values();
        } else {
            return Err(nowhere());
        }
        Ok(())
    }
}

fn follow<'s, 'a>(
    path: &str,
    schema: &'s JsonSchema<'a>,
    brackets: bool,
) -> Result<FieldPath<'s, 'a>, String> {
    let mut found = FieldPath { text: String::new(), root: String::new(), schema: Some(schema) };
    let mut tokens = Tokens { rest: path };
    let end = || "unexpected end of JSON path".to_owned();
    while let Some(token) = tokens.next() {
        match token {
            "[" if !brackets => return Err("array notation is not allowed".to_owned()),
            "[" => {
                let quoted = tokens.next().ok_or_else(end)?;
                let inner = quoted
                    .strip_prefix('\'')
                    .and_then(|rest| rest.strip_suffix('\''))
                    .ok_or_else(|| format!("expected single quoted string but got {quoted}"))?;
                found.step(&unescaped(inner)?)?;
                let close = tokens.next().ok_or_else(end)?;
                if close != "]" {
                    return Err(format!("expected ] but got {close}"));
                }
            }
            "." => found.step(tokens.next().ok_or_else(end)?)?,
            other => return Err(format!("expected [ or . but got: {other}")),
        }
    }
    Ok(found)
}

/// Dots, brackets, quoted texts, and what stands between.
struct Tokens<'p> {
    rest: &'p str,
}

impl<'p> Iterator for Tokens<'p> {
    type Item = &'p str;

    fn next(&mut self) -> Option<&'p str> {
        let bytes = self.rest.as_bytes();
        let length = match bytes.first()? {
            b'\'' => {
                let closing = (1..bytes.len()).find(|at| bytes[*at] == b'\'' && bytes[*at - 1] != b'\\');
                closing.map_or(bytes.len(), |at| at + 1)
            }
            b'.' | b'[' | b']' => 1,
            _ => self.rest.find(['.', '[', ']']).unwrap_or(bytes.len()),
        };
        let (token, rest) = self.rest.split_at(length);
        self.rest = rest;
        Some(token)
    }
}

fn unescaped(text: &str) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        out.push(match chars.next() {
            Some('a') => '\u{7}',
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('v') => '\u{b}',
            Some('\'') => '\'',
            Some('\\') => '\\',
            Some(other) => return Err(format!("invalid string literal: invalid escape char \\{other}")),
            // A lone backslash at the end stays.
            None => '\\',
        });
    }
    Ok(out)
}

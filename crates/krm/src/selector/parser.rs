//! From the text of a label selector to its requirements.

use crate::field::Path;

use super::label::{Operator, Requirement, key_fault};
use super::lexer::{Lexer, Token};

pub(super) fn parse(text: &str) -> Result<Vec<Requirement>, String> {
    let mut words = Lexer::new(text);
    let mut requirements = Vec::new();
    loop {
        match words.peek() {
            Token::Word(_) | Token::Not => {}
            Token::End => return Ok(requirements),
            other => {
                return Err(format!("found '{}', expected: !, identifier, or 'end of string'", other.text()));
            }
        }
        let requirement =
            requirement(&mut words).map_err(|why| format!("unable to parse requirement: {why}"))?;
        requirements.push(requirement);
        match words.next() {
            Token::End => return Ok(requirements),
            Token::Comma => match words.peek() {
                Token::Word(_) | Token::Not => {}
                other => return Err(format!("found '{}', expected: identifier after ','", other.text())),
            },
            other => return Err(format!("found '{}', expected: ',' or 'end of string'", other.text())),
        }
    }
}

fn requirement(words: &mut Lexer<'_>) -> Result<Requirement, String> {
    let is_negated = words.peek() == Token::Not;
    if is_negated {
        words.next();
    }
    let key = match words.next() {
        Token::Word(key) => key,
        other => return Err(format!("found '{}', expected: identifier", other.text())),
    };
    if let Some(fault) = key_fault(key, &Path::ROOT) {
        return Err(fault.to_string());
    }
    if is_negated {
        return Requirement::new(key, Operator::DoesNotExist, Vec::new());
    }
    if matches!(words.peek(), Token::End | Token::Comma) {
        return Requirement::new(key, Operator::Exists, Vec::new());
    }
    let operator = operator(words.next())?;
    let values = match operator {
        Operator::In | Operator::NotIn => set(words)?,
        _ => vec![single(words)?.to_owned()],
    };
    Requirement::new(key, operator, values)
}

fn operator(word: Token<'_>) -> Result<Operator, String> {
    match word {
        Token::Word("in") => Ok(Operator::In),
        Token::Word("notin") => Ok(Operator::NotIn),
        Token::Equals => Ok(Operator::Equals),
        Token::DoubleEquals => Ok(Operator::DoubleEquals),
        Token::NotEquals => Ok(Operator::NotEquals),
        Token::Greater => Ok(Operator::GreaterThan),
        Token::Less => Ok(Operator::LessThan),
        other => Err(format!("found '{}', expected: in, notin, =, ==, !=, gt, lt", other.text())),
    }
}

/// The value after an operator; nothing there is the empty value.
fn single<'a>(words: &mut Lexer<'a>) -> Result<&'a str, String> {
    if matches!(words.peek(), Token::End | Token::Comma) {
        return Ok("");
    }
    match words.next() {
        Token::Word(value) => Ok(value),
        other => Err(format!("found '{}', expected: identifier", other.text())),
    }
}

/// Values in parentheses, sorted; two commas, or a comma at either end, stand for the empty value.
fn set(words: &mut Lexer<'_>) -> Result<Vec<String>, String> {
    match words.next() {
        Token::Open => {}
        other => return Err(format!("found '{}' expected: '('", other.text())),
    }
    match words.peek() {
        Token::Word(_) | Token::Comma => {}
        Token::Close => {
            words.next();
            return Ok(vec![String::new()]);
        }
        other => return Err(format!("found '{}', expected: ',', ')' or identifier", other.text())),
    }
    let mut values = Vec::new();
    loop {
        match words.next() {
            Token::Word(value) => {
                values.push(value.to_owned());
                match words.peek() {
                    Token::Comma | Token::Close => {}
                    other => return Err(format!("found '{}', expected: ',' or ')'", other.text())),
                }
            }
            Token::Comma => {
                if values.is_empty() || matches!(words.peek(), Token::Comma | Token::Close) {
                    values.push(String::new());
                }
            }
            Token::Close => break,
            other => return Err(format!("found '{}', expected: ',', or identifier", other.text())),
        }
    }
    // Faults name the value by its place in the sorted set.
    values.sort_unstable();
    values.dedup();
    Ok(values)
}

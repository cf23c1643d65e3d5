//! `print`, `println` and `printf`: values to text, as Go's fmt does it.

mod verbs;

use super::items::Item;
use verbs::Spec;

/// Values one after the other; a blank between two where neither is text.
pub fn sprint(values: &[Item<'_>]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut was_text = true;
    for (at, value) in values.iter().enumerate() {
        let is_text = matches!(value, Item::Text(_));
        if at > 0 && !is_text && !was_text {
            out.push(b' ');
        }
        Spec::plain().write(value, &mut out);
        was_text = is_text;
    }
    out
}

/// Values with blanks between them, and the end of a line.
pub fn sprintln(values: &[Item<'_>]) -> Vec<u8> {
    let mut out = Vec::new();
    for (at, value) in values.iter().enumerate() {
        if at > 0 {
            out.push(b' ');
        }
        Spec::plain().write(value, &mut out);
    }
    out.push(b'\n');
    out
}

/// A format with values for its verbs; what does not fit is told in its place.
pub fn sprintf(format: &[u8], values: &[Item<'_>]) -> Vec<u8> {
    // A format comes from a template, or from a field: both are text.
    let format = String::from_utf8_lossy(format);
    let mut reader = Reader { rest: &format, values, next: 0, jumped: false };
    let mut out = Vec::new();
    while let Some(percent) = reader.rest.find('%') {
        out.extend(reader.rest[..percent].bytes());
        reader.rest = &reader.rest[percent + 1..];
        reader.verb(&mut out);
    }
    out.extend(reader.rest.bytes());
    let unused = values.get(reader.next..).unwrap_or(&[]);
    if !reader.jumped && !unused.is_empty() {
        out.extend(b"%!(EXTRA ");
        for (at, value) in unused.iter().enumerate() {
            if at > 0 {
                out.extend(b", ");
            }
            verbs::with_type(value, &mut out);
        }
        out.push(b')');
    }
    out
}

struct Reader<'f, 'v, 'a> {
    rest: &'f str,
    values: &'v [Item<'a>],
    next: usize,
    /// Whether the format says which value it wants: then none is too many.
    jumped: bool,
}

impl Reader<'_, '_, '_> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn skip(&mut self, c: char) {
        self.rest = &self.rest[c.len_utf8()..];
    }

    /// One verb with its flags, behind the percent sign.
    fn verb(&mut self, out: &mut Vec<u8>) {
        let mut spec = Spec::plain();
        while let Some(flag) = self.peek().filter(|c| matches!(c, '+' | '-' | '#' | ' ' | '0')) {
            match flag {
                '+' => spec.plus = true,
                '-' => spec.left = true,
                '#' => spec.sharp = true,
                ' ' => spec.blank = true,
                _ => spec.zeros = true,
            }
            self.skip(flag);
        }
        let mut is_bad = !self.jump();
        match self.amount() {
            Amount::None => {}
            Amount::Is(width) => {
                spec.left |= width < 0;
                spec.width = Some(usize::try_from(width.unsigned_abs()).unwrap_or(0));
            }
            Amount::Bad => out.extend(b"%!(BADWIDTH)"),
        }
        if self.peek() == Some('.') {
            self.skip('.');
            is_bad |= !self.jump();
            spec.precision = match self.amount() {
                Amount::None => Some(0),
                Amount::Is(precision) => usize::try_from(precision).ok(),
                Amount::Bad => {
                    out.extend(b"%!(BADPREC)");
                    None
                }
            };
        }
        is_bad |= !self.jump();
        spec.zeros &= !spec.left;
        let Some(verb) = self.peek() else { return out.extend(b"%!(NOVERB)") };
        self.skip(verb);
        if verb == '%' {
            return out.push(b'%');
        }
        if is_bad {
            return out.extend(format!("%!{verb}(BADINDEX)").bytes());
        }
        spec.verb = verb;
        match self.values.get(self.next) {
            Some(value) => spec.write(value, out),
            None => out.extend(format!("%!{verb}(MISSING)").bytes()),
        }
        self.next += 1;
    }

    /// `[n]`: the value to go on with; false when there is no such value.
    fn jump(&mut self) -> bool {
        let Some(rest) = self.rest.strip_prefix('[') else { return true };
        let Some((number, after)) = rest.split_once(']') else { return false };
        self.rest = after;
        self.jumped = true;
        match number.parse::<usize>() {
            Ok(number) if (1..=self.values.len()).contains(&number) => {
                self.next = number - 1;
                true
            }
            _ => false,
        }
    }

    /// A width or a precision, written or taken from the values.
    fn amount(&mut self) -> Amount {
        if self.peek() == Some('*') {
            self.skip('*');
            let value = self.values.get(self.next).cloned();
            self.next += 1;
            return match value {
                Some(Item::Int(amount, _)) if amount.unsigned_abs() <= MOST => Amount::Is(amount),
                _ => Amount::Bad,
            };
        }
        let length = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(length);
        self.rest = rest;
        match digits.parse::<i64>() {
            Ok(amount) if amount.unsigned_abs() <= MOST => Amount::Is(amount),
            _ if digits.is_empty() => Amount::None,
            _ => Amount::Bad,
        }
    }
}

/// Go draws the line here too.
const MOST: u64 = 1_000_000;

enum Amount {
    None,
    Is(i64),
    Bad,
}

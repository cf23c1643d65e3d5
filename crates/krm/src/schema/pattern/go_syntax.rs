//! Whether Go could read a pattern, and what it says if not.

use super::Fault;

/// No part may be repeated more often, also when repetitions multiply.
const MOST_REPEATS: u64 = 1000;

/// Reads a pattern as Go does; the error is Go's.
pub(super) fn check(pattern: &str) -> Result<(), Fault> {
    let mut reader = Reader { whole: pattern, rest: pattern, groups: vec![Group::default()] };
    let mut last_repetition = None;
    while let Some(c) = reader.rest.chars().next() {
        let before = reader.rest;
        let is_repetition = reader.piece(c, last_repetition)?;
        last_repetition = is_repetition.then_some(before);
    }
    if reader.groups.len() > 1 {
        return Err(Fault::new("missing closing )", pattern));
    }
    Ok(())
}

/// What has been read inside of a group.
#[derive(Default)]
struct Group {
    /// How often the last piece is repeated; none when there is nothing yet that could be.
    piece: Option<u64>,
    /// How often a piece is repeated at most.
    most: u64,
}

struct Reader<'p> {
    whole: &'p str,
    rest: &'p str,
    groups: Vec<Group>,
}

impl<'p> Reader<'p> {
    /// Reads what starts with `c`; true if it says how often the piece before it comes.
    fn piece(&mut self, c: char, last_repetition: Option<&'p str>) -> Result<bool, Fault> {
        let start = self.rest;
        match c {
            '(' if start.starts_with("(?") => self.flags()?,
            '(' => self.open(1),
            '|' => {
                self.skip(1);
                self.group().piece = None;
            }
            ')' => self.close()?,
            '[' => self.class()?,
            '*' | '+' | '?' => {
                self.skip(1);
                self.repeat(start, 1, last_repetition)?;
                return Ok(true);
            }
            '{' => match repetition(start) {
                None => self.single(1),
                Some((least, most, after)) => {
                    self.rest = after;
                    let valid = |count: &u64| *count <= MOST_REPEATS;
                    if !valid(&least) || !most.is_none_or(|most| valid(&most) && least <= most) {
                        return Err(self.fault("invalid repeat count", start));
                    }
                    self.repeat(start, most.unwrap_or(least), last_repetition)?;
                    return Ok(true);
                }
            },
            '\\' => self.backslash()?,
            c => self.single(c.len_utf8()),
        }
        Ok(false)
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = &self.rest[bytes..];
    }

    /// A fault about what was read since `start`.
    fn fault(&self, why: &'static str, start: &str) -> Fault {
        Fault::new(why, &start[..start.len() - self.rest.len()])
    }

    fn group(&mut self) -> &mut Group {
        self.groups.last_mut().expect("the outermost group is never closed")
    }

    fn add(&mut self, repeated: u64) {
        let group = self.group();
        group.piece = Some(repeated);
        group.most = group.most.max(repeated);
    }

    /// A piece that stands for one character or none.
    fn single(&mut self, bytes: usize) {
        self.skip(bytes);
        self.add(1);
    }

    fn open(&mut self, bytes: usize) {
        self.skip(bytes);
        self.groups.push(Group::default());
    }

    fn close(&mut self) -> Result<(), Fault> {
        if self.groups.len() == 1 {
            return Err(Fault::new("unexpected )", self.whole));
        }
        let most = self.groups.pop().map_or(1, |group| group.most.max(1));
        self.skip(1);
        self.add(most);
        Ok(())
    }

    fn repeat(&mut self, start: &str, count: u64, last_repetition: Option<&str>) -> Result<(), Fault> {
        if let Some(rest) = self.rest.strip_prefix('?') {
            self.rest = rest;
        }
        if let Some(last) = last_repetition {
            return Err(self.fault("invalid nested repetition operator", last));
        }
        let Some(piece) = self.group().piece else {
            return Err(self.fault("missing argument to repetition operator", start));
        };
        let times = piece.saturating_mul(count);
        if times > MOST_REPEATS {
            return Err(self.fault("invalid repeat count", start));
        }
        self.add(times);
        Ok(())
    }

    /// `(?`: a group with a name, or with flags, or flags alone.
    fn flags(&mut self) -> Result<(), Fault> {
        let start = self.rest;
        for prefix in ["(?P<", "(?<"] {
            let Some(name) = start.strip_prefix(prefix) else { continue };
            let Some((name, rest)) = name.split_once('>') else {
                return Err(Fault::new("invalid named capture", start));
            };
            self.rest = rest;
            let is_name = !name.is_empty() && name.bytes().all(|b| b == b'_' || b.is_ascii_alphanumeric());
            if !is_name {
                return Err(self.fault("invalid named capture", start));
            }
            self.open(0);
            return Ok(());
        }
        self.skip(2);
        let (mut negative, mut some) = (false, false);
        while let Some(c) = self.rest.chars().next() {
            self.skip(c.len_utf8());
            match c {
                'i' | 'm' | 's' | 'U' => some = true,
                '-' if !negative => (negative, some) = (true, false),
                ':' | ')' if !negative || some => {
                    if c == ':' {
                        self.open(0);
                    }
                    return Ok(());
                }
                _ => break,
            }
        }
        Err(self.fault("invalid or unsupported Perl syntax", start))
    }

    fn backslash(&mut self) -> Result<(), Fault> {
        let start = self.rest;
        match start[1..].chars().next() {
            Some('A' | 'b' | 'B' | 'z') => self.single(2),
            Some('C') => return Err(Fault::new("invalid escape sequence", "\\C")),
            Some('Q') => {
                let (literal, rest) = start[2..].split_once("\\E").unwrap_or((&start[2..], ""));
                self.rest = rest;
                if !literal.is_empty() {
                    self.add(1);
                }
            }
            _ => {
                if !self.known_class()? {
                    self.escape()?;
                }
                self.add(1);
            }
        }
        Ok(())
    }

    /// `\d`, `\pL`, `\p{Greek}` and their like; false if it is none of them.
    fn known_class(&mut self) -> Result<bool, Fault> {
        let start = self.rest;
        let Some(after) = start.strip_prefix('\\') else { return Ok(false) };
        match after.chars().next() {
            Some('d' | 'D' | 's' | 'S' | 'w' | 'W') => {
                self.skip(2);
                Ok(true)
            }
            Some('p' | 'P') => {
                let name = &after[1..];
                let length = match name.chars().next() {
                    Some('{') => match name.find('}') {
                        Some(end) => end + 1,
                        None => return Err(Fault::new("invalid character class range", start)),
                    },
                    Some(c) => c.len_utf8(),
                    None => 0,
                };
                self.skip(2 + length);
                let name = name[..length].replacen("{^", "{", 1);
                let known =
                    !name.contains(['=', ':', '!']) && regex::Regex::new(&format!("\\p{name}")).is_ok();
                if known { Ok(true) } else { Err(self.fault("invalid character class range", start)) }
            }
            _ => Ok(false),
        }
    }

    /// A backslash and what it makes of what follows.
    fn escape(&mut self) -> Result<char, Fault> {
        let start = self.rest;
        self.skip(1);
        let Some(c) = self.rest.chars().next() else {
            return Err(Fault::new("trailing backslash at end of expression", ""));
        };
        self.skip(c.len_utf8());
        let octal = |rest: &str| rest.starts_with(|c: char| c.is_digit(8));
        let found = match c {
            '0'..='7' if c == '0' || octal(self.rest) => {
                let more = self.rest.bytes().take(2).take_while(|b| (b'0'..=b'7').contains(b)).count();
                let digits = &start[1..2 + more];
                self.skip(more);
                u32::from_str_radix(digits, 8).ok().and_then(char::from_u32)
            }
            'x' => self.hexadecimal(),
            'a' => Some('\u{7}'),
            'f' => Some('\u{c}'),
            'n' => Some('\n'),
            'r' => Some('\r'),
            't' => Some('\t'),
            'v' => Some('\u{b}'),
            c if c.is_ascii() && !c.is_ascii_alphanumeric() => Some(c),
            _ => None,
        };
        found.ok_or_else(|| self.fault("invalid escape sequence", start))
    }

    /// What follows `\x`: two digits, or any number of them in braces.
    fn hexadecimal(&mut self) -> Option<char> {
        let mut next = || {
            let c = self.rest.chars().next()?;
            self.rest = &self.rest[c.len_utf8()..];
            Some(c)
        };
        let first = next()?;
        if first != '{' {
            let digits = [first, next()?];
            return char::from_u32(digits[0].to_digit(16)? * 16 + digits[1].to_digit(16)?);
        }
        let mut number: Option<u32> = None;
        loop {
            match next()? {
                '}' => return char::from_u32(number?),
                c => number = Some(number.unwrap_or(0) * 16 + c.to_digit(16)?).filter(|it| *it <= 0x10_FFFF),
            }
            number?;
        }
    }

    /// `[…]`.
    fn class(&mut self) -> Result<(), Fault> {
        let start = self.rest;
        self.skip(1);
        if self.rest.starts_with('^') {
            self.skip(1);
        }
        let mut first = true;
        while first || !self.rest.starts_with(']') {
            first = false;
            if self.named_class()? || self.known_class()? {
                continue;
            }
            let range = self.rest;
            let low = self.member(start)?;
            if self.rest.len() >= 2 && self.rest.starts_with('-') && !self.rest.starts_with("-]") {
                self.skip(1);
                if self.member(start)? < low {
                    return Err(self.fault("invalid character class range", range));
                }
            }
        }
        self.single(1);
        Ok(())
    }

    /// `[:alpha:]`; false if it is none of them.
    fn named_class(&mut self) -> Result<bool, Fault> {
        const NAMES: [&str; 14] = [
            "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct",
            "space", "upper", "word", "xdigit",
        ];
        let start = self.rest;
        let Some((name, rest)) = start.strip_prefix("[:").and_then(|name| name.split_once(":]")) else {
            return Ok(false);
        };
        self.rest = rest;
        if NAMES.contains(&name.strip_prefix('^').unwrap_or(name)) {
            Ok(true)
        } else {
            Err(self.fault("invalid character class range", start))
        }
    }

    fn member(&mut self, class: &str) -> Result<char, Fault> {
        match self.rest.chars().next() {
            None => Err(Fault::new("missing closing ]", class)),
            Some('\\') => self.escape(),
            Some(c) => {
                self.skip(c.len_utf8());
                Ok(c)
            }
        }
    }
}

/// `{2}`, `{2,}`, `{2,3}`, and what comes after it; `None` for a brace that stands for itself.
fn repetition(text: &str) -> Option<(u64, Option<u64>, &str)> {
    let (inside, after) = text.strip_prefix('{')?.split_once('}')?;
    let number = |digits: &str| {
        let fits = !digits.is_empty()
            && digits.bytes().all(|b| b.is_ascii_digit())
            && (digits.len() == 1 || !digits.starts_with('0'));
        fits.then(|| digits.parse().unwrap_or(u64::MAX))
    };
    match inside.split_once(',') {
        None => number(inside).map(|count| (count, Some(count), after)),
        Some((least, "")) => Some((number(least)?, None, after)),
        Some((least, most)) => Some((number(least)?, Some(number(most)?), after)),
    }
}

//! Addresses of mail, as RFC 5322 has them: bare, or with a name and in angle brackets.

use super::address;

/// One address, or a group of one.
pub fn is_address(text: &str) -> bool {
    let mut reader = Reader { rest: text };
    reader.address(true) == Some(1) && reader.skip_comments().is_some() && reader.rest.is_empty()
}

/// Reads from the front; every method that fails returns nothing.
struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    /// An address or, if allowed, a group; returns how many addresses it holds.
    fn address(&mut self, may_be_group: bool) -> Option<usize> {
        self.skip_spaces();
        let start = self.rest;
        if self.bare_address().is_some() {
            self.skip_spaces();
            if self.take('(') {
                self.rest_of_comment()?;
            }
            return Some(1);
        }
        self.rest = start;
        if !start.starts_with('<') {
            self.phrase()?;
        }
        self.skip_spaces();
        if may_be_group && self.take(':') {
            return self.group();
        }
        (self.take('<') && self.bare_address().is_some() && self.take('>')).then_some(1)
    }

    fn group(&mut self) -> Option<usize> {
        self.skip_spaces();
        let mut count = 0;
        if !self.take(';') {
            loop {
                count += self.address(false)?;
                self.skip_comments()?;
                if self.take(';') {
                    break;
                }
                if !self.take(',') {
                    return None;
                }
            }
        }
        self.skip_comments()?;
        Some(count)
    }

    /// `local@domain`.
    fn bare_address(&mut self) -> Option<()> {
        self.skip_spaces();
        if self.rest.starts_with('"') {
            self.quoted().filter(|length| *length > 0)?;
        } else {
            self.dotted()?;
        }
        if !self.take('@') {
            return None;
        }
        self.skip_spaces();
        if self.take('[') {
            let (literal, after) = self.rest.split_once(']')?;
            self.rest = after;
            address_literal(literal).then_some(())
        } else {
            self.dotted()
        }
    }

    /// Words with single dots between.
    fn dotted(&mut self) -> Option<()> {
        let word = self.word()?;
        (!word.starts_with('.') && !word.ends_with('.') && !word.contains("..")).then_some(())
    }

    /// Words and quoted texts, at least one.
    fn phrase(&mut self) -> Option<()> {
        let mut words = 0;
        loop {
            if words > 0 {
                self.skip_comments()?;
            }
            self.skip_spaces();
            let start = self.rest;
            let read =
                if start.starts_with('"') { self.quoted().map(|_| ()) } else { self.word().map(|_| ()) };
            if read.is_none() {
                self.rest = start;
                return (words > 0 || start.is_empty()).then_some(());
            }
            words += 1;
        }
    }

    fn word(&mut self) -> Option<&str> {
        let end = self.rest.find(|c| !is_word_sign(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        (!word.is_empty()).then_some(word)
    }

    /// A text in double quotes; returns its length.
    fn quoted(&mut self) -> Option<usize> {
        let mut chars = self.rest.chars();
        chars.next();
        let mut length = 0;
        loop {
            match chars.next()? {
                '"' => break,
                '\\' => {
                    chars.next().filter(|c| is_visible(*c) || is_blank(*c))?;
                }
                c if is_visible(c) || is_blank(c) => {}
                _ => return None,
            }
            length += 1;
        }
        self.rest = chars.as_str();
        Some(length)
    }

    fn skip_spaces(&mut self) {
        self.rest = self.rest.trim_start_matches(is_blank);
    }

    fn skip_comments(&mut self) -> Option<()> {
        self.skip_spaces();
        while self.take('(') {
            self.rest_of_comment()?;
            self.skip_spaces();
        }
        Some(())
    }

    /// The rest of a comment, comments inside it included.
    fn rest_of_comment(&mut self) -> Option<()> {
        let mut depth = 1_usize;
        let mut chars = self.rest.chars();
        while depth > 0 {
            match chars.next()? {
                '\\' => {
                    chars.next();
                }
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
        }
        self.rest = chars.as_str();
        Some(())
    }

    fn take(&mut self, c: char) -> bool {
        match self.rest.strip_prefix(c) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }
}

fn address_literal(text: &str) -> bool {
    text.parse::<std::net::Ipv4Addr>().is_ok() || address::is_ipv6(text)
}

fn is_word_sign(c: char) -> bool {
    is_visible(c) && !matches!(c, '(' | ')' | '<' | '>' | '[' | ']' | ':' | ';' | '@' | '\\' | ',' | '"')
}

fn is_visible(c: char) -> bool {
    c.is_ascii_graphic() || !c.is_ascii()
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t')
}

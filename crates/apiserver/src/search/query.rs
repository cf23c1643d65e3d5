//! Parses a search: words that must all be found.

use std::collections::BTreeSet;
use std::net::IpAddr;

use bytes::Bytes;
use ipnet::IpNet;
use krm::status::Status;
use store::{Key, Snapshot};

use super::words;

/// Words of one search, at most.
const MOST_WORDS: usize = 16;

/// One thing that has to be found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// As it was written, in small letters.
    pub text: String,
}

/// Reads a search: words, or texts in quotation marks.
pub fn parse(text: &str) -> Result<Vec<Term>, Status> {
    let mut found = Vec::new();
    let (mut word, mut quoted) = (String::new(), false);
    for c in text.chars().chain(std::iter::once(' ')) {
        match c {
            '"' => quoted = !quoted,
            c if c.is_whitespace() && !quoted => {
                let text = std::mem::take(&mut word).trim().to_lowercase();
                if !text.is_empty() {
                    found.push(Term { text });
                }
            }
            c => word.push(c),
        }
    }
    if !word.trim().is_empty() {
        found.push(Term { text: word.trim().to_lowercase() });
    }
    match found.len() {
        0 => Err(Status::bad_request("q: must contain at least one word")),
        many if many > MOST_WORDS => {
            Err(Status::bad_request(format!("q: has {many} words; at most {MOST_WORDS} are allowed")))
        }
        _ => Ok(found),
    }
}

impl Term {
    /// The keys of all objects of a plane in which it is found.
    pub fn keys(&self, snapshot: &Snapshot, plane: &str) -> BTreeSet<Key> {
        let mut keys = BTreeSet::new();
        let mut take = |from: Bytes, to: Bytes| {
            keys.extend(snapshot.having_between(&from, &to).map(|(_, key)| key.clone()));
        };
        begin_with(words::word(plane, &self.text), &mut take);
        if let Some(digits) = words::mac(&self.text) {
            begin_with(words::mac_term(plane, &digits), &mut take);
        }
        if let Ok(address) = self.text.parse::<IpAddr>() {
            let own = words::address(plane, address);
            take(own.clone(), after(&own));
            for length in 0..=widest(address) {
                if let Ok(prefix) = IpNet::new(address, length) {
                    let around = words::prefix(plane, &prefix.trunc());
                    take(around.clone(), after(&around));
                }
            }
        }
        if let Ok(prefix) = self.text.parse::<IpNet>() {
            let prefix = prefix.trunc();
            let (first, last) = (prefix.network(), prefix.broadcast());
            take(words::address(plane, first), after(&words::address(plane, last)));
            let inner = |address: IpAddr, length: u8| IpNet::new(address, length).ok();
            let from = words::prefix(plane, &prefix);
            if let Some(to) = inner(last, widest(last)) {
                keys.extend(
                    snapshot
                        .having_between(&from, &after(&words::prefix(plane, &to)))
                        // Wider ones that begin at the same address come before it in no case but this.
                        .filter(|(term, _)| length_of(term) >= prefix.prefix_len())
                        .map(|(_, key)| key.clone()),
                );
            }
        }
        keys
    }

    /// Whether a text is one that it is found in.
    pub fn matches(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        let at_part = text
            .match_indices(&self.text)
            .any(|(at, _)| text[..at].chars().next_back().is_none_or(|before| !before.is_alphanumeric()));
        let same_mac = || {
            let (wanted, found) = (words::mac(&self.text), words::mac(&text));
            wanted.zip(found).is_some_and(|(wanted, found)| found.starts_with(&wanted))
        };
        let near = || {
            let net = |text: &str| {
                text.parse::<IpNet>().ok().or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from))
            };
            let (wanted, found) = (net(&self.text), net(&text));
            wanted
                .zip(found)
                .is_some_and(|(wanted, found)| wanted.contains(&found) || found.contains(&wanted))
        };
        at_part || same_mac() || near()
    }
}

fn length_of(term: &[u8]) -> u8 {
    let text = term.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).unwrap_or(0)
}

fn widest(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn begin_with(term: Bytes, take: &mut impl FnMut(Bytes, Bytes)) {
    let mut end = term.to_vec();
    // No word holds this byte: it comes after every one that begins so.
    end.push(0xff);
    take(term, end.into());
}

/// Right after a term.
fn after(term: &Bytes) -> Bytes {
    let mut end = term.to_vec();
    end.push(0);
    end.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_apart_unless_they_are_quoted() {
        let texts = |text: &str| -> Vec<String> {
            parse(text).unwrap().into_iter().map(|wanted| wanted.text).collect()
        };
        assert_eq!(texts("rack-7  AA:bb"), ["rack-7", "aa:bb"]);
        assert_eq!(texts("\"Karin Boye\" k"), ["karin boye", "k"]);
        assert_eq!(texts("\"open end"), ["open end"]);
        assert_eq!(parse("  \"\" ").unwrap_err().code, 400);
    }

    #[test]
    fn what_was_found_is_told() {
        let wanted = |text: &str| Term { text: text.to_owned() };
        assert!(wanted("7").matches("Rack-7") && !wanted("ack").matches("rack-7"));
        assert!(wanted("aabb").matches("x aabb") && wanted("aa-bb").matches("AA:BB:cc:dd:ee:ff"));
        assert!(wanted("10.1.0.0/16").matches("10.1.2.3") && wanted("10.1.2.3").matches("10.1.0.0/16"));
        assert!(!wanted("10.2.0.1").matches("10.1.0.0/16"));
    }
}

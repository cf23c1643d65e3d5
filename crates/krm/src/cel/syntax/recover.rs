//! Goes on after a word that does not fit, the way ANTLR does, so that the same faults are told in the same words.

use super::parse::Parser;
use super::token::{Kind, Kinds, OPERATORS, Token};

/// How often reading may go on after a fault.
const MOST_RECOVERIES: usize = 30;

/// A rule of the grammar could not be followed. It has been told; the rule's caller goes on.
#[derive(Debug)]
pub(super) struct Stuck;

impl<'s> Parser<'s, '_> {
    pub(super) fn token(&self) -> Token<'s> {
        self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    pub(super) fn kind(&self) -> Kind {
        self.token().kind
    }

    /// The kind of a word further on.
    pub(super) fn kind_after(&self, steps: usize) -> Kind {
        self.tokens[(self.at + steps).min(self.tokens.len() - 1)].kind
    }

    /// Takes the word that stands here.
    pub(super) fn take(&mut self) -> Token<'s> {
        let token = self.token();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        self.recovering = false;
        token
    }

    /// Makes sure that what comes can be gone on with, dropping one word if that helps.
    pub(super) fn expect_one_of(&mut self, expected: Kinds) -> Result<(), Stuck> {
        if self.recovering || expected.contains(self.kind()) {
            return Ok(());
        }
        if expected.contains(self.kind_after(1)) {
            self.attempt();
            self.complain(format!("extraneous input {} expecting {expected}", self.token().shown()));
            self.take();
            return Ok(());
        }
        self.stuck(expected)
    }

    /// Takes a word of this kind. `after` is what may follow it.
    pub(super) fn expect(&mut self, kind: Kind, after: Kinds) -> Result<Token<'s>, Stuck> {
        if self.kind() == kind {
            return Ok(self.take());
        }
        self.attempt();
        let (expected, found) = (Kinds::of(&[kind]), self.token());
        if self.kind_after(1) == kind && found.kind != Kind::End {
            self.complain(format!("extraneous input {} expecting {expected}", found.shown()));
            self.take();
            return Ok(self.take());
        }
        if after.contains(found.kind) {
            self.complain(format!("missing {expected} at {}", found.shown()));
            return Ok(Token { kind, text: "", ..found });
        }
        self.stuck(expected)
    }

    /// Tells that nothing here can be gone on with, and goes to where somebody waits for what comes.
    pub(super) fn stuck<T>(&mut self, expected: Kinds) -> Result<T, Stuck> {
        self.attempt();
        self.complain(format!("mismatched input {} expecting {expected}", self.token().shown()));
        self.skip();
        Err(Stuck)
    }

    /// The same for words of which the last fits no way to go on.
    pub(super) fn no_way_on<T>(&mut self, words: usize) -> Result<T, Stuck> {
        self.attempt();
        let last = (self.at + words - 1).min(self.tokens.len() - 1);
        let (first, last) = (self.token(), self.tokens[last]);
        let text = match last.kind {
            // These were identifiers once, and are told of as if they still were.
            Kind::True | Kind::False | Kind::Null => {
                format!("mismatched input '{}' expecting IDENTIFIER", last.text)
            }
            _ => format!("no viable alternative at input '{}'", self.between(first, last)),
        };
        self.complain_at(last.offset, text);
        self.skip();
        Err(Stuck)
    }

    /// What may come after something that is complete: operators, and what the surroundings wait for.
    pub(super) fn what_follows(&self) -> Kinds {
        OPERATORS.with(self.awaited.last().copied().unwrap_or_default())
    }

    /// Reads something inside of brackets and the like, which wait for `kinds`.
    pub(super) fn within<T>(&mut self, kinds: Kinds, read: impl FnOnce(&mut Self) -> T) -> T {
        self.awaited.push(kinds);
        let result = read(self);
        self.awaited.pop();
        result
    }

    fn complain(&mut self, what: String) {
        self.complain_at(self.token().offset, what);
    }

    fn complain_at(&mut self, offset: usize, what: String) {
        if !self.recovering && !self.given_up {
            self.issues.report(offset, format!("Syntax error: {what}"));
        }
        self.recovering = true;
    }

    fn attempt(&mut self) {
        self.recoveries += 1;
        if self.recoveries > MOST_RECOVERIES && !self.given_up {
            self.recovering = false;
            self.complain(format!("error recovery attempt limit exceeded: {MOST_RECOVERIES}"));
            self.give_up();
        }
    }

    /// Reads nothing more.
    pub(super) fn give_up(&mut self) {
        self.given_up = true;
        self.at = self.tokens.len() - 1;
    }

    fn skip(&mut self) {
        let awaited = self.awaited.iter().fold(OPERATORS, |all, kinds| all.with(*kinds));
        let stays = self.last_stuck == Some(self.at);
        self.last_stuck = Some(self.at);
        if stays && self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        while !awaited.contains(self.kind()) && self.kind() != Kind::End {
            self.at += 1;
        }
    }

    /// The text from one word to another, with what stands between.
    fn between(&self, first: Token<'s>, last: Token<'s>) -> &'s str {
        let end = if last.kind == Kind::End { first } else { last };
        self.source.get(first.start..end.start + end.text.len()).unwrap_or("")
    }
}

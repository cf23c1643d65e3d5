//! Types that are found out along the way.

use std::collections::BTreeMap;

use crate::cel::types::Type;

/// What is known so far about types that were open.
#[derive(Debug, Default)]
pub(super) struct Bindings {
    found: BTreeMap<u32, Type>,
    made: u32,
    /// What was found before each change, so that changes can be taken back.
    trail: Vec<(u32, Option<Type>)>,
}

/// Fresh variables for the open types of a signature.
pub(super) struct Fresh(Vec<(char, u32)>);

impl Fresh {
    /// A type of the signature with its own variables.
    pub fn fill(&self, of: &Type) -> Type {
        match of {
            Type::Open(letter) => {
                let found = self.0.iter().find(|(open, _)| open == letter);
                found.map_or(Type::Dyn, |(_, variable)| Type::Variable(*variable))
            }
            Type::List(of) => Type::list(self.fill(of)),
            Type::Optional(of) => Type::optional(self.fill(of)),
            Type::Map(key, value) => Type::map(self.fill(key), self.fill(value)),
            Type::Meta(Some(of)) => Type::Meta(Some(self.fill(of).into())),
            other => other.clone(),
        }
    }
}

impl Bindings {
    pub fn variable(&mut self) -> Type {
        self.made += 1;
        Type::Variable(self.made - 1)
    }

    pub fn fresh(&mut self, open: &[char]) -> Fresh {
        let first = self.made;
        self.made += open.len() as u32;
        Fresh(open.iter().copied().zip(first..).collect())
    }

    /// A type with what is known put in.
    pub fn known(&self, of: &Type) -> Type {
        self.replaced(of, false)
    }

    /// A type with what is known put in, and anything where nothing is.
    pub fn settle(&self, of: &Type) -> Type {
        self.replaced(of, true)
    }

    fn replaced(&self, of: &Type, settle: bool) -> Type {
        match of {
            Type::Variable(variable) => match self.found.get(variable) {
                Some(found) => self.replaced(found, settle),
                None if settle => Type::Dyn,
                None => of.clone(),
            },
            Type::List(of) => Type::list(self.replaced(of, settle)),
            Type::Optional(of) => Type::optional(self.replaced(of, settle)),
            Type::Map(key, value) => Type::map(self.replaced(key, settle), self.replaced(value, settle)),
            Type::Meta(Some(of)) => Type::Meta(Some(self.replaced(of, settle).into())),
            other => other.clone(),
        }
    }

    /// Whether each first type goes with its second. What that tells about open types is kept if all do.
    pub fn assignable(&mut self, pairs: &[(&Type, &Type)]) -> bool {
        self.trail.clear();
        let fits = pairs.iter().all(|(first, second)| self.goes_with(first, second));
        if !fits {
            for (variable, before) in std::mem::take(&mut self.trail).into_iter().rev() {
                match before {
                    Some(before) => self.found.insert(variable, before),
                    None => self.found.remove(&variable),
                };
            }
        }
        fits
    }

    fn goes_with(&mut self, first: &Type, second: &Type) -> bool {
        if let Type::Variable(variable) = second {
            match self.substitutes(first, *variable) {
                (true, _) => return true,
                (false, true) => return false,
                (false, false) => {}
            }
        }
        if let Type::Variable(variable) = first {
            return self.substitutes(second, *variable).0;
        }
        match (first, second) {
            (Type::Dyn | Type::Error, _) | (_, Type::Dyn | Type::Error) => true,
            (Type::Null, other) | (other, Type::Null) => is_nullable(other),
            (Type::Meta(_), Type::Meta(_)) => true,
            (Type::List(a), Type::List(b)) | (Type::Optional(a), Type::Optional(b)) => self.goes_with(a, b),
            (Type::Map(k1, v1), Type::Map(k2, v2)) => self.goes_with(k1, k2) && self.goes_with(v1, v2),
            (a, b) => a == b,
        }
    }

    /// Whether a variable can stand for a type, and whether it already stood for one.
    fn substitutes(&mut self, of: &Type, variable: u32) -> (bool, bool) {
        if *of == Type::Variable(variable) {
            return (true, true);
        }
        if let Some(found) = self.found.get(&variable).cloned() {
            if *of == found {
                return (true, true);
            }
            if !self.goes_with(of, &found) {
                return (false, true);
            }
            let general = more_general(of.clone(), found);
            if !self.occurs(variable, &general) {
                self.bind(variable, general);
            }
            return (true, true);
        }
        if self.occurs(variable, of) {
            return (false, false);
        }
        self.bind(variable, of.clone());
        (true, false)
    }

    fn bind(&mut self, variable: u32, of: Type) {
        let before = self.found.insert(variable, of);
        self.trail.push((variable, before));
    }

    fn occurs(&self, variable: u32, within: &Type) -> bool {
        match within {
            Type::Variable(other) if *other == variable => true,
            Type::Variable(other) => self.found.get(other).is_some_and(|found| self.occurs(variable, found)),
            Type::List(of) | Type::Optional(of) | Type::Meta(Some(of)) => self.occurs(variable, of),
            Type::Map(key, value) => self.occurs(variable, key) || self.occurs(variable, value),
            _ => false,
        }
    }
}

/// The one of two types that go together which says less.
pub(super) fn more_general(first: Type, second: Type) -> Type {
    if says_less(&first, &second) { first } else { second }
}

fn says_less(first: &Type, second: &Type) -> bool {
    match (first, second) {
        (Type::Dyn | Type::Variable(_), _) => true,
        (_, Type::Dyn | Type::Variable(_)) => false,
        (Type::List(a), Type::List(b)) | (Type::Optional(a), Type::Optional(b)) => says_less(a, b),
        (Type::Map(k1, v1), Type::Map(k2, v2)) => says_less(k1, k2) && says_less(v1, v2),
        (Type::Meta(_), Type::Meta(_)) => true,
        (a, b) => a == b,
    }
}

/// Types that null goes with.
fn is_nullable(of: &Type) -> bool {
    matches!(
        of,
        Type::Null
            | Type::Optional(_)
            | Type::Opaque(_)
            | Type::Library(_)
            | Type::Object(_)
            | Type::Duration
            | Type::Timestamp
    )
}

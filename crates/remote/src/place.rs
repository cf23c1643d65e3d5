//! Where an object is, as one string: the key of caches and queues.

use std::fmt;
use std::sync::Arc;

use krm::kind::Address;
use reconcile::target::Target;

/// `plane/group/plural/namespace/name`. None of the parts contains a slash, and the order is that of the server's keys.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place(Arc<str>);

impl Place {
    /// The place of an object.
    pub fn of(target: &Target) -> Place {
        Place(target.to_string().into())
    }

    /// The object that is there.
    pub fn target(&self) -> Target {
        let mut parts = self.0.split('/').map(str::to_owned);
        let mut next = || parts.next().unwrap_or_default();
        let plane = next();
        let (group, plural, namespace, name) = (next(), next(), next(), next());
        Target::new(plane, Address { group, plural, namespace, name })
    }

    /// Reads one from a text, as [`Target`] prints it.
    pub fn parse(text: &str) -> Option<Place> {
        (text.split('/').count() == 5).then(|| Place(text.into()))
    }

    /// The name of its plane. Planes take turns.
    pub fn plane(&self) -> &str {
        self.0.split('/').next().unwrap_or_default()
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first place of all, or of those with a prefix.
    pub(crate) fn before(prefix: &str) -> Place {
        Place(prefix.into())
    }
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// What the places of a resource in a plane begin with.
pub(crate) fn of_resource(plane: &str, group: &str, plural: &str) -> String {
    format!("{plane}/{group}/{plural}/")
}

/// What the places of a resource in a namespace begin with.
pub(crate) fn in_namespace(plane: &str, group: &str, plural: &str, namespace: &str) -> String {
    format!("{plane}/{group}/{plural}/{namespace}/")
}

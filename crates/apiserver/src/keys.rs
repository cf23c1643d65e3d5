//! Where objects stand in the store: `plane/group/plural/namespace/name`, empty parts included.
//!
//! Within a kind the order of keys is that of namespace and name, which is the order of lists.

use krm::kind::Address;
use store::{BadKey, Key};

use crate::plane::Plane;

/// The key of an object.
pub fn object(plane: &Plane, at: &Address) -> Result<Key, BadKey> {
    Key::new(format!("{}/{}/{}/{}/{}", plane.as_str(), at.group, at.plural, at.namespace, at.name))
}

/// The beginning of the keys of a kind.
pub fn of_kind(plane: &Plane, group: &str, plural: &str) -> String {
    format!("{}/{group}/{plural}/", plane.as_str())
}

/// The beginning of the keys of a kind in one namespace.
pub fn in_namespace(plane: &Plane, group: &str, plural: &str, namespace: &str) -> String {
    format!("{}/{group}/{plural}/{namespace}/", plane.as_str())
}

/// The parts of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts<'a> {
    /// The plane: a project's name, or nothing.
    pub plane: &'a str,
    /// The group.
    pub group: &'a str,
    /// The resource.
    pub plural: &'a str,
    /// The namespace, or nothing.
    pub namespace: &'a str,
    /// The name.
    pub name: &'a str,
}

impl Parts<'_> {
    /// The plane.
    pub fn plane(&self) -> Plane {
        if self.plane.is_empty() { Plane::root() } else { Plane::project(self.plane) }
    }

    /// The address inside its plane.
    pub fn address(&self) -> Address {
        Address {
            group: self.group.to_owned(),
            plural: self.plural.to_owned(),
            namespace: self.namespace.to_owned(),
            name: self.name.to_owned(),
        }
    }
}

/// Takes a key apart; `None` for keys that are not objects of this server.
pub fn parts(key: &Key) -> Option<Parts<'_>> {
    parts_of(std::str::from_utf8(key.as_bytes()).ok()?)
}

/// Takes the text of a key apart, or that of its beginning up to the name, which is then empty.
pub fn parts_of(text: &str) -> Option<Parts<'_>> {
    let mut parts = text.splitn(5, '/');
    Some(Parts {
        plane: parts.next()?,
        group: parts.next()?,
        plural: parts.next()?,
        namespace: parts.next()?,
        name: parts.next()?,
    })
}

/// The beginning of a key that names the kind of its object, as [`of_kind`] makes it.
pub fn kind(key: &Key) -> Option<&str> {
    let text = std::str::from_utf8(key.as_bytes()).ok()?;
    let (end, _) = text.match_indices('/').nth(2)?;
    text.get(..=end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_gives_back_its_parts() {
        let at = Address {
            group: "inventory.miloapis.com".into(),
            plural: "racks".into(),
            namespace: String::new(),
            name: "r1".into(),
        };
        let key = object(&Plane::root(), &at).unwrap();
        assert_eq!(key.as_bytes(), b"/inventory.miloapis.com/racks//r1");
        assert_eq!(parts(&key).unwrap().address(), at);
        assert_eq!(kind(&key), Some(of_kind(&Plane::root(), &at.group, &at.plural).as_str()));
        let key = object(&Plane::project("p"), &at).unwrap();
        assert_eq!(parts(&key).unwrap().plane, "p");
        assert_eq!(kind(&key), Some("p/inventory.miloapis.com/racks/"));
    }
}

//! Buckets: named indexes by a computed value, which rules can read and which guard their decisions.

/// A bucket, named after its group: `inventory.miloapis.com/in-rack`. Kinds that share it declare the same constant, and
/// who reads it names that constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bucket {
    name: &'static str,
    stored: &'static str,
}

impl Bucket {
    /// A bucket with this name.
    ///
    /// # Panics
    /// When the name is not that of a group, a slash and one more: in a constant, that is an error of the compiler.
    pub const fn new(name: &'static str) -> Bucket {
        let (bytes, mut at, mut slashes) = (name.as_bytes(), 0, 0);
        while at < bytes.len() {
            if bytes[at] == b'/' {
                slashes += 1;
            }
            at += 1;
        }
        let has_both = !bytes.is_empty() && bytes[0] != b'/' && bytes[bytes.len() - 1] != b'/';
        assert!(slashes == 1 && has_both, "the name of a bucket is <group>/<name>");
        Bucket { name, stored: name }
    }

    /// The same, kept in stores under a name of before buckets carried their group. Servers of several versions that
    /// share a store must agree on it, since its guards go by that name.
    pub const fn stored_as(self, stored: &'static str) -> Bucket {
        Bucket { stored, ..self }
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// Its name in stores.
    pub const fn stored(self) -> &'static str {
        self.stored
    }

    /// The group it is of.
    pub fn group(self) -> &'static str {
        self.name.split_once('/').map_or("", |(group, _)| group)
    }
}

impl std::fmt::Display for Bucket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

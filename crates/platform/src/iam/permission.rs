//! Permissions: `<group>/<plural>.<verb>` or `<group>/<plural>/<subresource>.<verb>`.

use apiserver::authz::Attributes;

/// What the core group is called in permissions, having no name of its own.
pub const CORE: &str = "core.miloapis.com";

/// The parts of a permission; each may be `*`, for every one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Permission<'a> {
    /// The group; never empty.
    pub group: &'a str,
    /// The plural of the kind.
    pub resource: &'a str,
    /// The subresource; often empty.
    pub subresource: &'a str,
    /// The verb.
    pub verb: &'a str,
}

impl<'a> Permission<'a> {
    /// Reads a permission.
    pub fn parse(text: &'a str) -> Option<Permission<'a>> {
        let (group, rest) = text.split_once('/')?;
        let (place, verb) = rest.split_once('.')?;
        let (resource, subresource) = match place.split_once('/') {
            Some((resource, subresource)) if is_word(subresource) => (resource, subresource),
            Some(_) => return None,
            None => (place, ""),
        };
        let is_group = group == "*" || group.split('.').all(is_word);
        let is_verb = verb == "*" || verb.split(['.', '/']).all(is_word);
        let is_resource = resource == "*" || is_word(resource);
        let is_one = is_group && is_resource && is_verb && text.len() <= 512;
        is_one.then_some(Permission { group, resource, subresource, verb })
    }

    /// The permission that a request takes.
    pub fn of(what: &Attributes<'a>) -> Permission<'a> {
        Permission {
            group: if what.group.is_empty() { CORE } else { what.group },
            resource: what.resource,
            subresource: what.subresource,
            // Who may delete each may delete all.
            verb: if what.verb == "deletecollection" { "delete" } else { what.verb },
        }
    }

    /// Whether any part of it means every one.
    pub fn is_pattern(&self) -> bool {
        [self.group, self.resource, self.verb].contains(&"*")
    }

    /// Whether it includes another.
    pub fn includes(&self, other: &Permission<'_>) -> bool {
        let is = |mine: &str, theirs: &str| mine == "*" || mine == theirs;
        let subresource =
            self.subresource == other.subresource || (self.resource == "*" && self.subresource.is_empty());
        is(self.group, other.group)
            && is(self.resource, other.resource)
            && subresource
            && is(self.verb, other.verb)
    }

    /// The group as the API has it: nothing for the core one.
    pub fn api_group(&self) -> &'a str {
        if self.group == CORE { "" } else { self.group }
    }
}

impl std::fmt::Display for Permission<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Permission { group, resource, subresource, verb } = self;
        match subresource.is_empty() {
            true => write!(f, "{group}/{resource}.{verb}"),
            false => write!(f, "{group}/{resource}/{subresource}.{verb}"),
        }
    }
}

fn is_word(text: &str) -> bool {
    let mut bytes = text.bytes();
    !text.is_empty() && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permission_is_written_as_it_is_read() {
        for text in [
            "inventory.miloapis.com/racks.get",
            "inventory.miloapis.com/racks/status.patch",
            "core.miloapis.com/secrets.create",
            "networking.datumapis.com/networks.use",
            "compute.datumapis.com/workloads.updateStatus",
            "example.com/widgets.custom.verb",
            "*/*.*",
            "example.com/*.get",
        ] {
            assert_eq!(Permission::parse(text).unwrap().to_string(), text);
        }
        for text in [
            "",
            "racks.get",
            "g/racks",
            "g/.get",
            "/racks.get",
            "g/racks.",
            "g/racks/.get",
            "g/a/b/c.get",
            "g/ra cks.get",
        ] {
            assert_eq!(Permission::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_star_is_every_one_and_every_resource_has_its_subresources() {
        let includes = |one: &str, other: &str| {
            Permission::parse(one).unwrap().includes(&Permission::parse(other).unwrap())
        };
        assert!(includes("*/*.*", "g/racks/status.patch"));
        assert!(includes("g/*.get", "g/racks/history.get"));
        assert!(!includes("g/racks.*", "g/racks/status.get"), "a resource does not include its subresources");
        assert!(!includes("g/*.get", "h/racks.get"));
        assert!(!includes("g/racks.get", "g/racks.list"));
    }
}

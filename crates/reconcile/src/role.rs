//! Roles of controllers, compiled in: what each may write.

/// Verbs on resources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// Group of the resources; `*` for all.
    pub group: &'static str,
    /// Resources, with a subresource after a slash; `*` for all.
    pub resources: &'static [&'static str],
    /// Verbs: `create`, `update`, `patch`, `delete`, and those that some resources have besides, such as `escalate`.
    pub verbs: &'static [&'static str],
}

impl Rule {
    /// Verbs on resources of a group.
    pub const fn new(
        group: &'static str,
        resources: &'static [&'static str],
        verbs: &'static [&'static str],
    ) -> Rule {
        Rule { group, resources, verbs }
    }

    /// Whether it allows a verb on a resource, which has a subresource after a slash.
    pub fn allows(&self, verb: &str, group: &str, resource: &str) -> bool {
        let has = |list: &[&str], what: &str| list.contains(&what);
        (self.group == "*" || self.group == group)
            && (has(self.resources, "*") || has(self.resources, resource))
            && has(self.verbs, verb)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_allows_its_verbs_on_its_resources_alone() {
        let rule = Rule::new("inventory.example.com", &["racks/status"], &["update"]);
        assert!(rule.allows("update", "inventory.example.com", "racks/status"));
        assert!(!rule.allows("update", "inventory.example.com", "racks"));
        assert!(!rule.allows("delete", "inventory.example.com", "racks/status"));
        assert!(!rule.allows("update", "", "racks/status"));
        assert!(Rule::new("*", &["*"], &["delete"]).allows("delete", "", "pods"));
        assert!(!Rule::new("*", &["*"], &["delete"]).allows("update", "", "pods"));
    }
}

//! Rejections in the format of a validating admission webhook, which existing clients may parse.

/// As which webhook a kind refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Webhook {
    /// Its name: `vrack.inventory.miloapis.com`.
    pub name: &'static str,
    /// The kinds that may refer to this one, in the order in which a refused deletion names them.
    pub order: &'static [&'static str],
}

impl Webhook {
    /// What a client is told when it refuses.
    pub fn denies(&self, why: &str) -> String {
        format!("admission webhook \"{}\" denied the request: {why}", self.name)
    }
}

//! Regular expressions, and what Go says about those that are not.

/// Why a pattern cannot be read, in Go's words; `None` for a pattern that can.
pub(crate) fn fault(pattern: &str) -> Option<String> {
    if pattern.is_empty() {
        return None;
    }
    let error = regex::Regex::new(pattern).err()?;
    Some(format!("error parsing regexp: {error}"))
}

//! Names of field managers.

use std::borrow::Cow;

use crate::field::is_printable;

/// A name may have so many bytes.
const LONGEST_NAME: usize = 128;

/// The manager a write is by: the one it names, or else its client.
pub fn manager_of<'a>(field_manager: &'a str, user_agent: &'a str) -> Cow<'a, str> {
    if !field_manager.is_empty() {
        return field_manager.into();
    }
    let client = user_agent.split('/').next().unwrap_or("");
    if client.len() <= LONGEST_NAME && client.chars().all(is_printable) {
        return client.into();
    }
    let mut name = String::new();
    for c in client.chars().filter(|c| is_printable(*c)) {
        if name.len() + c.len_utf8() > LONGEST_NAME {
            break;
        }
        name.push(c);
    }
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_names_no_manager_is_known_by_what_stands_before_the_slash() {
        assert_eq!(manager_of("me", "kubectl/v1.30"), "me");
        assert_eq!(manager_of("", "kubectl/v1.30 (linux/amd64)"), "kubectl");
        assert_eq!(manager_of("", "plain agent"), "plain agent");
        assert_eq!(manager_of("", "/lead"), "");
        assert_eq!(manager_of("", "a\u{1}b\tc/1"), "abc");
        assert_eq!(manager_of("", &"é".repeat(100)), "é".repeat(64));
    }
}

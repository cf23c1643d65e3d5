//! Names of properties as names in expressions.

use std::borrow::Cow;

use crate::cel::syntax::RESERVED;

/// Words that mean something in expressions, besides those that are kept for later.
const MEANT: [&str; 4] = ["true", "false", "null", "in"];

fn is_keyword(word: &str) -> bool {
    MEANT.contains(&word) || RESERVED.contains(&word)
}

/// The name under which an expression finds a property; `None` when it cannot.
pub(in crate::cel) fn escape(name: &str) -> Option<Cow<'_, str>> {
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if is_keyword(name) {
        return Some(Cow::Owned(format!("__{name}__")));
    }
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '/');
    if !name.chars().all(fits) {
        return None;
    }
    if !name.contains(['.', '-', '/']) && !name.contains("__") {
        return Some(Cow::Borrowed(name));
    }
    let escaped = name
        .replace("__", "__underscores__")
        .replace('.', "__dot__")
        .replace('-', "__dash__")
        .replace('/', "__slash__");
    Some(Cow::Owned(escaped))
}

/// The property that a name in an expression means; `None` when it means none.
pub(in crate::cel) fn unescape(name: &str) -> Option<Cow<'_, str>> {
    if !name.contains("__") {
        return Some(Cow::Borrowed(name));
    }
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(start) = rest.find("__") {
        let inner = &rest[start + 2..];
        let length = inner.bytes().take_while(|byte| *byte != b'_').count();
        // Without a word between two pairs of underscores, this is no escape, and one of them is passed over.
        if length == 0 || !inner[length..].starts_with("__") {
            out.push_str(&rest[..=start]);
            rest = &rest[start + 1..];
            continue;
        }
        out.push_str(&rest[..start]);
        out.push_str(match &inner[..length] {
            "underscores" => "__",
            "dot" => ".",
            "dash" => "-",
            "slash" => "/",
            word if is_keyword(word) && length + 4 == name.len() => word,
            _ => return None,
        });
        rest = &inner[length + 2..];
    }
    out.push_str(rest);
    Some(Cow::Owned(out))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_are_escaped_as_kubernetes_escapes_them() {
        let cases = [
            ("a", Some("a")),
            ("namespace", Some("__namespace__")),
            ("if", Some("__if__")),
            ("self", Some("self")),
            ("a-b", Some("a__dash__b")),
            ("a.b/c", Some("a__dot__b__slash__c")),
            ("a__b", Some("a__underscores__b")),
            ("a_b", Some("a_b")),
            ("1a", None),
            ("", None),
            ("a b", None),
            ("é", None),
        ];
        for (name, escaped) in cases {
            assert_eq!(escape(name).as_deref(), escaped, "{name}");
        }
        assert_eq!(unescape("a__nope__b"), None);
    }

    proptest! {
        #[test]
        fn what_is_escaped_can_be_found_again(name in "[a-z_./-]{1,12}") {
            let escaped = escape(&name).unwrap();
            let unescaped = unescape(&escaped);
            prop_assert_eq!(unescaped.as_deref(), Some(name.as_str()));
        }
    }
}

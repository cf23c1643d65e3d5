//! Hashes of templates: instances are up to date if they were made from the template with this hash.

use serde_json::Value;

/// Letters and digits of a hash, without those that make words.
const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";
/// Characters of a hash.
const LENGTH: usize = 10;

/// The hash of a template. The order of fields and the spelling of the instance type make no difference.
pub fn template_hash(template: &Value) -> String {
    let mut canonical = template.clone();
    crate::template::normalize(&mut canonical);
    let mut text = String::new();
    write_sorted(&canonical, &mut text);
    let mut rest = fnv64(text.as_bytes());
    let mut letters = String::with_capacity(LENGTH);
    for _ in 0..LENGTH {
        letters.push(char::from(ALPHABET[(rest % 27) as usize]));
        rest /= 27;
    }
    letters
}

/// FNV-1a with 64 bits.
pub fn fnv64(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

/// JSON with the fields of objects in order. Empty lists and objects say nothing, and are left out.
fn write_sorted(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => {
            let mut fields: Vec<(&String, &Value)> =
                map.iter().filter(|(_, value)| !says_nothing(value)).collect();
            fields.sort_unstable_by_key(|(name, _)| *name);
            out.push('{');
            for (name, value) in fields {
                out.push_str(&Value::String(name.clone()).to_string());
                out.push(':');
                write_sorted(value, out);
                out.push(',');
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for item in items {
                write_sorted(item, out);
                out.push(',');
            }
            out.push(']');
        }
        other => out.push_str(&other.to_string()),
    }
}

fn says_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(map) => map.values().all(says_nothing),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_hash_depends_on_what_a_template_says_alone() {
        let one = json!({"metadata": {"labels": {}}, "spec": {"runtime": {"resources": {"instanceType": "d1-standard-2"},
            "sandbox": {"containers": [{"name": "app", "image": "a:1"}]}}}});
        let same = json!({"spec": {"runtime": {"sandbox": {"containers": [{"image": "a:1", "name": "app"}]},
            "resources": {"instanceType": "datumcloud/d1-standard-2"}}}});
        let other = json!({"spec": {"runtime": {"sandbox": {"containers": [{"image": "a:2", "name": "app"}]},
            "resources": {"instanceType": "datumcloud/d1-standard-2"}}}});
        assert_eq!(template_hash(&one), template_hash(&same));
        assert_ne!(template_hash(&one), template_hash(&other));
        assert_eq!(template_hash(&one).len(), LENGTH);
    }
}

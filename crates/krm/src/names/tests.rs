use super::*;

const SUBDOMAIN: &str = r"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

#[test]
fn a_subdomain_is_labels_joined_by_dots() {
    for good in ["a", "a.b", "ok.dotted.name", "0", "a-b.c-d", &"a".repeat(253)] {
        assert_eq!(dns1123_subdomain(good), Faults::new(), "{good}");
    }
    for bad in ["", "UPPER", "under_score", "-lead", "trail-", "a..b", "a/b", "a%b", ".", "..", "a b", "ünï"]
    {
        assert_eq!(dns1123_subdomain(bad), [SUBDOMAIN], "{bad}");
    }
    assert_eq!(dns1123_subdomain(&"a".repeat(254)), ["must be no more than 253 characters"]);
    assert_eq!(dns1123_subdomain(&"A".repeat(254)), ["must be no more than 253 characters", SUBDOMAIN]);
}

#[test]
fn a_label_has_no_dots() {
    assert_eq!(dns1123_label("a-1"), Faults::new());
    assert_eq!(dns1123_label("a.b"), ["must not contain dots"]);
    assert_eq!(
        dns1123_label("A"),
        [
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
        ]
    );
    assert_eq!(dns1123_label(&"a".repeat(64)), ["must be no more than 63 characters"]);
}

#[test]
fn a_1035_label_begins_with_a_letter() {
    assert_eq!(dns1035_label("a1"), Faults::new());
    let fault = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
    assert_eq!(dns1035_label("1a"), [fault]);
    assert_eq!(dns1035_label(""), [fault]);
}

#[test]
fn a_path_segment_keeps_the_path_apart() {
    assert_eq!(path_segment("system:node"), Faults::new());
    assert_eq!(path_segment("."), ["may not be '.'"]);
    assert_eq!(path_segment(".."), ["may not be '..'"]);
    assert_eq!(path_segment("a/b%c"), ["may not contain '/'", "may not contain '%'"]);
    assert_eq!(name_is_path_segment(".", true), Faults::new());
}

#[test]
fn a_label_key_may_have_a_domain() {
    for good in ["app", "example.com/app", "A_b.c-d", "1"] {
        assert_eq!(label_key(good), Faults::new(), "{good}");
    }
    let name = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
    assert_eq!(label_key("-a"), [name]);
    assert_eq!(label_key(""), ["name part must be non-empty", name]);
    assert_eq!(label_key("/a"), ["prefix part must be non-empty"]);
    assert_eq!(label_key("A/a"), [format!("prefix part {SUBDOMAIN}")]);
    assert_eq!(label_key(&format!("{}/a", "a".repeat(254))), ["prefix part must be no more than 253 bytes"]);
    assert_eq!(label_key(&"a".repeat(64)), ["name part must be no more than 63 bytes"]);
    assert_eq!(
        label_key("a/b/c"),
        [
            "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        ]
    );
}

#[test]
fn a_label_value_may_be_empty() {
    assert_eq!(label_value(""), Faults::new());
    assert_eq!(label_value("A_b.c"), Faults::new());
    assert_eq!(label_value(&"v".repeat(64)), ["must be no more than 63 bytes"]);
    assert_eq!(
        label_value("-"),
        [
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
        ]
    );
}

#[test]
fn a_config_key_never_leaves_its_directory() {
    assert_eq!(config_map_key(".hidden"), Faults::new());
    assert_eq!(config_map_key("."), ["must not be '.'"]);
    assert_eq!(config_map_key(".."), ["must not be '..'"]);
    assert_eq!(config_map_key("..a"), ["must not start with '..'"]);
    assert_eq!(
        config_map_key("a b"),
        [
            "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
        ]
    );
}

#[test]
fn a_generated_name_may_follow_a_dash() {
    assert_eq!(name_is_dns_subdomain("gen-", true), Faults::new());
    assert_eq!(name_is_dns_subdomain("gen-", false), [SUBDOMAIN]);
    assert_eq!(name_is_dns_subdomain("-", true), [SUBDOMAIN]);
    assert_eq!(name_is_dns_subdomain("Bad_", true), [SUBDOMAIN]);
    assert_eq!(name_is_dns_subdomain("ü-", true), [SUBDOMAIN]);
    assert_eq!(name_is_dns_label(&format!("{}-", "a".repeat(63)), true), Faults::new());
}

#[test]
fn a_generated_name_is_the_base_and_five_characters() {
    let name = generate_name("gen-", 12_345_678_901_234_u64.to_le_bytes());
    assert!(name.starts_with("gen-") && name.len() == 9, "{name}");
    assert!(name[4..].bytes().all(|byte| b"bcdfghjklmnpqrstvwxz2456789".contains(&byte)), "{name}");
    assert_eq!(generate_name("", [0; 8]), "bbbbb");
    assert_eq!(generate_name("", [1, 0, 0, 0, 0, 0, 0, 0]), "cbbbb");
    let long = generate_name(&"l".repeat(70), [7; 8]);
    assert_eq!((long.len(), &long[..58]), (63, "l".repeat(58).as_str()));
    assert!(generate_name(&"ü".repeat(40), [255; 8]).len() <= 63);
    assert_eq!(generate_name(&format!("a{}", "ü".repeat(40)), [0; 8]).len(), 57 + SUFFIX_LENGTH);
}

#[test]
fn an_api_version_has_at_most_two_parts() {
    assert_eq!(group_version("v1"), Some(("", "v1")));
    assert_eq!(group_version("apps/v1"), Some(("apps", "v1")));
    assert_eq!(group_version(""), Some(("", "")));
    assert_eq!(group_version("a/b/c"), None);
}

//! Filters of the fulfillment API: any text is read or refused, and what was read can be evaluated for any host.

use gateway::filter::Filter;
use gateway::schema;
use prost_reflect::DynamicMessage;
use serde_json::json;

use super::Target;

pub const TARGET: Target = Target {
    name: "list_filters",
    check,
    seeds,
    words: &[
        "this.",
        "id",
        "metadata.",
        "labels",
        "['k']",
        "spec.",
        "class",
        "bmc",
        "status.",
        "has(",
        ")",
        " && ",
        " || ",
        "!",
        " in ",
        "[]",
        "null",
        "==",
        "<=",
        ".startsWith('",
        "timestamp('",
        "duration('1h')",
        "now",
        "HOST_STATE_READY",
        "\\u",
        "//",
        "9223372036854775807",
        "%",
    ],
};

fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Some(of) = schema::message("osac.private.v1.Host") else { return };
    let filter = match Filter::parse(&text, &of, schema::is_secret) {
        Ok(filter) => filter,
        Err(error) => return assert!(error.at <= text.chars().count() + 1, "{error}"),
    };
    let some = json!({"id": "a", "metadata": {"labels": {"k": "v"}, "version": 3}, "spec": {"class": "c"}, "status": {}});
    for host in [json!({}), some] {
        let Ok(host) = DynamicMessage::deserialize(of.clone(), host) else { continue };
        assert_eq!(filter.matches(&host, 0), filter.matches(&host, 0), "the same filter answers the same");
    }
    // Something that must be so, and everything: an index must not lose what matches.
    if let Ok(all) = Filter::parse(&format!("({text}) || true"), &of, schema::is_secret) {
        assert_eq!(all.terms(), None, "what is always true has no terms: {text}");
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let seeds = [
        "this.id == 'a' || this.metadata.name == \"b\"",
        "!has(this.metadata.deletion_timestamp) && this.spec.class == 'c' && !has(this.status.cluster)",
        "this.metadata.labels['k'] in ['v', 'w'] && this.metadata.version + 1 >= 4",
        "this.status.state == HOST_STATE_READY && now - this.metadata.creation_timestamp > duration('1h')",
        "'x' in this.metadata.tenants && this.spec.rack.contains('%_\\\\\\'')",
    ];
    seeds.map(|seed| seed.as_bytes().to_vec()).into()
}

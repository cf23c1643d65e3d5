//! Field masks of the fulfillment API: any paths are read or refused, and what was read can be applied.

use gateway::mask::Mask;
use gateway::schema;
use prost_reflect::DynamicMessage;
use serde_json::json;

use super::Target;

pub const TARGET: Target = Target {
    name: "field_masks",
    check,
    seeds,
    words: &[
        "spec",
        ".",
        "node_sets",
        "workers",
        "size",
        "`",
        "0",
        "1",
        "metadata",
        "labels",
        "finalizers",
        "status",
        "conditions",
        "template_parameters",
        "\n",
        " ",
    ],
};

fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Some(of) = schema::message("osac.private.v1.Cluster") else { return };
    let Ok(mask) = Mask::parse(&of, text.split('\n')) else { return };
    let old = json!({"id": "a", "metadata": {"finalizers": ["x", "y"], "labels": {"k": "v"}},
        "spec": {"node_sets": {"workers": {"host_class": "c", "size": 3}}}});
    let new = json!({"metadata": {"finalizers": ["z"]}, "spec": {"template": "t", "node_sets": {"workers": {"size": 5}}}});
    let read = |value| DynamicMessage::deserialize(of.clone(), value).ok();
    let (Some(old), Some(new)) = (read(old), read(new)) else { return };
    let mut same = old.clone();
    if mask.apply(&mut same, &old).is_ok() {
        assert_eq!(same, old, "what is so already does not change: {text}");
    }
    let mut changed = old.clone();
    let _ = mask.apply(&mut changed, &new);
}

fn seeds() -> Vec<Vec<u8>> {
    let seeds = [
        "spec.node_sets.workers.size",
        "metadata.labels.`a.b/c`\nspec",
        "metadata.finalizers.1",
        " id . ",
        "status.conditions.0.type",
    ];
    seeds.map(|seed| seed.as_bytes().to_vec()).into()
}

//! Boot actions as the original printed them, the inner workings of its filters included.

use serde_json::{Value, json};

use super::fields::{Object, strings, texts};
use crate::model::{Asset, BootAction, Criteria};

pub(super) fn action(action: &BootAction, targets: &[String]) -> Value {
    let filter = action.node_filter.as_ref().map(|filter| {
        Object::default()
            .with_field("filter_set_type", &filter.join)
            .with("filter_set", filter.criteria.iter().map(criteria).collect::<Value>())
            .done()
    });
    Object::default()
        .with("name", action.document.name.clone())
        .with("signaling", action.signaling)
        .with("asset_list", action.assets.iter().map(asset).collect::<Value>())
        .with("node_filter", filter)
        .with("target_nodes", targets.to_vec())
        .done()
}

fn asset(asset: &Asset) -> Value {
    let packages = asset.packages.as_ref();
    Object::default()
        .with_field("type", &asset.kind)
        .with_field("path", &asset.path)
        .with_field("location", &asset.location)
        .with_list("location_pipeline", &asset.location_pipeline)
        .with_field("data", &asset.data)
        .with_list("data_pipeline", &asset.data_pipeline)
        .with_field("permissions", &asset.permissions)
        .with(
            "package_list",
            packages.map(|all| all.iter().map(|(k, v)| (k.clone(), json!(v))).collect::<Value>()),
        )
        .done()
}

fn criteria(criteria: &Criteria) -> Value {
    let data = Object::default()
        .with_field("filter_type", &criteria.join)
        .with("node_names", criteria.node_names.as_deref().map(strings))
        .with("node_tags", criteria.node_tags.as_deref().map(strings))
        .with("node_labels", criteria.node_labels.as_ref().map(texts))
        .with("rack_names", criteria.rack_names.as_deref().map(strings))
        .with("rack_labels", criteria.rack_labels.as_ref().map(texts))
        .done();
    json!({
        "versioned_object.name": "NodeFilter",
        "versioned_object.namespace": "drydock_provisioner.objects",
        "versioned_object.version": "1.0",
        "versioned_object.data": data,
    })
}

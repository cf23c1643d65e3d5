//! Field masks: what they mean, and the laws that hold for all of them.

use gateway::mask::Mask;
use gateway::schema;
use proptest::prelude::*;
use prost::Message;
use prost_reflect::{DynamicMessage, ReflectMessage, Value as Field};
use serde_json::{Value, json};

use super::host;

fn of() -> prost_reflect::MessageDescriptor {
    schema::message("osac.private.v1.Host").unwrap()
}

fn mask(paths: &[&str]) -> Mask {
    Mask::parse(&of(), paths.iter().copied()).unwrap()
}

fn applied(paths: &[&str], onto: Value, from: Value) -> DynamicMessage {
    let mut onto = host(onto);
    mask(paths).apply(&mut onto, &host(from)).unwrap();
    onto
}

#[test]
fn what_is_there_is_set_and_what_is_not_is_cleared() {
    let old =
        json!({"id": "a", "spec": {"rack": "1", "title": "One", "bmc": {"url": "ipmi://a", "user": "root"}}});
    let new = json!({"spec": {"rack": "2", "bmc": {"url": "ipmi://b"}}});
    assert_eq!(
        applied(&["spec.rack", "spec.title"], old.clone(), new.clone()),
        host(json!({"id": "a", "spec": {"rack": "2", "bmc": {"url": "ipmi://a", "user": "root"}}}))
    );
    assert_eq!(
        applied(&["spec.bmc.url"], old.clone(), new.clone()),
        host(
            json!({"id": "a", "spec": {"rack": "1", "title": "One", "bmc": {"url": "ipmi://b", "user": "root"}}})
        )
    );
    assert_eq!(
        applied(&["spec.bmc"], old, new),
        host(json!({"id": "a", "spec": {"rack": "1", "title": "One", "bmc": {"url": "ipmi://b"}}}))
    );
}

#[test]
fn a_key_of_a_map_keeps_its_siblings_and_what_is_beside_it() {
    let old = json!({"metadata": {"labels": {"a": "1", "b": "2", "app.example/c": "3"}}});
    let new = json!({"metadata": {"labels": {"a": "9", "app.example/c": "8"}}});
    let labels = |paths: &[&str]| applied(paths, old.clone(), new.clone());
    let wanted = |labels: Value| host(json!({"metadata": {"labels": labels}}));
    assert_eq!(labels(&["metadata.labels.a"]), wanted(json!({"a": "9", "b": "2", "app.example/c": "3"})));
    assert_eq!(labels(&["metadata.labels.b"]), wanted(json!({"a": "1", "app.example/c": "3"})));
    assert_eq!(
        labels(&["metadata.labels.`app.example/c`"]),
        wanted(json!({"a": "1", "b": "2", "app.example/c": "8"}))
    );
    let cluster = schema::message("osac.private.v1.Cluster").unwrap();
    let read = |value: Value| DynamicMessage::deserialize(cluster.clone(), value).unwrap();
    let mut onto = read(
        json!({"spec": {"node_sets": {"workers": {"host_class": "gpu", "size": 3}, "others": {"size": 1}}}}),
    );
    let from = read(json!({"spec": {"node_sets": {"workers": {"size": 5}}}}));
    let size = Mask::parse(&cluster, ["spec.node_sets.workers.size"]).unwrap();
    size.apply(&mut onto, &from).unwrap();
    let wanted =
        json!({"spec": {"node_sets": {"workers": {"host_class": "gpu", "size": 5}, "others": {"size": 1}}}});
    assert_eq!(onto, read(wanted));
}

#[test]
fn an_index_of_a_list_means_one_item() {
    let list = |items: &[&str]| json!({"metadata": {"finalizers": items}});
    let both = |paths: &[&str], old: &[&str], new: &[&str]| applied(paths, list(old), list(new));
    assert_eq!(both(&["metadata.finalizers.1"], &["a", "b", "c"], &["x", "y"]), host(list(&["a", "y", "c"])));
    assert_eq!(both(&["metadata.finalizers.2"], &["a", "b"], &["x", "y", "z"]), host(list(&["a", "b", "z"])));
    // What the input lacks goes, and each index means the item that it meant.
    assert_eq!(
        both(&["metadata.finalizers.1", "metadata.finalizers.2"], &["a", "b", "c", "d"], &["x"]),
        host(list(&["a", "d"]))
    );
    let mut onto = host(list(&["a"]));
    let beyond = mask(&["metadata.finalizers.3"]).apply(&mut onto, &host(list(&["a", "b", "c", "d"])));
    assert!(beyond.unwrap_err().to_string().contains("the list has 1 items"));
}

#[test]
fn a_path_that_means_nothing_is_refused_by_name() {
    let refused = |path: &str| Mask::parse(&of(), [path]).unwrap_err().to_string();
    assert!(refused("spec.colour").contains("'colour', which is no field of osac.private.v1.HostSpec"));
    assert!(refused("spec.rack.unit").contains("goes on below 'rack'"));
    assert!(refused("metadata.finalizers.first").contains("where an index of a list is expected"));
    assert!(refused(" . ").contains("names nothing"));
    assert!(refused("metadata.labels.`a").contains("not closed"));
    assert!(Mask::parse(&of(), [" spec . rack ", "metadata..name"]).is_ok());
    let public = schema::message("osac.public.v1.Host").unwrap();
    let private = Mask::parse(&public, ["spec.bmc"]).unwrap_err().to_string();
    assert!(private.contains("'bmc'"), "{private}");
}

fn small() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), Just("a".to_owned()), Just("b".to_owned()), Just("ü%_".to_owned())]
}

fn hosts() -> impl Strategy<Value = DynamicMessage> {
    let labels = proptest::collection::btree_map(prop_oneof![Just("x"), Just("y"), Just("z")], small(), 0..3);
    let bmc = proptest::option::of((small(), small(), any::<bool>()));
    let finalizers = proptest::collection::vec(small(), 0..3);
    (labels, bmc, small(), small(), finalizers, proptest::option::of(small())).prop_map(
        |(labels, bmc, rack, title, finalizers, cluster)| {
            let mut value = json!({
                "metadata": {"labels": labels, "finalizers": finalizers},
                "spec": {"rack": rack, "title": title},
            });
            if let Some((url, user, insecure)) = bmc {
                value["spec"]["bmc"] = json!({"url": url, "user": user, "insecure": insecure});
            }
            if let Some(cluster) = cluster {
                value["status"] = json!({"cluster": cluster});
            }
            host(value)
        },
    )
}

/// Paths without an index: what an index means depends on what else is removed.
const PATHS: [&str; 12] = [
    "id",
    "metadata",
    "metadata.labels",
    "metadata.labels.x",
    "metadata.labels.y",
    "metadata.finalizers",
    "spec.rack",
    "spec.title",
    "spec.bmc",
    "spec.bmc.url",
    "status",
    "status.cluster",
];

fn paths() -> impl Strategy<Value = Vec<&'static str>> {
    proptest::sample::subsequence(PATHS.to_vec(), 0..6)
}

/// Without messages that have nothing in them: to have none and to have an empty one is the same to a mask.
fn pruned(message: &DynamicMessage) -> DynamicMessage {
    let message = &plain(message);
    let mut pruned = message.clone();
    let fields: Vec<_> = message.fields().map(|(field, value)| (field, value.clone())).collect();
    for (field, value) in fields {
        if let Field::Message(inner) = value {
            let inner = self::pruned(&inner);
            let is_empty = inner.fields().next().is_none();
            match is_empty {
                true => pruned.clear_field(&field),
                false => pruned.set_field(&field, Field::Message(inner)),
            }
        }
    }
    pruned
}

/// As it is on the wire, where a field that has its default is not set.
fn plain(message: &DynamicMessage) -> DynamicMessage {
    DynamicMessage::decode(message.descriptor(), &*message.encode_to_vec()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn masks_keep_their_laws(a in hosts(), b in hosts(), first in paths(), second in paths()) {
        let apply = |paths: &[&str], onto: &DynamicMessage, from: &DynamicMessage| {
            let mut onto = onto.clone();
            mask(paths).apply(&mut onto, from).unwrap();
            plain(&onto)
        };
        let (a, b) = (plain(&a), plain(&b));
        let once = apply(&first, &a, &b);
        prop_assert_eq!(&apply(&first, &once, &b), &once, "twice is once");
        prop_assert_eq!(&apply(&first, &a, &a), &a, "nothing changes what is so already");
        prop_assert_eq!(pruned(&apply(&first, &once, &a)), pruned(&a), "what is not named stays: it can be undone");
        let both: Vec<&str> = first.iter().chain(&second).copied().collect();
        prop_assert_eq!(
            pruned(&apply(&both, &a, &b)), pruned(&apply(&second, &once, &b)), "two masks are one after the other"
        );
        prop_assert_eq!(&apply(&["id", "metadata", "spec", "status"], &a, &b), &b, "all fields are the whole");
        let selected = mask(&first).select(&b).unwrap();
        prop_assert_eq!(pruned(&apply(&first, &a, &selected)), pruned(&once), "only what is named counts");
    }
}

//! Random chains: profiles that inherit from one another, and a node at the end.

use design::{
    compile::{Compiled, LshwInputs, compile},
    document::parse,
    inherit::Change,
};
use proptest::{collection::vec, option, prelude::*, sample::select};
use serde_json::{Map, Value, json};

/// Documents `p0`, `p1`, … each inheriting from the one before, and the node `n` inheriting from the last.
#[derive(Clone, Debug)]
pub struct Chain {
    /// Name and data, the root profile first, the node last.
    documents: Vec<(String, Value)>,
    /// By how many places the documents are turned before they are read.
    turned: usize,
}

pub fn chains() -> impl Strategy<Value = Chain> {
    vec(settings(), 1..5).prop_map(|settings| {
        let last = settings.len() - 1;
        let mut documents = Vec::new();
        for (i, mut data) in settings.into_iter().enumerate() {
            if let Some(parent) = i.checked_sub(1) {
                data["host_profile"] = json!(format!("p{parent}"));
            }
            if i == last {
                data["hardware_profile"] = json!("hw");
                data["addressing"] = json!([{ "network": "pxe", "address": "dhcp" }]);
            }
            documents.push((if i == last { "n".to_owned() } else { format!("p{i}") }, data));
        }
        Chain { documents, turned: 0 }
    })
}

impl Chain {
    pub fn compile(&self) -> Compiled {
        let documents = parse("chain.yaml", self.text().as_bytes()).unwrap().documents;
        compile(&documents, &LshwInputs::new())
    }

    pub fn printed(&self) -> Value {
        self.compile().to_drydock_json()
    }

    pub fn printed_node(&self) -> Value {
        self.printed()["nodes"]["n"].clone()
    }

    /// The documents as YAML; JSON is YAML, and printed wide it has a line for every value.
    pub fn text(&self) -> String {
        let document = |kind: &str, name: &str, data: &Value| {
            let metadata = json!({ "schema": "metadata/Document/v1", "name": name });
            let whole = json!({ "schema": format!("drydock/{kind}/v1"), "metadata": metadata, "data": data });
            format!("---\n{}\n", serde_json::to_string_pretty(&whole).unwrap())
        };
        let mut texts: Vec<String> = self
            .documents
            .iter()
            .map(|(name, data)| {
                document(if name == "n" { "BaremetalNode" } else { "HostProfile" }, name, data)
            })
            .collect();
        texts.push(document("HardwareProfile", "hw", &json!({})));
        let places = self.turned % texts.len();
        texts.rotate_left(places);
        texts.concat()
    }

    pub fn nearest_first(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.documents.iter().rev().map(|(name, data)| (name, data))
    }

    pub fn rotated(&self, by: prop::sample::Index) -> Self {
        Self { turned: by.index(self.documents.len() + 1), ..self.clone() }
    }

    /// A profile that says nothing, put before any of the documents.
    pub fn with_empty_profile(&self, place: prop::sample::Index) -> Self {
        let mut documents = self.documents.clone();
        let place = place.index(documents.len());
        let mut empty = json!({});
        if let Some(parent) = documents[place].1.get("host_profile") {
            empty["host_profile"] = parent.clone();
        }
        documents[place].1["host_profile"] = json!("empty");
        documents.insert(place, ("empty".to_owned(), empty));
        Self { documents, ..self.clone() }
    }

    fn node(&self) -> &Value {
        &self.documents.last().unwrap().1
    }

    /// Whether the node sets what its marker removes; then taking the marker away does not bring the old value back.
    pub fn node_speaks_of(&self, path: &str) -> bool {
        let (owner, last) = split(path);
        match find(&mut self.node().clone(), &owner) {
            Some(Value::Object(fields)) => fields.get(&last).is_some_and(|value| value != "!"),
            Some(Value::Array(items)) => items.iter().any(|item| name_of(item) == Some(&last)),
            _ => false,
        }
    }

    /// The chain without the marker that made a change.
    pub fn without_marker(&self, change: &Change) -> Self {
        let (owner, last) = split(&change.path);
        let mut chain = self.clone();
        let marker = format!("!{last}");
        match find(&mut chain.documents.last_mut().unwrap().1, &owner) {
            Some(Value::Object(fields)) if fields.get(&last) == Some(&json!("!")) => {
                fields.remove(&last);
            }
            Some(Value::Object(fields)) => {
                fields.remove(&marker);
            }
            Some(Value::Array(items)) => items.retain(|item| name_of(item) != Some(&marker)),
            _ => {}
        }
        chain
    }
}

/// The path of a change as the steps to what holds the value, and the value's name in it.
fn split(path: &str) -> (Vec<String>, String) {
    let path = path.replace('[', ".").replace(']', "");
    let mut steps: Vec<String> = path.split('.').map(str::to_owned).collect();
    let last = steps.pop().unwrap();
    (steps, last)
}

/// What stands at the end of some steps; members of lists are found by name.
fn find<'v>(data: &'v mut Value, steps: &[String]) -> Option<&'v mut Value> {
    steps.iter().try_fold(data, |value, step| match value {
        Value::Object(fields) => fields.get_mut(step),
        Value::Array(items) => items.iter_mut().find(|item| name_of(item) == Some(step)),
        _ => None,
    })
}

fn name_of(item: &Value) -> Option<&String> {
    match item {
        Value::String(name) => Some(name),
        Value::Object(fields) => match fields.get("name") {
            Some(Value::String(name)) => Some(name),
            _ => None,
        },
        _ => None,
    }
}

fn settings() -> impl Strategy<Value = Value> {
    let names = || vec(select(vec!["a", "b", "c", "!a", "!b"]), 0..4);
    let texts = || {
        let key = select(vec!["a", "b", "c", "!a", "!b"]);
        proptest::collection::btree_map(key.prop_map(str::to_owned), word(), 0..4)
    };
    let scalar = || option::of(select(vec!["!", "", "one", "two"]));
    let platform = (scalar(), scalar(), option::of(texts())).prop_map(|(image, kernel, params)| {
        object([("image", json!(image)), ("kernel", json!(kernel)), ("kernel_params", json!(params))])
    });
    let metadata =
        (option::of(names()), option::of(texts()), scalar()).prop_map(|(tags, owner_data, rack)| {
            object([("tags", json!(tags)), ("owner_data", json!(owner_data)), ("rack", json!(rack))])
        });
    let parts =
        (scalar(), option::of(platform), option::of(metadata), members(interface()), option::of(storage()));
    parts.prop_map(|(primary, platform, metadata, interfaces, storage)| {
        object([
            ("primary_network", json!(primary)),
            ("platform", json!(platform)),
            ("metadata", json!(metadata)),
            ("interfaces", json!(interfaces)),
            ("storage", json!(storage)),
        ])
    })
}

fn interface() -> impl Strategy<Value = Value> {
    let names = || option::of(vec(select(vec!["x", "y", "!x"]), 0..3));
    let sriov = (option::of(0..9i64), option::of(any::<bool>()))
        .prop_map(|(count, trusted)| object([("vf_count", json!(count)), ("trustedmode", json!(trusted))]));
    let parts = (option::of(select(vec!["!", "l1", "l2"])), names(), names(), option::of(sriov));
    parts.prop_map(|(link, slaves, networks, sriov)| {
        object([
            ("device_link", json!(link)),
            ("slaves", json!(slaves)),
            ("networks", json!(networks)),
            ("sriov", json!(sriov)),
        ])
    })
}

fn storage() -> impl Strategy<Value = Value> {
    let filesystem = || {
        let parts =
            (option::of(select(vec!["/", "/var", "!"])), option::of(select(vec!["xfs", "ext3", "!"])));
        parts.prop_map(|(mountpoint, fstype)| {
            object([("mountpoint", json!(mountpoint)), ("fstype", json!(fstype))])
        })
    };
    let piece = move || {
        let parts = (option::of(select(vec!["1g", "2g", "!"])), option::of(filesystem()));
        parts
            .prop_map(|(size, filesystem)| object([("size", json!(size)), ("filesystem", json!(filesystem))]))
    };
    let device = members(piece()).prop_map(|pieces| json!({ "partitions": listed(pieces) }));
    let group = members(piece()).prop_map(|pieces| json!({ "logical_volumes": listed(pieces) }));
    (members(device), members(group))
        .prop_map(|(devices, groups)| json!({ "physical_devices": devices, "volume_groups": groups }))
}

/// Named members, some of them taken away.
fn members(member: impl Strategy<Value = Value>) -> impl Strategy<Value = Map<String, Value>> {
    let name = select(vec!["m1", "m2", "m3", "!m1", "!m2"]);
    let members = proptest::collection::btree_map(name, member, 0..4);
    members.prop_map(|members| {
        let empty = |name: &str, member| if name.starts_with('!') { json!({}) } else { member };
        members.into_iter().map(|(name, member)| (name.to_owned(), empty(name, member))).collect()
    })
}

fn listed(members: Map<String, Value>) -> Vec<Value> {
    let named = members.into_iter().map(|(name, mut member)| {
        member["name"] = json!(name);
        member
    });
    named.collect()
}

fn word() -> impl Strategy<Value = String> {
    select(vec!["u", "v", "w"]).prop_map(str::to_owned)
}

/// An object without the fields that are null.
fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    let set = fields.into_iter().filter(|(_, value)| !value.is_null());
    Value::Object(set.map(|(key, value)| (key.to_owned(), value)).collect())
}

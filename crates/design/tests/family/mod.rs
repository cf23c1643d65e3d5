//! A parent profile, a child profile and a node, written in place.

use design::{
    compile::{Compiled, LshwInputs, compile},
    document::parse,
    inherit::Effective,
};
use serde_json::{Value, json};

/// Three documents that inherit from one another.
pub struct Family {
    text: String,
}

impl Family {
    /// A family of these data; each inherits from the one before unless it says otherwise.
    pub fn of(parent: &Value, child: &Value, node: &Value) -> Self {
        let mut node = over(node, "child");
        if node.get("addressing").is_none() {
            node["addressing"] = json!([{ "network": "pxe", "address": "dhcp" }]);
        }
        node["hardware_profile"] = json!("hw");
        let documents = [
            ("HardwareProfile", "hw", json!({})),
            ("HostProfile", "parent", parent.clone()),
            ("HostProfile", "child", over(child, "parent")),
            ("BaremetalNode", "n", node),
        ];
        let print = |(kind, name, data): (&str, &str, Value)| {
            let metadata = json!({ "schema": "metadata/Document/v1", "name": name });
            let whole = json!({ "schema": format!("drydock/{kind}/v1"), "metadata": metadata, "data": data });
            format!("---\n{whole}\n")
        };
        Self { text: documents.map(print).concat() }
    }

    /// What the design comes to.
    pub fn print(&self) -> Value {
        print(&self.text)
    }

    /// What the node inherits and says, with the origin of each value.
    pub fn effective(&self) -> Effective {
        compiled(&self.text).site().unwrap().node("n").unwrap().effective.clone()
    }

    /// What the node comes to.
    pub fn node(&self) -> Value {
        let printed = self.print();
        assert_eq!(printed["status"], json!("Success"), "{printed}");
        printed["nodes"]["n"].clone()
    }
}

/// What documents come to.
pub fn print(text: &str) -> Value {
    compiled(text).to_drydock_json()
}

fn compiled(text: &str) -> Compiled {
    let documents = parse("family.yaml", text.as_bytes()).unwrap().documents;
    compile(&documents, &LshwInputs::new())
}

fn over(data: &Value, parent: &str) -> Value {
    let mut data = data.clone();
    if data.get("host_profile").is_none() {
        data["host_profile"] = json!(parent);
    }
    data
}

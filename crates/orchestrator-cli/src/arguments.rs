//! Flags that say what a task is about.

use std::collections::BTreeMap;

use cli::Failure;
use serde_json::{Value, json};

/// What a task is about.
#[derive(clap::Args, Debug, Clone)]
pub struct About {
    /// Action: validate_design, verify_site, prepare_site, verify_nodes, prepare_nodes, deploy_nodes, destroy_nodes,
    /// relabel_nodes or reboot_nodes.
    #[arg(value_name = "ACTION", value_parser = action)]
    pub action: String,

    /// Name of the design. Defaults to the only one in the namespace.
    #[arg(long, value_name = "NAME")]
    pub design: Option<String>,

    /// Number of the revision of the design. Defaults to the active one.
    #[arg(long, value_name = "NUMBER")]
    pub revision: Option<i64>,

    /// Name of the provisioner. Defaults to the one named default, or the only one.
    #[arg(long, value_name = "NAME")]
    pub provisioner: Option<String>,

    /// Select nodes by name, separated by commas. Repeatable.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub node: Vec<String>,

    /// Select nodes that have one of these tags.
    #[arg(long, value_name = "TAGS", value_delimiter = ',')]
    pub tag: Vec<String>,

    /// Select nodes in one of these racks.
    #[arg(long, value_name = "RACKS", value_delimiter = ',')]
    pub rack: Vec<String>,

    /// Select nodes with all of these labels of the design, as KEY=VALUE.
    #[arg(long, value_name = "LABELS", value_delimiter = ',')]
    pub label: Vec<String>,
}

fn action(name: &str) -> Result<String, String> {
    match orchestrator::action::Action::parse(name) {
        Some(action) => Ok(action.as_str().to_owned()),
        None => {
            let all: Vec<&str> =
                orchestrator::action::Action::ALL.iter().map(|action| action.as_str()).collect();
            Err(format!("must be one of {}", all.join(", ")))
        }
    }
}

impl About {
    /// The node filter, if nodes are selected. Different flags narrow the selection.
    pub fn filter(&self) -> Result<Option<Value>, Failure> {
        let mut labels = BTreeMap::new();
        for pair in &self.label {
            let (key, value) = pair
                .split_once('=')
                .ok_or_else(|| Failure::usage(format!("--label: {pair:?} is not KEY=VALUE")))?;
            labels.insert(key.to_owned(), value.to_owned());
        }
        let mut criteria = json!({"filterType": "intersection"});
        let mut given = false;
        for (field, names) in [("nodeNames", &self.node), ("nodeTags", &self.tag), ("rackNames", &self.rack)]
        {
            if !names.is_empty() {
                criteria[field] = json!(names);
                given = true;
            }
        }
        if !labels.is_empty() {
            criteria["nodeLabels"] = json!(labels);
            given = true;
        }
        Ok(given.then(|| json!({"filterSetType": "intersection", "filterSet": [criteria]})))
    }
}

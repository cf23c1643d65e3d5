//! `--lshw NODE=FILE` and `--lldp NODE=FILE`: hardware data of machines from files.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
};

use clap::Args;
use design::{
    as_built::Lldp,
    compile::{Lshw, LshwInputs},
    document::Document,
};

use crate::outcome::Trouble;

/// Output of lshw per node.
#[derive(Args, Clone)]
pub(crate) struct HardwareFiles {
    /// Output of `lshw -xml` of a node. `*` stands for every node without its own file.
    #[arg(long, value_name = "NODE=FILE", value_parser = node_and_file)]
    lshw: Vec<(String, PathBuf)>,
}

/// Output of lldpctl per node.
#[derive(Args, Clone)]
pub(crate) struct NeighbourFiles {
    /// Output of `lldpctl -f xml` of a node.
    #[arg(long, value_name = "NODE=FILE", value_parser = node_and_file)]
    lldp: Vec<(String, PathBuf)>,
}

impl NeighbourFiles {
    pub(crate) fn is_empty(&self) -> bool {
        self.lldp.is_empty()
    }

    pub(crate) fn read(&self) -> Result<HashMap<String, Lldp>, Trouble> {
        let mut heard = HashMap::new();
        for (node, file) in &self.lldp {
            let xml = fs::read_to_string(file).map_err(|source| Trouble::file("read", file, source))?;
            let refuse = |_| Trouble::Asked(format!("{}: not the XML output of lldpctl", file.display()));
            heard.insert(node.clone(), Lldp::parse(&xml).map_err(refuse)?);
        }
        Ok(heard)
    }
}

fn node_and_file(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((node, file)) if !node.is_empty() && !file.is_empty() => Ok((node.to_owned(), file.into())),
        _ => Err("use NODE=FILE, such as --lshw controller01=controller01.xml".to_owned()),
    }
}

impl HardwareFiles {
    pub(crate) fn is_empty(&self) -> bool {
        self.lshw.is_empty()
    }

    pub(crate) fn read(&self, documents: &[Document]) -> Result<LshwInputs, Trouble> {
        let nodes: Vec<&str> = documents
            .iter()
            .filter(|document| document.id.kind() == Some("BaremetalNode"))
            .map(Document::name)
            .collect();
        let mut inputs = LshwInputs::new();
        let (all, named): (Vec<_>, Vec<_>) = self.lshw.iter().partition(|(node, _)| node == "*");
        for (node, file) in named {
            if !nodes.contains(&node.as_str()) {
                return Err(Trouble::Asked(format!("--lshw {node}=…: the design has no node {node}")));
            }
            inputs.insert(node.clone(), seen(file)?);
        }
        for (_, file) in all {
            let seen = seen(file)?;
            for node in &nodes {
                inputs.entry((*node).to_owned()).or_insert_with(|| seen.clone());
            }
        }
        Ok(inputs)
    }
}

fn seen(file: &Path) -> Result<Lshw, Trouble> {
    let bytes = fs::read(file).map_err(|source| Trouble::file("read", file, source))?;
    let refuse = |why: &dyn std::fmt::Display| Trouble::Asked(format!("{}: {why}", file.display()));
    let xml = String::from_utf8(bytes).map_err(|_| refuse(&"not the XML output of lshw: it is not UTF-8"))?;
    Lshw::parse(&xml).map_err(|error| refuse(&error))
}

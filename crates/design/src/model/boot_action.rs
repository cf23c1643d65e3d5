//! BootAction: files, systemd units and packages that are installed on nodes when they are deployed.

use std::sync::Arc;

use indexmap::IndexMap;

use super::{
    DocumentRef, Field, NodeFilter, Set,
    section::{Reading, Section},
};
use crate::yaml::{Node, Value};

/// Assets that are installed on nodes when they are deployed.
#[derive(Clone, Debug)]
pub struct BootAction {
    /// The document.
    pub document: Arc<DocumentRef>,
    /// Whether the node reports how it went.
    pub signaling: bool,
    /// Assets, in order.
    pub assets: Vec<Asset>,
    /// Selects the nodes; all if unset.
    pub node_filter: Option<NodeFilter>,
}

/// One thing put on a node.
#[derive(Clone, Debug)]
pub struct Asset {
    /// `unit`, `file` or `pkg_list`.
    pub kind: Field<String>,
    /// Path on the node.
    pub path: Field<String>,
    /// Where it is fetched from.
    pub location: Field<String>,
    /// Transformations of `location` before it is fetched.
    pub location_pipeline: Option<Vec<Set<String>>>,
    /// Its content, written in the document.
    pub data: Field<String>,
    /// Transformations of the content.
    pub data_pipeline: Option<Vec<Set<String>>>,
    /// Its mode.
    pub permissions: Field<u32>,
    /// Packages and their versions; only of a `pkg_list`.
    pub packages: Option<IndexMap<String, Option<String>>>,
}

const ASSET_FIELDS: [&str; 7] =
    ["type", "path", "location", "data", "location_pipeline", "data_pipeline", "permissions"];
const PIPELINE: [&str; 5] = ["base64_encode", "base64_decode", "utf8_encode", "utf8_decode", "template"];

impl BootAction {
    pub(super) fn read(reading: &mut Reading, data: &Section) -> Self {
        data.only(reading, &["signaling", "assets", "node_filter"]);
        if !data.has("assets") {
            reading.missing(&data.at, "assets", "a boot action needs a list of assets".to_owned());
        }
        let assets = data.sections(reading, "assets").unwrap_or_default();
        let filter = data.section(reading, "node_filter");
        Self {
            document: reading.document(),
            signaling: data.flag(reading, "signaling").is_none_or(|flag| flag.value),
            assets: assets.iter().map(|asset| Asset::read(reading, asset)).collect(),
            node_filter: filter.map(|filter| NodeFilter::read(reading, &filter)),
        }
    }

    /// The boot action's name.
    pub fn name(&self) -> &str {
        &self.document.name
    }
}

impl Asset {
    fn read(reading: &mut Reading, asset: &Section) -> Self {
        asset.only(reading, &ASSET_FIELDS);
        if !asset.has("type") {
            reading.misshaped(&asset.at, &asset.path, "`type` is required".to_owned());
        }
        let kind = asset.one_of(reading, "type", &["unit", "file", "pkg_list"]);
        let path = asset.text(reading, "path");
        if let Some(relative) =
            path.as_ref().filter(|path| !(path.value.starts_with('/') && path.value.len() > 1))
        {
            let message = format!("`{}` is not an absolute path", relative.value);
            reading.misshaped(&relative.by.at, &asset.path_of("path"), message);
        }
        let location = asset.text(reading, "location");
        let written = asset.node(reading, "data");
        let is_package_list = super::text(&kind) == Some("pkg_list");
        let data = written.and_then(|node| content(reading, node, &asset.path_of("data"), is_package_list));
        let listed = written.filter(|node| is_package_list && node.value.as_map().is_some());
        let packages = listed.and_then(|node| packages(reading, node, &asset.path_of("data")));
        let has_location = location.as_ref().is_some_and(|location| !location.value.is_empty());
        if is_package_list && !has_location && listed.is_none() {
            let message = "a pkg_list needs a map of packages, or a location".to_owned();
            reading.invalid(&asset.at, &asset.path, message);
        }
        Self {
            kind,
            path,
            location,
            location_pipeline: pipeline(reading, asset, "location_pipeline", &["template"]),
            data,
            data_pipeline: pipeline(reading, asset, "data_pipeline", &PIPELINE),
            permissions: permissions(reading, asset),
            packages,
        }
    }
}

/// A step that is not a string is reported twice: it has neither the type nor one of the values.
fn pipeline(reading: &mut Reading, asset: &Section, key: &str, steps: &[&str]) -> Option<Vec<Set<String>>> {
    let list = asset.list(reading, key)?;
    let mut pipeline = Vec::new();
    for (path, item) in list {
        let step = reading.text(item, &path);
        if step.as_ref().is_none_or(|step| !steps.contains(&step.value.as_str())) {
            reading.misshaped(&item.at, &path, format!("must be one of {}", steps.join(", ")));
        }
        pipeline.extend(step);
    }
    Some(pipeline)
}

/// The mode, written in octal.
fn permissions(reading: &mut Reading, asset: &Section) -> Field<u32> {
    let written = asset.text(reading, "permissions")?;
    let path = asset.path_of("permissions");
    let has_three_digits = written.value.as_bytes().windows(3).any(|run| run.iter().all(u8::is_ascii_digit));
    if reading.is_strict() && !has_three_digits {
        reading.misshaped(
            &written.by.at,
            &path,
            format!("`{}` must have at least three digits", written.value),
        );
        return None;
    }
    match u32::from_str_radix(&written.value, 8) {
        Ok(mode) => Some(written.map(|_| mode)),
        Err(_) => {
            reading.invalid(&written.by.at, &path, format!("`{}` is not an octal mode", written.value));
            None
        }
    }
}

/// Content is text; only a list of packages is a map, and that is read elsewhere.
fn content(reading: &mut Reading, node: &Node, path: &str, is_package_list: bool) -> Field<String> {
    match &node.value {
        Value::Map(map) => {
            let good = map.iter().all(|(_, node)| matches!(node.value, Value::String(_) | Value::Null));
            if !good {
                reading.misshaped(&node.at, path, "values of this map must be strings or empty".to_owned());
            } else if !is_package_list {
                reading.invalid(&node.at, path, "only a pkg_list has a map here".to_owned());
            }
            None
        }
        _ => reading.text(node, &path),
    }
}

/// Package names and versions; a version left empty is any.
fn packages(reading: &mut Reading, node: &Node, path: &str) -> Option<IndexMap<String, Option<String>>> {
    let section = Section::of(reading, node, path)?;
    let mut packages = IndexMap::new();
    for (name, version) in section.members(reading) {
        packages.insert(name.value, version.value.as_str().map(str::to_owned));
    }
    Some(packages)
}

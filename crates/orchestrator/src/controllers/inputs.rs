//! What a task works with: the compiled revision of its design, and its provisioner.

use std::sync::Arc;

use design::compile::Site;
use design::validate::Severity;
use design_resources::CompiledDesign;
use design_resources::kinds::{Design, DesignRevision};
use krm::kind::{Address, QueryContext, Resource, SEALED_NAMESPACE};
use serde::Deserialize;
use serde_json::Value;

use crate::driver::{Credential, NodeDriver, inabilities};
use crate::drivers;
use crate::kinds::{Provisioner, TaskSpecView};
use crate::progress::Limits;
use crate::work::NodeWork;

/// What a task works with.
pub struct Inputs {
    /// Number of the revision.
    pub revision: i64,
    /// The compiled revision.
    pub compiled: Arc<CompiledDesign>,
    /// The provisioner.
    pub provisioner: Provisioner,
    /// Its driver.
    pub driver: Arc<dyn NodeDriver>,
}

/// How often a step is tried unless the provisioner says otherwise.
const TRIES: i64 = 3;

/// Finds what a task works with; `Err` says what is missing.
pub fn inputs(spec: &TaskSpecView<'_>, look: &dyn QueryContext) -> Result<Inputs, String> {
    let at = Design::address(spec.namespace, spec.design);
    let object = look.get(&at).ok_or_else(|| format!("Design {} not found", spec.design))?;
    let design = Design::deserialize(&Value::Object(object.0.clone()))
        .map_err(|error| format!("Design {} cannot be read: {error}", spec.design))?;
    let revision = spec.revision.or(design.spec.revision).ok_or_else(|| {
        format!(
            "Design {} has no active revision; promote one first: groundplane design promote",
            spec.design
        )
    })?;
    let name = DesignRevision::name_of(spec.design, revision);
    let compiled = design_resources::revision(spec.namespace, &name, look)
        .ok_or_else(|| format!("revision {revision} of Design {} not found", spec.design))?;
    let provisioner = provisioner(spec.provisioner, look)?;
    let driver = drivers::of(provisioner.spec.kind);
    Ok(Inputs { revision, compiled, provisioner, driver })
}

fn provisioner(name: Option<&str>, look: &dyn QueryContext) -> Result<Provisioner, String> {
    let named = |name: &str| {
        let object = look.get(&Provisioner::address("", name))?;
        Provisioner::deserialize(&Value::Object(object.0.clone())).ok()
    };
    if let Some(name) = name {
        return named(name).ok_or_else(|| format!("Provisioner {name} not found"));
    }
    if let Some(found) = named("default") {
        return Ok(found);
    }
    match look.names(Provisioner::GROUP, Provisioner::PLURAL).as_slice() {
        [only] => named(only).ok_or_else(|| format!("Provisioner {only} not found")),
        [] => Err("there is no Provisioner; create one, named default".to_owned()),
        several => Err(format!(
            "there are {} Provisioners and none is named default; name one in spec.provisioner: {}",
            several.len(),
            several.join(", ")
        )),
    }
}

impl Inputs {
    /// The site, if the revision compiles.
    pub fn site(&self) -> Result<&Site, String> {
        self.compiled.compiled.site().ok_or_else(|| {
            format!("revision {} does not compile; run the action validate_design to see why", self.revision)
        })
    }

    /// Name of the provisioner.
    pub fn provisioner_name(&self) -> &str {
        &self.provisioner.metadata.name
    }

    /// Limits of steps.
    pub fn limits(&self) -> Limits {
        Limits {
            seconds: self.provisioner.spec.time_limits.clone(),
            tries: self.provisioner.spec.tries.unwrap_or(TRIES),
        }
    }

    /// Number of errors that validation finds.
    pub fn errors(&self) -> usize {
        self.compiled.diagnostics().iter().filter(|one| one.severity == Severity::Error).count()
    }

    /// What the nodes need that the driver can't do.
    pub fn inabilities(&self, nodes: &[NodeWork]) -> Vec<String> {
        let (name, abilities) = (self.driver.name(), self.driver.abilities());
        nodes.iter().flat_map(|node| inabilities(name, abilities, node)).collect()
    }
}

/// The credential of a provisioner.
pub fn credential(provisioner: &Provisioner, root: &dyn QueryContext) -> Option<Credential> {
    let _ = (provisioner, root);
    None
}

/// A value that is kept in a Secret.
pub fn sealed(reference: &Value, root: &dyn QueryContext) -> Option<Credential> {
    let at = Address {
        group: String::new(),
        plural: "secrets".to_owned(),
        namespace: SEALED_NAMESPACE.to_owned(),
        name: reference["name"].as_str()?.to_owned(),
    };
    let secret = root.get(&at)?;
    let value = secret.get("data")?.get(reference["key"].as_str()?)?.as_str()?.to_owned();
    let bytes = krm::base64::decode(&value).ok()?;
    String::from_utf8(bytes).ok().map(Credential::new)
}

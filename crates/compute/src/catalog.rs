//! What the catalog says of instance types: whether they are offered, and what they cost.

use krm::kind::View;
use krm::quantity::amount;

use crate::kinds::{InstanceType, LifecyclePhase};
use crate::names::canonical_instance_type;

/// The type that is there without an entry in the catalog.
pub const BASELINE: &str = "datumcloud/d1-standard-2";
const BASELINE_NAME: &str = "datumcloud-d1-standard-2";

/// What an instance of a type has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// CPU in thousandths.
    pub millicores: i64,
    /// Memory in MiB.
    pub mebibytes: i64,
}

const BASELINE_SIZE: Size = Size { millicores: 1000, mebibytes: 2048 };

/// Whether new workloads can have a type.
pub fn is_offered(name: &str, view: &mut View<'_>) -> bool {
    let name = canonical_instance_type(name);
    match view.root().get::<InstanceType>(&name) {
        Some(found) => found.spec.lifecycle.phase != LifecyclePhase::Disabled,
        None => name == BASELINE_NAME,
    }
}

/// What an instance of a type has, as far as it is known.
pub fn size(name: &str, view: &mut View<'_>) -> Option<Size> {
    let name = canonical_instance_type(name);
    match view.root().get::<InstanceType>(&name) {
        Some(found) => size_of(&found.spec.resources.cpu, &found.spec.resources.memory),
        None => (name == BASELINE_NAME).then_some(BASELINE_SIZE),
    }
}

/// The same from what the type says.
pub fn size_of(cpu: &str, memory: &str) -> Option<Size> {
    let millicores = (amount(cpu)? * 1000.0).round() as i64;
    let mebibytes = (amount(memory)? / 1_048_576.0).round() as i64;
    Some(Size { millicores, mebibytes })
}

/// What an instance has, from an entry of the catalog or, without one, as the type is known.
pub fn size_in(name: &str, entry: Option<&krm::Object>) -> Option<Size> {
    let text = |path: &str| entry?.at(path)?.as_str();
    match entry {
        Some(_) => size_of(text("spec.resources.cpu")?, text("spec.resources.memory")?),
        None => (canonical_instance_type(name) == BASELINE_NAME).then_some(BASELINE_SIZE),
    }
}

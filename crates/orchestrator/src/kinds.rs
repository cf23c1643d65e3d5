//! The kinds of `orchestration.groundplane.dev/v1alpha1`, one per file.

pub mod build_data;
pub mod node_filter;
pub mod provisioner;
pub mod task;
pub mod validation;

use krm::kind::{Kind, Resource};

pub use build_data::BuildData;
pub use node_filter::NodeFilter;
pub use provisioner::Provisioner;
pub use task::{Task, TaskSpecView};
pub use validation::Validation;

/// All of them.
pub fn all() -> Vec<Kind> {
    vec![Task::kind(), Provisioner::kind(), BuildData::kind(), Validation::kind()]
}

#[cfg(test)]
mod tests {
    #[test]
    fn declarations_name_what_exists() {
        let mut kinds = super::all();
        kinds.extend(design_resources::all());
        kinds.extend(fulfillment::all());
        kinds.extend(inventory::all());
        krm::kind::check(&kinds).map_err(|mistakes| mistakes.to_string()).unwrap();
    }
}

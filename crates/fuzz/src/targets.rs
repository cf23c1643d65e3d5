//! The targets, each a file: what input is made of the bytes, and what must hold for it.

mod accesses;
mod apply;
mod bodies;
mod cel;
mod core_kinds;
mod definitions;
mod designs;
mod field_masks;
mod images;
mod json_patches;
mod list_filters;
mod merge_patches;
mod protobuf;
mod schemas;
mod selectors;
mod site_yaml;
mod strategic_patches;

/// Something that takes whatever clients send.
pub struct Target {
    /// What it is called on the command line.
    pub name: &'static str,
    /// Checks that everything holds for this input; panics when something does not.
    pub check: fn(&[u8]),
    /// Where to begin: input that gets far.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Words and signs that mean something to it.
    pub words: &'static [&'static str],
}

/// All of them.
pub const TARGETS: [Target; 17] = [
    selectors::TARGET,
    accesses::TARGET,
    bodies::TARGET,
    json_patches::TARGET,
    merge_patches::TARGET,
    strategic_patches::TARGET,
    apply::TARGET,
    protobuf::TARGET,
    core_kinds::TARGET,
    definitions::TARGET,
    schemas::TARGET,
    cel::TARGET,
    site_yaml::TARGET,
    designs::TARGET,
    images::TARGET,
    list_filters::TARGET,
    field_masks::TARGET,
];

/// Input for targets that read bytes as choices: a few lengths of bytes without a pattern.
fn noise() -> Vec<Vec<u8>> {
    let bytes = |count: usize, seed: usize| {
        (0..count).map(|at| (at * at * 31 + at * seed * 17 + seed) as u8).collect()
    };
    (1..24).map(|seed| bytes(seed * 12, seed)).collect()
}

//! libFuzzer on one target, which `GROUNDPLANE_FUZZ_TARGET` names. `cargo xtask fuzz` builds and starts it.
#![no_main]

use std::sync::LazyLock;

use fuzz::{TARGETS, Target};
use libfuzzer_sys::fuzz_target;

static TARGET: LazyLock<&Target> = LazyLock::new(|| {
    let name = std::env::var("GROUNDPLANE_FUZZ_TARGET").unwrap_or_default();
    let found = TARGETS.iter().find(|target| target.name == name);
    found.unwrap_or_else(|| panic!("GROUNDPLANE_FUZZ_TARGET={name} names no target"))
});

fuzz_target!(|data: &[u8]| (TARGET.check)(data));

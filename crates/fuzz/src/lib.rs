//! What clients send, put together by a fuzzer: nothing may panic, hang, or break what holds for all input.
//!
//! A target reads bytes as input and checks what must hold. Two engines feed them: [`unguided`], which needs nothing and
//! runs for a moment in every `cargo test`, and libFuzzer, which is guided by coverage and runs in `cargo xtask test`.

mod choices;
mod differences;
mod recorded;
mod targets;
pub mod unguided;
mod values;

pub use targets::{TARGETS, Target};

//! The inventory as people use it with kubectl: the manifests of the original service, and what ours adds.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

#[path = "kubectl/program.rs"]
#[allow(dead_code, reason = "these stories don't type everything that the others do")]
mod program;

#[path = "inventory/additions.rs"]
mod additions;
#[path = "inventory/gaps.rs"]
mod gaps;
#[path = "inventory/manifests.rs"]
mod manifests;
#[path = "inventory/original.rs"]
mod original;
#[path = "inventory/questions.rs"]
mod questions;

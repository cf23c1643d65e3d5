//! What people do with kubectl, old and new: every story runs with each version that is on the machine.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

#[path = "kubectl/program.rs"]
mod program;

#[path = "kubectl/access.rs"]
mod access;
#[path = "kubectl/applying.rs"]
mod applying;
#[path = "kubectl/custom.rs"]
mod custom;
#[path = "kubectl/deleting.rs"]
mod deleting;
#[path = "kubectl/everyday.rs"]
mod everyday;
#[path = "kubectl/explaining.rs"]
mod explaining;
#[path = "kubectl/files.rs"]
mod files;
#[path = "kubectl/ruled.rs"]
mod ruled;
#[path = "kubectl/watching.rs"]
mod watching;

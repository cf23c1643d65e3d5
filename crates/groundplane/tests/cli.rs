//! The command line, as people and scripts use it: beside kubectl, in a pipe and on a terminal.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

#[path = "cli/activity.rs"]
mod activity;
#[path = "cli/completing.rs"]
mod completing;
#[path = "cli/console.rs"]
mod console;
#[path = "cli/controllers.rs"]
mod controllers;
#[path = "cli/design_secrets.rs"]
mod design_secrets;
#[path = "cli/design_sources.rs"]
mod design_sources;
#[path = "cli/designs.rs"]
mod designs;
#[path = "cli/documented.rs"]
mod documented;
#[path = "cli/files.rs"]
mod files;
#[path = "cli/finding_the_server.rs"]
mod finding_the_server;
#[path = "cli/hosts.rs"]
mod hosts;
#[path = "cli/inventory.rs"]
mod inventory;
#[path = "cli/inventory_bulk.rs"]
mod inventory_bulk;
#[path = "cli/inventory_elsewhere.rs"]
mod inventory_elsewhere;
#[path = "cli/inventory_located.rs"]
mod inventory_located;
#[path = "cli/killed.rs"]
mod killed;
#[path = "cli/like_kubectl.rs"]
mod like_kubectl;
#[path = "cli/login.rs"]
mod login;
#[path = "cli/mistakes.rs"]
mod mistakes;
#[path = "cli/on_a_terminal.rs"]
mod on_a_terminal;
#[path = "cli/owning.rs"]
mod owning;
#[path = "cli/pages.rs"]
mod pages;
#[path = "cli/past_and_plans.rs"]
mod past_and_plans;
#[path = "cli/program.rs"]
mod program;
#[path = "cli/prose.rs"]
mod prose;
#[path = "cli/terminal.rs"]
mod terminal;

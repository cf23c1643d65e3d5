//! Which bench target stands behind each name of `cargo xtask bench`.

use clap::Subcommand;

use crate::step::{self, Failure};

/// What can be measured.
#[derive(Subcommand)]
pub enum What {
    /// Creates, gets, patches, applies, lists, watches, memory and start of an API server, beside kube-apiserver.
    #[command(disable_help_flag = true)]
    Api {
        /// Handed on to the bench as they are.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Writes, reads, lists, watch fan-out, memory and reopening of the store.
    // Its own `--help` says more.
    #[command(disable_help_flag = true)]
    Store {
        /// Handed on to the bench as they are.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Many instances, many workloads, and the start of a container.
    #[command(disable_help_flag = true)]
    Compute {
        /// Handed on to the bench as they are.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Hosts from a source: a first list, a second one that writes nothing, changes, memory.
    #[command(disable_help_flag = true)]
    Sources {
        /// Handed on to the bench as they are; `--hosts 1000` for another size.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// An import with controllers at work, and a controller in the control planes of many projects.
    #[command(disable_help_flag = true)]
    Controllers {
        /// Handed on to the bench as they are.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Compiling, validating and comparing the design of a large site, and questions about it on a running server.
    #[command(disable_help_flag = true)]
    Design {
        /// Handed on to the bench as they are; `--check` fails when a floor is missed.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Questions, filtered lists, labels, memory and restart of large inventories.
    #[command(disable_help_flag = true)]
    Inventory {
        /// Handed on to the bench as they are; `--size 1000000` for another size.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Decisions of IAM with many bindings and projects: in memory, and as whole requests to a running server.
    #[command(disable_help_flag = true)]
    Platform {
        /// Handed on to the bench as they are.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Get, List, Update and events of the fulfillment API, beside PostgreSQL behind gRPC.
    #[command(disable_help_flag = true)]
    Fulfillment {
        /// Handed on to the bench as they are; `--check` fails when a floor is missed.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Pages of the portal on a large fleet, their weight, and many open live pages.
    #[command(disable_help_flag = true)]
    Portal {
        /// Handed on to the bench as they are; `--check` fails when a floor is missed.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Metered creates, claims that wait, subnets, and projects with their grants, on a running server.
    #[command(disable_help_flag = true)]
    Quota {
        /// Handed on to the bench as they are; `--check` fails when a floor is missed.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// History, reads of the past, plans and planes of a running server.
    #[command(disable_help_flag = true)]
    Time {
        /// Handed on to the bench as they are.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
}

pub fn run(what: &What) -> Result<(), Failure> {
    match what {
        What::Api { args } => bench("groundplane", "api", args),
        What::Compute { args } => bench("groundplane", "compute", args),
        What::Controllers { args } => bench("groundplane", "controllers", args),
        What::Design { args } => {
            bench("design", "design", args)?;
            bench("groundplane", "designs", args)
        }
        What::Inventory { args } => bench("groundplane", "inventory", args),
        What::Platform { args } => {
            bench("platform", "platform", args)?;
            bench("groundplane", "tenants", args)
        }
        What::Fulfillment { args } => bench("groundplane", "fulfillment", args),
        What::Portal { args } => bench("groundplane", "portal", args),
        What::Quota { args } => bench("groundplane", "quota", args),
        What::Sources { args } => bench("groundplane", "sources", args),
        What::Store { args } => bench("store", "store", args),
        What::Time { args } => bench("groundplane", "time", args),
    }
}

fn bench(package: &str, name: &str, args: &[String]) -> Result<(), Failure> {
    step::run(step::cargo(["bench", "--package", package, "--bench", name, "--"]).args(args))
}

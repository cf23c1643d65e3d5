//! Which controllers run in this process.

use std::sync::Arc;

use apiserver::api::Api;
use apiserver::client::Client;
use apiserver::controllers::cluster_roles::ClusterRoles;
use apiserver::controllers::definitions::DefinitionController;
use apiserver::controllers::elected::run_elected;
use apiserver::controllers::garbage::Garbage;
use apiserver::controllers::namespaces::Namespaces;
use apiserver::controllers::projects::Projects;
use apiserver::controllers::{Controller, run};
use design_resources::controller::DesignController;
use inventory::controllers::InventoryController;
use platform::iam::Iam;
use platform::iam::controller::IamController;
use platform::iam::defined_controller::DefinedController;
use platform::tenancy::controller::TenancyController;

use crate::failure::Failure;

/// The controllers that can be chosen.
pub const CHOICES: [&str; 9] = [
    Garbage::NAME,
    Namespaces::NAME,
    ClusterRoles::NAME,
    Projects::NAME,
    InventoryController::NAME,
    DesignController::NAME,
    IamController::NAME,
    DefinedController::NAME,
    TenancyController::NAME,
];

/// Starts those that are asked for: `all`, `none`, or a list of names. Definitions are always looked after, or nothing
/// that users define would be served.
pub fn start(api: &Api, iam: &Arc<Iam>, asked: &str) -> Result<(), Failure> {
    let names: Vec<&str> = asked.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    let known = |name: &str| matches!(name, "all" | "none") || CHOICES.contains(&name);
    if let Some(unknown) = names.iter().find(|name| !known(name)) {
        let why = format!("there is no controller {unknown:?}; there are {}", CHOICES.join(", "));
        return Err(Failure::new("starting controllers", why));
    }
    let wanted = |name: &str| names.contains(&"all") || names.contains(&name);
    let client = |name: &str| Client::system(api, name);
    tokio::spawn(run(Arc::new(DefinitionController), client(DefinitionController::NAME)));
    let holder = apiserver::write::new_uid();
    if wanted(Garbage::NAME) {
        tokio::spawn(run_elected(Arc::new(Garbage), client(Garbage::NAME), holder.clone()));
    }
    if wanted(Namespaces::NAME) {
        tokio::spawn(run_elected(Arc::new(Namespaces), client(Namespaces::NAME), holder.clone()));
    }
    if wanted(ClusterRoles::NAME) {
        tokio::spawn(run_elected(Arc::new(ClusterRoles), client(ClusterRoles::NAME), holder.clone()));
    }
    if wanted(Projects::NAME) {
        tokio::spawn(run_elected(Arc::new(Projects), client(Projects::NAME), holder.clone()));
    }
    if wanted(IamController::NAME) {
        let controller = Arc::new(IamController(iam.clone()));
        tokio::spawn(run_elected(controller, client(IamController::NAME), holder.clone()));
    }
    if wanted(DefinedController::NAME) {
        let controller = Arc::new(DefinedController(iam.clone()));
        tokio::spawn(run_elected(controller, client(DefinedController::NAME), holder.clone()));
    }
    if wanted(TenancyController::NAME) {
        let controller = Arc::new(TenancyController(iam.clone()));
        tokio::spawn(run_elected(controller, client(TenancyController::NAME), holder.clone()));
    }
    if wanted(InventoryController::NAME) {
        // The name under which the inventory's controllers are known in audit and history.
        let client = client("control@inventory.miloapis.com").called(InventoryController::NAME);
        tokio::spawn(run_elected(Arc::new(InventoryController), client, holder.clone()));
    }
    if wanted(DesignController::NAME) {
        tokio::spawn(run_elected(Arc::new(DesignController), client(DesignController::NAME), holder));
    }
    Ok(())
}

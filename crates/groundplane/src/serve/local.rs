//! A first use on one machine: the flags of it, what is made at the start, and what instances run on.

use std::sync::Arc;

use apiserver::api::Api;
use apiserver::client::Client;
use apiserver::plane::Plane;
use compute::agent::Agent;
use containers::Runtime;
use containers::clock::TokioClock;
use containers::simulated::Simulated;
use krm::Object;
use reconcile::reconciler::Reconciler;

use super::bootstrap::ensure;
use crate::failure::Failure;
use crate::modules;

/// The project that is used first.
const PROJECT: &str = "default";
/// The namespace of it that is used first.
const NAMESPACE: &str = "default";

/// What runs on this machine.
#[derive(clap::Args)]
pub struct LocalFlags {
    /// Cities of this machine, as in DFW,IAD. At the start, a project "default" with a network, a location for each city, the
    /// services and their quota are made, unless they exist, so that workloads can be deployed at once.
    #[arg(long, value_name = "CODE,…", value_delimiter = ',')]
    local_cities: Vec<String>,

    /// What instances of workloads run on. With "simulated", nothing runs on this machine: instances only report that they do.
    #[arg(long, value_name = "RUNTIME", value_enum, default_value_t = Instances::None)]
    instances: Instances,
}

/// What instances run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Instances {
    /// Nothing: an agent elsewhere runs them.
    None,
    /// Nothing runs; instances are played.
    Simulated,
}

impl LocalFlags {
    /// Makes what a first use needs. Each object that exists stays as it is.
    pub async fn prepare(&self, api: &Api) -> Result<(), Failure> {
        let cities: Vec<String> = self
            .local_cities
            .iter()
            .map(|city| city.trim().to_uppercase())
            .filter(|city| !city.is_empty())
            .collect();
        if cities.is_empty() {
            return Ok(());
        }
        let client = Client::system(api, "groundplane");
        let start = modules::local_start(&cities);
        for object in start.root {
            ensure(&client, object).await?;
        }
        let mut project = Object::new("resourcemanager.miloapis.com/v1alpha1", "Project");
        project.set_meta("name", Some(PROJECT.into()));
        project.set("spec", Some(serde_json::json!({})));
        ensure(&client, project).await?;
        let inside = client.in_plane(&Plane::project(PROJECT));
        // A controller makes it too, but none runs yet.
        let mut namespace = Object::new("v1", "Namespace");
        namespace.set_meta("name", Some(NAMESPACE.into()));
        ensure(&inside, namespace).await?;
        for mut object in start.project {
            let (group, _) = krm::kind::split_api_version(object.api_version());
            let kind = api.kinds().of(&Plane::project(PROJECT)).kind(group, object.kind()).cloned();
            if kind.is_some_and(|kind| kind.is_namespaced()) && object.namespace().is_empty() {
                object.set_meta("namespace", Some(NAMESPACE.into()));
            }
            ensure(&inside, object).await?;
        }
        Ok(())
    }

    /// The agent of this machine, if one is asked for.
    pub fn agent(&self) -> Option<Arc<dyn Reconciler>> {
        let runtime: Arc<dyn Runtime> = match self.instances {
            Instances::None => return None,
            Instances::Simulated => Arc::new(Simulated::new(Arc::new(TokioClock::new()))),
        };
        Some(Arc::new(Agent::new(runtime)))
    }
}

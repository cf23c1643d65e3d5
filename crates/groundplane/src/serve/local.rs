//! A first use on one machine: the flags of it, what is made at the start, and what instances run on.

use std::path::Path;
use std::sync::Arc;

use apiserver::api::Api;
use apiserver::client::Client;
use apiserver::plane::Plane;
use compute::agent::Agent;
use containers::Runtime;
use containers::clock::TokioClock;
use containers::image::Digest;
use containers::oci::{Oci, Settings};
use containers::simulated::Simulated;
use krm::Object;
use reconcile::reconciler::Reconciler;

use super::bootstrap::ensure;
use crate::failure::Failure;
use crate::modules;

/// The word by which this program is called to stay beside a container.
pub const SHIM: &str = "__shim";

/// Where what containers need while they run is kept, until the machine is restarted.
const RUN: &str = "/run/groundplane";

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

    /// What instances of workloads run on. With "containers", they run on this machine, as root and with runc. With
    /// "simulated", nothing runs: instances only report that they do.
    #[arg(long, value_name = "RUNTIME", value_enum, default_value_t = Instances::None)]
    instances: Instances,
}

/// What instances run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Instances {
    /// Nothing: an agent elsewhere runs them.
    None,
    /// OCI containers on this machine.
    Containers,
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

    /// The agent of this machine, if one is asked for. Containers are kept in the data folder, and outlive the server.
    pub async fn agent(&self, folder: &Path) -> Result<Option<Arc<dyn Reconciler>>, Failure> {
        let runtime: Arc<dyn Runtime> = match self.instances {
            Instances::None => return Ok(None),
            Instances::Containers => Arc::new(containers(folder).await?),
            Instances::Simulated => Arc::new(Simulated::new(Arc::new(TokioClock::new()))),
        };
        Ok(Some(Arc::new(Agent::new(runtime))))
    }
}

async fn containers(folder: &Path) -> Result<Oci, Failure> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::new("finding the program that containers are started with", error))?;
    let folder = std::path::absolute(folder.join("containers"))
        .map_err(|error| Failure::new("finding the folder of containers", error))?;
    let shim = vec![program.into_os_string(), SHIM.into()];
    // The data folder is its owner's alone, and the root of a user namespace has to pass through this one.
    let name = Digest::of(folder.as_os_str().as_encoded_bytes()).hex()[..12].to_owned();
    let run = Path::new(RUN).join(name);
    std::fs::create_dir_all(&run)
        .map_err(|error| Failure::new(format_args!("making the folder {}", run.display()), error))?;
    let settings = Settings::new(&folder, run, shim);
    Oci::open(settings)
        .await
        .map_err(|error| Failure::new("preparing to run containers (--instances)", error))
}

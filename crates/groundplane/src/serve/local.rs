//! A first use on one machine: the flags of it, what is made at the start, and what instances run on.

use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

use apiserver::api::Api;
use apiserver::client::Client;
use apiserver::plane::Plane;
use compute::agent::addresses::Addresses;
use compute::agent::{AddressAgent, Agent};
use containers::clock::TokioClock;
use containers::image::Digest;
use containers::oci::{Oci, Settings};
use containers::simulated::Simulated;
use containers::{Capability, Check, Runtime, Unable};
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

/// The cities of a machine that names none, at its first start.
const FIRST_CITIES: &str = "DFW";
/// Written instead of cities where there are to be none.
const NONE: &str = "none";
/// File in the data folder with the cities of this machine.
const CITIES: &str = "local-cities";

/// What runs on this machine.
#[derive(clap::Args)]
pub struct LocalFlags {
    /// Cities of this machine, as in DFW,IAD, or "none". A project "default" with a network, a location for each city, the
    /// services and their quota are made, unless they exist, so that workloads can be deployed at once. Defaults to DFW at the
    /// first start, and to what it was before at later ones. With --etcd or --demo, there are none unless named.
    #[arg(long, value_name = "CODE,…", value_delimiter = ',')]
    local_cities: Option<Vec<String>>,

    /// What instances of workloads run on. With "containers", they run on this machine, as root and with runc. With
    /// "simulated", nothing runs: instances only report that they do. "auto" is "containers" where there are local cities; if
    /// the machine can't run them, the server starts nevertheless, and instances say what is missing.
    #[arg(long, value_name = "RUNTIME", value_enum, default_value_t = Instances::Auto)]
    instances: Instances,

    /// Address of this machine at which workloads are reached. Each gets a port of it, for each of its own.
    #[arg(long, value_name = "IP", default_value = "127.0.0.1")]
    workload_address: IpAddr,
}

/// What instances run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Instances {
    /// Containers, where there are local cities.
    Auto,
    /// Nothing: an agent elsewhere runs them.
    None,
    /// OCI containers on this machine.
    Containers,
    /// Nothing runs; instances are played.
    Simulated,
}

/// What this machine is used for.
pub struct Local {
    cities: Vec<String>,
    is_to_be_made: bool,
    instances: Instances,
    address: IpAddr,
}

/// What runs instances on this machine.
#[derive(Default)]
pub struct Machine {
    /// Its controllers.
    pub agents: Vec<Arc<dyn Reconciler>>,
    /// Looks into its instances.
    pub runtime: Option<Arc<dyn Runtime>>,
    /// What it lacks to run them, a sentence for each.
    pub missing: Vec<String>,
}

impl LocalFlags {
    /// What the machine is used for: as the flags say, or as it was before. `is_shared` stores belong to no one machine.
    pub fn choose(&self, folder: &Path, is_shared: bool) -> Result<Local, Failure> {
        let file = folder.join(CITIES);
        let before = std::fs::read_to_string(&file).ok();
        let named = self.local_cities.as_ref().map(|cities| cities.join(","));
        let is_first = before.is_none() && !is_shared && !folder.join("store").exists();
        let text = match (&named, &before) {
            (Some(named), _) => named.clone(),
            (None, Some(before)) => before.clone(),
            (None, None) if is_first => FIRST_CITIES.to_owned(),
            (None, None) => NONE.to_owned(),
        };
        if !is_shared && before.as_ref() != Some(&text) {
            write_private(&file, &text)
                .map_err(|error| Failure::new(format_args!("writing {}", file.display()), error))?;
        }
        let cities: Vec<String> = text
            .split(',')
            .map(|city| city.trim().to_uppercase())
            .filter(|city| !city.is_empty() && !city.eq_ignore_ascii_case(NONE))
            .collect();
        let instances = match self.instances {
            Instances::Auto if cities.is_empty() => Instances::None,
            instances => instances,
        };
        let is_to_be_made = named.is_some() || is_first;
        Ok(Local { cities, is_to_be_made, instances, address: self.workload_address })
    }
}

impl Local {
    /// Makes what a first use needs. Each object that exists stays as it is.
    pub async fn prepare(&self, api: &Api) -> Result<(), Failure> {
        if self.cities.is_empty() || !self.is_to_be_made {
            return Ok(());
        }
        let client = Client::system(api, "groundplane");
        let start = modules::local_start(&self.cities);
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

    /// What runs instances here, if something does. Containers are kept in the data folder, and outlive the server.
    pub async fn machine(&self, folder: &Path) -> Result<Machine, Failure> {
        let mut missing = Vec::new();
        let runtime: Arc<dyn Runtime> = match self.instances {
            Instances::None => return Ok(Machine::default()),
            Instances::Simulated => {
                let runtime: Arc<dyn Runtime> = Arc::new(Simulated::new(Arc::new(TokioClock::new())));
                let agents: Vec<Arc<dyn Reconciler>> = vec![Arc::new(Agent::new(runtime.clone()))];
                return Ok(Machine { agents, runtime: Some(runtime), missing: Vec::new() });
            }
            Instances::Containers | Instances::Auto => {
                let settings = settings(folder);
                let check = match &settings {
                    Ok(settings) => Oci::examine(settings).await,
                    Err(failure) => unprepared(failure),
                };
                match self.instances {
                    Instances::Auto if !check.can_run() => {
                        let problems = check.missing().filter_map(|missing| missing.problem.as_deref());
                        missing
                            .extend(problems.map(|problem| format!("Workloads can't run here. {problem}")));
                        missing.iter().for_each(|missing| tracing::warn!("{missing}"));
                        Arc::new(Unable::new(check))
                    }
                    _ => Arc::new(containers(settings?).await?),
                }
            }
        };
        let file = folder.join("workload-addresses.json");
        let addresses = Arc::new(Addresses::new(runtime.clone(), self.address, Some(file)));
        let agents: Vec<Arc<dyn Reconciler>> = vec![
            Arc::new(Agent::serving(runtime.clone(), addresses.clone()).with_disk_images_for(PROJECT)),
            Arc::new(AddressAgent::new(addresses)),
        ];
        Ok(Machine { agents, runtime: Some(runtime), missing })
    }
}

/// Writes a file that is its owner's alone, as all in the data folder are.
fn write_private(file: &Path, text: &str) -> std::io::Result<()> {
    use std::io::Write as _;
    use std::os::unix::fs::OpenOptionsExt as _;
    let mut open =
        std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(file)?;
    open.write_all(text.as_bytes())
}

/// A machine, such as an empty root without /proc, on which not even the settings of containers can be found out.
fn unprepared(failure: &Failure) -> Check {
    let problem = Some(format!("{failure}."));
    let machine = Capability { name: "machine".to_owned(), required: true, found: String::new(), problem };
    Check { capabilities: vec![machine] }
}

fn settings(folder: &Path) -> Result<Settings, Failure> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::new("finding the program that containers are started with", error))?;
    let folder = std::path::absolute(folder.join("containers"))
        .map_err(|error| Failure::new("finding the folder of containers", error))?;
    let shim = vec![program.into_os_string(), SHIM.into()];
    // The data folder is its owner's alone, and the root of a user namespace has to pass through this one.
    let name = Digest::of(folder.as_os_str().as_encoded_bytes()).hex()[..12].to_owned();
    Ok(Settings::new(&folder, Path::new(RUN).join(name), shim))
}

async fn containers(settings: Settings) -> Result<Oci, Failure> {
    let run = &settings.run;
    std::fs::create_dir_all(run)
        .map_err(|error| Failure::new(format_args!("making the folder {}", run.display()), error))?;
    Oci::open(settings)
        .await
        .map_err(|error| Failure::new("preparing to run containers (--instances)", error))
}

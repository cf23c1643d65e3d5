//! Labels, annotations, gates, finalizers and names of the compute kinds.

/// Label with the uid of the Workload, on deployments and instances.
pub const WORKLOAD_UID: &str = "compute.datumapis.com/workload-uid";
/// Label with the name of the Workload, on deployments and instances.
pub const WORKLOAD_NAME: &str = "compute.datumapis.com/workload-name";
/// Label with the uid of the WorkloadDeployment, on instances. It differs between planes: join by the name instead.
pub const DEPLOYMENT_UID: &str = "compute.datumapis.com/workload-deployment-uid";
/// Label with the name of the WorkloadDeployment, on instances.
pub const DEPLOYMENT_NAME: &str = "compute.datumapis.com/workload-deployment-name";
/// Label with the name of the placement, on deployments and instances.
pub const PLACEMENT_NAME: &str = "compute.datumapis.com/placement-name";
/// Label with the city code, on deployments and instances.
pub const CITY_CODE: &str = "compute.datumapis.com/city-code";
/// Label with the name of the location, on deployments and instances.
pub const LOCATION: &str = "compute.datumapis.com/location";
/// Label with the ordinal of an instance.
pub const INSTANCE_INDEX: &str = "compute.datumapis.com/instance-index";
/// Key of the city code in the topology of a location, and label by which quota is shown by city.
pub const TOPOLOGY_CITY_CODE: &str = "topology.datum.net/city-code";
/// Label of everything that belongs to a service in the project of a consumer.
pub const SERVICE_NAME: &str = "services.miloapis.com/service-name";

/// Prefix of keys that belong to the platform.
pub const RESERVED: &str = "compute.datumapis.com/";
/// Annotation of a template: a new time restarts all instances. With a dot and a city code after it, those of a city.
pub const RESTARTED_AT: &str = "compute.datumapis.com/restartedAt";
/// Annotation of a template with the SSH keys of a virtual machine.
pub const SSH_KEYS: &str = "compute.datumapis.com/ssh-keys";

/// Gate of an instance whose network is not ready.
pub const NETWORK_GATE: &str = "Network";
/// Gate of an instance whose quota is not granted.
pub const QUOTA_GATE: &str = "Quota";
/// Gate of an instance whose ConfigMaps and Secrets are not there.
pub const DATA_GATE: &str = "ReferencedData";

/// Finalizer of workloads and deployments: they go once what they made is gone.
pub const FINALIZER: &str = "compute.datumapis.com/workload-controller";
/// Finalizer of instances: they go once nothing of them runs.
pub const AGENT_FINALIZER: &str = "compute.datumapis.com/agent";

/// Most characters of the name of a deployment: with an ordinal it is still the value of a label.
const LONGEST_DEPLOYMENT: usize = 58;
/// Characters of the workload's name in a shortened name of a deployment.
const SHORTENED: usize = 30;

/// Name of the deployment of a placement at a place, which is a city code or the name of a location.
pub fn deployment_name(workload: &str, placement: &str, place: &str) -> Option<String> {
    let name = format!("{workload}-{placement}-{}", place.to_lowercase().replace(' ', "-"));
    (name.len() <= LONGEST_DEPLOYMENT).then_some(name)
}

/// The same where that name is too long, or another workload has it.
pub fn short_deployment_name(workload: &str, uid: &str, placement: &str, place: &str) -> String {
    let cut: String = workload.chars().take(SHORTENED).collect();
    let hash = crate::hash::fnv64([uid, placement, &place.to_lowercase()].join("\0").as_bytes());
    format!("{}-{:010x}", cut.trim_end_matches('-'), hash & 0xff_ffff_ffff)
}

/// Name of the instance with an ordinal.
pub fn instance_name(deployment: &str, ordinal: u32) -> String {
    format!("{deployment}-{ordinal}")
}

/// Name of the claim of quota of an instance.
pub fn claim_name(instance: &str) -> String {
    format!("instance-{instance}")
}

/// Name of the binding of a deployment to the network of an interface.
pub fn binding_name(deployment: &str, interface: usize) -> String {
    format!("{deployment}-net-{interface}")
}

/// Name of an InstanceType as the catalog has it, however a workload spells it.
pub fn canonical_instance_type(name: &str) -> String {
    let short = name.strip_prefix("datumcloud/").or_else(|| name.strip_prefix("datumcloud-"));
    match short {
        Some(short) => format!("datumcloud-{short}"),
        None if name.starts_with("d1-") => format!("datumcloud-{name}"),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_an_instance_type_is_the_same() {
        for spelled in ["datumcloud/d1-standard-2", "datumcloud-d1-standard-2", "d1-standard-2"] {
            assert_eq!(canonical_instance_type(spelled), "datumcloud-d1-standard-2");
        }
        assert_eq!(canonical_instance_type("acme-large"), "acme-large");
    }

    #[test]
    fn names_are_those_of_the_placement_and_fit_a_label() {
        assert_eq!(deployment_name("api", "default", "DFW").as_deref(), Some("api-default-dfw"));
        let long = "a".repeat(63);
        assert_eq!(deployment_name(&long, "default", "DFW"), None);
        let short = short_deployment_name(&long, "uid", "default", "DFW");
        assert_eq!(short.len(), 41);
        assert_ne!(short, short_deployment_name(&long, "uid", "default", "IAD"));
        assert!(instance_name(&"a".repeat(LONGEST_DEPLOYMENT), 999).len() <= 63);
    }
}

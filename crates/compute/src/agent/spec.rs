//! What the runtime is asked to run: an Instance as a plain specification.

use std::collections::BTreeMap;
use std::time::Duration;

use containers::{
    ContainerSpec, EnvVar, File, Files, InstanceSpec, Limits, Mount, NetworkSpec, Port, Probe, ProbeAction,
    Sensitive, Volume, VolumeSource,
};
use krm::Object;
use krm::kind::{Address, QueryContext, Resource};
use reconcile::context::Context;
use reconcile::target::Target;
use serde_json::Value;

use super::addresses::{CITY, POLICY, PORTS, WORKLOAD};
use super::memory::{NAME, NAMESPACE, PROJECT};
use super::pull_secrets::credentials;
use super::{GRACE, id_of, policy};
use crate::catalog;
use crate::controllers::network::Attached;
use crate::environment::{self, Data};
use crate::kinds::InstanceType;
use crate::names::{CITY_CODE, DEPLOYMENT_NAME, WORKLOAD_UID, canonical_instance_type};
use crate::template::{list, networks};

/// The epoch of an instance: its id is the uid of the object, and each object is one instance.
const EPOCH: u64 = 1;
/// Permissions of files if nothing is said.
const MODE: u32 = 0o644;

/// The specification of an instance. What keeps it from being one is an error for its user, without values of Secrets.
pub fn of(target: &Target, instance: &Object, context: &Context<'_>) -> Result<InstanceSpec, String> {
    let id = id_of(instance.uid()).ok_or("the uid of the instance is not an id")?;
    let none = Value::Null;
    let spec = instance.get("spec").unwrap_or(&none);
    let sandbox = &spec["runtime"]["sandbox"];
    if sandbox.is_null() {
        return Err("virtual machines can't run on this machine: its agent runs containers".to_owned());
    }
    let lookup = |kind: &str, name: &str| data_of(kind, name, instance.namespace(), context);
    let mut made = InstanceSpec::new(id, EPOCH);
    made.labels = BTreeMap::from([
        (PROJECT.to_owned(), target.plane.clone()),
        (NAMESPACE.to_owned(), instance.namespace().to_owned()),
        (NAME.to_owned(), instance.name().to_owned()),
    ]);
    let ports: Vec<String> = list(&sandbox["containers"])
        .flat_map(|container| list(&container["ports"]))
        .filter(|port| is_tcp(port))
        .filter_map(|port| Some(format!("{}={}", port["name"].as_str()?, port["port"].as_u64()?)))
        .collect();
    made.ingress = policy::of(spec)?;
    let policy = made.ingress.as_ref().and_then(|ingress| serde_json::to_string(ingress).ok());
    let label = |key: &str| instance.label(key).map(str::to_owned);
    let further = [
        (WORKLOAD, label(WORKLOAD_UID)),
        (CITY, label(CITY_CODE)),
        (PORTS, Some(ports.join(",")).filter(|ports| !ports.is_empty())),
        (POLICY, policy),
    ];
    made.labels.extend(further.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))));
    made.hostname = Some(instance.name().chars().take(63).collect());
    made.grace = GRACE;
    made.limits = limits(spec, context);
    made.network = network(target, instance, spec, context)?;
    made.volumes = volumes(spec, &lookup)?;
    for container in list(&sandbox["containers"]) {
        made.containers.push(self::container(container, instance, &lookup)?);
    }
    for secret in list(&sandbox["imagePullSecrets"]) {
        let name = secret["name"].as_str().unwrap_or_default();
        let data = lookup("Secret", name).ok_or_else(|| format!("Secret {name:?} not found"))?;
        made.credentials.extend(credentials(name, &data)?);
    }
    Ok(made)
}

/// What is in a ConfigMap or Secret.
fn data_of(kind: &str, name: &str, namespace: &str, context: &Context<'_>) -> Option<Data> {
    let is_secret = kind == "Secret";
    let at = Address {
        group: String::new(),
        plural: if is_secret { "secrets" } else { "configmaps" }.to_owned(),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
    };
    let object = context.here().get(&at)?;
    let entries = |field: &str| object.get(field).and_then(Value::as_object).into_iter().flatten();
    let decoded = |value: &Value| value.as_str().and_then(|text| krm::base64::decode(text).ok());
    let mut data = Data::new();
    if is_secret {
        data.extend(entries("data").filter_map(|(key, value)| Some((key.clone(), decoded(value)?))));
        return Some(data);
    }
    let text = |value: &Value| value.as_str().map(|text| text.as_bytes().to_vec());
    data.extend(entries("data").filter_map(|(key, value)| Some((key.clone(), text(value)?))));
    data.extend(entries("binaryData").filter_map(|(key, value)| Some((key.clone(), decoded(value)?))));
    Some(data)
}

fn limits(spec: &Value, context: &Context<'_>) -> Limits {
    let name = spec["runtime"]["resources"]["instanceType"].as_str().unwrap_or_default();
    let entry = context.root().get(&InstanceType::address("", &canonical_instance_type(name)));
    let size = catalog::size_in(name, entry.as_deref());
    Limits {
        cpu_millis: size.and_then(|size| u64::try_from(size.millicores).ok()),
        memory_bytes: size
            .and_then(|size| u64::try_from(size.mebibytes).ok())
            .map(|mebibytes| mebibytes << 20),
        pids: None,
    }
}

fn network(
    target: &Target,
    instance: &Object,
    spec: &Value,
    context: &Context<'_>,
) -> Result<Option<NetworkSpec>, String> {
    let networks = networks(spec);
    let Some(name) = networks.first().copied() else { return Ok(None) };
    if networks.len() > 1 {
        return Err("this machine attaches instances to one network".to_owned());
    }
    let deployment = instance.label(DEPLOYMENT_NAME).unwrap_or_default();
    let attached = Attached { namespace: instance.namespace(), deployment, networks };
    let subnet = attached.subnet(0, context).ok_or_else(|| format!("Network {name} has no subnet here"))?;
    let subnet: ipnet::IpNet = subnet.parse().map_err(|_| format!("{subnet:?} is not a subnet"))?;
    // Cities are apart even where one machine is two of them: traffic between them is not carried.
    let network = format!("{}/{}/{name}/{subnet}", target.plane, instance.namespace());
    Ok(Some(NetworkSpec { network, subnet, address: None }))
}

fn volumes(spec: &Value, lookup: environment::Lookup<'_>) -> Result<Vec<Volume>, String> {
    let mut made = Vec::new();
    for volume in list(&spec["volumes"]) {
        let name = volume["name"].as_str().unwrap_or_default();
        let source = [("ConfigMap", "configMap", "name"), ("Secret", "secret", "secretName")];
        let found = source.into_iter().find(|(_, field, _)| !volume[*field].is_null());
        let Some((kind, field, name_field)) = found else {
            return Err(format!("volume {name:?}: disks can't be attached on this machine"));
        };
        let source = &volume[field];
        let object = source[name_field].as_str().unwrap_or_default();
        let data = match lookup(kind, object) {
            Some(data) => data,
            None if source["optional"] == true => Data::new(),
            None => return Err(format!("{kind} {object:?} not found")),
        };
        let mode = source["defaultMode"].as_u64().and_then(|mode| u32::try_from(mode).ok()).unwrap_or(MODE);
        let file = |(key, bytes): (String, Vec<u8>)| (key, File { content: Sensitive::from(bytes), mode });
        let files = Files(data.into_iter().map(file).collect());
        made.push(Volume { name: name.to_owned(), source: VolumeSource::Files(files) });
    }
    Ok(made)
}

fn container(
    container: &Value,
    instance: &Object,
    lookup: environment::Lookup<'_>,
) -> Result<ContainerSpec, String> {
    let text = |field: &str| container[field].as_str().unwrap_or_default().to_owned();
    let texts = |field: &str| -> Vec<String> {
        list(&container[field]).filter_map(|item| item.as_str().map(str::to_owned)).collect()
    };
    let mut made = ContainerSpec::new(text("name"), text("image"));
    made.command = texts("command");
    made.args = texts("args");
    let variables = environment::resolve(container, instance, lookup)?;
    made.env =
        variables.into_iter().map(|(name, value)| EnvVar { name, value: Sensitive::from(value) }).collect();
    for port in list(&container["ports"]).filter(|port| is_tcp(port)) {
        let number = port["port"].as_u64().and_then(|port| u16::try_from(port).ok());
        let name = port["name"].as_str().unwrap_or_default().to_owned();
        made.ports.extend(number.map(|port| Port { name, port, publish: None }));
    }
    for attachment in list(&container["volumeAttachments"]) {
        let volume = attachment["name"].as_str().unwrap_or_default().to_owned();
        let Some(path) = attachment["mountPath"].as_str() else {
            return Err(format!("volume {volume:?} can't be attached as a device on this machine"));
        };
        made.mounts.push(Mount { volume, path: path.to_owned(), read_only: true });
    }
    made.readiness = probe(&container["readinessProbe"]);
    made.liveness = probe(&container["livenessProbe"]);
    Ok(made)
}

fn is_tcp(port: &Value) -> bool {
    port["protocol"].as_str().is_none_or(|protocol| protocol == "TCP")
}

fn probe(probe: &Value) -> Option<Probe> {
    let port = |of: &Value| of["port"].as_u64().and_then(|port| u16::try_from(port).ok());
    let action = if let Some(port) = port(&probe["httpGet"]) {
        let path = probe["httpGet"]["path"].as_str().unwrap_or("/").to_owned();
        ProbeAction::Http { port, path }
    } else if let Some(port) = port(&probe["tcpSocket"]) {
        ProbeAction::Tcp { port }
    } else {
        let command: Vec<String> =
            list(&probe["exec"]["command"]).filter_map(|item| item.as_str().map(str::to_owned)).collect();
        if command.is_empty() {
            return None;
        }
        ProbeAction::Exec { command }
    };
    let mut made = Probe::new(action);
    let seconds = |field: &str| probe[field].as_u64().map(Duration::from_secs);
    made.initial_delay = seconds("initialDelaySeconds").unwrap_or(made.initial_delay);
    made.period = seconds("periodSeconds").unwrap_or(made.period);
    made.timeout = seconds("timeoutSeconds").unwrap_or(made.timeout);
    let failures = probe["failureThreshold"].as_u64().and_then(|number| u32::try_from(number).ok());
    made.failure_threshold = failures.unwrap_or(made.failure_threshold);
    Some(made)
}

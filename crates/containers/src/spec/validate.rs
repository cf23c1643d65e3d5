//! The rules of a spec, each refused by the path of its field.

use std::collections::BTreeSet;

use super::{ContainerSpec, InstanceSpec, ProbeAction, VolumeSource};
use crate::error::{Error, Result};

/// Refuses a spec that can't run on any machine.
pub(crate) fn validate(spec: &InstanceSpec) -> Result<()> {
    let refuse = |field: String, reason: &str| {
        Err(Error::InvalidSpec { id: spec.id.clone(), field, reason: reason.to_owned() })
    };
    if spec.containers.is_empty() {
        return refuse("containers".to_owned(), "an instance has at least one container");
    }
    let mut names = BTreeSet::new();
    for (index, container) in spec.containers.iter().enumerate() {
        if !is_label(&container.name) {
            return refuse(format!("containers[{index}].name"), "it is not a DNS label");
        }
        if !names.insert(&container.name) {
            return refuse(format!("containers[{index}].name"), "another container has the same name");
        }
        if let Err((field, reason)) = validate_container(spec, container) {
            return refuse(format!("containers[{index}].{field}"), reason);
        }
    }
    let mut names = BTreeSet::new();
    for (index, volume) in spec.volumes.iter().enumerate() {
        if !is_label(&volume.name) {
            return refuse(format!("volumes[{index}].name"), "it is not a DNS label");
        }
        if !names.insert(&volume.name) {
            return refuse(format!("volumes[{index}].name"), "another volume has the same name");
        }
        let VolumeSource::Files(files) = &volume.source else { continue };
        if let Some(name) = files.0.keys().find(|name| !is_inside(name)) {
            return refuse(
                format!("volumes[{index}].files[{name:?}]"),
                "it is not a path inside of the volume",
            );
        }
    }
    let Some(network) = &spec.network else { return Ok(()) };
    match network.address {
        Some(address) if !network.subnet.contains(&address) => {
            refuse("network.address".to_owned(), "it is not in the subnet")
        }
        _ => Ok(()),
    }
}

fn validate_container(spec: &InstanceSpec, container: &ContainerSpec) -> Result<(), (String, &'static str)> {
    if container.image.is_empty() {
        return Err(("image".to_owned(), "it is empty"));
    }
    for (index, variable) in container.env.iter().enumerate() {
        if variable.name.is_empty() || variable.name.contains(['=', '\0']) {
            return Err((format!("env[{index}].name"), "it is empty or has '='"));
        }
        if variable.value.reveal().contains(&0) {
            return Err((format!("env[{index}].value"), "it has a zero byte"));
        }
    }
    for (index, mount) in container.mounts.iter().enumerate() {
        if !spec.volumes.iter().any(|volume| volume.name == mount.volume) {
            return Err((format!("mounts[{index}].volume"), "the instance has no such volume"));
        }
        let is_absolute = mount.path.strip_prefix('/').is_some_and(is_inside);
        if !is_absolute {
            return Err((format!("mounts[{index}].path"), "it is not an absolute path below '/'"));
        }
    }
    for (name, probe) in [("readiness", &container.readiness), ("liveness", &container.liveness)] {
        let Some(probe) = probe else { continue };
        if probe.success_threshold == 0 || probe.failure_threshold == 0 {
            return Err((name.to_owned(), "its thresholds are at least 1"));
        }
        match &probe.action {
            ProbeAction::Exec { command } if command.is_empty() => {
                return Err((format!("{name}.command"), "it is empty"));
            }
            ProbeAction::Http { path, .. } if !path.starts_with('/') => {
                return Err((format!("{name}.path"), "it does not start with '/'"));
            }
            _ => {}
        }
    }
    Ok(())
}

/// A DNS label: lower-case letters, digits and inner dashes, at most 63.
fn is_label(name: &str) -> bool {
    let is_fit = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !name.is_empty()
        && name.len() <= 63
        && name.bytes().all(is_fit)
        && !name.starts_with('-')
        && !name.ends_with('-')
}

/// A relative path whose parts are names: none is empty, `.` or `..`.
fn is_inside(path: &str) -> bool {
    !path.contains('\0') && path.split('/').all(|part| !part.is_empty() && part != "." && part != "..")
}

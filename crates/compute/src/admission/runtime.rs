//! Admission of what an instance runs: containers, virtual machines, instance types and classes.

use krm::field::{Fault, FieldError, Path};
use krm::kind::View;
use serde_json::json;

use super::dns_label;
use crate::catalog;
use crate::kinds::runtime::{Container, EnvFrom, EnvVar, Port, Probe, Sandbox, VirtualMachine};
use crate::kinds::volume::{Volume, VolumeAttachment};
use crate::kinds::{LifecyclePhase, RuntimeClass, Workload};
use crate::names::{SSH_KEYS, canonical_instance_type};

/// Checks the runtime of a workload; `template` is where the template is.
pub fn check(
    workload: &Workload,
    before: Option<&Workload>,
    view: &mut View<'_>,
    template: &Path<'_>,
    errors: &mut Vec<FieldError>,
) {
    let spec = template.field("spec");
    let at = spec.field("runtime");
    let runtime = &workload.spec.template.spec.runtime;
    let old = before.map(|before| &before.spec.template.spec.runtime);
    match (&runtime.sandbox, &runtime.virtual_machine) {
        (None, None) => errors.push(FieldError::required(&at, "must specify a runtime type")),
        (Some(_), Some(_)) => {
            errors.push(FieldError::forbidden(&at, "may not specify more than 1 runtime type"));
        }
        _ => {}
    }
    let resources = at.field("resources");
    let named = &runtime.resources.instance_type;
    let is_kept = old.is_some_and(|old| {
        canonical_instance_type(&old.resources.instance_type) == canonical_instance_type(named)
    });
    if !is_kept && !catalog::is_offered(named, view) {
        let known = [catalog::BASELINE];
        errors.push(FieldError::not_supported(&resources.field("instanceType"), &json!(named), &known));
    }
    if !runtime.resources.requests.is_empty() {
        errors.push(FieldError::forbidden(&resources.field("requests"), "not implemented"));
    }
    class(workload, before, view, &at.field("class"), errors);
    let volumes = &workload.spec.template.spec.volumes;
    if let Some(sandbox) = &runtime.sandbox {
        self::sandbox(sandbox, volumes, &at.field("sandbox"), errors);
    }
    if let Some(machine) = &runtime.virtual_machine {
        self::machine(machine, volumes, &at.field("virtualMachine"), errors);
        let metadata = template.field("metadata");
        let annotations = metadata.field("annotations");
        let keys = workload.spec.template.metadata.annotations.get(SSH_KEYS);
        ssh_keys(keys.map(String::as_str).unwrap_or_default(), &annotations.key(SSH_KEYS), errors);
    }
}

/// A class that is named exists, is offered, and stays.
fn class(
    workload: &Workload,
    before: Option<&Workload>,
    view: &mut View<'_>,
    at: &Path<'_>,
    errors: &mut Vec<FieldError>,
) {
    let named = workload.spec.template.spec.runtime.class.as_deref();
    let old = before.and_then(|before| before.spec.template.spec.runtime.class.as_deref());
    match (old, named) {
        (Some(old), _) if named != Some(old) => {
            errors.push(FieldError::invalid(at, &json!(named), "field is immutable"));
        }
        (None, Some(name)) => {
            let class = view.root().get::<RuntimeClass>(name);
            if class.is_none_or(|class| class.spec.lifecycle.phase == LifecyclePhase::Disabled) {
                errors.push(FieldError::with(Fault::NotFound, at, &json!(name), ""));
            }
        }
        _ => {}
    }
}

fn sandbox(sandbox: &Sandbox, volumes: &[Volume], at: &Path<'_>, errors: &mut Vec<FieldError>) {
    let all = at.field("containers");
    if sandbox.containers.is_empty() {
        errors.push(FieldError::required(&all, "must define at least 1 container"));
    }
    for (index, container) in sandbox.containers.iter().enumerate() {
        let at = all.index(index);
        if sandbox.containers[..index].iter().any(|other| other.name == container.name) {
            errors.push(FieldError::duplicate(&at.field("name"), &json!(container.name)));
        }
        self::container(container, volumes, &at, errors);
    }
    let secrets = at.field("imagePullSecrets");
    for (index, secret) in sandbox.image_pull_secrets.iter().enumerate() {
        if secret.name.is_empty() {
            errors.push(FieldError::required(&secrets.index(index).field("name"), ""));
        }
    }
}

fn container(container: &Container, volumes: &[Volume], at: &Path<'_>, errors: &mut Vec<FieldError>) {
    dns_label(&container.name, &at.field("name"), errors);
    if container.image.trim().is_empty() {
        errors.push(FieldError::required(&at.field("image"), ""));
    }
    if container.resources.as_ref().is_some_and(|set| !set.limits.is_empty() || !set.requests.is_empty()) {
        errors.push(FieldError::forbidden(&at.field("resources"), "not implemented"));
    }
    environment(container, at, errors);
    attachments(&container.volume_attachments, volumes, &at.field("volumeAttachments"), errors);
    ports(&container.ports, &at.field("ports"), errors);
    for (field, probe) in
        [("readinessProbe", &container.readiness_probe), ("livenessProbe", &container.liveness_probe)]
    {
        if let Some(probe) = probe {
            self::probe(probe, &at.field(field), errors);
        }
    }
}

fn environment(container: &Container, at: &Path<'_>, errors: &mut Vec<FieldError>) {
    let all = at.field("env");
    for (index, EnvVar { name, value, value_from }) in container.env.iter().enumerate() {
        let at = all.index(index);
        if name.is_empty() || name.contains(['=', '\0']) {
            let why = "must not be empty or contain '='";
            errors.push(FieldError::invalid_text(&at.field("name"), name, why));
        }
        if container.env[..index].iter().any(|other| other.name == *name) {
            errors.push(FieldError::duplicate(&at.field("name"), &json!(name)));
        }
        let Some(source) = value_from else { continue };
        let at_source = at.field("valueFrom");
        if value.as_ref().is_some_and(|value| !value.is_empty()) {
            errors.push(FieldError::forbidden(&at_source, "may not be set together with value"));
        }
        let given = [
            source.secret_key_ref.is_some(),
            source.config_map_key_ref.is_some(),
            source.field_ref.is_some(),
        ];
        if given.into_iter().filter(|is_given| *is_given).count() != 1 {
            let why = "must specify one of secretKeyRef, configMapKeyRef and fieldRef";
            errors.push(FieldError::required(&at_source, why));
        }
        if let Some(field) = &source.field_ref
            && !crate::environment::is_field(&field.field_path)
        {
            let at = at_source.field("fieldRef");
            let allowed = crate::environment::FIELDS;
            errors.push(FieldError::not_supported(
                &at.field("fieldPath"),
                &json!(field.field_path),
                &allowed,
            ));
        }
    }
    let all = at.field("envFrom");
    for (index, EnvFrom { prefix, config_map_ref, secret_ref }) in container.env_from.iter().enumerate() {
        let at = all.index(index);
        if config_map_ref.is_some() == secret_ref.is_some() {
            errors.push(FieldError::required(&at, "must specify one of configMapRef and secretRef"));
        }
        if let Some(prefix) = prefix.as_deref().filter(|prefix| !prefix.is_empty() && !is_identifier(prefix))
        {
            let why = "must be a C identifier: letters, digits and '_', not beginning with a digit";
            errors.push(FieldError::invalid_text(&at.field("prefix"), prefix, why));
        }
    }
}

/// Whether a text can be the name of a variable in C.
pub fn is_identifier(text: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    text.starts_with(is_letter) && text.chars().all(|c| is_letter(c) || c.is_ascii_digit())
}

fn attachments(
    attachments: &[VolumeAttachment],
    volumes: &[Volume],
    at: &Path<'_>,
    errors: &mut Vec<FieldError>,
) {
    for (index, attachment) in attachments.iter().enumerate() {
        let at = at.index(index);
        let Some(volume) = volumes.iter().find(|volume| volume.name == attachment.name) else {
            errors.push(FieldError::with(Fault::NotFound, &at.field("name"), &json!(attachment.name), ""));
            continue;
        };
        let Some(path) = &attachment.mount_path else { continue };
        let at_path = at.field("mountPath");
        if attachments[..index].iter().any(|other| other.mount_path.as_ref() == Some(path)) {
            errors.push(FieldError::duplicate(&at_path, &json!(path)));
        }
        if !path.starts_with('/') || path.split('/').any(|part| part == "..") {
            errors.push(FieldError::invalid_text(&at_path, path, "must be an absolute path without '..'"));
        }
        let disk = volume.disk.as_ref().and_then(|disk| disk.template.as_ref());
        if volume.disk.is_some() && disk.is_none_or(|template| template.spec.populator.is_none()) {
            let why = "unable to determine if volume's disk has a filesystem";
            errors.push(FieldError::invalid_text(&at_path, path, why));
        }
    }
}

fn ports(ports: &[Port], at: &Path<'_>, errors: &mut Vec<FieldError>) {
    for (index, port) in ports.iter().enumerate() {
        let at = at.index(index);
        if ports[..index].iter().any(|other| other.name == port.name) {
            errors.push(FieldError::duplicate(&at.field("name"), &json!(port.name)));
        }
        if !is_port_name(&port.name) {
            let why = "must have at most 15 lower-case letters, digits and single '-' in between, with at least one letter";
            errors.push(FieldError::invalid_text(&at.field("name"), &port.name, why));
        }
        if !(1..=65535).contains(&port.port) {
            let why = "must be between 1 and 65535, inclusive";
            errors.push(FieldError::invalid(&at.field("port"), &json!(port.port), why));
        }
    }
}

/// Whether a text is a name of a port as IANA has them.
pub fn is_port_name(name: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (1..=15).contains(&name.len())
        && name.chars().all(is_allowed)
        && name.contains(|c: char| c.is_ascii_lowercase())
        && !name.starts_with('-')
        && !name.ends_with('-')
        && !name.contains("--")
}

fn probe(probe: &Probe, at: &Path<'_>, errors: &mut Vec<FieldError>) {
    let given = [probe.http_get.is_some(), probe.tcp_socket.is_some(), probe.exec.is_some()];
    if given.into_iter().filter(|is_given| *is_given).count() != 1 {
        errors.push(FieldError::required(at, "must specify one of httpGet, tcpSocket and exec"));
    }
}

fn machine(machine: &VirtualMachine, volumes: &[Volume], at: &Path<'_>, errors: &mut Vec<FieldError>) {
    let all = at.field("volumeAttachments");
    let Some(first) = machine.volume_attachments.first() else {
        let why = "must provide at least one volume attachment for the boot volume";
        return errors.push(FieldError::required(&all, why));
    };
    attachments(&machine.volume_attachments, volumes, &all, errors);
    if let Some(volume) = volumes.iter().find(|volume| volume.name == first.name)
        && !super::volumes::is_bootable(volume)
    {
        let first_item = all.index(0);
        let why = "first volume attachment must be a bootable volume";
        errors.push(FieldError::invalid(&first_item.field("name"), &json!(first.name), why));
    }
    ports(&machine.ports, &at.field("ports"), errors);
}

/// A virtual machine has keys by which its users sign in.
fn ssh_keys(keys: &str, at: &Path<'_>, errors: &mut Vec<FieldError>) {
    let lines: Vec<&str> = keys.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    if lines.is_empty() {
        return errors.push(FieldError::required(at, "must provide the SSH keys of a virtual machine"));
    }
    for line in lines {
        let why = match line.split_once(':') {
            None => "must be in the format 'username:key'",
            Some(("", _)) => "must provide a username",
            Some((_, key)) if !is_ssh_key(key) => "must be a valid SSH public key",
            Some(_) => continue,
        };
        errors.push(FieldError::invalid_text(at, line, why));
    }
}

/// Whether a text is a public key as `authorized_keys` has them: its data begins with the name of its type.
fn is_ssh_key(text: &str) -> bool {
    let mut parts = text.split_whitespace();
    let (Some(kind), Some(data)) = (parts.next(), parts.next()) else { return false };
    let is_known = kind.starts_with("ssh-") || kind.starts_with("ecdsa-") || kind.starts_with("sk-");
    let Ok(bytes) = krm::base64::decode(data) else { return false };
    let length = bytes.get(..4).map(|four| u32::from_be_bytes([four[0], four[1], four[2], four[3]]));
    let named = length.and_then(|length| bytes.get(4..4 + usize::try_from(length).ok()?));
    is_known && named == Some(kind.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_names_its_type_twice() {
        let key =
            "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f a@example.com";
        assert!(is_ssh_key(key));
        assert!(!is_ssh_key(&key.replacen("ssh-ed25519", "ssh-rsa", 1)));
        assert!(!is_ssh_key("ssh-ed25519 not-base64!"));
        assert!(!is_ssh_key("ssh-ed25519"));
    }

    #[test]
    fn ports_are_named_as_iana_does() {
        for name in ["http", "h2", "a-b"] {
            assert!(is_port_name(name), "{name}");
        }
        for name in ["", "80", "-a", "a-", "a--b", "HTTP", "a-name-too-long-1"] {
            assert!(!is_port_name(name), "{name}");
        }
    }
}

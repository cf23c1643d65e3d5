//! Admission of volumes.

use krm::field::{FieldError, Path};
use serde_json::json;

use super::dns_label;
use crate::kinds::quantity::quantity;
use crate::kinds::volume::{Disk, Volume};
use crate::kinds::{DISK_TYPE, Workload};

/// The only image that disks are made from.
const DISK_IMAGE: &str = "datumcloud/ubuntu-2204-lts";
const GI: f64 = 1_073_741_824.0;

/// Checks the volumes of a workload.
pub fn check(workload: &Workload, at: &Path<'_>, errors: &mut Vec<FieldError>) {
    let spec = &workload.spec.template.spec;
    for (index, volume) in spec.volumes.iter().enumerate() {
        let at = at.index(index);
        let at_name = at.field("name");
        dns_label(&volume.name, &at_name, errors);
        if spec.volumes[..index].iter().any(|other| other.name == volume.name) {
            errors.push(FieldError::duplicate(&at_name, &json!(volume.name)));
        }
        if !is_attached(&volume.name, workload) {
            errors.push(FieldError::required(&at_name, "volume must be attached at least 1 time"));
        }
        let sources = [volume.disk.is_some(), volume.config_map.is_some(), volume.secret.is_some()];
        match sources.into_iter().filter(|is_given| *is_given).count() {
            0 => errors.push(FieldError::required(&at, "must specify a volume source")),
            1 => {}
            _ => errors.push(FieldError::forbidden(&at, "may not specify more than 1 volume source")),
        }
        if let Some(disk) = &volume.disk {
            let others = spec.volumes[..index].iter().enumerate();
            let name = device_name(volume, index);
            let is_taken = others
                .into_iter()
                .any(|(index, other)| other.disk.is_some() && device_name(other, index) == name);
            let at_disk = at.field("disk");
            if is_taken {
                errors.push(FieldError::duplicate(&at_disk.field("deviceName"), &json!(name)));
            }
            self::disk(disk, &at_disk.field("template"), errors);
        }
        if let Some(source) = &volume.config_map {
            let at = at.field("configMap");
            files((&source.name, "name"), source.default_mode, !source.items.is_empty(), &at, errors);
        }
        if let Some(source) = &volume.secret {
            let at = at.field("secret");
            files(
                (&source.secret_name, "secretName"),
                source.default_mode,
                !source.items.is_empty(),
                &at,
                errors,
            );
        }
    }
}

/// Name of the device of a disk.
fn device_name(volume: &Volume, index: usize) -> String {
    let given = volume.disk.as_ref().and_then(|disk| disk.device_name.clone());
    given.unwrap_or_else(|| format!("persistent-disk-{index}"))
}

/// Whether a virtual machine can boot from a volume.
pub fn is_bootable(volume: &Volume) -> bool {
    let template = volume.disk.as_ref().and_then(|disk| disk.template.as_ref());
    let populator = template.and_then(|template| template.spec.populator.as_ref());
    populator.is_some_and(|populator| populator.image.is_some())
}

fn is_attached(name: &str, workload: &Workload) -> bool {
    let runtime = &workload.spec.template.spec.runtime;
    let containers = runtime.sandbox.iter().flat_map(|sandbox| &sandbox.containers);
    let in_containers = containers.flat_map(|container| &container.volume_attachments);
    let in_machine = runtime.virtual_machine.iter().flat_map(|machine| &machine.volume_attachments);
    in_containers.chain(in_machine).any(|attachment| attachment.name == name)
}

fn files(
    (name, field): (&str, &'static str),
    mode: Option<i32>,
    has_items: bool,
    at: &Path<'_>,
    errors: &mut Vec<FieldError>,
) {
    if name.is_empty() {
        errors.push(FieldError::required(&at.field(field), ""));
    }
    if let Some(mode) = mode.filter(|mode| !(0..=0o777).contains(mode)) {
        let why = "must be a number between 0 and 0777 (octal), both inclusive";
        errors.push(FieldError::invalid(&at.field("defaultMode"), &json!(mode), why));
    }
    if has_items {
        errors.push(FieldError::forbidden(&at.field("items"), "not implemented"));
    }
}

fn disk(disk: &Disk, at: &Path<'_>, errors: &mut Vec<FieldError>) {
    let Some(template) = &disk.template else { return errors.push(FieldError::required(at, "")) };
    let spec = &template.spec;
    let at = at.field("spec");
    if spec.disk_type != DISK_TYPE {
        errors.push(FieldError::not_supported(&at.field("type"), &json!(spec.disk_type), &[DISK_TYPE]));
    }
    let populator = at.field("populator");
    let has_image = spec.populator.as_ref().is_some_and(|populator| populator.image.is_some());
    if let Some(found) = &spec.populator {
        match (&found.image, &found.filesystem) {
            (None, None) => errors.push(FieldError::required(&populator, "must specify image or filesystem")),
            (Some(_), Some(_)) => {
                errors.push(FieldError::forbidden(&populator, "may not specify more than 1 populator"));
            }
            _ => {}
        }
        if let Some(image) = found.image.as_ref().filter(|image| image.name != DISK_IMAGE) {
            let at = populator.field("image");
            errors.push(FieldError::not_supported(&at.field("name"), &json!(image.name), &[DISK_IMAGE]));
        }
        if let Some(files) = found.filesystem.as_ref().filter(|files| files.filesystem_type != "ext4") {
            let at = populator.field("filesystem");
            errors.push(FieldError::not_supported(
                &at.field("type"),
                &json!(files.filesystem_type),
                &["ext4"],
            ));
        }
    }
    let resources = at.field("resources");
    let requests = resources.field("requests");
    let storage = requests.field("storage");
    let asked = spec.resources.as_ref().and_then(|resources| resources.requests.storage.as_ref());
    let Some(asked) = asked else {
        if !has_image {
            let why = "volume resource requests are required when not provided by populator";
            errors.push(FieldError::required(&storage, why));
        }
        return;
    };
    let why = match quantity(asked) {
        None => "must be a quantity, such as 10Gi",
        Some(size) if size < 10.0 * GI => "storage requests must be at least 10Gi",
        Some(size) if size > 100.0 * GI => "storage requests must not exceed 100Gi",
        Some(size) if (size / GI).fract() != 0.0 => "storage requests must be in increments of 1Gi",
        Some(size) if has_image && size < 25.0 * GI => "must be greater than or equal to 25Gi",
        Some(_) => return,
    };
    errors.push(FieldError::invalid(&storage, asked, why));
}

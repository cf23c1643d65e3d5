//! All inherited settings merged, each field by its rule.

use super::{dicts, field_path::FieldPath, keyed, ledger::Ledger, lists, machine, scalars};
use crate::model::HostSettings;

pub(super) fn merge(ledger: &mut Ledger, parent: &HostSettings, child: &HostSettings) -> HostSettings {
    let mut scalar = |path: &str, parent, child| scalars::merge(ledger, &FieldPath::Top(path), parent, child);
    let hardware_profile = scalar("hardware_profile", &parent.hardware_profile, &child.hardware_profile);
    let primary_network = scalar("primary_network", &parent.primary_network, &child.primary_network);
    let oob_type = scalar("oob.type", &parent.oob_type, &child.oob_type);
    let image = scalar("platform.image", &parent.image, &child.image);
    let kernel = scalar("platform.kernel", &parent.kernel, &child.kernel);
    let rack = scalar("metadata.rack", &parent.rack, &child.rack);

    let mut dict = |path: &str, parent, child| dicts::merge(ledger, &FieldPath::Top(path), parent, child);
    let oob_parameters = dict("oob", &parent.oob_parameters, &child.oob_parameters);
    let kernel_params = dict("platform.kernel_params", &parent.kernel_params, &child.kernel_params);
    let owner_data = dict("metadata.owner_data", &parent.owner_data, &child.owner_data);

    let devices = "storage.physical_devices";
    let groups = "storage.volume_groups";
    HostSettings {
        hardware_profile,
        primary_network,
        oob_type,
        oob_parameters,
        image,
        kernel,
        kernel_params,
        owner_data,
        rack,
        tags: lists::merge(ledger, &FieldPath::Top("metadata.tags"), &parent.tags, &child.tags),
        interfaces: keyed::merge(
            ledger,
            &FieldPath::Top("interfaces"),
            &parent.interfaces,
            &child.interfaces,
        ),
        storage_devices: keyed::merge(
            ledger,
            &FieldPath::Top(devices),
            &parent.storage_devices,
            &child.storage_devices,
        ),
        machine: machine::merge(ledger, &parent.machine, &child.machine),
        volume_groups: keyed::merge(
            ledger,
            &FieldPath::Top(groups),
            &parent.volume_groups,
            &child.volume_groups,
        ),
    }
}

//! Region, rack and hardware profile as the original printed them.

use serde_json::Value;

use super::fields::{Object, strings, texts};
use crate::model::{HardwareProfile, Rack, Region, Repository, TagDefinition};

pub(super) fn region(region: &Region) -> Value {
    let repositories = region.repositories.as_ref();
    Object::default()
        .with("name", region.document.name.clone())
        .with("status", "unknown")
        .with("authorized_keys", strings(&region.authorized_keys))
        .with("tag_definitions", region.tag_definitions.iter().map(tag).collect::<Value>())
        .with("repositories", repositories.map(|all| all.list.iter().map(repository).collect::<Value>()))
        .done()
}

fn tag(tag: &TagDefinition) -> Value {
    Object::default()
        .with_field("tag", &tag.tag)
        .with_field("type", &tag.definition_type)
        .with_field("definition", &tag.definition)
        .done()
}

fn repository(repository: &Repository) -> Value {
    Object::default()
        .with("name", repository.name.value.clone())
        .with_field("repo_type", &repository.repo_type)
        .with_field("url", &repository.url)
        .with_field("gpgkey", &repository.gpgkey)
        .with_list("distributions", &repository.distributions)
        .with_list("subrepos", &repository.subrepos)
        .with_list("components", &repository.components)
        .with_list("arches", &repository.arches)
        .with("options", repository.options.as_ref().map(texts))
        .done()
}

/// The address of a switch's controller is left out, as the original never kept it.
pub(super) fn rack(rack: &Rack) -> Value {
    let switches = rack.tor_switches.iter().map(|switch| {
        Object::default()
            .with("switch_name", switch.name.value.clone())
            .with_field("mgmt_ip", &switch.mgmt_ip)
            .done()
    });
    Object::default()
        .with("name", rack.document.name.clone())
        .with("tor_switches", switches.collect::<Value>())
        .with("location", texts(&rack.location))
        .with("local_networks", strings(&rack.local_networks))
        .done()
}

pub(super) fn hardware(profile: &HardwareProfile) -> Value {
    let devices = profile.aliases.iter().map(|alias| {
        Object::default()
            .with("alias", alias.alias.value.clone())
            .with_field("address", &alias.address)
            .with_field("bus_type", &alias.bus_type)
            .with_field("dev_type", &alias.dev_type)
            .done()
    });
    let pools = profile.hugepages.as_ref().map(|pools| {
        let pools = pools.iter().map(|pool| {
            Object::default()
                .with("name", pool.name.value.clone())
                .with_field("size", &pool.size)
                .with_field("count", &pool.count)
                .done()
        });
        pools.collect::<Value>()
    });
    Object::default()
        .with("name", profile.document.name.clone())
        .with_field("vendor", &profile.vendor)
        .with_field("generation", &profile.generation)
        .with_field("hw_version", &profile.hw_version)
        .with_field("bios_version", &profile.bios_version)
        .with_field("boot_mode", &profile.boot_mode)
        .with_field("bootstrap_protocol", &profile.bootstrap_protocol)
        .with_field("pxe_interface", &profile.pxe_interface)
        .with("devices", devices.collect::<Value>())
        .with("cpu_sets", profile.cpu_sets.as_ref().map(texts))
        .with("hugepages_confs", pools)
        .done()
}

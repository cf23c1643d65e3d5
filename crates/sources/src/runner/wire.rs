//! Messages of the fulfillment API, as far as a synchronizer sends and reads them. The server keeps what they lack.

use std::collections::HashMap;

use fulfillment::kinds::hardware as stored;

/// `osac.private.v1.HostsSyncRequest`.
#[derive(Clone, PartialEq, prost::Message)]
pub struct SyncRequest {
    #[prost(message, optional, tag = "1")]
    pub object: Option<Host>,
    #[prost(message, optional, tag = "2")]
    pub update_mask: Option<FieldMask>,
}

/// `google.protobuf.FieldMask`.
#[derive(Clone, PartialEq, prost::Message)]
pub struct FieldMask {
    #[prost(string, repeated, tag = "1")]
    pub paths: Vec<String>,
}

/// `osac.private.v1.HostsSyncResponse`.
#[derive(Clone, PartialEq, prost::Message)]
pub struct SyncResponse {
    #[prost(message, repeated, tag = "1")]
    pub results: Vec<SyncResult>,
}

/// `osac.private.v1.HostsSyncResult`.
#[derive(Clone, PartialEq, prost::Message)]
pub struct SyncResult {
    #[prost(string, tag = "1")]
    pub id: String,
    #[prost(int32, tag = "2")]
    pub outcome: i32,
    #[prost(int32, tag = "3")]
    pub code: i32,
    #[prost(string, tag = "4")]
    pub message: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Host {
    #[prost(string, tag = "1")]
    pub id: String,
    #[prost(message, optional, tag = "2")]
    pub metadata: Option<Metadata>,
    #[prost(message, optional, tag = "3")]
    pub spec: Option<HostSpec>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Metadata {
    #[prost(string, tag = "6")]
    pub name: String,
    #[prost(map = "string, string", tag = "7")]
    pub labels: HashMap<String, String>,
    #[prost(map = "string, string", tag = "8")]
    pub annotations: HashMap<String, String>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct HostSpec {
    #[prost(message, optional, tag = "2")]
    pub bmc: Option<Bmc>,
    #[prost(string, tag = "3")]
    pub rack: String,
    #[prost(string, tag = "4")]
    pub class: String,
    #[prost(string, tag = "5")]
    pub boot_mac: String,
    #[prost(string, tag = "6")]
    pub boot_ip: String,
    #[prost(string, tag = "7")]
    pub title: String,
    #[prost(string, tag = "8")]
    pub description: String,
    #[prost(string, tag = "9")]
    pub bcm_link: String,
    #[prost(message, optional, tag = "100")]
    pub hardware: Option<Hardware>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Bmc {
    #[prost(string, tag = "1")]
    pub url: String,
    #[prost(string, tag = "2")]
    pub user: String,
    #[prost(string, tag = "3")]
    pub password: String,
    #[prost(bool, tag = "4")]
    pub insecure: bool,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Hardware {
    #[prost(string, tag = "1")]
    pub serial: String,
    #[prost(string, tag = "2")]
    pub manufacturer: String,
    #[prost(string, tag = "3")]
    pub model: String,
    #[prost(message, repeated, tag = "4")]
    pub cpus: Vec<Cpu>,
    #[prost(int64, tag = "5")]
    pub memory_bytes: i64,
    #[prost(message, repeated, tag = "6")]
    pub nics: Vec<Nic>,
    #[prost(message, repeated, tag = "7")]
    pub drives: Vec<Drive>,
    #[prost(message, repeated, tag = "8")]
    pub firmware: Vec<Firmware>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Cpu {
    #[prost(string, tag = "1")]
    pub model: String,
    #[prost(string, tag = "2")]
    pub architecture: String,
    #[prost(int32, tag = "3")]
    pub cores: i32,
    #[prost(int32, tag = "4")]
    pub threads: i32,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Nic {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(string, tag = "2")]
    pub mac: String,
    #[prost(int64, tag = "3")]
    pub speed_bps: i64,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Drive {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(string, tag = "2")]
    pub serial: String,
    #[prost(string, tag = "3")]
    pub model: String,
    #[prost(string, tag = "4")]
    pub kind: String,
    #[prost(int64, tag = "5")]
    pub size_bytes: i64,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Firmware {
    #[prost(string, tag = "1")]
    pub component: String,
    #[prost(string, tag = "2")]
    pub version: String,
}

fn text(value: &Option<String>) -> String {
    value.clone().unwrap_or_default()
}

/// The message of hardware.
pub fn hardware(of: &stored::Hardware) -> Hardware {
    Hardware {
        serial: text(&of.serial),
        manufacturer: text(&of.manufacturer),
        model: text(&of.model),
        cpus: of.cpus.iter().map(cpu).collect(),
        memory_bytes: of.memory_bytes.unwrap_or_default(),
        nics: of.nics.iter().map(nic).collect(),
        drives: of.drives.iter().map(drive).collect(),
        firmware: of.firmware.iter().map(firmware).collect(),
    }
}

fn cpu(of: &stored::Cpu) -> Cpu {
    let threads = of.threads.unwrap_or_default();
    Cpu { model: text(&of.model), architecture: text(&of.architecture), cores: of.cores, threads }
}

fn nic(of: &stored::Nic) -> Nic {
    Nic { name: of.name.clone(), mac: text(&of.mac), speed_bps: of.speed_bps.unwrap_or_default() }
}

fn drive(of: &stored::Drive) -> Drive {
    Drive {
        name: of.name.clone(),
        serial: text(&of.serial),
        model: text(&of.model),
        kind: text(&of.kind),
        size_bytes: of.size_bytes,
    }
}

fn firmware(of: &stored::Firmware) -> Firmware {
    Firmware { component: of.component.clone(), version: of.version.clone() }
}

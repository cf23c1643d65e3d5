//! `groundplane host boot-device`: what a host boots from.

use cli::{Failure, Session};
use serde_json::json;

use super::operation::{self, Waiting};
use crate::find;
use crate::table::HOSTS;

/// Set the device that a host boots from.
///
/// It stays until it is set again. With --once, it holds for the next boot alone. "default" returns to the order of the
/// firmware. Nothing is rebooted.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  groundplane host boot-device node001 pxe --once\n  \
    groundplane host boot-device node001 disk --mode uefi\n  groundplane host boot-device node001 default")]
pub struct Arguments {
    /// Name or identifier of the host.
    #[arg(value_name = "NAME")]
    name: String,

    /// Boot device.
    #[arg(value_name = "DEVICE", value_enum)]
    device: Device,

    /// For the next boot alone.
    #[arg(long)]
    once: bool,

    /// Firmware interface. Defaults to the current one.
    #[arg(long, value_name = "MODE", value_enum)]
    mode: Option<Mode>,

    #[command(flatten)]
    waiting: Waiting,
}

#[derive(clap::ValueEnum, Debug, Clone, Copy)]
enum Device {
    Default,
    Pxe,
    Disk,
    Cdrom,
    Usb,
    Setup,
    Http,
}

#[derive(clap::ValueEnum, Debug, Clone, Copy)]
enum Mode {
    Uefi,
    Legacy,
}

/// Sets it.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let host = find::one(&HOSTS, &arguments.name, session).await?;
    let (device, shown) = match arguments.device {
        Device::Default => ("Default", "boots in the order of its firmware"),
        Device::Pxe => ("PXE", "boots from the network (PXE)"),
        Device::Disk => ("Disk", "boots from its disk"),
        Device::Cdrom => ("CD", "boots from optical media"),
        Device::Usb => ("USB", "boots from USB"),
        Device::Setup => ("Setup", "boots into the setup of its firmware"),
        Device::Http => ("HTTP", "boots from the network (HTTP)"),
    };
    let mut boot = json!({ "device": device, "once": arguments.once });
    match arguments.mode {
        Some(Mode::Uefi) => boot["mode"] = "UEFI".into(),
        Some(Mode::Legacy) => boot["mode"] = "Legacy".into(),
        None => {}
    }
    let done = format!("{shown}{}", if arguments.once { ", the next time" } else { "" });
    operation::run(
        &host,
        json!({"action": "SetBootDevice", "boot": boot}),
        &done,
        &arguments.waiting,
        session,
    )
    .await
}

//! `groundplane host create`: a host that no source knows.

use cli::{Failure, Session};
use serde_json::{Map, Value};

use crate::input;
use crate::output::Form;
use crate::table::HOSTS;

/// Create a host.
///
/// The BMC password is read from a file, moved into a Secret by the server, and never shown again.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Identifier of the host.
    #[arg(value_name = "ID")]
    id: String,

    /// Name for people, a DNS label, such as the host name.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Host class.
    #[arg(long, value_name = "CLASS")]
    class: Option<String>,

    /// URL of the BMC.
    #[arg(long, value_name = "URL")]
    bmc_url: Option<String>,

    /// User name at the BMC.
    #[arg(long, value_name = "NAME")]
    bmc_user: Option<String>,

    /// File with the password at the BMC; - for the standard input.
    #[arg(long, value_name = "FILE")]
    bmc_password_file: Option<String>,

    /// Do not verify the TLS certificate of the BMC.
    #[arg(long)]
    bmc_insecure: bool,

    /// MAC address of the interface that the host boots from.
    #[arg(long, value_name = "MAC")]
    boot_mac: Option<String>,

    /// IP address of the interface that the host boots from.
    #[arg(long, value_name = "ADDRESS")]
    boot_ip: Option<String>,

    /// Name of the rack.
    #[arg(long, value_name = "RACK")]
    rack: Option<String>,

    /// Manufacturer's serial number.
    #[arg(long, value_name = "SERIAL")]
    serial: Option<String>,

    /// Title for people.
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,

    /// Desired power state.
    #[arg(long, value_name = "STATE", value_enum)]
    power: Option<Power>,

    /// Labels, as KEY=VALUE.
    #[arg(long = "label", value_name = "KEY=VALUE")]
    labels: Vec<String>,

    /// Reason for the change, shown in the history.
    #[arg(long, short, value_name = "TEXT")]
    message: Option<String>,

    /// Output format.
    #[arg(long, short, value_name = "FORMAT", value_enum, default_value_t = Form::Table)]
    output: Form,
}

const EXAMPLES: &str = "\
Examples:
  groundplane host create node001 --class gpu --boot-mac 52:54:00:aa:bb:01
  groundplane host create node001 --bmc-url redfish://192.0.2.21/redfish/v1/Systems/1 --bmc-user admin \\
      --bmc-password-file password.txt";

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Power {
    /// Powered on.
    On,
    /// Powered off.
    Off,
}

/// Creates the host.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let password =
        arguments.bmc_password_file.as_deref().map(|path| input::file(path, session)).transpose()?;
    let bmc = input::given([
        ("url", arguments.bmc_url.map(Value::from)),
        ("user", arguments.bmc_user.map(Value::from)),
        ("password", password.map(Value::from)),
        ("insecure", arguments.bmc_insecure.then_some(Value::from(true))),
    ]);
    let power = arguments.power.map(|power| match power {
        Power::On => "HOST_POWER_STATE_ON",
        Power::Off => "HOST_POWER_STATE_OFF",
    });
    let serial = arguments.serial.map(|serial| input::given([("serial", Some(serial.into()))]));
    let mut host = input::object("Host", &arguments.id);
    host["spec"] = input::given([
        ("class", arguments.class.map(|class| fulfillment::identity::name_of(&class).into())),
        ("bmc", Some(bmc).filter(|bmc| bmc != &Value::Object(Map::new()))),
        ("bootMac", arguments.boot_mac.map(Value::from)),
        ("bootIp", arguments.boot_ip.map(Value::from)),
        ("rack", arguments.rack.map(Value::from)),
        ("title", arguments.title.map(Value::from)),
        ("powerState", power.map(Value::from)),
        ("hardware", serial),
    ]);
    if let Some(name) = arguments.name {
        host["displayName"] = name.into();
    }
    for label in &arguments.labels {
        let Some((key, value)) = label.split_once('=') else {
            return Err(Failure::usage(format!("--label {label:?}: must be KEY=VALUE")));
        };
        host["metadata"]["labels"][key] = value.into();
    }
    input::create(&HOSTS, &host, arguments.message.as_deref(), arguments.output, session).await
}

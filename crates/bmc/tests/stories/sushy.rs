//! Redfish against sushy-tools, OpenStack's emulator.

use std::fmt::Write;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use bmc::boot::{BootDevice, BootOverride};
use bmc::power::{PowerAction, PowerState};
use bmc::redfish::{Options, Patience, Redfish};
use bmc::trust::Trust;
use bmc::{Bmc, Cause, Credentials, Environment, Outcome};

/// An emulator with two systems, until it is dropped.
struct Emulator {
    child: Child,
    port: u16,
    _folder: tempfile::TempDir,
}

impl Drop for Emulator {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const SYSTEM: &str = "da69abcc-dae0-4913-9a7b-d344043097c";

/// `None` when it is not installed.
fn emulator() -> Option<Emulator> {
    let Some(program) = part("sushy/bin/sushy-emulator") else {
        require::missing("sushy-tools is not installed; `cargo xtask test` fetches it");
        return None;
    };
    let folder = tempfile::tempdir().unwrap();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut config = format!(
        "SUSHY_EMULATOR_LISTEN_IP = '127.0.0.1'\nSUSHY_EMULATOR_LISTEN_PORT = {port}\n\
         SUSHY_EMULATOR_FAKE_DRIVER = True\nSUSHY_EMULATOR_STATE_DIR = {:?}\nSUSHY_EMULATOR_FAKE_SYSTEMS = [\n",
        folder.path().to_str().unwrap()
    );
    for number in 0..2 {
        writeln!(
            config,
            "{{'uuid': '{SYSTEM}{number}', 'name': 'node-{number}', 'power_state': 'Off', \
             'nics': [{{'mac': 'AA:BB:CC:00:00:0{number}', 'ip': '192.0.2.{number}'}}]}},"
        )
        .unwrap();
    }
    config.push(']');
    let file = folder.path().join("sushy.conf");
    std::fs::write(&file, config).unwrap();
    let mut child = Command::new(program)
        .arg("--config")
        .arg(&file)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let is_up = lines.by_ref().map_while(Result::ok).any(|line| line.contains("Running on"));
    assert!(is_up, "sushy-emulator ended");
    // It logs every request; a full pipe would stop it.
    std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
    Some(Emulator { child, port, _folder: folder })
}

/// A part that `cargo xtask test` has fetched into the target folder.
fn part(name: &str) -> Option<PathBuf> {
    let folder = match std::env::var_os("GROUNDPLANE_PARTS") {
        Some(folder) => PathBuf::from(folder),
        // Tests run from target/<profile>/deps.
        None => std::env::current_exe().ok()?.ancestors().nth(3)?.join("parts"),
    };
    Some(folder.join(name)).filter(|path| path.exists())
}

#[tokio::test]
async fn sushy_tools_is_driven() {
    let Some(emulator) = emulator() else { return };
    let mut options = Options::new(Trust::FirstUse, Some(Credentials::new("admin", "password")));
    // Its power changes take up to seconds.
    options.patience = Patience { limit: Duration::from_secs(20), interval: Duration::from_millis(200) };
    let url = format!("redfish+http://127.0.0.1:{}", emulator.port);
    let environment = Environment::local();
    let service = Redfish::new(&url.parse().unwrap(), options.clone(), &environment).unwrap();

    let inventory = service.inventory().await.unwrap();
    assert_eq!(inventory.systems.len(), 2);
    assert_eq!(inventory.systems[0].nics[0].mac.as_deref(), Some("aa:bb:cc:00:00:00"));
    assert!(inventory.unread.iter().any(|part| part.contains("Storage")), "{:?}", inventory.unread);

    let address = format!("{url}/redfish/v1/Systems/{SYSTEM}0").parse().unwrap();
    let bmc = Redfish::new(&address, options, &environment).unwrap();
    assert_eq!(bmc.power().await.unwrap(), PowerState::Off);
    assert_eq!(bmc.set_boot(BootOverride::once(BootDevice::Pxe)).await.unwrap(), Outcome::Changed);
    assert_eq!(bmc.set_power(PowerAction::On).await.unwrap(), Outcome::Changed);
    assert_eq!(bmc.set_power(PowerAction::On).await.unwrap(), Outcome::Unchanged);
    assert_eq!(bmc.set_boot(BootOverride::always(BootDevice::Cd)).await.unwrap(), Outcome::Changed);
    assert_eq!(bmc.set_power(PowerAction::Cycle).await.unwrap(), Outcome::Changed);
    assert_eq!(bmc.set_power(PowerAction::ForceOff).await.unwrap(), Outcome::Changed);
    assert_eq!(bmc.power().await.unwrap(), PowerState::Off);
    let error = bmc.bios().await.unwrap_err();
    assert!(matches!(error.cause(), Cause::Unsupported { .. }), "{error}");
}

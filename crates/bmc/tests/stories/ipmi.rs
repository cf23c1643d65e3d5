//! IPMI against the simulator, against OpenIPMI's ipmi_sim, and the simulator against ipmitool.

use std::io::{Read, Write};
use std::net::{TcpListener, UdpSocket};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bmc::boot::{BootDevice, BootMode, BootOverride};
use bmc::credentials::generate;
use bmc::ipmi::{Ipmi, Options, Suite};
use bmc::power::{PowerAction, PowerState};
use bmc::rotation::{Dial, Phase, Rotation, Safe, run};
use bmc::{Address, Answer, Bmc, Cause, Credentials, Environment, Outcome, Password, SystemRandom};
use sim::ipmi::{Fault, Simulator};

use crate::PATIENCE;

fn options(password: &str, suites: &[Suite]) -> Options {
    let mut options = Options::new(Credentials::new("admin", password));
    options.suites = suites.to_vec();
    options.timeout = Duration::from_millis(200);
    options.patience = PATIENCE;
    options
}

fn driver(port: u16, password: &str, suites: &[Suite], environment: &Environment) -> Ipmi {
    let address: Address = format!("ipmi://127.0.0.1:{port}").parse().unwrap();
    Ipmi::new(&address, options(password, suites), environment).unwrap()
}

async fn simulator(suites: &[u8]) -> Simulator {
    let options = sim::ipmi::Options { suites: suites.to_vec(), ..sim::ipmi::Options::default() };
    Simulator::start(options).await.unwrap()
}

#[tokio::test]
async fn both_suites_power_boot_and_identify() {
    for (offered, suite) in [(17, Suite::Sha256), (3, Suite::Sha1)] {
        let simulator = simulator(&[offered]).await;
        let bmc = driver(simulator.address().port(), "password", &[suite], &Environment::local());
        everything(&bmc).await;
        assert_eq!(bmc.log(10).await.unwrap().len(), 2);
        assert_eq!(simulator.controls(), [1, 0, 1, 3, 5], "what is there already is not sent");
    }
}

async fn everything(bmc: &Ipmi) {
    assert_eq!(bmc.power().await.unwrap(), PowerState::Off);
    assert_eq!(bmc.set_power(PowerAction::On).await.unwrap(), Outcome::Changed);
    assert_eq!(bmc.set_power(PowerAction::On).await.unwrap(), Outcome::Unchanged);
    assert_eq!(bmc.set_power(PowerAction::Cycle).await.unwrap(), Outcome::Changed);
    assert_eq!(bmc.set_power(PowerAction::Reset).await.unwrap(), Outcome::Changed);
    assert_eq!(bmc.set_power(PowerAction::GracefulOff).await.unwrap(), Outcome::Changed);
    let wanted = BootOverride::always(BootDevice::Pxe).in_mode(BootMode::Uefi);
    assert_eq!(bmc.set_boot(wanted).await.unwrap(), Outcome::Changed);
    assert_eq!(bmc.set_boot(wanted).await.unwrap(), Outcome::Unchanged);
    assert_eq!(bmc.boot().await.unwrap(), wanted);
    assert_eq!(bmc.identify(true).await.unwrap(), Outcome::Changed);
    let error = bmc.set_boot(BootOverride::once(BootDevice::Http)).await.unwrap_err();
    assert!(matches!(error.cause(), Cause::Unsupported { .. }), "{error}");
    let error = bmc.insert_media("http://192.0.2.1/a.iso").await.unwrap_err();
    assert!(matches!(error.cause(), Cause::Unsupported { .. }), "{error}");
    assert!(bmc.inventory().await.unwrap().manager.firmware.is_some());
    bmc.close().await.unwrap();
}

#[tokio::test]
async fn the_stronger_suite_is_preferred_and_the_other_one_found() {
    let simulator = simulator(&[3]).await;
    let port = simulator.address().port();
    let both = [Suite::Sha256, Suite::Sha1];
    driver(port, "password", &both, &Environment::local()).power().await.unwrap();
    let strict = driver(port, "password", &[Suite::Sha256], &Environment::local());
    let error = strict.power().await.unwrap_err();
    assert!(matches!(error.cause(), Cause::Unsupported { .. }), "{error}");
}

#[tokio::test]
async fn faults_of_a_bmc_are_told_apart() {
    let simulator = simulator(&[3, 17]).await;
    let port = simulator.address().port();
    let suites = [Suite::Sha256];
    let bmc = driver(port, "password", &suites, &Environment::local());
    simulator.fault(Some(Fault::Lossy));
    assert_eq!(bmc.power().await.unwrap(), PowerState::Off, "lost packets are sent again");
    simulator.fault(Some(Fault::PowerLies));
    let error = bmc.set_power(PowerAction::On).await.unwrap_err();
    assert!(matches!(error.cause(), Cause::NotVerified { .. }), "{error}");
    simulator.fault(Some(Fault::Busy));
    let error = bmc.power().await.unwrap_err();
    assert!(matches!(error.cause(), Cause::Busy { .. }), "{error}");
    simulator.fault(Some(Fault::Silent));
    let mut impatient = options("password", &suites);
    impatient.timeout = Duration::from_millis(10);
    let address = format!("ipmi://127.0.0.1:{port}").parse().unwrap();
    let silent = Ipmi::new(&address, impatient, &Environment::local()).unwrap();
    let error = silent.power().await.unwrap_err();
    assert!(matches!(error.cause(), Cause::TimedOut { .. }), "{error}");
    assert!(error.is_unsent(), "no password was involved");
    simulator.fault(None);
    bmc.power().await.unwrap();
    let closed = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let error = driver(closed, "password", &suites, &Environment::local()).power().await.unwrap_err();
    assert_eq!(*error.cause(), Cause::Refused, "{error}");
}

#[tokio::test]
async fn a_wrong_password_is_tried_twice() {
    let simulator = simulator(&[17]).await;
    let environment = Environment::local();
    for (user, password) in
        [("admin", "wrong"), ("nobody", "password"), ("admin", "wrong"), ("admin", "password")]
    {
        let mut options = options(password, &[Suite::Sha256]);
        options.credentials.user = user.to_owned();
        let address = format!("ipmi://{}", simulator.address()).parse().unwrap();
        let error = Ipmi::new(&address, options, &environment).unwrap().power().await;
        match (user, password) {
            ("admin", "password") => {
                assert!(matches!(error.unwrap_err().cause(), Cause::LockoutGuard { .. }))
            }
            _ => drop(error.unwrap_err()),
        }
    }
    assert_eq!(simulator.failed_logins(), 1, "a wrong password is noticed before the BMC sees a proof of it");
}

#[tokio::test]
async fn the_serial_console_prints_and_is_typed_into() {
    let simulator = simulator(&[17]).await;
    let bmc = driver(simulator.address().port(), "password", &[Suite::Sha256], &Environment::local());
    let mut console = bmc.console().await.unwrap();
    let mut seen = Vec::new();
    let text = "root\n".repeat(60);
    assert!(console.send(text.as_bytes()).await);
    while seen.len() < text.len() + "login: ".len() {
        seen.extend(console.receive().await.unwrap());
    }
    assert_eq!(String::from_utf8(seen).unwrap(), format!("login: {text}"));
    console.close().await.unwrap();
    bmc.power().await.unwrap();
}

/// Dials a port; keeps which password everybody uses.
struct Rotating {
    port: u16,
    suite: Suite,
    is_switched: Arc<Mutex<bool>>,
    passwords: (Password, Password),
}

impl Dial for Rotating {
    fn dial(&self, credentials: &Credentials) -> bmc::Result<Box<dyn Bmc>> {
        let password = credentials.password.reveal();
        Ok(Box::new(driver(self.port, password, &[self.suite], &Environment::local())))
    }
}

struct Memory(Arc<Mutex<bool>>, (Password, Password));

impl Safe for Memory {
    fn save<'a>(&'a mut self, _: &'a Rotation) -> Answer<'a, ()> {
        Box::pin(async { Ok(()) })
    }

    fn switch(&mut self) -> Answer<'_, ()> {
        *self.0.lock().unwrap() = true;
        Box::pin(async { Ok(()) })
    }

    fn stored(&self) -> Password {
        if *self.0.lock().unwrap() { self.1.1.clone() } else { self.1.0.clone() }
    }
}

async fn rotate(port: u16, suite: Suite, old: &str) -> Password {
    let passwords = (Password::new(old), generate(&SystemRandom));
    let is_switched = Arc::new(Mutex::new(false));
    let mut safe = Memory(is_switched.clone(), passwords.clone());
    let dial = Rotating { port, suite, is_switched, passwords };
    let (old, new) = &dial.passwords;
    let ended = run(Rotation::new("admin"), old, new, &dial, &mut safe).await.unwrap();
    assert_eq!(ended.phase, Phase::Done, "{ended:?}");
    assert!(*dial.is_switched.lock().unwrap());
    dial.passwords.1
}

#[tokio::test]
async fn a_password_is_rotated_over_ipmi() {
    let simulator = simulator(&[17]).await;
    let new = rotate(simulator.address().port(), Suite::Sha256, "password").await;
    assert_eq!(simulator.password(), new.reveal());
}

/// OpenIPMI's simulator, with a chassis in a folder and a console on a TCP port.
struct OpenIpmi {
    child: Child,
    port: u16,
    folder: tempfile::TempDir,
}

impl Drop for OpenIpmi {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl OpenIpmi {
    fn start(console: u16) -> Option<OpenIpmi> {
        if Command::new("ipmi_sim")
            .arg("--help")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_err()
        {
            require::missing("ipmi_sim is not installed (Debian package openipmi)");
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let port = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let script = at("chassis.sh");
        std::fs::write(&script, CHASSIS.replace("FOLDER", folder.path().to_str().unwrap())).unwrap();
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
        let lan = format!(
            "name \"sim\"\nset_working_mc 0x20\nstartlan 1\n  addr 127.0.0.1 {port}\n  priv_limit admin\n  \
             allowed_auths_admin none md2 md5 straight\n  guid a123456789abcdefa123456789abcdef\nendlan\n\
             chassis_control \"{}\"\nsol \"tcp:127.0.0.1:{console}\" 115200\n\
             user 2 true \"admin\" \"secret\" admin 10 none md2 md5 straight\n",
            script.display()
        );
        std::fs::write(at("lan.conf"), lan).unwrap();
        std::fs::write(at("bmc.emu"), BMC).unwrap();
        let child = Command::new("ipmi_sim")
            .args(["-n", "-c"])
            .arg(at("lan.conf"))
            .arg("-f")
            .arg(at("bmc.emu"))
            .arg("-s")
            .arg(at("state"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Some(OpenIpmi { child, port, folder })
    }
}

const BMC: &str = "mc_setbmc 0x20\nmc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02 persist_sdr\n\
                   sel_enable 0x20 1000 0x0a\nmc_enable 0x20\n";

/// Asked with `get power`, `set boot pxe` and the like.
const CHASSIS: &str = r#"#!/bin/sh
operation=$1
shift
while [ $# -gt 0 ]; do
  name=$1
  shift
  case $operation in
    get) echo "$name:$(cat "FOLDER/$name" 2>/dev/null || case $name in boot) echo default ;; *) echo 0 ;; esac)" ;;
    set)
      echo "$name $1" >> "FOLDER/log"
      case $name in
        shutdown) echo 0 > "FOLDER/power" ;;
        *) echo "$1" > "FOLDER/$name" ;;
      esac
      shift
      ;;
  esac
done
"#;

#[tokio::test]
async fn openipmi_is_driven_and_its_password_rotated() {
    let console = TcpListener::bind("127.0.0.1:0").unwrap();
    let Some(simulator) = OpenIpmi::start(console.local_addr().unwrap().port()) else { return };
    let suites = [Suite::Sha256, Suite::Sha1];
    let bmc = driver(simulator.port, "secret", &suites, &Environment::local());
    let device = wait_for(&bmc).await;
    assert_eq!((device.firmware.as_str(), device.manufacturer), ("9.08", 0x1291));
    assert_eq!(bmc.power().await.unwrap(), PowerState::Off);
    assert_eq!(bmc.set_power(PowerAction::On).await.unwrap(), Outcome::Changed);
    assert_eq!(bmc.set_power(PowerAction::Cycle).await.unwrap(), Outcome::Changed);
    let once = BootOverride::once(BootDevice::Pxe);
    let error = bmc.set_boot(once).await.unwrap_err();
    assert!(
        matches!(error.cause(), Cause::NotVerified { .. }),
        "it never reports an override as valid: {error}"
    );
    let mut lenient = options("secret", &suites);
    lenient.boot_device_alone = true;
    let lenient = Ipmi::new(bmc.address(), lenient, &Environment::local()).unwrap();
    assert_eq!(lenient.set_boot(once).await.unwrap(), Outcome::Changed);
    assert_eq!(std::fs::read_to_string(simulator.folder.path().join("boot")).unwrap().trim(), "pxe");
    assert_eq!(bmc.set_power(PowerAction::ForceOff).await.unwrap(), Outcome::Changed);
    assert_eq!(bmc.log(5).await.unwrap(), []);
    bmc.close().await.unwrap();

    let mut serial = std::thread::spawn(move || console.accept().unwrap().0).join().unwrap();
    let mut opened = bmc.console().await.unwrap();
    serial.write_all(b"openipmi login: ").unwrap();
    let mut seen = Vec::new();
    while seen.len() < b"openipmi login: ".len() {
        seen.extend(opened.receive().await.unwrap());
    }
    assert_eq!(seen, b"openipmi login: ");
    assert!(opened.send(b"root\r").await);
    let typed = tokio::task::spawn_blocking(move || {
        let mut typed = [0; 5];
        serial.read_exact(&mut typed).unwrap();
        (typed, serial)
    });
    let (typed, _serial) = typed.await.unwrap();
    assert_eq!(&typed, b"root\r");
    opened.close().await.unwrap();

    let new = rotate(simulator.port, Suite::Sha1, "secret").await;
    let wrong = driver(simulator.port, "secret", &suites, &Environment::local()).power().await.unwrap_err();
    assert!(matches!(wrong.cause(), Cause::Unauthorized { .. }), "{wrong}");
    driver(simulator.port, new.reveal(), &suites, &Environment::local()).power().await.unwrap();
}

async fn wait_for(bmc: &Ipmi) -> bmc::ipmi::Device {
    loop {
        match bmc.device().await {
            Err(error) if *error.cause() == Cause::Refused => {
                tokio::time::sleep(Duration::from_millis(50)).await
            }
            answer => return answer.unwrap(),
        }
    }
}

#[tokio::test]
async fn ipmitool_takes_the_simulator_for_a_bmc() {
    if Command::new("ipmitool").arg("-V").stdout(Stdio::null()).stderr(Stdio::null()).status().is_err() {
        require::missing("ipmitool is not installed (Debian package ipmitool)");
        return;
    }
    let simulator = simulator(&[3, 17]).await;
    let port = simulator.address().port();
    for suite in ["17", "3"] {
        let ask = |words: &'static str| async move {
            let asked = tokio::process::Command::new("ipmitool")
                .args(["-I", "lanplus", "-C", suite, "-H", "127.0.0.1", "-p", &port.to_string()])
                .args(["-U", "admin", "-P", "password"])
                .args(words.split(' '))
                .output();
            let asked = asked.await.unwrap();
            assert!(asked.status.success(), "{words}: {}", String::from_utf8_lossy(&asked.stderr));
            String::from_utf8(asked.stdout).unwrap()
        };
        assert!(ask("mc info").await.contains("Firmware Revision         : 2.41"));
        ask("chassis power on").await;
        ask("chassis bootdev pxe options=persistent,efiboot").await;
        assert!(ask("chassis bootparam get 5").await.contains("Force PXE"));
        assert!(ask("sel list").await.contains("Upper Non-critical"));
        ask("chassis power off").await;
    }
    assert_eq!(simulator.controls(), [1, 0, 1, 0]);
}

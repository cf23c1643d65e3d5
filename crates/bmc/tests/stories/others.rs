//! libvirt by its command lines, and a person.

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bmc::boot::{BootDevice, BootOverride};
use bmc::libvirt::{Libvirt, Runner};
use bmc::manual::{Desk, Manual, Reply, What};
use bmc::power::{PowerAction, PowerState};
use bmc::{Address, Bmc, Cause, Outcome};

use crate::PATIENCE;

const XML: &str =
    "<domain><name>node1</name><os>\n<type>hvm</type>\n<boot dev='hd'/>\n</os><devices/></domain>";

/// A host with one virtual machine, which records what it is asked.
struct Host {
    is_on: Mutex<bool>,
    xml: Mutex<String>,
    lines: Mutex<Vec<String>>,
}

impl Runner for Host {
    fn run<'a>(
        &'a self,
        program: &'a str,
        arguments: &'a [String],
        input: &'a str,
    ) -> Pin<Box<dyn Future<Output = Result<String, String>> + Send + 'a>> {
        let line = format!("{program} {}", arguments.join(" "));
        let command = arguments.iter().skip_while(|word| *word != "qemu:///system").nth(1).cloned();
        self.lines.lock().unwrap().push(line);
        let answer = match command.as_deref() {
            Some("domstate") => {
                Ok(if *self.is_on.lock().unwrap() { "running\n\n" } else { "shut off\n\n" }.to_owned())
            }
            Some(change @ ("start" | "destroy")) => {
                *self.is_on.lock().unwrap() = change == "start";
                Ok(String::new())
            }
            Some("dumpxml") => Ok(self.xml.lock().unwrap().clone()),
            Some("define") => {
                *self.xml.lock().unwrap() = input.to_owned();
                Ok(String::new())
            }
            other => Err(format!("unknown command {other:?}")),
        };
        Box::pin(async move { answer })
    }
}

fn libvirt(url: &str) -> (Arc<Host>, bmc::Result<Libvirt>) {
    let host =
        Arc::new(Host { is_on: Mutex::new(false), xml: Mutex::new(XML.to_owned()), lines: Mutex::default() });
    let address: Address = url.parse().unwrap();
    let libvirt = Libvirt::new(&address, PATIENCE, host.clone());
    (host, libvirt)
}

#[tokio::test]
async fn virsh_is_called_over_ssh() {
    let (host, libvirt) = libvirt("qemu+ssh://root@kvm1:2222/system?domain=node1");
    let libvirt = libvirt.unwrap();
    assert_eq!(libvirt.set_power(PowerAction::On).await.unwrap(), Outcome::Changed);
    assert_eq!(libvirt.set_power(PowerAction::On).await.unwrap(), Outcome::Unchanged);
    assert_eq!(libvirt.set_power(PowerAction::Cycle).await.unwrap(), Outcome::Changed);
    assert_eq!(libvirt.set_boot(BootOverride::always(BootDevice::Pxe)).await.unwrap(), Outcome::Changed);
    assert_eq!(libvirt.boot().await.unwrap().device, BootDevice::Pxe);
    assert!(host.xml.lock().unwrap().contains("<boot dev='network'/><boot dev='hd'/></os>"));
    let error = libvirt.set_boot(BootOverride::once(BootDevice::Disk)).await.unwrap_err();
    assert!(matches!(error.cause(), Cause::Unsupported { .. }), "{error}");
    let lines = host.lines.lock().unwrap();
    let begin =
        "ssh -o BatchMode=yes -o ConnectTimeout=10 -p 2222 -- root@kvm1 virsh --connect qemu:///system ";
    assert!(lines.iter().all(|line| line.starts_with(begin)), "{lines:?}");
    assert_eq!(lines[1], format!("{begin}start node1"));
}

#[test]
fn names_that_a_shell_would_take_for_something_else_are_refused() {
    for url in [
        "qemu+ssh://kvm1/system",
        "qemu+ssh://kvm1/session?domain=a",
        "qemu+ssh://kvm1/system?domain=a;reboot",
        "qemu+ssh://kvm1/system?domain=-a",
        "qemu+ssh://-oProxyCommand=x@kvm1/system?domain=a",
        "qemu+ssh://$(id)@kvm1/system?domain=a",
    ] {
        assert!(libvirt(url).1.is_err(), "{url}");
    }
}

#[tokio::test]
async fn a_person_is_asked_once_and_waited_for() {
    let desk = Arc::new(Desk::default());
    let address: Address = "manual://row-3-unit-7".parse().unwrap();
    let patient = Manual::new(&address, desk.clone(), Duration::from_secs(10));
    let impatient = Manual::new(&address, desk.clone(), Duration::from_millis(10));
    let error = impatient.set_power(PowerAction::On).await.unwrap_err();
    assert!(error.to_string().contains("request 1 waits for a person"), "{error}");
    let waiting = tokio::spawn(async move { patient.set_power(PowerAction::On).await });
    tokio::task::yield_now().await;
    let pending = desk.pending();
    assert_eq!(pending.len(), 1, "the same is not asked twice");
    assert_eq!(pending[0].what, What::Power(PowerAction::On));
    assert!(desk.answer(pending[0].id, Reply::Done));
    assert_eq!(waiting.await.unwrap().unwrap(), Outcome::Changed);
    assert!(!desk.answer(pending[0].id, Reply::Done));

    let asked = Manual::new(&address, desk.clone(), Duration::from_secs(10));
    let telling =
        tokio::spawn(async move { (asked.power().await, asked.set_power(PowerAction::ForceOff).await) });
    for reply in [Reply::Power(PowerState::On), Reply::Declined("the rack is locked".to_owned())] {
        while desk.pending().is_empty() {
            tokio::task::yield_now().await;
        }
        desk.answer(desk.pending()[0].id, reply);
    }
    let (power, off) = telling.await.unwrap();
    assert_eq!(power.unwrap(), PowerState::On);
    assert!(off.unwrap_err().to_string().contains("the rack is locked"));
}

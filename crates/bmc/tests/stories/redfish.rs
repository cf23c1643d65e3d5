//! Redfish against the simulator.

use std::collections::BTreeMap;
use std::time::Duration;

use bmc::bios::Attribute;
use bmc::boot::{BootDevice, BootMode, BootOverride};
use bmc::firmware::{Difference, WantedLevel, compare};
use bmc::power::{PowerAction, PowerState};
use bmc::redfish::{BiosTarget, BootTarget, MediaInsert, Quirks, Redfish};
use bmc::sensors::Quantity;
use bmc::{Bmc, Cause, Environment, Outcome};
use sim::redfish::{Fault, Options, Simulator};

use crate::{address, driver, options};

async fn simulator(options: Options) -> Simulator {
    Simulator::start(options).await.unwrap()
}

#[tokio::test]
async fn a_system_is_powered_on_cycled_and_off() {
    let simulator = simulator(Options::default()).await;
    let bmc = driver(&simulator, &Environment::local());
    assert_eq!(bmc.power().await.unwrap(), PowerState::Off);
    assert_eq!(bmc.set_power(PowerAction::On).await.unwrap(), Outcome::Changed);
    assert!(simulator.is_on(1));
    assert_eq!(bmc.set_power(PowerAction::On).await.unwrap(), Outcome::Unchanged);
    assert_eq!(simulator.resets(1), 1, "what is there already is not sent");
    assert_eq!(bmc.set_power(PowerAction::Cycle).await.unwrap(), Outcome::Changed);
    assert_eq!(simulator.resets(1), 3, "a cycle is off, seen off, and on");
    assert_eq!(bmc.set_power(PowerAction::Reset).await.unwrap(), Outcome::Changed);
    assert_eq!(bmc.set_power(PowerAction::GracefulOff).await.unwrap(), Outcome::Changed);
    assert!(!simulator.is_on(1));
    let refused = bmc.set_power(PowerAction::Reset).await.unwrap_err();
    assert!(matches!(refused.cause(), Cause::Invalid { .. }), "{refused}");
    assert_eq!(bmc.set_power(PowerAction::Cycle).await.unwrap(), Outcome::Changed);
    assert!(simulator.is_on(1), "a cycle powers a system on that was off");
}

#[tokio::test]
async fn a_bmc_that_lies_about_power_is_found() {
    let simulator = simulator(Options::default()).await;
    simulator.fault(Fault::PowerLies);
    let environment = Environment::local();
    let mut options = options(&simulator, "admin", "password");
    options.patience.limit = Duration::from_millis(200);
    let bmc = Redfish::new(&address(&simulator, 1), options, &environment).unwrap();
    let error = bmc.set_power(PowerAction::On).await.unwrap_err();
    let expected = Cause::NotVerified { wanted: "on".to_owned(), found: "off".to_owned() };
    assert_eq!(*error.cause(), expected, "{error}");
    assert!(error.is_unsettled());
    assert!(error.to_string().contains("look at the machine"), "{error}");
    simulator.fault(Fault::BootLies);
    let error = bmc.set_boot(BootOverride::once(BootDevice::Pxe)).await.unwrap_err();
    assert!(matches!(error.cause(), Cause::NotVerified { .. }), "{error}");
}

#[tokio::test]
async fn the_boot_device_is_overridden_once_or_always_in_either_mode() {
    let simulator = simulator(Options::default()).await;
    let bmc = driver(&simulator, &Environment::local());
    let once = BootOverride::once(BootDevice::Pxe).in_mode(BootMode::Legacy);
    assert_eq!(bmc.set_boot(once).await.unwrap(), Outcome::Changed);
    assert_eq!(bmc.set_boot(once).await.unwrap(), Outcome::Unchanged);
    assert_eq!(bmc.boot().await.unwrap(), once);
    bmc.set_power(PowerAction::On).await.unwrap();
    assert_eq!(bmc.boot().await.unwrap().device, BootDevice::Default, "used up by the boot");
    let always = BootOverride::always(BootDevice::Disk).in_mode(BootMode::Uefi);
    assert_eq!(bmc.set_boot(always).await.unwrap(), Outcome::Changed);
    bmc.set_power(PowerAction::Cycle).await.unwrap();
    assert_eq!(bmc.boot().await.unwrap(), always);
    assert_eq!(bmc.set_boot(BootOverride::always(BootDevice::Default)).await.unwrap(), Outcome::Changed);
    let error = bmc.set_boot(BootOverride::once(BootDevice::Http)).await.unwrap_err();
    assert!(error.to_string().contains("Pxe, Hdd"), "names what is allowed: {error}");
}

#[tokio::test]
async fn bios_attributes_are_staged_and_take_effect_at_the_next_boot() {
    let simulator = simulator(Options::default()).await;
    let bmc = driver(&simulator, &Environment::local());
    let wanted = BTreeMap::from([
        ("ProcTurboMode".to_owned(), Attribute::from("Disabled")),
        ("NumLock".to_owned(), Attribute::Bool(true)),
    ]);
    assert_eq!(bmc.stage_bios(wanted.clone()).await.unwrap(), Outcome::Changed);
    let staged = bmc.bios().await.unwrap();
    assert_eq!(staged.current["ProcTurboMode"], Attribute::from("Enabled"));
    assert_eq!(staged.pending, BTreeMap::from([("ProcTurboMode".to_owned(), Attribute::from("Disabled"))]));
    assert_eq!(bmc.stage_bios(wanted).await.unwrap(), Outcome::Unchanged);
    bmc.set_power(PowerAction::On).await.unwrap();
    let booted = bmc.bios().await.unwrap();
    assert_eq!(booted.current["ProcTurboMode"], Attribute::from("Disabled"));
    assert!(booted.pending.is_empty());
    let unknown = BTreeMap::from([("Turbo".to_owned(), Attribute::Bool(true))]);
    let error = bmc.stage_bios(unknown).await.unwrap_err();
    assert!(error.to_string().contains("no attribute \"Turbo\""), "{error}");
}

#[tokio::test]
async fn images_are_inserted_and_ejected_and_the_light_is_switched() {
    let simulator = simulator(Options::default()).await;
    let bmc = driver(&simulator, &Environment::local());
    let image = "http://192.0.2.7/boot.iso";
    assert_eq!(bmc.insert_media(image).await.unwrap(), Outcome::Changed);
    assert_eq!(bmc.insert_media(image).await.unwrap(), Outcome::Unchanged);
    let slots = bmc.media().await.unwrap();
    assert_eq!(slots.iter().filter_map(|slot| slot.image.as_deref()).collect::<Vec<_>>(), [image]);
    assert_eq!(bmc.insert_media("https://192.0.2.7/other.iso").await.unwrap(), Outcome::Changed);
    assert_eq!(bmc.eject_media().await.unwrap(), Outcome::Changed);
    assert_eq!(bmc.eject_media().await.unwrap(), Outcome::Unchanged);
    let error = bmc.insert_media("file:///etc/passwd").await.unwrap_err();
    assert!(matches!(error.cause(), Cause::Invalid { .. }), "{error}");
    assert_eq!(bmc.identify(true).await.unwrap(), Outcome::Changed);
    assert_eq!(bmc.identify(true).await.unwrap(), Outcome::Unchanged);
    assert_eq!(bmc.identify(false).await.unwrap(), Outcome::Changed);
}

#[tokio::test]
async fn the_inventory_of_a_hundred_systems_comes_over_pages() {
    let simulator = simulator(Options { systems: 100, page: Some(7), ..Options::default() }).await;
    let bmc = driver(&simulator, &Environment::local());
    let inventory = bmc.inventory().await.unwrap();
    assert_eq!((inventory.systems.len(), inventory.unread.len()), (100, 0));
    let first =
        inventory.systems.iter().find(|system| system.serial.as_deref() == Some("SIM000001")).unwrap();
    assert_eq!((first.processors.len(), first.memory.len(), first.drives.len()), (2, 8, 2));
    assert_eq!(first.processors[0].threads, Some(64));
    assert_eq!((first.memory_mib, first.memory[0].mib), (Some(256 << 10), 32 << 10));
    let macs: Vec<_> = first.nics.iter().filter_map(|nic| nic.mac.as_deref()).collect();
    assert_eq!(macs, ["52:54:00:00:00:00", "52:54:00:00:00:01"]);
    assert_eq!(first.drives[0].bytes, Some(3_840_755_982_336));
    assert_eq!(inventory.manager.firmware.as_deref(), Some("1.4.2"));
    let sensors = bmc.sensors().await.unwrap();
    assert!(sensors.iter().any(|reading| reading.quantity == Quantity::Celsius && reading.value == 24.0));
    let wanted = |component: &str, version: &str| WantedLevel {
        component: component.to_owned(),
        version: version.to_owned(),
        or_newer: true,
    };
    let differences = compare(&[wanted("BIOS", "2.4.0"), wanted("BMC", "1.10")], &inventory.firmware);
    assert!(matches!(&differences[..], [Difference::Version { component, .. }] if component == "BMC"));
}

#[tokio::test]
async fn a_bmc_with_several_systems_wants_to_know_which() {
    let simulator = simulator(Options { systems: 3, ..Options::default() }).await;
    let address = simulator.url().parse().unwrap();
    let bmc =
        Redfish::new(&address, options(&simulator, "admin", "password"), &Environment::local()).unwrap();
    let error = bmc.power().await.unwrap_err();
    assert!(error.to_string().contains("3 systems (/redfish/v1/Systems/1"), "{error}");
}

#[tokio::test]
async fn one_session_serves_all_requests_and_is_replaced_when_it_expires_and_ended() {
    let simulator = simulator(Options::default()).await;
    let bmc = driver(&simulator, &Environment::local());
    let (one, other) = tokio::join!(bmc.power(), bmc.boot());
    one.unwrap();
    other.unwrap();
    assert_eq!((simulator.logins(), simulator.sessions()), (1, 1));
    simulator.end_sessions();
    bmc.power().await.unwrap();
    assert_eq!((simulator.logins(), simulator.failed_logins()), (2, 0));
    bmc.close().await.unwrap();
    assert_eq!(simulator.sessions(), 0);
    bmc.power().await.unwrap();
    assert_eq!(simulator.sessions(), 1, "a closed driver logs in again");
}

#[tokio::test]
async fn without_sessions_the_password_comes_with_every_request() {
    let simulator = simulator(Options { has_sessions: false, ..Options::default() }).await;
    let bmc = driver(&simulator, &Environment::local());
    assert_eq!(bmc.set_power(PowerAction::On).await.unwrap(), Outcome::Changed);
    assert_eq!((simulator.sessions(), simulator.failed_logins()), (0, 0));
    let wrong =
        Redfish::new(&address(&simulator, 1), options(&simulator, "admin", "wrong"), &Environment::local());
    let wrong = wrong.unwrap();
    for _ in 0..5 {
        wrong.power().await.unwrap_err();
    }
    assert_eq!(simulator.failed_logins(), 2, "each such request counts as a login");
}

#[tokio::test]
async fn deviations_are_data() {
    let simulator = simulator(Options { is_awkward: true, ..Options::default() }).await;
    let quirks = Quirks {
        boot: BootTarget::Settings("Settings".to_owned()),
        bios: BiosTarget::Direct,
        media_insert: MediaInsert::Patch,
        ..Quirks::default()
    };
    for etag in [true, false] {
        // Without the entry the BMC asks for an ETag, and gets it with the second request.
        let quirks = Quirks { etag, ..quirks.clone() };
        let mut options = options(&simulator, "admin", "password");
        options.quirks = Some(quirks);
        let bmc = Redfish::new(&address(&simulator, 1), options, &Environment::local()).unwrap();
        let device = if etag { BootDevice::Pxe } else { BootDevice::Cd };
        assert_eq!(bmc.set_boot(BootOverride::once(device)).await.unwrap(), Outcome::Changed);
        let wanted = BTreeMap::from([("NumLock".to_owned(), Attribute::Bool(!etag))]);
        bmc.stage_bios(wanted).await.unwrap();
        let image = format!("http://192.0.2.7/{etag}.iso");
        assert_eq!(bmc.insert_media(&image).await.unwrap(), Outcome::Changed);
        bmc.set_power(PowerAction::Cycle).await.unwrap();
        bmc.set_power(PowerAction::ForceOff).await.unwrap();
    }
    let standard = driver(&simulator, &Environment::local());
    let error = standard.set_boot(BootOverride::once(BootDevice::Usb)).await.unwrap_err();
    assert!(matches!(error.cause(), Cause::Unsupported { .. }), "{error}");
}

#[tokio::test]
async fn tasks_are_waited_for_and_their_failure_is_told() {
    let simulator = simulator(Options { has_tasks: true, ..Options::default() }).await;
    let bmc = driver(&simulator, &Environment::local());
    assert_eq!(bmc.set_power(PowerAction::On).await.unwrap(), Outcome::Changed);
    simulator.fault(Fault::TasksFail);
    let error = bmc.set_boot(BootOverride::once(BootDevice::Pxe)).await.unwrap_err();
    assert!(error.to_string().contains("Exception: The flash chip did not answer."), "{error}");
}

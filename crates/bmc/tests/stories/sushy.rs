//! Redfish against sushy-tools, OpenStack's emulator.

use std::time::Duration;

use bmc::boot::{BootDevice, BootOverride};
use bmc::power::{PowerAction, PowerState};
use bmc::redfish::{Options, Patience, Redfish};
use bmc::trust::Trust;
use bmc::{Bmc, Cause, Credentials, Environment, Outcome};
use testbed::sushy::Emulator;

#[tokio::test]
async fn sushy_tools_is_driven() {
    let Some(emulator) = Emulator::start(2).unwrap() else { return };
    let mut options = Options::new(Trust::FirstUse, Some(Credentials::new("admin", "password")));
    // Its power changes take up to seconds.
    options.patience = Patience { limit: Duration::from_secs(20), interval: Duration::from_millis(200) };
    let url = format!("redfish+{}", emulator.url());
    let environment = Environment::local();
    let service = Redfish::new(&url.parse().unwrap(), options.clone(), &environment).unwrap();

    let inventory = service.inventory().await.unwrap();
    assert_eq!(inventory.systems.len(), 2);
    assert_eq!(inventory.systems[0].nics[0].mac.as_deref(), Some("aa:bb:cc:00:00:00"));
    assert!(inventory.unread.iter().any(|part| part.contains("Storage")), "{:?}", inventory.unread);

    let address = emulator.address(0).parse().unwrap();
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

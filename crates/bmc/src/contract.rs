//! What a driver of a BMC does.

use std::collections::BTreeMap;
use std::pin::Pin;

use crate::Address;
use crate::bios::{Attribute, Bios};
use crate::boot::BootOverride;
use crate::credentials::Password;
use crate::error::{Cause, Error, Result};
use crate::firmware::FirmwareLevel;
use crate::inventory::Inventory;
use crate::media::Media;
use crate::power::{PowerAction, PowerState};
use crate::sensors::{LogEntry, Reading};

/// The future of a call.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

/// Whether a call changed something. Either way the BMC was read afterwards and reports the wanted state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The BMC was in the wanted state before; nothing was sent.
    Unchanged,
    /// The change was made and read back.
    Changed,
}

/// One system behind a BMC.
///
/// Calls are idempotent unless their documentation says otherwise: repeating one that has succeeded, or whose result
/// was lost, does no harm. A protocol that lacks a call answers [`Cause::Unsupported`].
pub trait Bmc: Send + Sync {
    /// Where the BMC is.
    fn address(&self) -> &Address;

    /// The power state of the system.
    fn power(&self) -> Answer<'_, PowerState>;

    /// Changes the power state and waits until the BMC reports it.
    ///
    /// [`PowerAction::Cycle`] and [`PowerAction::Reset`] are **not** idempotent: they are sent at most once per call. If
    /// such a call fails with [`Error::is_unsettled`], the system may or may not have been reset.
    fn set_power(&self, action: PowerAction) -> Answer<'_, Outcome>;

    /// The device that the system boots from next, as overridden by the BMC.
    fn boot(&self) -> Answer<'_, BootOverride> {
        lacks(self.address(), "reading the boot device")
    }

    /// Overrides the boot device, and reads it back.
    fn set_boot(&self, wanted: BootOverride) -> Answer<'_, Outcome> {
        let _ = wanted;
        lacks(self.address(), "setting the boot device")
    }

    /// The virtual media slots and what is in them.
    fn media(&self) -> Answer<'_, Vec<Media>> {
        lacks(self.address(), "virtual media")
    }

    /// Puts an image, named by its URL, into the first slot for optical media.
    fn insert_media<'a>(&'a self, image: &'a str) -> Answer<'a, Outcome> {
        let _ = image;
        lacks(self.address(), "virtual media")
    }

    /// Empties all slots.
    fn eject_media(&self) -> Answer<'_, Outcome> {
        lacks(self.address(), "virtual media")
    }

    /// BIOS attributes: current, and those that are staged for the next boot.
    fn bios(&self) -> Answer<'_, Bios> {
        lacks(self.address(), "BIOS attributes")
    }

    /// Stages BIOS attributes for the next boot, and reads them back as pending.
    fn stage_bios(&self, wanted: BTreeMap<String, Attribute>) -> Answer<'_, Outcome> {
        let _ = wanted;
        lacks(self.address(), "BIOS attributes")
    }

    /// Versions of firmware.
    fn firmware(&self) -> Answer<'_, Vec<FirmwareLevel>> {
        lacks(self.address(), "firmware inventory")
    }

    /// The hardware that the BMC knows of: all of its systems.
    fn inventory(&self) -> Answer<'_, Inventory> {
        lacks(self.address(), "hardware inventory")
    }

    /// Readings of sensors.
    fn sensors(&self) -> Answer<'_, Vec<Reading>> {
        lacks(self.address(), "sensors")
    }

    /// The system event log, oldest first, at most `limit` entries.
    fn log(&self, limit: usize) -> Answer<'_, Vec<LogEntry>> {
        let _ = limit;
        lacks(self.address(), "the event log")
    }

    /// Sets the password of an account. [`rotation`](crate::rotation) proves that it works before the old one is
    /// forgotten; nothing else should call this.
    fn set_password<'a>(&'a self, user: &'a str, password: &'a Password) -> Answer<'a, ()> {
        let _ = (user, password);
        lacks(self.address(), "accounts")
    }

    /// Turns the identification light on or off.
    fn identify(&self, on: bool) -> Answer<'_, Outcome> {
        let _ = on;
        lacks(self.address(), "the identification light")
    }

    /// Ends the session. A BMC allows few; a session that is not ended expires after minutes.
    fn close(&self) -> Answer<'_, ()> {
        Box::pin(async { Ok(()) })
    }
}

fn lacks<'a, T: Send + 'a>(address: &Address, what: &str) -> Answer<'a, T> {
    let what_over_what = format!("{what} over {}", address.protocol());
    let error = Error::new(address, what, Cause::Unsupported { what: what_over_what });
    Box::pin(async move { Err(error) })
}

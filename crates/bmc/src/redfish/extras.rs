//! The identification light, and sensors.

use serde_json::{Value, json};

use super::Redfish;
use super::resource::{Resource, text};
use crate::contract::Outcome;
use crate::error::{Cause, Result};
use crate::sensors::{Quantity, Reading};

impl Redfish {
    pub(super) async fn change_light(&self, on: bool) -> Result<Outcome> {
        let action =
            if on { "turn the identification light on" } else { "turn the identification light off" };
        let path = self.system().await?;
        let system = self.service.get(path).await?;
        let Some(before) = light(&system) else {
            let what = "the identification light".to_owned();
            return Err(self.failed(action, Cause::Unsupported { what }));
        };
        if before == on {
            return Ok(Outcome::Unchanged);
        }
        let change = match system.at(&["LocationIndicatorActive"]) {
            Some(_) => json!({ "LocationIndicatorActive": on }),
            None => json!({ "IndicatorLED": if on { "Lit" } else { "Off" } }),
        };
        let quirks = self.quirks().await?;
        let sent = self.service.patch(path, &change, quirks.etag).await;
        sent.map_err(|error| error.during(action))?;
        match light(&self.service.get(path).await?) == Some(on) {
            true => Ok(Outcome::Changed),
            false => {
                let name = |on: bool| if on { "on" } else { "off" }.to_owned();
                Err(self.failed(action, Cause::NotVerified { wanted: name(on), found: name(!on) }))
            }
        }
    }

    /// Thermal and Power of the chassis that contain the system.
    pub(super) async fn read_sensors(&self) -> Result<Vec<Reading>> {
        let system = self.service.get(self.system().await?).await?;
        let mut readings = Vec::new();
        for chassis in system.links_at(&["Links", "Chassis"]) {
            let Some(chassis) = self.service.get_optional(&chassis).await? else { continue };
            if let Some(path) = chassis.link("Thermal")
                && let Some(thermal) = self.service.get_optional(path).await?
            {
                readings.extend(list(&thermal, "Temperatures", "ReadingCelsius", Quantity::Celsius));
                readings.extend(list(&thermal, "Fans", "Reading", Quantity::Rpm));
            }
            if let Some(path) = chassis.link("Power")
                && let Some(power) = self.service.get_optional(path).await?
            {
                readings.extend(list(&power, "PowerControl", "PowerConsumedWatts", Quantity::Watts));
                readings.extend(list(&power, "Voltages", "ReadingVolts", Quantity::Volts));
            }
        }
        Ok(readings)
    }
}

fn light(system: &Resource) -> Option<bool> {
    if let Some(active) = system.at(&["LocationIndicatorActive"]).and_then(Value::as_bool) {
        return Some(active);
    }
    system.text("IndicatorLED").map(|led| led != "Off")
}

fn list(resource: &Resource, name: &str, value: &str, quantity: Quantity) -> Vec<Reading> {
    let all = resource.at(&[name]).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let read = |sensor: &Value| {
        let is_percent = sensor.get("ReadingUnits").and_then(text).is_some_and(|unit| unit == "Percent");
        let health = sensor.get("Status").and_then(|status| status.get("Health")).and_then(text);
        Some(Reading {
            name: sensor.get("Name").or_else(|| sensor.get("FanName")).and_then(text)?,
            quantity: if is_percent { Quantity::Percent } else { quantity },
            value: sensor.get(value)?.as_f64()?,
            is_healthy: health.map(|health| health == "OK"),
        })
    };
    all.iter().filter_map(read).collect()
}

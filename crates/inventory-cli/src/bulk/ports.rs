//! Ports by device and name, for the ends of cables in CSV files.

use std::collections::BTreeMap;

use krm::Object;
use serde_json::Value;

use crate::change::name_of;

/// The ports of the server.
pub struct Ports {
    /// Names of Port objects by device and name on it.
    by_label: BTreeMap<(String, String), Vec<String>>,
    /// Device and name on it, by name of the Port object.
    by_name: BTreeMap<String, (String, String)>,
}

impl Ports {
    /// Of these Port objects.
    pub fn of(objects: Vec<Value>) -> Ports {
        let mut ports = Ports { by_label: BTreeMap::new(), by_name: BTreeMap::new() };
        for port in &objects {
            let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
            let at = (text(&port["spec"]["deviceRef"]["name"]), text(&port["spec"]["name"]));
            ports.by_label.entry(at.clone()).or_default().push(name_of(port).to_owned());
            ports.by_name.insert(name_of(port).to_owned(), at);
        }
        ports
    }

    /// The Port object of a device and a port name; without a device, the port itself.
    pub fn find(&self, device: &str, port: &str) -> Result<String, String> {
        if device.is_empty() {
            return Ok(port.to_owned());
        }
        match self.by_label.get(&(device.to_owned(), port.to_owned())).map(Vec::as_slice) {
            Some([one]) => Ok(one.clone()),
            Some(several) => Err(format!(
                "{device} has several ports named {port}; leave the device empty and name one of {}",
                several.join(", ")
            )),
            None => {
                let of_device = self.by_label.keys().filter(|(known, _)| known == device);
                let labels: Vec<&str> = of_device.map(|(_, label)| label.as_str()).collect();
                Err(match labels.is_empty() {
                    true => format!("no device {device} with ports exists"),
                    false => format!("{device} has no port {port}; it has {}", labels.join(", ")),
                })
            }
        }
    }

    /// The cells of the ends of a cable.
    pub fn ends(&self, cable: &Object) -> [String; 4] {
        let ends = cable.at("spec.endpoints").and_then(Value::as_array).into_iter().flatten();
        let ends: Vec<(String, String)> =
            ends.map(|end| self.labelled(end["name"].as_str().unwrap_or(""))).collect();
        let Some((a, z)) = ends.split_first() else { return Default::default() };
        let devices: Vec<&str> = z.iter().map(|(device, _)| device.as_str()).collect();
        let ports: Vec<&str> = z.iter().map(|(_, port)| port.as_str()).collect();
        let same = devices.iter().all(|device| Some(device) == devices.first());
        let device = if same {
            devices.first().map(|it| (*it).to_owned()).unwrap_or_default()
        } else {
            devices.join(";")
        };
        // A port without a device among others with one would shift them.
        match !same && devices.contains(&"") {
            true => {
                let names =
                    cable.at("spec.endpoints").and_then(Value::as_array).into_iter().flatten().skip(1);
                let names: Vec<&str> = names.filter_map(|end| end["name"].as_str()).collect();
                [a.0.clone(), a.1.clone(), String::new(), names.join(";")]
            }
            false => [a.0.clone(), a.1.clone(), device, ports.join(";")],
        }
    }

    /// Device and name of a port, or only its object name where those do not tell it from others.
    fn labelled(&self, name: &str) -> (String, String) {
        let by_name = || (String::new(), name.to_owned());
        let Some((device, label)) = self.by_name.get(name) else { return by_name() };
        let is_alone =
            self.by_label.get(&(device.clone(), label.clone())).is_some_and(|ports| ports.len() == 1);
        match is_alone && !label.contains(';') && label.trim() == label {
            true => (device.clone(), label.clone()),
            false => by_name(),
        }
    }
}

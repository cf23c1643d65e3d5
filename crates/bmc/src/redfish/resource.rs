//! Resources: JSON objects with links. What is missing or of another type counts as absent; BMCs are sloppy.

use serde_json::Value;

/// A resource that was read.
#[derive(Debug, Clone)]
pub struct Resource {
    value: Value,
    etag: Option<String>,
}

impl Resource {
    /// Reads a body; `Err` says what is wrong with it.
    pub fn parse(body: &[u8], etag: Option<String>) -> Result<Resource, String> {
        let value: Value = serde_json::from_slice(body).map_err(|error| format!("not JSON: {error}"))?;
        match value.is_object() {
            true => Ok(Resource { value, etag }),
            false => Err("not a JSON object".to_owned()),
        }
    }

    /// The ETag of the header, or of the body.
    pub fn etag(&self) -> Option<String> {
        self.etag.clone().or_else(|| self.text("@odata.etag"))
    }

    /// A value by its path of names.
    pub fn at(&self, path: &[&str]) -> Option<&Value> {
        path.iter().try_fold(&self.value, |value, name| value.get(name)).filter(|value| !value.is_null())
    }

    /// A text that is not empty.
    pub fn text(&self, name: &str) -> Option<String> {
        text(self.at(&[name])?)
    }

    /// A number that is not negative.
    pub fn number(&self, name: &str) -> Option<u64> {
        number(self.at(&[name])?)
    }

    /// The path of a linked resource.
    pub fn link(&self, name: &str) -> Option<&str> {
        self.link_at(&[name])
    }

    /// The same, deeper.
    pub fn link_at(&self, path: &[&str]) -> Option<&str> {
        self.at(path)?.get("@odata.id")?.as_str().filter(|path| path.starts_with('/'))
    }

    /// Paths in a list of links.
    pub fn links_at(&self, path: &[&str]) -> Vec<String> {
        let links = self.at(path).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        links.iter().filter_map(member).collect()
    }

    /// Paths of a collection's members.
    pub fn members(&self) -> Option<Vec<String>> {
        Some(self.at(&["Members"])?.as_array()?.iter().filter_map(member).collect())
    }

    /// Path of the next page.
    pub fn next_page(&self) -> Option<String> {
        let next = self.at(&["Members@odata.nextLink"]).or_else(|| self.at(&["@odata.nextLink"]))?;
        next.as_str().filter(|path| path.starts_with('/')).map(str::to_owned)
    }

    /// Target of an action, and the values that it allows for a parameter.
    pub fn action(&self, name: &str, parameter: &str) -> Option<(String, Option<Vec<String>>)> {
        let action = self.at(&["Actions", name])?;
        let target = action.get("target")?.as_str()?.to_owned();
        let allowed = action.get(format!("{parameter}@Redfish.AllowableValues")).and_then(Value::as_array);
        Some((target, allowed.map(|values| values.iter().filter_map(text).collect())))
    }

    /// Who made the BMC, by what its service root says.
    pub fn vendor(&self) -> Option<String> {
        self.text("Vendor").or_else(|| {
            let oem = self.at(&["Oem"])?.as_object()?;
            oem.keys().next().cloned()
        })
    }
}

/// A text that is not empty.
pub fn text(value: &Value) -> Option<String> {
    let text = value.as_str()?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// A number that is not negative; some BMCs write numbers as texts, or with a fraction.
pub fn number(value: &Value) -> Option<u64> {
    match value {
        Value::String(text) => text.trim().parse().ok(),
        other => other.as_u64().or_else(|| {
            let float = other.as_f64().filter(|float| (0.0..9e15).contains(float))?;
            // In range: checked above.
            Some(float.round() as u64)
        }),
    }
}

fn member(value: &Value) -> Option<String> {
    let path = value.get("@odata.id")?.as_str()?;
    path.starts_with('/').then(|| path.to_owned())
}

/// The messages of an error's body, or its beginning.
pub fn message(body: &[u8]) -> String {
    let parsed: Option<Value> = serde_json::from_slice(body).ok();
    let error = parsed.as_ref().and_then(|body| body.get("error"));
    let extended = error.and_then(|error| error.get("@Message.ExtendedInfo")).and_then(Value::as_array);
    let messages = extended.map(Vec::as_slice).unwrap_or_default().iter();
    let mut messages: Vec<String> = messages.filter_map(|info| text(info.get("Message")?)).collect();
    if messages.is_empty() {
        messages.extend(error.and_then(|error| text(error.get("message")?)));
    }
    if messages.is_empty() {
        messages.push(match body.is_empty() {
            true => "no message".to_owned(),
            false => String::from_utf8_lossy(body).into_owned(),
        });
    }
    let joined = messages.join("; ");
    // A hostile BMC must not fill a log, nor steer a terminal.
    joined.chars().map(|c| if c.is_control() { ' ' } else { c }).take(300).collect()
}

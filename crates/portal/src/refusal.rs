//! Why a page can't be shown or a change was not made, as the API said it.

use krm::status::Status;
use serde_json::Value;

/// What the API answered instead of what was asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    /// HTTP status.
    pub code: u16,
    /// The message, for people.
    pub message: String,
    /// Fields that are wrong, and why.
    pub causes: Vec<(String, String)>,
}

impl Refusal {
    /// A refusal of the portal itself.
    pub fn new(code: u16, message: impl Into<String>) -> Refusal {
        Refusal { code, message: message.into(), causes: Vec::new() }
    }

    /// There is no such page.
    pub fn no_page() -> Refusal {
        Refusal::new(404, "There is no such page.")
    }

    /// What the body of an answer says.
    pub fn of_answer(code: u16, body: &[u8]) -> Refusal {
        match serde_json::from_slice::<Value>(body) {
            Ok(status) if status["kind"] == "Status" => Refusal::of_status(code, &status),
            _ => Refusal::new(code, String::from_utf8_lossy(body).trim()),
        }
    }

    /// What a `Status` in JSON says.
    pub fn of_status(code: u16, status: &Value) -> Refusal {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let causes = status.pointer("/details/causes").and_then(Value::as_array).into_iter().flatten();
        let causes = causes.map(|cause| (text(&cause["field"]), text(&cause["message"])));
        let code = status["code"].as_u64().and_then(|code| u16::try_from(code).ok()).unwrap_or(code);
        Refusal { code, message: text(&status["message"]), causes: causes.collect() }
    }
}

impl From<Status> for Refusal {
    fn from(status: Status) -> Refusal {
        Refusal::of_status(status.code, &serde_json::to_value(&status).unwrap_or_default())
    }
}

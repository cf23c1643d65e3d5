//! Changes: actions and PATCH.

use http::{HeaderMap, Method};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::Options;
use super::faults::Fault;
use super::model::{Model, System};
use super::serve::{Answer, refusal};
use super::tree::{self, index};

const RESETS: [&str; 5] = ["On", "ForceOff", "GracefulShutdown", "ForceRestart", "PowerCycle"];

/// Carries out a request that changes something.
pub fn change(
    model: &mut Model,
    options: &Options,
    method: &Method,
    path: &[&str],
    headers: &HeaderMap,
    body: &Value,
) -> Answer {
    match (method.as_str(), path) {
        ("DELETE", ["SessionService", "Sessions", id]) => {
            let removed = id.parse().ok().and_then(|id: u64| model.sessions.remove(&id));
            if removed.is_some() { Answer::empty(204) } else { missing(path) }
        }
        ("POST", ["Systems", id, "Actions", "ComputerSystem.Reset"]) => {
            let kind = body.get("ResetType").and_then(Value::as_str).unwrap_or_default().to_owned();
            let lies = model.has(Fault::PowerLies);
            let Some(system) = index(id).and_then(|at| model.systems.get_mut(at)) else {
                return missing(path);
            };
            if !RESETS.contains(&kind.as_str()) {
                return refusal(400, &format!("The value {kind} for ResetType is not allowed."));
            }
            if !lies {
                reset(system, &kind, options);
            }
            system.resets += 1;
            accepted(model, options)
        }
        ("POST", ["Managers", id, "VirtualMedia", "Cd", "Actions", action]) if !options.is_awkward => {
            let Some(system) = index(id).and_then(|at| model.systems.get_mut(at)) else {
                return missing(path);
            };
            system.image = match *action {
                "VirtualMedia.InsertMedia" => body.get("Image").and_then(Value::as_str).map(str::to_owned),
                _ => None,
            };
            accepted(model, options)
        }
        ("PATCH", _) => patch(model, options, path, headers, body),
        _ => refusal(405, "The method is not allowed here."),
    }
}

fn reset(system: &mut System, kind: &str, options: &Options) {
    let at = Instant::now() + options.power_delay;
    match kind {
        "On" if !system.is_on => system.becomes = Some((true, at)),
        "ForceOff" | "GracefulShutdown" if system.is_on => system.becomes = Some((false, at)),
        "ForceRestart" | "PowerCycle" if system.is_on => system.boots(),
        _ => {}
    }
    system.changes += 1;
}

fn patch(model: &mut Model, options: &Options, path: &[&str], headers: &HeaderMap, body: &Value) -> Answer {
    let Some((_, etag)) = tree::read(model, options, path) else { return missing(path) };
    let given = headers.get("if-match").and_then(|value| value.to_str().ok());
    match (given, &etag) {
        (None, _) if options.is_awkward => return refusal(428, "The request needs an If-Match header."),
        (Some(given), Some(etag)) if given != "*" && given != etag => {
            return refusal(412, "The ETag is not that of the resource.");
        }
        _ => {}
    }
    match path {
        ["Systems", id, rest @ ..] => {
            let boot_lies = model.has(Fault::BootLies);
            let Some(system) = index(id).and_then(|at| model.systems.get_mut(at)) else {
                return missing(path);
            };
            match (rest, options.is_awkward) {
                ([], _) if body.get("Boot").is_some() && options.is_awkward => {
                    return refusal(405, "Boot is read-only here; change the Settings resource.");
                }
                ([], false) | (["Settings"], true) if body.get("Boot").is_some() => {
                    if !boot_lies {
                        override_boot(system, body.get("Boot").unwrap_or(&Value::Null));
                    }
                }
                ([], _) => {
                    let on = body.get("LocationIndicatorActive").and_then(Value::as_bool);
                    system.is_identified = on.unwrap_or(system.is_identified);
                }
                (["Bios", "Settings"], false) | (["Bios"], true) => {
                    let attributes =
                        body.get("Attributes").and_then(Value::as_object).cloned().unwrap_or_default();
                    if let Some(unknown) = attributes.keys().find(|name| !system.bios.contains_key(*name)) {
                        return refusal(400, &format!("The attribute {unknown} does not exist."));
                    }
                    system.staged.extend(attributes);
                }
                _ => return refusal(405, "The resource can't be changed."),
            }
            system.changes += 1;
        }
        ["Managers", id, "VirtualMedia", "Cd"] if options.is_awkward => {
            let Some(system) = index(id).and_then(|at| model.systems.get_mut(at)) else {
                return missing(path);
            };
            system.image = body.get("Image").and_then(Value::as_str).map(str::to_owned);
        }
        ["AccountService", "Accounts", id] => return set_password(model, id, body),
        _ => return refusal(405, "The resource can't be changed."),
    }
    accepted(model, options)
}

fn override_boot(system: &mut System, boot: &Value) {
    let text = |name: &str| boot.get(name).and_then(Value::as_str).map(str::to_owned);
    if let Some(enabled) = text("BootSourceOverrideEnabled") {
        system.boot_enabled = enabled;
    }
    if let Some(target) = text("BootSourceOverrideTarget") {
        system.boot_target = target;
    }
    if let Some(mode) = text("BootSourceOverrideMode") {
        system.boot_mode = mode;
    }
    if system.boot_enabled == "Disabled" {
        system.boot_target = "None".to_owned();
    }
}

fn set_password(model: &mut Model, id: &str, body: &Value) -> Answer {
    let Some(password) = body.get("Password").and_then(Value::as_str) else {
        return refusal(400, "The property Password is missing.");
    };
    if model.has(Fault::PasswordRefused) {
        return refusal(400, "The password does not meet the policy.");
    }
    let (lies, unsaid) = (model.has(Fault::PasswordLies), model.has(Fault::PasswordChangedUnsaid));
    let Some(account) = index(id).and_then(|at| model.accounts.get_mut(at)) else { return missing(&[id]) };
    if !lies {
        account.password = password.to_owned();
        account.changes += 1;
        // Sessions end with the password that opened them.
        model.sessions.clear();
    }
    if unsaid { refusal(500, "Internal error.") } else { Answer::empty(204) }
}

/// Done, or a task that is.
fn accepted(model: &mut Model, options: &Options) -> Answer {
    if !options.has_tasks {
        return Answer::empty(204);
    }
    model.tasks.push(Instant::now() + options.power_delay);
    let id = model.tasks.len().to_string();
    let task = tree::task(model, &id).unwrap_or_else(|| json!({}));
    let monitor = format!("/redfish/v1/TaskService/Tasks/{id}");
    Answer::json(202, &task).with("location", &monitor).with("retry-after", "0")
}

fn missing(path: &[&str]) -> Answer {
    refusal(404, &format!("The resource {} does not exist.", path.join("/")))
}

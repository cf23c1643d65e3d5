//! Descriptions of config maps, secrets, namespaces and service accounts.

use serde_json::Value;

use super::Page;
use super::generic::head;

pub(super) fn config_map(page: &mut Page, object: &Value) -> bool {
    head(page, object, true);
    page.line(0, "\nData\n====");
    for (key, value) in object["data"].as_object().into_iter().flatten() {
        page.line(0, &format!("{key}:\n----"));
        page.line(0, value.as_str().unwrap_or(""));
        page.line(0, "");
    }
    page.line(0, "\nBinaryData\n====");
    for (key, value) in object["binaryData"].as_object().into_iter().flatten() {
        page.line(0, &format!("{key}: {} bytes", size(value)));
    }
    page.line(0, "");
    true
}

/// Never what is in it, only how much.
pub(super) fn secret(page: &mut Page, object: &Value) -> bool {
    head(page, object, true);
    let kind = object["type"].as_str().unwrap_or("");
    page.line(0, &format!("\nType:\t{kind}"));
    page.line(0, "\nData\n====");
    for (key, value) in object["data"].as_object().into_iter().flatten() {
        page.line(0, &format!("{key}:\t{} bytes", size(value)));
    }
    false
}

fn size(value: &Value) -> usize {
    value.as_str().and_then(|text| krm::base64::decode(text).ok()).map_or(0, |bytes| bytes.len())
}

pub(super) fn namespace(page: &mut Page, object: &Value) -> bool {
    head(page, object, false);
    let status = &object["status"];
    page.line(0, &format!("Status:\t{}", status["phase"].as_str().unwrap_or("")));
    let conditions = status["conditions"].as_array().into_iter().flatten();
    for (at, condition) in conditions.enumerate() {
        if at == 0 {
            page.line(0, "Conditions:");
            page.line(1, "Type\tStatus\tLastTransitionTime\tReason\tMessage");
            page.line(1, "----\t------\t------------------\t------\t-------");
        }
        let text = |field: &str| condition[field].as_str().unwrap_or("");
        page.line(
            1,
            &format!(
                "{}\t{}\t{}\t{}\t{}",
                text("type"),
                text("status"),
                text("lastTransitionTime"),
                text("reason"),
                text("message")
            ),
        );
    }
    false
}

pub(super) fn service_account(page: &mut Page, object: &Value) -> bool {
    head(page, object, true);
    let secrets = object["imagePullSecrets"].as_array().into_iter().flatten();
    let mut title = "Image pull secrets:";
    for secret in secrets {
        page.line(0, &format!("{title}\t{}", secret["name"].as_str().unwrap_or("")));
        title = "                   ";
    }
    if title.starts_with('I') {
        page.line(0, &format!("{title}\t<none>"));
    }
    true
}

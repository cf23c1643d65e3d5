//! What a cluster would get: which hosts, why these, and how many of what.

use cli::{Ask, Failure, Session, path_segment};
use serde_json::{Value, json};

use crate::API;
use crate::output::{self, Form, text};

/// Hosts of each group that are named.
const MOST: usize = 20;

/// Shows the plan of a cluster that was checked and not created.
pub async fn show(
    cluster: &Value,
    template: &Value,
    form: Form,
    session: &mut Session,
) -> Result<(), Failure> {
    let root = session.client().await?.inner().in_root();
    let mut sets = Vec::new();
    for (name, set) in cluster["spec"]["nodeSets"].as_object().into_iter().flatten() {
        let of_template = &template["nodeSets"][name];
        let class = [text(set, "/hostClass"), text(of_template, "/hostClass")];
        let class = class.into_iter().find(|class| !class.is_empty()).unwrap_or_default().to_owned();
        let size = set["size"].as_i64().unwrap_or_default();
        let mut ask = Ask::get(format!("{API}/hostclasses/{}/considered", path_segment(&class)))
            .query("size", size.to_string());
        for from in [of_template, set] {
            for (key, value) in from["hostSelector"].as_object().into_iter().flatten() {
                ask = ask.query("selector", format!("{key}={}", value.as_str().unwrap_or_default()));
            }
        }
        let spread = [set, of_template].into_iter().find(|from| from["spread"].is_array());
        for over in spread.and_then(|from| from["spread"].as_array()).into_iter().flatten() {
            ask = ask.query("spread", over.as_str().unwrap_or_default());
        }
        let considered = root.value(&ask).await.ok();
        sets.push(json!({"nodeSet": name, "hostClass": class, "size": size, "considered": considered}));
    }
    if matches!(form, Form::Json | Form::Yaml) {
        return output::value(form, &json!({"cluster": cluster, "nodeSets": sets}), session);
    }
    let total: i64 = sets.iter().map(|set| set["size"].as_i64().unwrap_or_default()).sum();
    let name = text(cluster, "/metadata/name");
    output::line(&format!("Cluster {name} would take {total} hosts. Nothing was created."), session)?;
    for set in &sets {
        self::set(set, session)?;
    }
    Ok(())
}

fn set(set: &Value, session: &mut Session) -> Result<(), Failure> {
    let (name, class, size) = (text(set, "/nodeSet"), text(set, "/hostClass"), &set["size"]);
    output::line(&format!("\nNode set {name}: {size} hosts of class {class}"), session)?;
    let considered = &set["considered"];
    if considered.is_null() {
        return output::line("  Which hosts these are, only operators see.", session);
    }
    if let Some(shortage) = considered["shortage"].as_str() {
        output::line(&format!("  Not enough: it {shortage}."), session)?;
    }
    let hosts = considered["hosts"].as_array().cloned().unwrap_or_default();
    let line = |host: &Value| {
        let rack = text(host, "/rack");
        let place = if rack.is_empty() { String::new() } else { format!(" in rack {rack}") };
        let why = match (host["chosen"].as_bool(), host["ruledOutBy"].as_str()) {
            (Some(true), _) => "chosen".to_owned(),
            (_, Some(why)) => why.to_owned(),
            _ => "fits, not needed".to_owned(),
        };
        format!("  {}{place}: {why}", text(host, "/name"))
    };
    let (chosen, others): (Vec<&Value>, Vec<&Value>) = hosts.iter().partition(|host| host["chosen"] == true);
    for host in chosen.iter().take(MOST).chain(others.iter().take(MOST)) {
        output::line(&line(host), session)?;
    }
    let left = chosen.len().saturating_sub(MOST) + others.len().saturating_sub(MOST);
    match left {
        0 => Ok(()),
        left => output::line(&format!("  and {left} more; -o json has all"), session),
    }
}

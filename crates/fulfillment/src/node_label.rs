//! Labels of the Node that a host is: which host, and who holds it. Set with the status of the host, in the same commit.

use std::collections::BTreeMap;

use krm::kind::{Change, Effect, Refusal, View};
use krm::names::label_value;

use crate::inventory::{NODES, at};
use crate::kinds::Host;

/// Label of a Node with the name of its host.
pub const HOST: &str = "fulfillment.groundplane.dev/host";
/// Label of a Node with the holder of its host, as `Kind.name`.
pub const HOLDER: &str = "fulfillment.groundplane.dev/holder";

type Labels = BTreeMap<&'static str, Option<String>>;

/// Labels the Node of a host, and takes the labels from the one that it was before.
pub fn effects(change: &Change<Host>, view: &mut View<'_>) -> Result<Vec<Effect>, Refusal> {
    let told = |host: Option<&Host>| host.and_then(|host| Some((node_of(host)?, labels_of(host))));
    let (before, after) = (told(change.before()), told(change.after()));
    if before == after {
        return Ok(Vec::new());
    }
    let mut effects = Vec::new();
    let node = after.as_ref().map(|(node, _)| node.as_str());
    if let Some((was, labels)) = before.filter(|(was, _)| Some(was.as_str()) != node) {
        let was = at(NODES, &was);
        // Another host may be this node by now.
        let shown = view.reader().get(&was).and_then(|node| node.label(HOST).map(str::to_owned));
        if shown.is_some() && shown.as_ref() == labels.get(HOST).and_then(Option::as_ref) {
            effects.push(Effect::labels(was, Labels::from([(HOST, None), (HOLDER, None)])));
        }
    }
    if let Some((node, labels)) = after {
        let node = at(NODES, &node);
        if view.reader().exists(&node) {
            effects.push(Effect::labels(node, labels));
        }
    }
    Ok(effects)
}

fn node_of(host: &Host) -> Option<String> {
    Some(host.status.as_ref()?.node.as_ref()?.name.clone())
}

fn labels_of(host: &Host) -> Labels {
    let claim = host.status.as_ref().and_then(|status| status.claim.as_ref());
    let holder =
        claim.map(|claim| claim.holder.split(" of project ").next().unwrap_or_default().replace('/', "."));
    Labels::from([(HOST, fitting(Some(host.metadata.name.clone()))), (HOLDER, fitting(holder))])
}

/// A text that is the value of a label; what is too long for one is left out.
fn fitting(text: Option<String>) -> Option<String> {
    text.filter(|text| label_value(text).is_empty())
}

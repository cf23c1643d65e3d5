//! From the parent's data to the child's, action by action.

use super::{
    ProblemKind,
    definition::{Action, Method},
    substitute::Failure,
};
use crate::yaml::{Node, Value};

/// The child's data: the parent's, changed by every action in turn.
pub(super) fn apply(actions: &[Action], parent: &Node, child: &Node) -> Result<Node, Failure> {
    let mut data = parent.clone();
    for action in actions {
        match action.method {
            Method::Merge => merge_at(action, &mut data, child)?,
            Method::Replace => set(action, &mut data, of_child(action, child)?.clone())?,
            Method::Delete => delete(action, &mut data)?,
        }
    }
    Ok(data)
}

fn merge_at(action: &Action, data: &mut Node, child: &Node) -> Result<(), Failure> {
    let over = of_child(action, child)?;
    match action.path.get_mut(data) {
        Some(base) => {
            merge(base, over);
            Ok(())
        }
        None => set(action, data, over.clone()),
    }
}

/// Maps are merged key by key; anything else, lists and null included, takes the place of what was there.
fn merge(base: &mut Node, over: &Node) {
    match (&mut base.value, &over.value) {
        (Value::Map(base), Value::Map(over)) => {
            for (key, entry) in over.entries() {
                match base.get_key_mut(key) {
                    Some(base) => merge(base, &entry.value),
                    None => {
                        base.insert(key.clone(), entry.key_at.clone(), entry.value.clone());
                    }
                }
            }
        }
        _ => *base = over.clone(),
    }
}

fn of_child<'a>(action: &Action, child: &'a Node) -> Result<&'a Node, Failure> {
    action.path.get(child).ok_or_else(|| {
        let method = if action.method == Method::Merge { "merge" } else { "replace" };
        missing(action, format!("has nothing to {method} at {}", action.path))
    })
}

fn set(action: &Action, data: &mut Node, value: Node) -> Result<(), Failure> {
    action
        .path
        .set(data, value)
        .map_err(|reason| missing(action, format!("does not fit its parent: {reason}")))
}

fn delete(action: &Action, data: &mut Node) -> Result<(), Failure> {
    if action.path.remove(data) {
        return Ok(());
    }
    Err(missing(action, format!("deletes {}, which its parent does not have", action.path)))
}

fn missing(action: &Action, message: String) -> Failure {
    Failure { kind: ProblemKind::MissingInAction, at: action.at.clone(), message }
}

//! Operations: external actions that were begun, and what came of them.
//!
//! An external action (a call to a BMC, a request to a cloud) is recorded in the commit of the plan that wants it, before it
//! is begun. After a restart the record tells that it may have been begun; whoever executes it looks the outcome up under the
//! same id. The outcome is recorded too, so that the next plan can act on it. The record goes in the commit of the first plan
//! that no longer wants the action.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// An action that was begun.
#[derive(Debug, Clone, PartialEq)]
pub struct Operation {
    /// Identifies it towards the outside.
    pub id: String,
    /// Where it goes on, as its last attempt said.
    pub handle: Option<Value>,
    /// What came of it, once it is done.
    pub result: Option<Value>,
}

/// The operations of one object, by the name of the action.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Operations(BTreeMap<String, Operation>);

impl Operations {
    /// Reads them from a record.
    pub fn read(record: &Value) -> Operations {
        let all = record.as_object().into_iter().flatten();
        let given = |value: &Value, field: &str| value.get(field).filter(|it| !it.is_null()).cloned();
        let read = |(name, value): (&String, &Value)| {
            let id = value.get("id")?.as_str()?.to_owned();
            let operation = Operation { id, handle: given(value, "handle"), result: given(value, "result") };
            Some((name.clone(), operation))
        };
        Operations(all.filter_map(read).collect())
    }

    /// The record of them.
    pub fn record(&self) -> Value {
        let one = |operation: &Operation| json!({ "id": operation.id, "handle": operation.handle, "result": operation.result });
        self.0
            .iter()
            .map(|(name, operation)| (name.clone(), one(operation)))
            .collect::<serde_json::Map<_, _>>()
            .into()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The operation of an action.
    pub fn get(&self, action: &str) -> Option<&Operation> {
        self.0.get(action)
    }

    /// Keeps those of actions that are still wanted, and begins those that are not there yet.
    pub fn want<'a>(&mut self, actions: impl Iterator<Item = &'a str>, mut new_id: impl FnMut() -> String) {
        let wanted: Vec<&str> = actions.collect();
        self.0.retain(|name, _| wanted.contains(&name.as_str()));
        for name in wanted {
            let begin = || Operation { id: new_id(), handle: None, result: None };
            self.0.entry(name.to_owned()).or_insert_with(begin);
        }
    }

    /// An action goes on elsewhere.
    pub fn pending(&mut self, action: &str, handle: Value) {
        if let Some(operation) = self.0.get_mut(action) {
            operation.handle = Some(handle);
        }
    }

    /// An action is done.
    pub fn done(&mut self, action: &str, result: Value) {
        if let Some(operation) = self.0.get_mut(action) {
            operation.result = Some(if result.is_null() { Value::Bool(true) } else { result });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_reads_back_and_keeps_ids_until_the_action_is_no_longer_wanted() {
        let mut number = 0;
        let mut new_id = || {
            number += 1;
            number.to_string()
        };
        let mut operations = Operations::default();
        operations.want(["power-on", "set-boot"].into_iter(), &mut new_id);
        operations.pending("power-on", json!({"job": 7}));
        operations.done("set-boot", Value::Null);
        let mut read = Operations::read(&operations.record());
        assert_eq!(read, operations);
        read.want(["power-on"].into_iter(), &mut new_id);
        assert_eq!(read.get("power-on").unwrap().id, operations.get("power-on").unwrap().id);
        assert_eq!(read.get("power-on").unwrap().handle, Some(json!({"job": 7})));
        assert_eq!(read.get("set-boot"), None);
        read.want(["power-on", "set-boot"].into_iter(), &mut new_id);
        assert_eq!(read.get("set-boot").unwrap().id, "3", "wanted again: another operation");
    }
}

//! Sealed fields: values that clients send inline, and that are kept in a Secret instead of the object.

use serde_json::{Map, Value, json};

/// The namespace of the Secrets that hold sealed values, in the plane of the object.
pub const SEALED_NAMESPACE: &str = "groundplane-sealed";
/// The subresource that gives sealed values back.
pub const CREDENTIALS: &str = "credentials";
/// Where kubectl keeps what it applied, values and all.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// A field whose value is write-only. When it is sent, the server moves it into a Secret in the same transaction, and sets the
/// field of the same name with `Ref` at its end to `{name, key, generation}`. A value that is sent again unchanged changes
/// nothing. An empty one removes it, as does removing the reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sealed {
    /// Path of the value: `spec.bmc.password`.
    pub path: &'static str,
    /// Longest value, in bytes.
    pub most: usize,
    /// Paths of the fields that say where the value is sent, such as the address of a server.
    pub sent_to: &'static [&'static str],
}

impl Sealed {
    /// A sealed field.
    pub const fn at(path: &'static str, most: usize) -> Sealed {
        Sealed { path, most, sent_to: &[] }
    }

    /// The same, whose value is sent to where these fields say. Whoever could change them alone would be sent it: so that takes
    /// the permission to get `credentials`, or the value in the same write.
    pub const fn sent_to(self, fields: &'static [&'static str]) -> Sealed {
        Sealed { sent_to: fields, ..self }
    }

    /// The first field that says where the value is sent, and that differs between two objects.
    pub fn moved(&self, old: &Map<String, Value>, new: &Map<String, Value>) -> Option<&'static str> {
        // What is empty, false or absent says the same.
        self.sent_to.iter().copied().find(|path| {
            let said = |object| lookup(object, path).filter(|value| !is_nothing(value));
            said(old) != said(new)
        })
    }

    /// Path of the reference that the object keeps: `spec.bmc.passwordRef`.
    pub fn reference(&self) -> String {
        format!("{}Ref", self.path)
    }

    /// Key of the value in the Secret: the last step of the path.
    pub fn key(&self) -> &'static str {
        self.path.rsplit('.').next().unwrap_or(self.path)
    }

    /// Whether the value is part of the status.
    pub fn is_status(&self) -> bool {
        self.path.starts_with("status.")
    }

    /// Takes the value out of an object, and out of the copy of it that client-side apply keeps in an annotation. What is not
    /// a text stays, and is refused for its type.
    pub fn take(&self, object: &mut Map<String, Value>) -> Option<String> {
        if let Some(Value::String(applied)) = last_applied(object) {
            let copy = serde_json::from_str::<Map<String, Value>>(applied);
            *applied = match copy {
                Ok(mut copy) => {
                    remove(&mut copy, self.path);
                    Value::Object(copy).to_string()
                }
                // Nothing can be said about what is in it.
                Err(_) => String::new(),
            };
        }
        match lookup(object, self.path)? {
            Value::String(_) => match remove(object, self.path) {
                Some(Value::String(value)) => Some(value),
                _ => None,
            },
            Value::Null => {
                remove(object, self.path);
                None
            }
            _ => None,
        }
    }

    /// The reference that an object has.
    pub fn reference_in<'a>(&self, object: &'a Map<String, Value>) -> Option<&'a Value> {
        lookup(object, &self.reference()).filter(|reference| reference.is_object())
    }

    /// Sets the reference of an object, or removes it.
    pub fn refer(&self, object: &mut Map<String, Value>, reference: Option<Value>) {
        match reference {
            None => drop(remove(object, &self.reference())),
            Some(reference) => insert(object, &self.reference(), reference),
        }
    }

    /// Puts a text where the value was.
    pub fn put_back(&self, object: &mut Map<String, Value>, text: &str) {
        insert(object, self.path, text.into());
    }

    /// A reference to the value in a Secret.
    pub fn to(&self, secret: &str, generation: i64) -> Value {
        json!({ "name": secret, "key": self.key(), "generation": generation })
    }
}

/// The name of the Secret that holds the sealed values of an object.
pub fn secret_of(singular: &str, name: &str) -> String {
    format!("{singular}.{name}")
}

fn is_nothing(value: &Value) -> bool {
    matches!(value, Value::Null | Value::Bool(false)) || value.as_str().is_some_and(str::is_empty)
}

fn last_applied(object: &mut Map<String, Value>) -> Option<&mut Value> {
    object.get_mut("metadata")?.get_mut("annotations")?.get_mut(LAST_APPLIED)
}

fn lookup<'a>(object: &'a Map<String, Value>, path: &str) -> Option<&'a Value> {
    let mut steps = path.split('.');
    let first = object.get(steps.next()?)?;
    steps.try_fold(first, |value, step| value.get(step))
}

fn remove(object: &mut Map<String, Value>, path: &str) -> Option<Value> {
    match path.split_once('.') {
        None => object.remove(path),
        Some((step, rest)) => remove(object.get_mut(step)?.as_object_mut()?, rest),
    }
}

fn insert(object: &mut Map<String, Value>, path: &str, value: Value) {
    match path.split_once('.') {
        None => drop(object.insert(path.to_owned(), value)),
        Some((step, rest)) => {
            let inner = object.entry(step).or_insert_with(|| json!({}));
            if let Some(inner) = inner.as_object_mut() {
                insert(inner, rest, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSWORD: Sealed = Sealed::at("spec.bmc.password", 64);

    #[test]
    fn a_value_is_taken_out_of_the_object_and_of_what_kubectl_keeps_of_it() {
        let applied = json!({"spec": {"bmc": {"url": "u", "password": "marker"}}}).to_string();
        let mut object = json!({
            "metadata": {"annotations": {LAST_APPLIED: applied}},
            "spec": {"bmc": {"url": "u", "password": "marker"}},
        });
        let map = object.as_object_mut().unwrap();
        assert_eq!(PASSWORD.take(map).as_deref(), Some("marker"));
        PASSWORD.refer(map, Some(PASSWORD.to("host.a", 1)));
        assert!(!object.to_string().contains("marker"), "{object}");
        assert_eq!(
            object["spec"]["bmc"]["passwordRef"],
            json!({"name": "host.a", "key": "password", "generation": 1})
        );
        assert_eq!(object["spec"]["bmc"]["url"], "u");
    }

    #[test]
    fn what_is_no_text_is_left_to_be_refused() {
        for value in [json!(5), json!({"a": "b"}), json!(["x"])] {
            let mut object = json!({"spec": {"bmc": {"password": value}}});
            assert_eq!(PASSWORD.take(object.as_object_mut().unwrap()), None);
            assert_eq!(object["spec"]["bmc"]["password"], value);
        }
        for mut object in [json!({}), json!({"spec": 1}), json!({"spec": {"bmc": null}})] {
            assert_eq!(PASSWORD.take(object.as_object_mut().unwrap()), None);
        }
    }
}

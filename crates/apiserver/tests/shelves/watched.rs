//! Watchers that write down what they are told, and the state of the store at every moment, replayed from it.

use std::collections::BTreeMap;

use serde_json::Value;
use testbed::server::Client;
use tokio::task::JoinHandle;

/// One change as a watch told it.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    /// The version at which it happened.
    pub version: u64,
    /// Whether the object is gone.
    pub is_gone: bool,
    /// The object, or what it was last.
    pub object: Value,
}

/// Follows a collection on a task of its own, from what is there now, until an object named `end` is told of.
pub async fn follow(client: Client, collection: &str) -> JoinHandle<Vec<Told>> {
    let path = format!("{collection}?watch=true&timeoutSeconds=300");
    let mut lines = client.watch(&path).await.unwrap();
    assert_eq!(lines.code, 200);
    tokio::spawn(async move {
        let mut told = Vec::new();
        loop {
            let mut line = lines.next().await.expect("the watch goes on until the end is told");
            assert_ne!(line["type"], "ERROR", "{line}");
            let object = line["object"].take();
            let is_end = object["metadata"]["name"] == "end";
            told.push(Told { version: version_of(&object), is_gone: line["type"] == "DELETED", object });
            if is_end {
                return told;
            }
        }
    })
}

/// The version of an object.
pub fn version_of(object: &Value) -> u64 {
    object["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap()
}

/// The name of an object.
pub fn name_of(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap()
}

/// Objects by kind and name.
#[derive(Default)]
pub struct State(BTreeMap<(String, String), Value>);

impl State {
    /// Plays what was told, in the order of versions, and looks at the state after every change.
    pub fn replay(told: &[Told], mut look: impl FnMut(&State, &Told)) -> State {
        let mut in_order: Vec<&Told> = told.iter().collect();
        in_order.sort_by_key(|told| told.version);
        let mut state = State::default();
        for told in in_order {
            let key = (told.object["kind"].as_str().unwrap().to_owned(), name_of(&told.object).to_owned());
            match told.is_gone {
                true => assert!(state.0.remove(&key).is_some(), "{key:?} went before it came"),
                false => drop(state.0.insert(key, told.object.clone())),
            }
            look(&state, told);
        }
        state
    }

    /// The objects of a kind, by name.
    pub fn of(&self, kind: &str) -> impl Iterator<Item = &Value> {
        self.0.iter().filter(move |((of, _), _)| of == kind).map(|(_, object)| object)
    }

    /// An object.
    pub fn get(&self, kind: &str, name: &str) -> Option<&Value> {
        self.0.get(&(kind.to_owned(), name.to_owned()))
    }
}

/// Where a book begins and ends.
pub fn place_of(book: &Value) -> (u64, u64) {
    let at = book["spec"]["at"].as_u64().unwrap();
    (at, at + book["spec"]["thickness"].as_u64().unwrap())
}

/// The name of the shelf a book stands on.
pub fn shelf_of(book: &Value) -> &str {
    book["spec"]["shelfRef"]["name"].as_str().unwrap()
}

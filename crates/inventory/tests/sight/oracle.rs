//! Questions, and their answers computed in memory from a part of a fleet.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use inventory::memory::Memory;
use krm::Object;
use krm::kind::{Address, Answered, Bucket, Form, Kind, QueryContext, Questioned};
use krm::status::Status;

use crate::dice::Dice;
use crate::{At, ROOT};

/// A question about an object, or about all of a kind.
#[derive(Debug, Clone)]
pub struct Question {
    plural: &'static str,
    name: String,
    question: &'static str,
    options: Vec<(&'static str, String)>,
}

impl Question {
    fn new(
        plural: &'static str,
        name: &str,
        question: &'static str,
        options: &[(&'static str, &str)],
    ) -> Question {
        let options = options.iter().map(|(option, value)| (*option, (*value).to_owned())).collect();
        Question { plural, name: name.to_owned(), question, options }
    }

    /// Where it is asked.
    pub fn path(&self, output: &str) -> String {
        let options: String =
            self.options.iter().map(|(option, value)| format!("&{option}={value}")).collect();
        format!("{ROOT}/{}/{}/{}?output={output}{options}", self.plural, self.name, self.question)
    }

    /// The object that it is about.
    pub fn address(&self) -> Option<At> {
        (self.name != "-").then(|| (self.plural.to_owned(), self.name.clone()))
    }
}

/// Questions about a fleet, of every kind of question.
pub fn questions(all: &BTreeMap<At, Object>, dice: &mut Dice) -> Vec<Question> {
    let mut any = |plural: &str| -> String {
        let names: Vec<&String> = all.keys().filter(|at| at.0 == plural).map(|at| &at.1).collect();
        names[dice.below(u32::try_from(names.len()).unwrap()) as usize].clone()
    };
    let (region, site) = (any("regions"), any("sites"));
    let mut questions = vec![
        Question::new("regions", "-", "tree", &[]),
        Question::new("regions", &region, "tree", &[]),
        Question::new("regions", "-", "summary", &[]),
        Question::new("racks", "-", "elevation", &[("site", &site)]),
        Question::new("racks", "-", "elevation", &[("row", "A")]),
        Question::new("racks", &any("racks"), "elevation", &[]),
        Question::new("racks", "-", "find-space", &[("units", "2"), ("watts", "200"), ("ports", "1")]),
        Question::new("racks", "-", "find-space", &[("units", "3"), ("site", &site), ("spread", "row")]),
        Question::new("racks", "-", "find-space", &[("region", &region), ("count", "3")]),
        Question::new("racks", "-", "find-space", &[("row", "A"), ("units", "40")]),
        Question::new("racks", &any("racks"), "impact", &[("feed", "A")]),
        Question::new("sites", &site, "impact", &[]),
        Question::new("providers", &any("providers"), "impact", &[]),
    ];
    for _ in 0..4 {
        questions.push(Question::new("ports", &any("ports"), "trace", &[]));
    }
    for plural in ["cables", "ports", "nodes", "networkdevices", "racks", "circuits"] {
        for _ in 0..2 {
            questions.push(Question::new(plural, &any(plural), "impact", &[]));
        }
    }
    questions
}

/// A part of a fleet in memory.
pub struct Oracle {
    memory: Memory,
    is_incomplete: Cell<bool>,
    kinds: Vec<Kind>,
}

impl Oracle {
    /// The objects that are seen.
    pub fn of(all: &BTreeMap<At, Object>, is_seen: impl Fn(&At) -> bool) -> Oracle {
        let seen = all.iter().filter(|(at, _)| is_seen(at)).map(|(_, object)| object.clone());
        let memory = Memory::of(seen.collect());
        Oracle { memory, is_incomplete: Cell::new(false), kinds: inventory::kinds::all() }
    }

    /// Says whether something is missing that the next answers depend on.
    pub fn lacks(&self, something: bool) {
        self.is_incomplete.set(something);
    }

    /// The answer to a question.
    pub fn answer(&self, question: &Question, form: Form) -> Result<Answered, Status> {
        let kind = self.kinds.iter().find(|kind| kind.names.plural == question.plural).unwrap();
        let declared = kind.questions.iter().find(|declared| declared.name == question.question).unwrap();
        let options = question.options.iter().map(|(option, value)| ((*option).to_owned(), value.clone()));
        let options: Vec<(String, String)> = options.collect();
        let asked = Questioned { name: &question.name, namespace: "", body: &[], options: &options, form };
        let mut answered = (declared.answer)(&asked, self)?;
        if let Answered::Json(value) = &mut answered {
            value["apiVersion"] = "groundplane.dev/v1alpha1".into();
            value["kind"] = declared.answer_kind.into();
            // Numbers as a client reads them.
            *value = serde_json::from_slice(&krm::encode::to_json(value)).unwrap();
        }
        Ok(answered)
    }
}

impl QueryContext for Oracle {
    fn get(&self, at: &Address) -> Option<Arc<Object>> {
        self.memory.get(at)
    }

    fn bucket(&self, bucket: Bucket, value: &str) -> Vec<Arc<Object>> {
        self.memory.bucket(bucket, value)
    }

    fn having(&self, group: &str, plural: &str, field: &str, value: &str) -> Vec<Arc<Object>> {
        self.memory.having(group, plural, field, value)
    }

    fn referrers(&self, to: &Address) -> Vec<Arc<Object>> {
        self.memory.referrers(to)
    }

    fn all(&self, group: &str, plural: &str) -> Vec<Arc<Object>> {
        self.memory.all(group, plural)
    }

    fn count(&self, group: &str, plural: &str) -> usize {
        self.memory.count(group, plural)
    }

    fn names(&self, group: &str, plural: &str) -> Vec<String> {
        self.memory.names(group, plural)
    }

    fn version(&self, at: &Address) -> Option<u64> {
        self.memory.version(at)
    }

    fn bucket_version(&self, bucket: Bucket, value: &str) -> u64 {
        self.memory.bucket_version(bucket, value)
    }

    fn places(&self, bucket: Bucket, value: &str) -> Vec<Address> {
        self.memory.places(bucket, value)
    }

    fn is_incomplete(&self) -> bool {
        self.is_incomplete.get()
    }
}

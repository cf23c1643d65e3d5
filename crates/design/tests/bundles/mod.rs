//! Bundles on disk, and how what they compile to is compared (`tests/cases/corner/README.md` has the rules).

mod compare;

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
};

use design::{
    compile::{Compiled, Lshw, LshwInputs, compile},
    document::parse,
};
use serde_json::Value;

/// A folder of bundles and their truths.
pub struct Folder {
    inputs: PathBuf,
    /// Looked for in order.
    truths: Vec<(PathBuf, &'static str)>,
    /// Whether the truths are recordings of the original alone, in which no partition is `bootable`.
    is_recorded: bool,
}

/// A difference that is known, and why it is right.
pub struct Difference {
    bundle: &'static str,
    kind: Kind,
    reason: &'static str,
}

enum Kind {
    /// We refuse the design; the original did not.
    Refused,
    /// We say more than the original, which crashed while it validated.
    Messages,
    /// A defect of the original left its mark at a place; these fields (JSON) belong there.
    Corrected { at: &'static str, fields: &'static str },
}

impl Difference {
    pub const fn refused(bundle: &'static str, reason: &'static str) -> Self {
        Self { bundle, kind: Kind::Refused, reason }
    }

    pub const fn in_messages(bundle: &'static str, reason: &'static str) -> Self {
        Self { bundle, kind: Kind::Messages, reason }
    }

    pub const fn corrected(
        bundle: &'static str,
        at: &'static str,
        fields: &'static str,
        reason: &'static str,
    ) -> Self {
        Self { bundle, kind: Kind::Corrected { at, fields }, reason }
    }

    fn judge(&self, truth: &mut Value, printed: &Value) -> Result<(), String> {
        match self.kind {
            Kind::Refused if printed.get("error").is_some() => Ok(()),
            Kind::Refused => Err("it is not refused".to_owned()),
            Kind::Messages => {
                compare::models(truth, printed)?;
                compare::begins_with_messages_of(truth, printed)
            }
            Kind::Corrected { at, fields } => {
                let place =
                    truth.pointer_mut(at).and_then(Value::as_object_mut).ok_or("nothing to correct")?;
                place.extend(serde_json::from_str::<serde_json::Map<String, Value>>(fields).unwrap());
                compare::whole(truth, printed)
            }
        }
    }
}

impl Folder {
    /// Our own corner cases, kept in the repository.
    pub fn corner() -> Self {
        let inputs = workspace().join("tests/cases/corner");
        let truths = vec![(inputs.join("intended"), ".json"), (inputs.join("expected"), ".json")];
        Self { inputs, truths, is_recorded: false }
    }

    /// Other people's bundles: not copied, and not always here.
    pub fn shared(name: &str) -> Option<Self> {
        let inputs = require::cases(name)?;
        let truths = vec![(inputs.join("intended"), ".json"), (inputs.join("expected"), ".json")];
        Some(Self { inputs, truths, is_recorded: true })
    }

    pub fn treasuremap() -> Option<Self> {
        let inputs = require::cases("treasuremap/rendered")?;
        Some(Self { truths: vec![(inputs.clone(), ".compiled.json")], inputs, is_recorded: true })
    }

    /// Every bundle by name, as bytes.
    #[allow(dead_code, reason = "not all tests look at the bundles themselves")]
    pub fn inputs(&self) -> Vec<(String, Vec<u8>)> {
        let read = |name: String| {
            let bytes = fs::read(self.inputs.join(format!("{name}.yaml"))).unwrap();
            (name, bytes)
        };
        names(&self.inputs).into_iter().map(read).collect()
    }

    fn truth_of(&self, name: &str) -> Option<Value> {
        let mut files = self.truths.iter().map(|(folder, suffix)| folder.join(format!("{name}{suffix}")));
        let file = files.find(|file| file.exists())?;
        Some(serde_json::from_slice(&fs::read(file).unwrap()).unwrap())
    }

    /// Compares every bundle that has a truth, prints the table, and fails for what is neither equal nor known.
    pub fn compare(&self, known: &[Difference], is_validated: impl Fn(&Bundle) -> bool) {
        let mut table = BTreeMap::new();
        for name in names(&self.inputs) {
            if self.truth_of(&name).is_none() {
                continue;
            }
            let bundle = Bundle::of(self, &name);
            let known = known.iter().find(|known| known.bundle == name);
            let verdict = bundle.judge(is_validated(&bundle), known);
            table.insert(name, (verdict, known.map(|known| known.reason)));
        }
        assert!(!table.is_empty(), "no bundle under {}", self.inputs.display());
        let wrong = table.values().filter(|(verdict, _)| verdict.is_err()).count();
        for (name, (verdict, reason)) in &table {
            match (verdict, reason) {
                (Ok(()), None) => eprintln!("matches   {name}"),
                (Ok(()), Some(reason)) => eprintln!("differs   {name}: {reason}"),
                (Err(difference), _) => eprintln!("WRONG     {name}: {difference}"),
            }
        }
        eprintln!("{} bundles, {wrong} wrong", table.len());
        assert_eq!(wrong, 0, "bundles that do not match are marked WRONG above");
    }
}

/// One bundle of documents.
pub struct Bundle<'f> {
    pub name: String,
    folder: &'f Folder,
    truth: String,
    lshw: Option<Lshw>,
}

impl<'f> Bundle<'f> {
    pub fn of(folder: &'f Folder, name: &str) -> Self {
        Self { name: name.to_owned(), folder, truth: name.to_owned(), lshw: None }
    }

    /// Every node looks the same to lshw.
    pub fn with_lshw(mut self, file: &str) -> Self {
        let xml = fs::read_to_string(self.folder.inputs.join(file)).unwrap();
        self.lshw = Some(Lshw::parse(&xml).unwrap());
        self
    }

    pub fn expecting(mut self, truth: &str) -> Self {
        self.truth = truth.to_owned();
        self
    }

    pub fn compile(&self, is_validated: bool) -> Compiled {
        let file = format!("{}.yaml", self.name);
        let bytes = fs::read(self.folder.inputs.join(&file)).unwrap();
        let documents = parse(&file, &bytes).unwrap().documents;
        let lshw: LshwInputs = match &self.lshw {
            Some(seen) => documents.iter().map(|node| (node.name().to_owned(), seen.clone())).collect(),
            None => LshwInputs::new(),
        };
        let compiled = compile(&documents, &lshw);
        if is_validated { compiled.validated() } else { compiled }
    }

    fn print(&self, is_validated: bool) -> Value {
        let mut printed = self.compile(is_validated).to_drydock_json();
        if self.folder.is_recorded {
            compare::without_bootable(&mut printed);
        }
        printed
    }

    /// Whether it prints its truth, or differs from it as is known.
    pub fn judge(&self, is_validated: bool, known: Option<&Difference>) -> Result<(), String> {
        let mut truth = self.folder.truth_of(&self.truth).ok_or("it has no truth")?;
        let printed = self.print(is_validated);
        match known {
            Some(known) => known.judge(&mut truth, &printed),
            None => compare::whole(&truth, &printed),
        }
    }
}

fn names(folder: &Path) -> Vec<String> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let inputs = files.filter(|file| file.extension().is_some_and(|extension| extension == "yaml"));
    inputs.map(|file| file.file_stem().unwrap().to_string_lossy().into_owned()).collect()
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

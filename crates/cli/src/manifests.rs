//! Objects from files, directories and stdin, each with the lines it was written on.

mod documents;
mod files;
mod kustomize;
mod source;

use std::rc::Rc;

use serde_json::Value;

use crate::console::Console;
use crate::failure::{Failure, Refusal};

pub use source::Source;

/// Which files.
#[derive(clap::Args, Debug, Clone, Default)]
pub struct FileFlags {
    /// File or directory with manifests, or - for stdin. Can be repeated.
    #[arg(long = "filename", short = 'f', value_name = "PATH")]
    pub filenames: Vec<String>,

    /// Directory with a kustomization.yaml, rendered by kustomize or kubectl.
    #[arg(long, short = 'k', value_name = "DIR", conflicts_with_all = ["filenames", "recursive"])]
    pub kustomize: Option<String>,

    /// Read the directories below a directory, too.
    #[arg(long, short = 'R')]
    pub recursive: bool,
}

/// An object, and where it was written.
#[derive(Debug, Clone)]
pub struct Manifest {
    /// The object.
    pub object: Value,
    pub(crate) source: Rc<Source>,
    /// What leads from the document to the object: empty, or `items[3]` in a list.
    pub(crate) within: String,
}

impl FileFlags {
    /// One file, or - for stdin.
    pub fn of(file: &str) -> FileFlags {
        FileFlags { filenames: vec![file.to_owned()], ..FileFlags::default() }
    }

    /// Whether any file is named.
    pub fn is_empty(&self) -> bool {
        self.filenames.is_empty() && self.kustomize.is_none()
    }

    /// The flags as somebody would type them.
    pub fn typed(&self) -> String {
        let names = self.filenames.iter().map(|name| format!("-f {name}"));
        let kustomize = self.kustomize.iter().map(|name| format!("-k {name}"));
        names.chain(kustomize).chain(self.recursive.then(|| "-R".to_owned())).collect::<Vec<_>>().join(" ")
    }

    /// Reads all objects, in the order in which they stand.
    pub fn read(&self, console: &mut Console) -> Result<Vec<Manifest>, Failure> {
        let mut manifests = Vec::new();
        for (name, text) in files::read(self, console)? {
            for (document, source) in documents::read(&name, &text)? {
                collect(document, &Rc::new(source), String::new(), &mut manifests)?;
            }
        }
        Ok(manifests)
    }
}

/// Objects in a document: itself, or those of a list.
fn collect(
    document: Value,
    source: &Rc<Source>,
    within: String,
    into: &mut Vec<Manifest>,
) -> Result<(), Failure> {
    let text = |field: &str| document[field].as_str().filter(|text| !text.is_empty());
    let missing: Vec<&str> =
        ["apiVersion", "kind"].into_iter().filter(|field| text(field).is_none()).collect();
    if !missing.is_empty() {
        let missing: Vec<String> = missing.iter().map(|field| format!("{field} not set")).collect();
        let missing = if missing.len() == 1 { missing.concat() } else { format!("[{}]", missing.join(", ")) };
        let failure =
            Failure::other(format!("error validating \"{}\": error validating data: {missing}", source.name));
        return Err(source.shown_at(failure, &within));
    }
    let is_list = text("kind").is_some_and(|kind| kind.ends_with("List")) && document["items"].is_array();
    if !is_list {
        into.push(Manifest { object: document, source: source.clone(), within });
        return Ok(());
    }
    let Value::Object(mut list) = document else { return Ok(()) };
    let Some(Value::Array(items)) = list.remove("items") else { return Ok(()) };
    for (at, item) in items.into_iter().enumerate() {
        let within = if within.is_empty() { format!("items[{at}]") } else { format!("{within}.items[{at}]") };
        collect(item, source, within, into)?;
    }
    Ok(())
}

impl Manifest {
    /// The object's name in messages: `kettle.example.com/whistler`.
    pub fn name(&self) -> String {
        crate::names::of_object(&self.object)
    }

    /// The file it stands in.
    pub fn source_name(&self) -> &str {
        &self.source.name
    }

    /// The file, and the line its document begins on.
    pub fn place(&self) -> String {
        format!("{} line {}", self.source.name, self.source.lines_before + 1)
    }

    /// A failure about the object, with the line of each field that it names.
    pub fn shown(&self, failure: Failure) -> Failure {
        match failure.refusal().cloned() {
            Some(refusal) => self.located(failure, &refusal),
            None => failure,
        }
    }

    /// The same for a refusal that is told in other words.
    pub fn located(&self, mut failure: Failure, refusal: &Refusal) -> Failure {
        let fields: Vec<String> = source::fields_of(refusal);
        let mut shown = Vec::new();
        for field in fields {
            let path = match self.within.is_empty() {
                true => field,
                false => format!("{}.{field}", self.within),
            };
            if let Some(place) = self.source.place(&path)
                && !shown.contains(&place)
            {
                shown.push(place);
                failure = failure.note(self.source.excerpt(place));
            }
        }
        failure
    }
}

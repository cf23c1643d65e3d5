//! Writes the documents of a design into three directories, one per file.

use std::{fs, path::Path};

use design::{
    compile::{LshwInputs, compile},
    document::{Document, native},
};

use crate::outcome::{Ended, Streams, Trouble};

pub(super) fn write_all(
    documents: Vec<Document>,
    to: &Path,
    force: bool,
    streams: &mut Streams<'_>,
) -> Result<Ended, Trouble> {
    let (ours, others): (Vec<Document>, Vec<Document>) =
        documents.into_iter().partition(native::is_of_a_design);
    if ours.is_empty() {
        return Err(Trouble::Asked("the sources contain no design documents".to_owned()));
    }
    if !force && fs::read_dir(to).is_ok_and(|mut entries| entries.next().is_some()) {
        let folder = to.display();
        return Err(Trouble::Asked(format!("{folder} is not empty; use another directory, or pass --force")));
    }
    let mut secrets = 0;
    for document in &ours {
        let (place, text) = native::file_of(document);
        secrets += usize::from(native::holds_secrets(document));
        write(&to.join(place), &text)?;
    }
    writeln!(streams.out, "{} documents written to {}", ours.len(), to.display())?;
    if !others.is_empty() {
        streams.note(format_args!("{} documents of other kinds were not written", others.len()));
    }
    if secrets > 0 {
        streams.note(format_args!(
            "warning: {secrets} of the documents hold secrets in plain text; restrict access to the directory"
        ));
    }
    let compiled = compile(&ours, &LshwInputs::new());
    if compiled.site().is_none() {
        streams.note("warning: the design does not compile; see `groundplane design validate`");
    }
    Ok(Ended::Well)
}

fn write(path: &Path, text: &str) -> Result<(), Trouble> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|source| Trouble::file("create", folder, source))?;
    }
    fs::write(path, text).map_err(|source| Trouble::file("write", path, source))
}

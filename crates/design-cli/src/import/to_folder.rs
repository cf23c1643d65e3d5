//! Writes the documents of a design into three directories, one per file.

use std::{fs, io::Write as _, path::Path};

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
        let holds_secrets = native::holds_secrets(document);
        secrets += usize::from(holds_secrets);
        write(&to.join(place), &text, holds_secrets)?;
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

/// A file with secrets is for its owner only.
fn write(path: &Path, text: &str, holds_secrets: bool) -> Result<(), Trouble> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|source| Trouble::file("create", folder, source))?;
    }
    let refuse = |source| Trouble::file("write", path, source);
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    if holds_secrets {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    let mut file = options.open(path).map_err(refuse)?;
    file.write_all(text.as_bytes()).map_err(refuse)
}

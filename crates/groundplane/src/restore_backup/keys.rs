//! The keys that a backup needs: found, compared with those that it names, and put in place.

use std::path::{Path, PathBuf};

use apiserver::first_start::key_id;
use store::seal::KeyFile;
use store::sign::SigningKey;
use store::{BackupContents, SEALING_KEYS, SIGNING_KEY};

use super::listed;
use crate::failure::Failure;
use crate::key_files::{self, ACCOUNTS, ALL, AUTHORITY};

/// Which key files go where, once all that are needed were found and are the right ones.
pub struct Plan {
    /// Files to copy into the data folder.
    copies: Vec<(&'static str, PathBuf)>,
    notes: Vec<String>,
}

/// Key files that were copied, to be removed again if the restore fails.
pub struct Placed(Vec<PathBuf>);

impl Placed {
    /// Removes them.
    pub fn take_back(self) {
        for path in self.0 {
            let _ = std::fs::remove_file(path);
        }
    }
}

impl Plan {
    /// Finds the keys in `given`, or else in place below `data`, and compares them with the backup. Writes nothing.
    pub fn make(
        contents: &BackupContents,
        data: &Path,
        is_etcd: bool,
        given: Option<&Path>,
        new_signing_key: bool,
    ) -> Result<Plan, Failure> {
        if let Some(given) = given.filter(|given| !given.exists()) {
            let why = "there is no such file or folder; name the keys of the server that made the backup";
            return Err(Failure::new(format_args!("reading the keys in {}", given.display()), why));
        }
        let mut plan = Plan { copies: Vec::new(), notes: Vec::new() };
        let (mut missing, mut wrong) = (Vec::new(), Vec::new());
        for file in ALL {
            let place = key_files::place(data, file, is_etcd);
            let in_place = Some(place.clone()).filter(|place| place.is_file());
            let found = given.and_then(|given| find(given, file));
            if let (Some(found), Some(in_place)) = (&found, &in_place)
                && std::fs::read(found).ok() != std::fs::read(in_place).ok()
            {
                return Err(Failure::new(
                    format_args!("putting {} in place", found.display()),
                    format_args!(
                        "another key is at {}; choose an empty folder with --data, or leave out --keys",
                        in_place.display()
                    ),
                ));
            }
            let Some(source) = found.as_ref().or(in_place.as_ref()) else {
                missing.push(file);
                continue;
            };
            if let Some(why) = mismatch(contents, file, source) {
                wrong.push((file, source.clone(), why));
                continue;
            }
            if in_place.is_none() {
                plan.copies.push((file, source.clone()));
            }
        }
        plan.settle(contents, &missing, &wrong, new_signing_key)?;
        Ok(plan)
    }

    /// Refuses what would not start or not verify, and notes what works with a difference.
    fn settle(
        &mut self,
        contents: &BackupContents,
        missing: &[&'static str],
        wrong: &[(&'static str, PathBuf, String)],
        new_signing_key: bool,
    ) -> Result<(), Failure> {
        let needed = |file: &str| match file {
            SEALING_KEYS => !contents.sealing_keys().is_empty(),
            SIGNING_KEY => !new_signing_key && contents.needs_signing_key(),
            _ => false,
        };
        if let Some((_, path, why)) = wrong.iter().find(|(file, ..)| needed(file)) {
            return Err(Failure::new(
                format_args!("checking the key file {}", path.display()),
                format_args!("{why}{}", next_step(contents, &[])),
            ));
        }
        let lacking: Vec<&str> = missing.iter().copied().filter(|file| needed(file)).collect();
        if !lacking.is_empty() {
            return Err(Failure::new(
                "checking the keys that the backup needs",
                format_args!("{} not found{}", listed(&lacking), next_step(contents, &lacking)),
            ));
        }
        let absent = |file: &str| missing.contains(&file) || wrong.iter().any(|(other, ..)| *other == file);
        if absent(AUTHORITY) {
            self.notes.push(format!(
                "without {AUTHORITY} of the old server a new CA is created; kubeconfigs and certificates of the old one \
                 stop working"
            ));
        }
        if absent(ACCOUNTS) {
            self.notes.push(format!(
                "without {ACCOUNTS} of the old server, tokens of service accounts that it issued stop working"
            ));
        }
        if new_signing_key && absent(SIGNING_KEY) {
            let old = contents.note(SIGNING_KEY).and_then(|note| note.ids.first());
            let old = old.map_or("KEY", String::as_str);
            self.notes.push(format!(
                "a new signing key is created; verify history with: groundplane audit verify --trusted-key {old}"
            ));
        }
        Ok(())
    }

    /// What works differently after this restore.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Copies the keys into the data folder.
    pub fn put(&self, data: &Path, is_etcd: bool) -> Result<Placed, Failure> {
        let mut placed = Placed(Vec::new());
        for (file, source) in &self.copies {
            let place = key_files::place(data, file, is_etcd);
            if let Err(failure) = key_files::copy(source, &place) {
                placed.take_back();
                return Err(failure);
            }
            placed.0.push(place);
        }
        Ok(placed)
    }
}

/// A key file in what `--keys` names: a folder, or `sealing.keys` itself with the others beside it.
fn find(given: &Path, file: &str) -> Option<PathBuf> {
    match (given.is_dir(), file) {
        (true, _) => key_files::find(given, file),
        (false, SEALING_KEYS) => Some(given.to_owned()),
        (false, _) => key_files::find(given.parent()?, file),
    }
}

/// Why a key file is not the one that the backup needs; `None` when it is.
fn mismatch(contents: &BackupContents, file: &str, path: &Path) -> Option<String> {
    match file {
        SEALING_KEYS => {
            let read = KeyFile::open_or_create(path).map_err(|error| error.to_string());
            let opened = read.and_then(|keys| contents.opens_with(keys).map_err(|error| error.to_string()));
            opened.err()
        }
        SIGNING_KEY => match SigningKey::open_or_create(path) {
            Err(error) => Some(error.to_string()),
            Ok(key) if contents.is_signed_by(key.public()) => None,
            Ok(key) => Some(format!(
                "its public key is {}, and history in the backup is signed with another one{}",
                key.public(),
                contents
                    .note(SIGNING_KEY)
                    .map(|note| format!(", {}", note.ids.join(", ")))
                    .unwrap_or_default()
            )),
        },
        _ => {
            let note = contents.note(file)?;
            let text = std::fs::read_to_string(path).unwrap_or_default();
            match key_id(&text) {
                Some(id) if note.ids.contains(&id) => None,
                _ => Some("it is not that of the server that made the backup".to_owned()),
            }
        }
    }
}

/// Where the right keys are, and how to bring them here.
fn next_step(contents: &BackupContents, lacking: &[&str]) -> String {
    let mut text = String::new();
    let named: Vec<&str> =
        if lacking.is_empty() { vec![SEALING_KEYS, SIGNING_KEY] } else { lacking.to_vec() };
    let paths: Vec<&str> =
        named.iter().filter_map(|file| contents.note(file)).map(|note| note.path.as_str()).collect();
    if !paths.is_empty() {
        text += &format!("; on the server that made the backup: {}", paths.join(", "));
    }
    let kids: Vec<&str> = contents.sealing_keys().into_iter().collect();
    if named.contains(&SEALING_KEYS) && !kids.is_empty() {
        text += &format!("; sealing keys that it needs: {}", kids.join(", "));
    }
    text += "; copy them there with \"groundplane keys --data DIR --copy-to FOLDER\", and give that folder with --keys";
    if lacking == [SIGNING_KEY] {
        text += ", or go on without it with --new-signing-key";
    }
    text + "; nothing was restored"
}

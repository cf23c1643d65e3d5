use std::fs::{Permissions, read_to_string, set_permissions, write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use tempfile::{TempDir, tempdir};

use super::*;
use crate::private_file::PrivateFileError;

#[test]
fn a_sealed_value_opens_under_its_own_name_only() {
    let (_dir, ring, _) = ring();
    let sealed = ring.seal(b"racks/r4/password", b"hunter2").unwrap();
    assert_eq!(sealed.len(), HEADER + 7 + TAG);
    assert_eq!(sealed[0], VERSION);
    assert_eq!(ring.open(b"racks/r4/password", &sealed).unwrap().as_slice(), b"hunter2");
    assert!(matches!(ring.open(b"racks/r5/password", &sealed), Err(SealError::TamperedValue)));
}

#[test]
fn equal_values_do_not_look_equal() {
    let (_dir, ring, _) = ring();
    assert_ne!(ring.seal(b"a", b"hunter2").unwrap(), ring.seal(b"a", b"hunter2").unwrap());
}

#[test]
fn a_restarted_process_opens_what_was_sealed_before() {
    let (dir, ring, wrapped) = ring();
    let sealed = ring.seal(b"name", b"hunter2").unwrap();
    let again = Keyring::new(KeyFile::open_or_create(key_path(&dir)).unwrap());
    let id = wrapped.id;
    assert!(
        matches!(again.open(b"name", &sealed), Err(SealError::UnknownDataKey { id: found }) if found == id)
    );
    let stored = postcard::to_stdvec(&wrapped).unwrap();
    again.load(&postcard::from_bytes(&stored).unwrap()).unwrap();
    assert_eq!(again.open(b"name", &sealed).unwrap().as_slice(), b"hunter2");
}

#[test]
fn rotating_the_key_file_rewraps_data_keys_and_leaves_values_alone() {
    let (dir, ring, wrapped) = ring();
    let sealed = ring.seal(b"name", b"hunter2").unwrap();

    let mut file = KeyFile::open_or_create(key_path(&dir)).unwrap();
    let old_kid = file.active_kid().to_owned();
    let new_kid = file.add_new_active().unwrap();
    assert_eq!(file.kids().collect::<Vec<_>>(), [&new_kid, &old_kid]);
    ring.use_key_file(file);
    let rewrapped = ring.rewrap(&wrapped).unwrap();
    assert_eq!((rewrapped.id, &rewrapped.kid), (wrapped.id, &new_kid));

    remove_line(&key_path(&dir), &old_kid);
    let after = Keyring::new(KeyFile::open_or_create(key_path(&dir)).unwrap());
    let said = after.load(&wrapped).unwrap_err().to_string();
    assert!(said.contains(&old_kid) && said.contains(&key_path(&dir).display().to_string()), "{said}");
    after.load(&rewrapped).unwrap();
    assert_eq!(after.open(b"name", &sealed).unwrap().as_slice(), b"hunter2");
}

#[test]
fn values_sealed_with_an_older_data_key_still_open() {
    let (_dir, ring, _) = ring();
    let sealed = ring.seal(b"name", b"old").unwrap();
    let (id, _) = ring.new_data_key().unwrap();
    ring.use_for_sealing(id).unwrap();
    let newer = ring.seal(b"name", b"new").unwrap();
    assert_ne!(sealed[1..9], newer[1..9]);
    assert_eq!(ring.open(b"name", &sealed).unwrap().as_slice(), b"old");
    assert_eq!(ring.open(b"name", &newer).unwrap().as_slice(), b"new");
}

#[test]
fn sealing_needs_a_chosen_and_loaded_key() {
    let dir = tempdir().unwrap();
    let ring = Keyring::new(KeyFile::open_or_create(key_path(&dir)).unwrap());
    assert!(matches!(ring.seal(b"", b""), Err(SealError::NoSealingKey)));
    assert!(matches!(ring.use_for_sealing(DataKeyId(1)), Err(SealError::UnknownDataKey { .. })));
    ring.new_data_key().unwrap();
    assert!(matches!(ring.seal(b"", b""), Err(SealError::NoSealingKey)));
}

#[test]
fn an_exposed_key_file_is_refused() {
    let (dir, _, _) = ring();
    set_permissions(key_path(&dir), Permissions::from_mode(0o640)).unwrap();
    let refused = KeyFile::open_or_create(key_path(&dir));
    assert!(matches!(refused, Err(SealError::File(PrivateFileError::Exposed { mode: 0o640, .. }))));
}

#[test]
fn comments_survive_a_rotation() {
    let dir = tempdir().unwrap();
    write_key_file(
        &dir,
        &format!("# mine\n\nfirst {}\n# older\nsecond {}\n", "0a".repeat(32), "0B".repeat(32)),
    );
    let mut file = KeyFile::open_or_create(key_path(&dir)).unwrap();
    assert_eq!(file.active_kid(), "first");
    let kid = file.add_new_active().unwrap();
    let text = read_to_string(key_path(&dir)).unwrap();
    assert!(text.starts_with(&format!("# mine\n\n{kid} ")), "{text}");
    assert!(text.contains("\n# older\nsecond "), "{text}");
    let again = KeyFile::open_or_create(key_path(&dir)).unwrap();
    assert_eq!(again.kids().collect::<Vec<_>>(), [kid.as_str(), "first", "second"]);
}

#[test]
fn a_damaged_key_file_names_the_line_and_not_the_key() {
    let key = "0c".repeat(32);
    for (text, reason) in [
        (format!("# x\nfirst {key}0\n"), "line 2"),
        (format!("first {key} extra\n"), "two words"),
        (format!("{key}\n"), "two words"),
        (format!("first {key}\nfirst {key}\n"), "line 2"),
        ("# nothing\n".to_owned(), "holds no key"),
        (String::new(), "holds no key"),
    ] {
        let dir = tempdir().unwrap();
        write_key_file(&dir, &text);
        let error = KeyFile::open_or_create(key_path(&dir)).unwrap_err();
        let said = format!("{error} {error:?}");
        assert!(said.contains(reason) && said.contains("keys.txt"), "{said}");
        assert!(!said.contains("0c0c"), "{said}");
    }
}

#[test]
fn printing_keys_shows_their_names_only() {
    let dir = tempdir().unwrap();
    let secret = "ab".repeat(32);
    write_key_file(&dir, &format!("first {secret}\n"));
    let ring = Keyring::new(KeyFile::open_or_create(key_path(&dir)).unwrap());
    let (id, _) = ring.new_data_key().unwrap();
    ring.use_for_sealing(id).unwrap();
    let shown = format!("{ring:?} {ring:#?}");
    assert!(shown.contains("first"));
    // The key in hexadecimal, and as a list of bytes on one line or many. The id is random, so it may hold any digits.
    let dense = shown.split_whitespace().collect::<String>();
    assert!(!dense.contains("abab") && !dense.contains("171,171"), "{shown}");
    let data_key = ring.keys.load().data[&id].0.clone();
    assert!(!shown.contains(&format!("{data_key:?}")), "{shown}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn opening_undoes_sealing(aad: Vec<u8>, plain: Vec<u8>) {
        let (_dir, ring, _) = ring();
        let sealed = ring.seal(&aad, &plain).unwrap();
        prop_assert_eq!(ring.open(&aad, &sealed).unwrap(), Zeroizing::new(plain));
    }

    #[test]
    fn every_changed_byte_of_a_value_is_noticed(plain: Vec<u8>, flip in 1u8..) {
        let (_dir, ring, _) = ring();
        let sealed = ring.seal(b"name", &plain).unwrap();
        for at in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[at] ^= flip;
            prop_assert!(ring.open(b"name", &changed).is_err(), "byte {}", at);
            prop_assert!(ring.open(b"name", &sealed[..at]).is_err(), "cut to {}", at);
        }
    }

    #[test]
    fn every_changed_byte_of_a_data_key_is_noticed(flip in 1u8.., bit in 0u32..64) {
        let (dir, _, wrapped) = ring();
        let again = Keyring::new(KeyFile::open_or_create(key_path(&dir)).unwrap());
        let mut changed = Vec::new();
        for at in 0..wrapped.sealed.len() {
            changed.push(wrapped.clone());
            changed[at].sealed[at] ^= flip;
        }
        for at in 0..NONCE {
            let mut other = wrapped.clone();
            other.nonce[at] ^= flip;
            changed.push(other);
        }
        changed.push(WrappedKey { id: DataKeyId(wrapped.id.0 ^ 1 << bit), ..wrapped.clone() });
        changed.push(WrappedKey { kid: format!("{}x", wrapped.kid), ..wrapped.clone() });
        changed.push(WrappedKey { sealed: Vec::new(), ..wrapped });
        for other in changed {
            prop_assert!(again.load(&other).is_err(), "{:?}", other);
        }
    }

    #[test]
    fn any_bytes_are_refused_without_panic(bytes: Vec<u8>) {
        let (_dir, ring, _) = ring();
        prop_assert!(ring.open(b"", &bytes).is_err());
    }
}

fn ring() -> (TempDir, Keyring, WrappedKey) {
    let dir = tempdir().unwrap();
    let ring = Keyring::new(KeyFile::open_or_create(key_path(&dir)).unwrap());
    let (id, wrapped) = ring.new_data_key().unwrap();
    ring.use_for_sealing(id).unwrap();
    (dir, ring, wrapped)
}

fn key_path(dir: &TempDir) -> PathBuf {
    dir.path().join("keys.txt")
}

fn write_key_file(dir: &TempDir, text: &str) {
    write(key_path(dir), text).unwrap();
    set_permissions(key_path(dir), Permissions::from_mode(0o600)).unwrap();
}

fn remove_line(path: &Path, kid: &str) {
    let text = read_to_string(path).unwrap();
    let kept: String = text.split_inclusive('\n').filter(|line| !line.starts_with(kid)).collect();
    write(path, kept).unwrap();
}

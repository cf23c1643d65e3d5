use std::fs::{Permissions, metadata, read_to_string, set_permissions, write};
use std::os::unix::fs::PermissionsExt;

use proptest::prelude::*;
use tempfile::tempdir;

use super::*;

#[test]
fn a_key_is_the_same_after_a_restart() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("signing.key");
    let key = SigningKey::open_or_create(&path).unwrap();
    assert_eq!(metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let again = SigningKey::open_or_create(&path).unwrap();
    assert_eq!(key.public(), again.public());
    assert!(key.public().verify("anchor", b"root", &again.sign("anchor", b"root")));
}

#[test]
fn a_signature_holds_in_its_own_domain_only() {
    let key = SigningKey::ephemeral().unwrap();
    let signature = key.sign("anchor", b"root");
    assert!(key.public().verify("anchor", b"root", &signature));
    assert!(!key.public().verify("checkpoint", b"root", &signature));
    assert!(!key.public().verify("anchorr", b"oot", &signature));
    assert!(!SigningKey::ephemeral().unwrap().public().verify("anchor", b"root", &signature));
}

#[test]
fn an_exposed_or_damaged_key_is_refused_by_name() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("signing.key");
    SigningKey::open_or_create(&path).unwrap();
    set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    let exposed = SigningKey::open_or_create(&path);
    assert!(matches!(exposed, Err(SignError::File(PrivateFileError::Exposed { mode: 0o644, .. }))));

    set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    let text = read_to_string(&path).unwrap();
    for damaged in ["", "# only a comment\n", &text[2..], "zz"] {
        write(&path, damaged).unwrap();
        let said = SigningKey::open_or_create(&path).unwrap_err().to_string();
        assert!(said.contains("signing.key"), "{said}");
    }
    write(&path, format!("# mine\n{text}")).unwrap();
    SigningKey::open_or_create(&path).unwrap();
}

#[test]
fn printing_a_key_shows_its_public_half_only() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("signing.key");
    let key = SigningKey::open_or_create(&path).unwrap();
    let shown = format!("{key:?}");
    assert!(shown.contains(&key.public().to_string()));
    // The seed stands at bytes 16..48 of ring's PKCS#8 form.
    let seed = read_to_string(&path).unwrap()[32..96].to_owned();
    assert!(!shown.contains(&seed));
}

#[test]
fn a_key_id_is_the_start_of_the_hash() {
    let id = PublicKey([0; 32]).id();
    assert_eq!(id.to_string(), "66687aadf862bd77");
}

#[test]
fn a_public_key_is_read_from_its_own_text_only() {
    let said = "abc".parse::<PublicKey>().unwrap_err().to_string();
    assert_eq!(said, "`abc` is not a public key: it should be 64 hexadecimal digits");
    assert!("00".repeat(33).parse::<PublicKey>().is_err());
}

proptest! {
    #[test]
    fn a_public_key_survives_being_text(bytes: [u8; 32]) {
        prop_assert_eq!(PublicKey(bytes).to_string().parse(), Ok(PublicKey(bytes)));
    }

    #[test]
    fn a_changed_message_or_signature_is_noticed(
        message in prop::collection::vec(any::<u8>(), 1..100),
        at: prop::sample::Index,
        flip in 1u8..,
    ) {
        let key = SigningKey::ephemeral().unwrap();
        let signature = key.sign("anchor", &message);
        prop_assert!(key.public().verify("anchor", &message, &signature));

        let mut changed = message.clone();
        changed[at.index(message.len())] ^= flip;
        prop_assert!(!key.public().verify("anchor", &changed, &signature));

        let mut forged = signature;
        forged[at.index(signature.len())] ^= flip;
        prop_assert!(!key.public().verify("anchor", &message, &forged));
        prop_assert!(!key.public().verify("anchor", &message, &signature[..63]));
    }
}

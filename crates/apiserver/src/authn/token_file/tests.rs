use super::*;

fn opened(text: &str) -> (tempfile::TempDir, Result<TokenFile, TokenFileError>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tokens.csv");
    std::fs::write(&path, text).unwrap();
    let file = TokenFile::open(path);
    (dir, file)
}

#[test]
fn the_format_is_that_of_kubernetes() {
    let text =
        "t1,ann,u1,\"staff,ops\"\r\n\nt2,bob,u2\nt3,\"c \"\"x\"\", d\",u3,one,ignored,more\n,nobody,0\n";
    let (_dir, file) = opened(text);
    let file = file.unwrap();
    let ann = file.find("t1").unwrap();
    assert_eq!((&*ann.user, &*ann.uid), ("ann", "u1"));
    assert_eq!(ann.groups, ["staff".into(), "ops".into()]);
    assert!(file.find("t2").unwrap().groups.is_empty());
    let third = file.find("t3").unwrap();
    assert_eq!(&*third.user, "c \"x\", d");
    assert_eq!(third.groups, ["one".into()]);
    assert_eq!(file.find(""), None, "an empty token is nobody's");
    assert_eq!(file.find("nobody"), None);
}

#[test]
fn what_is_wrong_is_said_without_a_word_of_the_contents() {
    for (text, part) in [
        ("hush,ann\n", "found 2 in line 1"),
        ("a,b,c\n\nhush\n", "found 1 in line 3"),
        ("hush,\"ann,1\n", "quote in line 1"),
        ("hush,an\"n,1\n", "quote in line 1"),
        ("hush,\"ann\"x,1\n", "quote in line 1"),
    ] {
        let (_dir, file) = opened(text);
        let said = file.unwrap_err().to_string();
        assert!(said.contains(part) && !said.contains("hush"), "{said}");
    }
    let said = TokenFile::open("/nonexistent/tokens").unwrap_err().to_string();
    assert!(said.contains("/nonexistent/tokens"), "{said}");
}

#[test]
fn a_change_is_noticed_and_a_broken_one_changes_nothing() {
    let (_dir, file) = opened("old,ann,1\n");
    let file = file.unwrap();
    let later = |seconds| Instant::now() + Duration::from_secs(seconds);
    assert!(file.find("old").is_some());

    std::fs::write(&file.path, "new-token,bob,2\n").unwrap();
    assert!(file.find("new-token").is_none(), "not in the same second");
    file.look_again(later(2));
    assert!(file.find("new-token").is_some() && file.find("old").is_none());

    std::fs::write(&file.path, "broken\n").unwrap();
    file.look_again(later(4));
    assert!(file.find("new-token").is_some());
    std::fs::remove_file(&file.path).unwrap();
    file.look_again(later(6));
    assert!(file.find("new-token").is_some());

    std::fs::write(&file.path, "").unwrap();
    file.look_again(later(8));
    assert!(file.find("new-token").is_none(), "an empty file takes every token away");
}

#[test]
fn tokens_do_not_stay_in_memory() {
    let (_dir, file) = opened("a-very-secret-token,ann,1\n");
    let file = file.unwrap();
    assert!(!format!("{file:?}").contains("secret"));
    assert!(file.users.load().keys().all(|key| key.as_slice() != b"a-very-secret-token"));
}

proptest::proptest! {
    #[test]
    fn no_file_is_too_odd(text: String, close in "[a,\"\r\n]{0,30}") {
        let _ = records(&text).count();
        let _ = records(&close).count();
    }
}

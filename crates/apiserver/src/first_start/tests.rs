use std::fs::{self, Permissions, metadata, set_permissions};
use std::os::unix::fs::PermissionsExt;

use super::*;

fn names(more: &[&str]) -> ServerNames {
    ServerNames::of_this_host(more.iter().copied()).unwrap()
}

fn open(directory: &Path) -> Credentials {
    Credentials::open_or_create(directory, names(&[])).unwrap()
}

fn mode(path: &Path) -> u32 {
    metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn an_empty_directory_gets_everything_privately() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let credentials = open(&data);
    let kubeconfig = credentials.write_kubeconfig("https://127.0.0.1:6443").unwrap();

    assert_eq!(mode(&data.join("pki")), 0o700);
    for private in ["pki/ca.pem", "pki/serving.pem", "pki/admin.pem", "pki/service-accounts.pem"] {
        assert_eq!(mode(&data.join(private)), 0o600, "{private}");
    }
    assert_eq!(mode(&kubeconfig), 0o600);
    assert_eq!(mode(&data.join("ca.crt")), 0o644);
    let left: Vec<_> = fs::read_dir(data.join("pki")).unwrap().collect();
    assert_eq!(left.len(), 4, "no temporary files stay: {left:?}");

    let text = fs::read_to_string(kubeconfig).unwrap();
    for part in ["server: \"https://127.0.0.1:6443\"", "current-context: groundplane", "client-key-data: "] {
        assert!(text.contains(part), "{part}");
    }
    let ca = krm::base64::encode(credentials.ca_pem().as_bytes());
    assert!(text.contains(&ca));
    assert_eq!(fs::read_to_string(data.join("ca.crt")).unwrap(), credentials.ca_pem());
}

#[test]
fn a_second_start_reuses_everything() {
    let dir = tempfile::tempdir().unwrap();
    let first = open(dir.path());
    let first_kubeconfig = fs::read(first.write_kubeconfig("https://127.0.0.1:1").unwrap()).unwrap();
    let second = open(dir.path());
    assert_eq!(first.ca_pem(), second.ca_pem());
    assert_eq!(first.serving_chain(), second.serving_chain());
    assert_eq!(first.token_key(), second.token_key());
    assert_eq!(fs::read(second.write_kubeconfig("https://127.0.0.1:1").unwrap()).unwrap(), first_kubeconfig);
    assert_ne!(fs::read(second.write_kubeconfig("https://127.0.0.1:2").unwrap()).unwrap(), first_kubeconfig);
}

#[test]
fn of_two_servers_that_start_at_once_both_have_the_same_ca() {
    let dir = tempfile::tempdir().unwrap();
    let pems: Vec<String> = std::thread::scope(|scope| {
        let starts: Vec<_> = (0..4).map(|_| scope.spawn(|| open(dir.path()).ca_pem().to_owned())).collect();
        starts.into_iter().map(|start| start.join().unwrap()).collect()
    });
    assert!(pems.iter().all(|pem| *pem == pems[0]));
}

#[test]
fn new_names_give_a_new_serving_certificate_of_the_same_ca() {
    let dir = tempfile::tempdir().unwrap();
    let first = open(dir.path());
    let second = Credentials::open_or_create(dir.path(), names(&["Plane.Example.com", "10.1.2.3"])).unwrap();
    assert_eq!(first.ca_pem(), second.ca_pem());
    assert_ne!(first.serving_chain(), second.serving_chain());
    let third = Credentials::open_or_create(dir.path(), names(&["10.1.2.3", "plane.example.com"])).unwrap();
    assert_eq!(second.serving_chain(), third.serving_chain());
}

#[test]
fn what_nears_its_end_is_renewed_and_the_ca_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let now = SystemTime::now();
    let first = open(dir.path());
    assert!(first.renewed(now).unwrap().is_none());
    assert!(first.renewed(now + 300 * DAY).unwrap().is_none());
    let renewed = first.renewed(now + 340 * DAY).unwrap().expect("it has less than a month left");
    assert_eq!(first.ca_pem(), renewed.ca_pem());
    assert_ne!(first.serving_chain(), renewed.serving_chain());
    assert!(renewed.renewed(now + 340 * DAY).unwrap().is_none());
}

#[test]
fn a_replaced_ca_reissues_what_the_old_one_issued() {
    let dir = tempfile::tempdir().unwrap();
    let earlier = SystemTime::now() - DAY;
    let first = Credentials::open_or_create_at(dir.path(), names(&[]), earlier).unwrap();
    fs::remove_file(dir.path().join("pki/ca.pem")).unwrap();
    let second = open(dir.path());
    assert_ne!(first.ca_pem(), second.ca_pem());
    assert_ne!(first.serving_chain(), second.serving_chain());
    assert_eq!(fs::read_to_string(dir.path().join("ca.crt")).unwrap(), second.ca_pem());
}

#[test]
fn a_damaged_file_is_named_in_one_line_with_what_to_do() {
    for file in ["ca.pem", "serving.pem", "admin.pem", "service-accounts.pem"] {
        let dir = tempfile::tempdir().unwrap();
        open(dir.path());
        let path = dir.path().join("pki").join(file);
        let whole = fs::read(&path).unwrap();
        let halves: [&[u8]; 4] = [&whole[..whole.len() / 2], &whole[..40], b"", b"\xff\xfe\x00"];
        for half in halves {
            fs::write(&path, half).unwrap();
            let said = Credentials::open_or_create(dir.path(), names(&[])).unwrap_err().to_string();
            assert!(said.contains(&path.display().to_string()), "{said}");
            assert!(said.contains("is damaged") && said.contains("restore it from a backup"), "{said}");
            assert!(!said.contains('\n') && !said.contains("BEGIN"), "{said}");
        }
    }
}

#[test]
fn a_key_of_another_certificate_is_damage_too() {
    let dir = tempfile::tempdir().unwrap();
    open(dir.path());
    let read = |name: &str| fs::read_to_string(dir.path().join("pki").join(name)).unwrap();
    let split = |text: &str| {
        let at = text.find("-----BEGIN CERTIFICATE").unwrap();
        (text[..at].to_owned(), text[at..].to_owned())
    };
    let (key, _) = split(&read("admin.pem"));
    let (_, certificate) = split(&read("serving.pem"));
    fs::write(dir.path().join("pki/serving.pem"), key + &certificate).unwrap();
    let said = Credentials::open_or_create(dir.path(), names(&[])).unwrap_err().to_string();
    assert!(said.contains("does not match its certificate"), "{said}");
}

#[test]
fn a_key_that_others_may_read_is_refused_with_the_remedy() {
    let dir = tempfile::tempdir().unwrap();
    open(dir.path());
    let path = dir.path().join("pki/ca.pem");
    set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    let said = Credentials::open_or_create(dir.path(), names(&[])).unwrap_err().to_string();
    assert!(said.contains("mode 0644") && said.contains("chmod 600"), "{said}");
}

#[test]
fn a_place_where_nothing_can_be_made_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    let said = Credentials::open_or_create(&file, names(&[])).unwrap_err().to_string();
    assert!(said.contains(&file.display().to_string()), "{said}");
}

#[test]
fn names_that_no_certificate_can_hold_are_refused() {
    for bad in ["", "a b", "-x", "x..y", "exämple", "a\nb"] {
        let said = ServerNames::of_this_host([bad]).unwrap_err().to_string();
        assert!(said.contains("serving certificate"), "{said}");
    }
    assert!(ServerNames::of_this_host(["*.example.com", "[fd00::1]", "1.2.3.4"]).is_ok());
}

#[test]
fn nothing_secret_shows_in_debug_output() {
    let dir = tempfile::tempdir().unwrap();
    let shown = format!("{:?}", open(dir.path()));
    assert!(!shown.contains("PRIVATE") && !shown.contains("key"), "{shown}");
}

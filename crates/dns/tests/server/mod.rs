//! A BIND 9 of a test's own, on a port of its own, with one zone and three keys.

use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use dns::{Algorithm, Rfc2136, Settings, TsigKey};
use tempfile::TempDir;

/// The secret of all keys that the server knows.
pub const SECRET: &str = "NzVhYTE0YzRlZjU5NGFlNGJlYjQ3YjVmNzZmMTQwZGY=";
/// A secret that it does not know.
pub const OTHER_SECRET: &str = "ZGVhZGJlZWZkZWFkYmVlZmRlYWRiZWVmZGVhZGJlZWY=";

const ZONE: &str = "\
$TTL 60
@ IN SOA ns1 admin ( 1 3600 600 86400 60 )
@ IN NS ns1
ns1 IN A 127.0.0.1
";

pub struct Bind {
    process: Child,
    port: u16,
    _folder: TempDir,
}

impl Bind {
    /// Starts one; without BIND the calling test is skipped.
    pub fn start() -> Option<Bind> {
        if Command::new("named").arg("-v").stdout(Stdio::null()).status().is_err() {
            require::missing("there is no `named`; Debian has it in `bind9`");
            return None;
        }
        // Another process may take the port between our asking and BIND's.
        (0..5).find_map(|_| Bind::try_start())
    }

    fn try_start() -> Option<Bind> {
        let folder = tempfile::tempdir().unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let dir = folder.path().display().to_string();
        let key = |name: &str, algorithm: &str| {
            format!("key \"{name}\" {{ algorithm {algorithm}; secret \"{SECRET}\"; }};\n")
        };
        let config = format!(
            "{}{}{}options {{ directory \"{dir}\"; listen-on port {port} {{ 127.0.0.1; }}; listen-on-v6 {{ none; }}; \
             pid-file none; session-keyfile none; recursion no; dnssec-validation no; allow-transfer {{ none; }}; }};\n\
             controls {{ }};\n\
             zone \"example.test\" {{ type primary; file \"zone\"; \
             update-policy {{ grant groundplane zonesub ANY; grant strong zonesub ANY; }}; }};\n",
            key("groundplane", "hmac-sha256"),
            key("reader", "hmac-sha256"),
            key("strong", "hmac-sha512"),
        );
        std::fs::write(folder.path().join("zone"), ZONE).unwrap();
        std::fs::write(folder.path().join("named.conf"), config).unwrap();
        let process = Command::new("named")
            .args(["-g", "-n", "1", "-c"])
            .arg(folder.path().join("named.conf"))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut bind = Bind { process, port, _folder: folder };
        let limit = Instant::now() + Duration::from_secs(20);
        while Instant::now() < limit {
            if let Some(status) = bind.process.try_wait().unwrap() {
                let mut log = String::new();
                let _ = bind.process.stderr.take().map(|mut stderr| stderr.read_to_string(&mut log));
                assert!(log.contains("address in use"), "named ended with {status}:\n{log}");
                return None;
            }
            if TcpStream::connect(bind.address()).is_ok() {
                return Some(bind);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("named did not listen within 20 s");
    }

    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// The zone, with the right key.
    pub fn zone(&self) -> Rfc2136 {
        self.zone_with("groundplane", SECRET, || 0)
    }

    /// The zone with some key, signed by a clock that differs by some seconds.
    pub fn zone_with(&self, key: &str, secret: &str, offset: fn() -> i64) -> Rfc2136 {
        let key = TsigKey::from_base64(key.parse().unwrap(), Algorithm::HmacSha256, secret).unwrap();
        let settings = Settings::new(self.address(), "example.test".parse().unwrap(), key);
        Rfc2136::with_clock(settings, move || {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
            now.checked_add_signed(offset()).unwrap()
        })
    }

    /// Some zone with some key.
    pub fn zone_named(&self, zone: &str, key: &str, secret: &str) -> Rfc2136 {
        let key = TsigKey::from_base64(key.parse().unwrap(), Algorithm::HmacSha256, secret).unwrap();
        Rfc2136::new(Settings::new(self.address(), zone.parse().unwrap(), key))
    }

    /// The zone's serial number, which every change raises.
    pub fn serial(&self) -> String {
        let port = self.port.to_string();
        let output = Command::new("dig")
            .args(["+tcp", "+short", "@127.0.0.1", "-p", &port, "example.test", "SOA"])
            .output()
            .unwrap();
        let answer = String::from_utf8(output.stdout).unwrap();
        answer.split_whitespace().nth(2).unwrap_or_else(|| panic!("dig: {answer}")).to_owned()
    }
}

impl Drop for Bind {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

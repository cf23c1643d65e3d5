//! sushy-tools, OpenStack's emulator of Redfish.

use std::fmt::Write;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

use crate::parts;

/// An emulator, until it is dropped. It accepts any credentials.
pub struct Emulator {
    child: Child,
    port: u16,
    _folder: tempfile::TempDir,
}

impl Drop for Emulator {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Emulator {
    /// One with this many systems, at most ten, all powered off. `None` when it is not installed.
    pub fn start(systems: usize) -> std::io::Result<Option<Emulator>> {
        let Some(program) = parts::find("sushy/bin/sushy-emulator") else {
            crate::need::passed_over("sushy-tools is not installed; `cargo xtask test` fetches it");
            return Ok(None);
        };
        let folder = tempfile::tempdir()?;
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let mut config = format!(
            "SUSHY_EMULATOR_LISTEN_IP = '127.0.0.1'\nSUSHY_EMULATOR_LISTEN_PORT = {port}\n\
             SUSHY_EMULATOR_FAKE_DRIVER = True\nSUSHY_EMULATOR_STATE_DIR = {:?}\nSUSHY_EMULATOR_FAKE_SYSTEMS = [\n",
            folder.path()
        );
        for number in 0..systems.min(10) {
            let uuid = Emulator::system(number);
            let _ = writeln!(
                config,
                "{{'uuid': '{uuid}', 'name': 'node-{number}', 'power_state': 'Off', \
                 'nics': [{{'mac': 'AA:BB:CC:00:00:0{number}', 'ip': '192.0.2.{number}'}}]}},"
            );
        }
        config.push(']');
        let file = folder.path().join("sushy.conf");
        std::fs::write(&file, config)?;
        let mut child = Command::new(program)
            .arg("--config")
            .arg(&file)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let Some(stderr) = child.stderr.take() else { return Err(std::io::Error::other("no stderr")) };
        let mut lines = BufReader::new(stderr).lines();
        let is_up = lines.by_ref().map_while(Result::ok).any(|line| line.contains("Running on"));
        let emulator = Emulator { child, port, _folder: folder };
        if !is_up {
            return Err(std::io::Error::other("sushy-emulator ended"));
        }
        // It logs every request; a full pipe would stop it.
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
        Ok(Some(emulator))
    }

    /// The UUID of a system.
    pub fn system(number: usize) -> String {
        format!("da69abcc-dae0-4913-9a7b-d344043097c{number}")
    }

    /// URL of the service, as `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// URL of a system as BMC addresses have it, as `redfish+http://…/redfish/v1/Systems/UUID`.
    pub fn address(&self, number: usize) -> String {
        format!("redfish+{}{}", self.url(), Emulator::path(number))
    }

    /// Path of a system.
    pub fn path(number: usize) -> String {
        format!("/redfish/v1/Systems/{}", Emulator::system(number))
    }

    /// What a system says of itself, asked by nobody's driver.
    pub fn look(&self, number: usize) -> std::io::Result<String> {
        use std::io::{Read, Write};
        let mut stream = std::net::TcpStream::connect(("127.0.0.1", self.port))?;
        let path = Emulator::path(number);
        write!(stream, "GET {path} HTTP/1.0\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    }
}

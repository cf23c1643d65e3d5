//! Sessions: RAKP from the side of the BMC, and what is sent in them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::net::UdpSocket;

use super::commands::{self, Done};
use super::crypto::{self, Suite};
use super::wire::{self, Packet, Protection};
use super::{Fault, Machine, Options};

const GUID: [u8; 16] = *b"groundplane-sim!";

struct Session {
    suite: Suite,
    console: u32,
    console_random: [u8; 16],
    bmc_random: [u8; 16],
    /// Role, length of the name, name.
    identity: Vec<u8>,
    protection: Option<Protection>,
    /// Of the console: whether it is open, and the number of the last packet sent in it.
    console_open: bool,
    console_sent: u8,
    console_received: u8,
}

struct Bmc {
    options: Options,
    machine: Arc<Mutex<Machine>>,
    sessions: HashMap<u32, Session>,
    last: u32,
}

pub async fn serve(socket: UdpSocket, options: Options, machine: Arc<Mutex<Machine>>) {
    let mut bmc = Bmc { options, machine, sessions: HashMap::new(), last: 0x0200_0000 };
    let mut buffer = vec![0; 2048];
    loop {
        let Ok((length, from)) = socket.recv_from(&mut buffer).await else { continue };
        let received = buffer.get(..length).unwrap_or_default();
        for packet in bmc.packet(received) {
            let _ = socket.send_to(&packet, from).await;
        }
    }
}

impl Bmc {
    fn machine(&self) -> MutexGuard<'_, Machine> {
        self.machine.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn packet(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        {
            let mut machine = self.machine();
            machine.packets += 1;
            let is_dropped = match machine.fault {
                Some(Fault::Silent) => true,
                Some(Fault::Lossy) => machine.packets % 2 == 1,
                _ => false,
            };
            if is_dropped {
                return Vec::new();
            }
        }
        match wire::read(bytes) {
            Some(Packet::Old(message)) => self.old(message).into_iter().collect(),
            Some(Packet::Plus { kind: 0x10, payload, .. }) => self.open(payload).into_iter().collect(),
            Some(Packet::Plus { kind: 0x12, payload, .. }) => self.rakp1(payload).into_iter().collect(),
            Some(Packet::Plus { kind: 0x14, payload, .. }) => self.rakp3(payload).into_iter().collect(),
            Some(Packet::Plus { kind, session, payload, signed }) if kind & 0xc0 == 0xc0 => {
                self.protected(kind & 0x3f, session, payload, signed)
            }
            _ => Vec::new(),
        }
    }

    /// Get Channel Authentication Capabilities is asked before there is a session.
    fn old(&self, message: &[u8]) -> Option<Vec<u8>> {
        let asked = wire::request(message)?;
        let answer = match (asked.function, asked.command) {
            (6, 0x38) => wire::response(&asked, 0, &[1, 0x80, 0x04, 0x02, 0, 0, 0, 0]),
            _ => wire::response(&asked, 0xd4, &[]),
        };
        Some(wire::old(&answer))
    }

    fn open(&mut self, asked: &[u8]) -> Option<Vec<u8>> {
        let (tag, console) = (*asked.first()?, asked.get(4..8)?);
        let suite = Suite::of(*asked.get(12)?).filter(|suite| self.options.suites.contains(&suite.0));
        let Some(suite) = suite.filter(|suite| {
            suite.algorithms()
                == [asked[12], asked.get(20).copied().unwrap_or(0), asked.get(28).copied().unwrap_or(0)]
        }) else {
            let mut answer = vec![tag, 0x11, 0, 0];
            answer.extend(console);
            return Some(wire::plain(0x11, &answer));
        };
        self.last += 1;
        let mut answer = vec![tag, 0, 4, 0];
        answer.extend(console);
        answer.extend(self.last.to_le_bytes());
        for (kind, algorithm) in (0_u8..).zip(suite.algorithms()) {
            answer.extend([kind, 0, 0, 8, algorithm, 0, 0, 0]);
        }
        let session = Session {
            suite,
            console: u32::from_le_bytes(console.try_into().ok()?),
            console_random: [0; 16],
            bmc_random: crypto::random(),
            identity: Vec::new(),
            protection: None,
            console_open: false,
            console_sent: 0,
            console_received: 0,
        };
        self.sessions.insert(self.last, session);
        Some(wire::plain(0x11, &answer))
    }

    fn rakp1(&mut self, asked: &[u8]) -> Option<Vec<u8>> {
        let number = u32::from_le_bytes(asked.get(4..8)?.try_into().ok()?);
        let length = usize::from(*asked.get(27)?);
        let name = asked.get(28..28 + length)?;
        let password = self.machine().password.clone();
        let is_known = name == self.options.user.as_bytes();
        let session = self.sessions.get_mut(&number)?;
        session.console_random = asked.get(8..24)?.try_into().ok()?;
        session.identity = [&[*asked.get(24)?, *asked.get(27)?], name].concat();
        let mut answer = vec![*asked.first()?, 0, 0, 0];
        answer.extend(session.console.to_le_bytes());
        if !is_known {
            answer[1] = 0x0d;
            self.machine().failed_logins += 1;
            return Some(wire::plain(0x13, &answer));
        }
        let mut data = session.console.to_le_bytes().to_vec();
        data.extend(number.to_le_bytes());
        data.extend(session.console_random);
        data.extend(session.bmc_random);
        data.extend(GUID);
        data.extend(&session.identity);
        answer.extend(session.bmc_random);
        answer.extend(GUID);
        answer.extend(session.suite.mac(&password, &data));
        Some(wire::plain(0x13, &answer))
    }

    fn rakp3(&mut self, asked: &[u8]) -> Option<Vec<u8>> {
        let number = u32::from_le_bytes(asked.get(4..8)?.try_into().ok()?);
        let password = self.machine().password.clone();
        let session = self.sessions.get_mut(&number)?;
        let mut data = session.bmc_random.to_vec();
        data.extend(session.console.to_le_bytes());
        data.extend(&session.identity);
        let mut answer = vec![*asked.first()?, 0, 0, 0];
        answer.extend(session.console.to_le_bytes());
        if session.suite.mac(&password, &data) != asked.get(8..)? {
            answer[1] = 0x0f;
            self.sessions.remove(&number);
            self.machine().failed_logins += 1;
            return Some(wire::plain(0x15, &answer));
        }
        let mut data = session.console_random.to_vec();
        data.extend(session.bmc_random);
        data.extend(&session.identity);
        let key = session.suite.mac(&password, &data);
        let mut data = session.console_random.to_vec();
        data.extend(number.to_le_bytes());
        data.extend(GUID);
        let mut check = session.suite.mac(&key, &data);
        check.truncate(session.suite.tag_length());
        answer.extend(check);
        let second = session.suite.mac(&key, &[2; 20]);
        session.protection = Some(Protection {
            suite: session.suite,
            integrity: session.suite.mac(&key, &[1; 20]),
            secrecy: second.get(..16)?.try_into().ok()?,
            peer: session.console,
            sent: 0,
        });
        Some(wire::plain(0x15, &answer))
    }

    fn protected(&mut self, kind: u8, number: u32, payload: &[u8], signed: &[u8]) -> Vec<Vec<u8>> {
        let machine = self.machine.clone();
        let Some(session) = self.sessions.get_mut(&number) else { return Vec::new() };
        let Some(protection) = session.protection.as_mut() else { return Vec::new() };
        let Some(data) = protection.open(payload, signed) else { return Vec::new() };
        if kind == 1 {
            return console(session, &data);
        }
        let Some(asked) = wire::request(&data) else { return Vec::new() };
        let mut machine = machine.lock().unwrap_or_else(PoisonError::into_inner);
        machine.settle();
        let (done, code, data) = commands::answer(&mut machine, &self.options, &asked);
        let mut packets = vec![protection.seal(0, &wire::response(&asked, code, &data))];
        match done {
            Done::Nothing => {}
            Done::CloseSession => {
                self.sessions.remove(&number);
            }
            Done::OpenConsole => {
                session.console_open = true;
                session.console_sent = 1;
                packets.push(protection.seal(1, b"\x01\x00\x00\x00login: "));
            }
            Done::CloseConsole => session.console_open = false,
        }
        packets
    }
}

/// Acknowledges what is typed and prints it again.
fn console(session: &mut Session, packet: &[u8]) -> Vec<Vec<u8>> {
    let (Some(protection), Some((&[number, ..], typed))) =
        (session.protection.as_mut(), packet.split_first_chunk::<4>())
    else {
        return Vec::new();
    };
    if !session.console_open || number == 0 {
        return Vec::new();
    }
    let mut answer = vec![0, number, typed.len() as u8, 0];
    if number != session.console_received {
        session.console_received = number;
        session.console_sent = session.console_sent % 15 + 1;
        answer[0] = session.console_sent;
        answer.extend(typed);
    }
    vec![protection.seal(1, &answer)]
}

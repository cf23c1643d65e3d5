//! A session: requests are sent again until they are answered, answers are matched and authenticated.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::UdpSocket;
use tokio::time::{Instant, timeout_at};

use super::Options;
use super::cipher::{Keys, Suite};
use super::handshake::Handshake;
use super::message::{self, Command};
use super::packet::{self, Payload};
use crate::error::{Cause, Error, Result};
use crate::{Address, Random};

/// Larger than any packet of IPMI.
const PACKET: usize = 1024;
const ADMINISTRATOR: u8 = 4;

/// An open session.
pub struct Session {
    link: Link,
    console: u32,
    bmc: u32,
    keys: Keys,
    /// Of the last packet sent.
    sequence: u32,
    /// Of the last packet received.
    received: u32,
    /// Of the last request sent, modulo 64.
    request: u8,
    starts: Starts,
}

/// The socket, and how patient to be.
struct Link {
    address: Address,
    user: String,
    socket: Arc<UdpSocket>,
    timeout: Duration,
    tries: u32,
}

/// Initialization vectors: MACs of a counter, with a random key per session.
struct Starts {
    key: [u8; 16],
    counter: u64,
}

impl Session {
    /// Opens one with the first suite that the BMC has.
    pub async fn open(
        address: &Address,
        target: SocketAddr,
        options: &Options,
        random: &dyn Random,
    ) -> Result<Session> {
        let link = Link::connect(address, target, options).await?;
        for suite in &options.suites {
            if let Some(session) = Session::with_suite(&link, *suite, options, random).await? {
                let mut session = session;
                let raised =
                    session.request("log in", Command::SET_PRIVILEGE, &[ADMINISTRATOR], true).await?;
                if raised.first().is_none_or(|level| level & 0x0f != ADMINISTRATOR) {
                    return Err(link.failed("log in", Cause::Forbidden { user: link.user.clone() }));
                }
                return Ok(session);
            }
        }
        let what = "none of the cipher suites 17 and 3".to_owned();
        Err(link.failed("log in", Cause::Unsupported { what }).unsent())
    }

    /// `None` when the BMC lacks the suite.
    async fn with_suite(
        link: &Link,
        suite: Suite,
        options: &Options,
        random: &dyn Random,
    ) -> Result<Option<Session>> {
        let failed = |cause: Cause| link.failed("log in", cause);
        let mut handshake = Handshake::new(suite, &options.credentials, random);
        let (sent, awaited) = (Payload::OpenSessionRequest, Payload::OpenSessionResponse);
        // No password is involved yet.
        let answer = link.handshake(sent, awaited, |tag| handshake.open_request(tag)).await;
        let answer = answer.map_err(Error::unsent)?;
        if !handshake.opened(&answer).map_err(|cause| failed(cause).unsent())? {
            return Ok(None);
        }
        let answer = link.handshake(Payload::Rakp1, Payload::Rakp2, |tag| handshake.rakp1(tag)).await?;
        handshake.rakp2(&answer).map_err(failed)?;
        let answer = link.handshake(Payload::Rakp3, Payload::Rakp4, |tag| handshake.rakp3(tag)).await?;
        let keys = handshake.rakp4(&answer).map_err(failed)?;
        let mut key = [0; 16];
        random.fill(&mut key);
        Ok(Some(Session {
            link: link.clone(),
            console: handshake.console,
            bmc: handshake.bmc,
            keys,
            sequence: 0,
            received: 0,
            request: 0,
            starts: Starts { key, counter: 0 },
        }))
    }

    /// One request and the data of its response; a refusal is an error. A request that must not be seen twice is sent
    /// once.
    pub async fn request(
        &mut self,
        action: &str,
        command: Command,
        data: &[u8],
        may_repeat: bool,
    ) -> Result<Vec<u8>> {
        self.request = self.request.wrapping_add(1) & 0x3f;
        let number = self.request;
        let asked = message::request(command, number, data);
        let tries = if may_repeat { self.link.tries } else { 1 };
        let mut patience = self.link.timeout;
        for attempt in 1..=tries {
            self.send(action, Payload::Ipmi, &asked).await?;
            // A request that is not repeated is waited for as long as a repeated one.
            let wait = if may_repeat { patience } else { self.link.patience() };
            let end = Instant::now() + wait;
            while let Some((payload, answer)) = self.receive(action, end).await? {
                if payload != Payload::Ipmi {
                    continue;
                }
                match message::response(&answer, command, number) {
                    Some((0, data)) => return Ok(data.to_vec()),
                    // Busy: the request was not carried out.
                    Some((0xc0, _)) if attempt < tries => {
                        tokio::time::sleep_until(end).await;
                        break;
                    }
                    Some((code, _)) => {
                        return Err(self.link.failed(action, message::refusal(code, &self.link.user)));
                    }
                    None => {}
                }
            }
            patience *= 2;
        }
        Err(self.failed(action, Cause::TimedOut { after: self.link.patience() }))
    }

    /// Ends the session, without waiting for an answer.
    pub async fn close(mut self) {
        let asked = message::request(Command::CLOSE_SESSION, 0x3f, &self.bmc.to_le_bytes());
        let _ = self.send("log out", Payload::Ipmi, &asked).await;
    }

    pub(super) async fn send(&mut self, action: &str, payload: Payload, data: &[u8]) -> Result<()> {
        self.sequence = self.sequence.wrapping_add(1).max(1);
        let start = self.starts.next();
        let packet = packet::sealed(payload, data, self.bmc, self.sequence, &self.keys, start);
        self.link.send(action, &packet).await
    }

    /// The next authentic packet of this session; `None` at `end`.
    /// Packets that were seen before, or are older than one that was, are dropped.
    pub(super) async fn receive(&mut self, action: &str, end: Instant) -> Result<Option<(Payload, Vec<u8>)>> {
        loop {
            let Some(packet) = self.link.receive(action, end).await? else { return Ok(None) };
            let read = packet::read_sealed(&packet, self.console, &self.keys);
            if let Some((payload, sequence, data)) = read.filter(|(_, sequence, _)| *sequence > self.received)
            {
                self.received = sequence;
                return Ok(Some((payload, data)));
            }
        }
    }

    pub(super) fn failed(&self, action: &str, cause: Cause) -> Error {
        self.link.failed(action, cause)
    }

    pub(super) fn timeout(&self) -> Duration {
        self.link.timeout
    }
}

impl Clone for Link {
    fn clone(&self) -> Link {
        Link {
            address: self.address.clone(),
            user: self.user.clone(),
            socket: self.socket.clone(),
            timeout: self.timeout,
            tries: self.tries,
        }
    }
}

impl Link {
    async fn connect(address: &Address, target: SocketAddr, options: &Options) -> Result<Link> {
        let any: SocketAddr = match target.is_ipv4() {
            true => ([0, 0, 0, 0], 0).into(),
            false => ([0_u16; 8], 0).into(),
        };
        let failed = |error: std::io::Error| {
            Error::new(address, "open a socket", Cause::Unreachable { why: error.to_string() }).unsent()
        };
        let socket = UdpSocket::bind(any).await.map_err(failed)?;
        socket.connect(target).await.map_err(failed)?;
        Ok(Link {
            address: address.clone(),
            user: options.credentials.user.clone(),
            socket: Arc::new(socket),
            timeout: options.timeout,
            tries: options.tries.max(1),
        })
    }

    /// How long a request is waited for in total: doubled for each try.
    fn patience(&self) -> Duration {
        self.timeout * (2_u32.saturating_pow(self.tries.min(8)) - 1)
    }

    /// Sends a message of the handshake until its answer comes. Each try has a tag of its own, since a BMC may treat a
    /// repeated one as stale.
    async fn handshake(
        &self,
        sent: Payload,
        awaited: Payload,
        message: impl Fn(u8) -> Vec<u8>,
    ) -> Result<Vec<u8>> {
        let mut patience = self.timeout;
        for tag in (0_u8..).take(self.tries as usize) {
            self.send("log in", &packet::plain(sent, &message(tag))).await?;
            let end = Instant::now() + patience;
            while let Some(packet) = self.receive("log in", end).await? {
                match packet::read_plain(&packet) {
                    Some((payload, data)) if payload == awaited && data.first() == Some(&tag) => {
                        return Ok(data.to_vec());
                    }
                    _ => {}
                }
            }
            patience *= 2;
        }
        Err(self.failed("log in", Cause::TimedOut { after: self.patience() }))
    }

    async fn send(&self, action: &str, packet: &[u8]) -> Result<()> {
        let sent = self.socket.send(packet).await;
        sent.map(|_| ()).map_err(|error| self.failed(action, io(&error)))
    }

    async fn receive(&self, action: &str, end: Instant) -> Result<Option<Vec<u8>>> {
        let mut buffer = vec![0; PACKET];
        match timeout_at(end, self.socket.recv(&mut buffer)).await {
            Err(_) => Ok(None),
            Ok(Ok(length)) => {
                buffer.truncate(length);
                Ok(Some(buffer))
            }
            Ok(Err(error)) => Err(self.failed(action, io(&error))),
        }
    }

    fn failed(&self, action: &str, cause: Cause) -> Error {
        let is_refused = cause == Cause::Refused;
        let error = Error::new(&self.address, action, cause);
        if is_refused { error.unsent() } else { error }
    }
}

fn io(error: &std::io::Error) -> Cause {
    match error.kind() {
        // An ICMP message: nothing listens on the port.
        std::io::ErrorKind::ConnectionRefused => Cause::Refused,
        _ => Cause::Unreachable { why: error.to_string() },
    }
}

impl Starts {
    /// Unpredictable without the key: a MAC of a counter.
    fn next(&mut self) -> [u8; 16] {
        self.counter += 1;
        let mac = Suite::Sha256.hmac(&self.key, &[&self.counter.to_le_bytes()]);
        let mut start = [0; 16];
        start.copy_from_slice(mac.get(..16).expect("a MAC of SHA-256 has 32 bytes"));
        start
    }
}

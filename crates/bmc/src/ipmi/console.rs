//! The serial console: Serial over LAN (IPMI 2.0, section 15).

use std::collections::VecDeque;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::message::{self, Command};
use super::packet::Payload;
use super::session::Session;
use crate::error::{Cause, Result};

/// Payload type 1 (SOL), instance 1.
const SOL: [u8; 2] = [1, 1];
/// Encrypted and authenticated.
const PROTECTED: u8 = 0xc0;
/// How often an idle session is used, so that the BMC keeps it.
const KEEP_ALIVE: Duration = Duration::from_secs(20);
/// How long the task listens before it looks for input.
const LISTEN: Duration = Duration::from_millis(20);
const TRIES: u32 = 8;

const NACK: u8 = 0x40;
const DEACTIVATED: u8 = 0x10;

/// An open console. Dropping it ends the session.
pub struct Console {
    input: Option<mpsc::Sender<Vec<u8>>>,
    output: mpsc::Receiver<Vec<u8>>,
    serving: JoinHandle<Result<()>>,
}

impl Console {
    pub(super) async fn open(mut session: Session) -> Result<Console> {
        let action = "open the console";
        let request = [SOL[0], SOL[1], PROTECTED, 0, 0, 0];
        let answer = session.request(action, Command::ACTIVATE_PAYLOAD, &request, false).await;
        let answer = match answer {
            Err(error) if matches!(error.cause(), Cause::Refusal { code, .. } if code == "IPMI 0x80") => {
                let why = "another console is open".to_owned();
                let error = session.failed(action, Cause::Busy { why, retry_after: None });
                session.close().await;
                return Err(error);
            }
            answer => answer?,
        };
        let size = answer.get(4..6).map_or(0, |size| u16::from_le_bytes([size[0], size[1]]));
        // Four bytes are the header. A BMC that names no size takes at least these.
        let size = usize::from(size).saturating_sub(4).clamp(16, 200);
        let (input, typed) = mpsc::channel(64);
        let (printed, output) = mpsc::channel(256);
        let serving = tokio::spawn(Exchange::new(session, size, typed, printed).run());
        Ok(Console { input: Some(input), output, serving })
    }

    /// Types into the console. `false` when it has ended.
    pub async fn send(&self, bytes: &[u8]) -> bool {
        match &self.input {
            Some(input) => input.send(bytes.to_vec()).await.is_ok(),
            None => false,
        }
    }

    /// What the system printed next; `None` when the console has ended.
    pub async fn receive(&mut self) -> Option<Vec<u8>> {
        self.output.recv().await
    }

    /// Ends the console, and says how it ended.
    pub async fn close(mut self) -> Result<()> {
        self.input = None;
        self.output.close();
        // A task that was aborted or panicked has nothing to say.
        (&mut self.serving).await.unwrap_or(Ok(()))
    }
}

struct Exchange {
    session: Session,
    /// The most characters in one packet.
    size: usize,
    typed: mpsc::Receiver<Vec<u8>>,
    printed: mpsc::Sender<Vec<u8>>,
    waiting: VecDeque<u8>,
    unacknowledged: Option<Unacknowledged>,
    /// Sequence number of the last packet sent, and of the last received: 1 to 15.
    sent: u8,
    received: u8,
    used: Instant,
}

struct Unacknowledged {
    number: u8,
    data: Vec<u8>,
    resend_at: Instant,
    tries: u32,
}

impl Exchange {
    fn new(
        session: Session,
        size: usize,
        typed: mpsc::Receiver<Vec<u8>>,
        printed: mpsc::Sender<Vec<u8>>,
    ) -> Exchange {
        Exchange {
            session,
            size,
            typed,
            printed,
            waiting: VecDeque::new(),
            unacknowledged: None,
            sent: 0,
            received: 0,
            used: Instant::now(),
        }
    }

    async fn run(mut self) -> Result<()> {
        let ended = self.exchange().await;
        let mut request = SOL.to_vec();
        request.extend([0; 4]);
        let _ = self.session.request("close the console", Command::DEACTIVATE_PAYLOAD, &request, false).await;
        self.session.close().await;
        ended
    }

    async fn exchange(&mut self) -> Result<()> {
        loop {
            let is_closing = self.take_input();
            if is_closing && self.waiting.is_empty() && self.unacknowledged.is_none() {
                return Ok(());
            }
            self.send_input().await?;
            if self.used.elapsed() > KEEP_ALIVE {
                let asked = message::request(Command::GET_DEVICE_ID, 0x3e, &[]);
                self.session.send("console", Payload::Ipmi, &asked).await?;
                self.used = Instant::now();
            }
            let heard = self.session.receive("console", Instant::now() + LISTEN).await?;
            if let Some((Payload::SerialOverLan, packet)) = heard
                && !self.take_packet(&packet).await?
            {
                return Ok(());
            }
        }
    }

    /// `true` when there will be no more.
    fn take_input(&mut self) -> bool {
        loop {
            match self.typed.try_recv() {
                Ok(bytes) => self.waiting.extend(bytes),
                Err(mpsc::error::TryRecvError::Empty) => return false,
                Err(mpsc::error::TryRecvError::Disconnected) => return true,
            }
        }
    }

    /// One packet at a time, sent again until it is acknowledged.
    async fn send_input(&mut self) -> Result<()> {
        let now = Instant::now();
        if self.unacknowledged.is_none() && !self.waiting.is_empty() {
            let end = self.waiting.len().min(self.size);
            self.sent = self.sent % 15 + 1;
            let data = self.waiting.drain(..end).collect();
            self.unacknowledged = Some(Unacknowledged { number: self.sent, data, resend_at: now, tries: 0 });
        }
        let Some(packet) = self.unacknowledged.as_mut().filter(|packet| packet.resend_at <= now) else {
            return Ok(());
        };
        if packet.tries == TRIES {
            let after = self.session.timeout() * TRIES;
            return Err(self.session.failed("console", Cause::TimedOut { after }));
        }
        packet.tries += 1;
        packet.resend_at = now + self.session.timeout();
        let mut bytes = vec![packet.number, 0, 0, 0];
        bytes.extend_from_slice(&packet.data);
        self.used = now;
        self.session.send("console", Payload::SerialOverLan, &bytes).await
    }

    /// `false` when the BMC has ended the console, or nobody listens.
    async fn take_packet(&mut self, packet: &[u8]) -> Result<bool> {
        let Some((&[number, acknowledged, accepted, status], data)) = packet.split_first_chunk::<4>() else {
            return Ok(true);
        };
        if let Some(sent) = self.unacknowledged.take_if(|sent| sent.number == acknowledged & 0x0f) {
            let accepted = if status & NACK == 0 { sent.data.len() } else { usize::from(accepted) };
            let rest = sent.data.get(accepted..).unwrap_or_default();
            rest.iter().rev().for_each(|byte| self.waiting.push_front(*byte));
        }
        let number = number & 0x0f;
        if number != 0 {
            let is_new = number != self.received;
            self.received = number;
            // At most a packet's length, which fits.
            let acknowledgement = [0, number, data.len() as u8, 0];
            self.session.send("console", Payload::SerialOverLan, &acknowledgement).await?;
            if is_new
                && !data.is_empty()
                && self.printed.send(data.to_vec()).await.is_err()
                && self.typed.is_closed()
            {
                return Ok(false);
            }
        }
        Ok(status & DEACTIVATED == 0)
    }
}

//! Opening a session: open session request, and the four messages of RAKP (IPMI 2.0, sections 13.17 to 13.24).

use zeroize::Zeroizing;

use super::cipher::{Keys, Suite, equal};
use crate::Random;
use crate::credentials::Credentials;
use crate::error::Cause;

/// Administrator, and a lookup by name alone.
const ROLE: u8 = 0x14;
const ADMINISTRATOR: u8 = 4;

/// A handshake under way. The messages are built and read here; who sends them does not matter.
pub struct Handshake<'a> {
    suite: Suite,
    credentials: &'a Credentials,
    /// Number of the session at the console.
    pub console: u32,
    /// Number of the session at the BMC.
    pub bmc: u32,
    console_random: [u8; 16],
    bmc_random: [u8; 16],
    bmc_guid: [u8; 16],
}

impl<'a> Handshake<'a> {
    pub fn new(suite: Suite, credentials: &'a Credentials, random: &dyn Random) -> Handshake<'a> {
        let (mut console, mut console_random) = ([0; 4], [0; 16]);
        random.fill(&mut console);
        random.fill(&mut console_random);
        Handshake {
            suite,
            credentials,
            // Zero means "no session".
            console: u32::from_le_bytes(console).max(1),
            bmc: 0,
            console_random,
            bmc_random: [0; 16],
            bmc_guid: [0; 16],
        }
    }

    pub fn open_request(&self, tag: u8) -> Vec<u8> {
        let mut message = vec![tag, ADMINISTRATOR, 0, 0];
        message.extend(self.console.to_le_bytes());
        for (kind, algorithm) in (0_u8..).zip(self.suite.algorithms()) {
            message.extend([kind, 0, 0, 8, algorithm, 0, 0, 0]);
        }
        message
    }

    /// Takes the response; `Ok(false)` says that the BMC lacks the suite.
    pub fn opened(&mut self, message: &[u8]) -> Result<bool, Cause> {
        let status = message.get(1).copied().unwrap_or(0xff);
        match status {
            0 => {}
            // Invalid algorithms, no matching suite, or a role that this suite is not allowed for.
            0x03..=0x05 | 0x09 | 0x10..=0x11 => return Ok(false),
            other => return Err(status_cause(other, &self.credentials.user)),
        }
        let numbers = message.get(4..12).ok_or_else(|| short("the open session response"))?;
        let (console, bmc) = numbers.split_at(4);
        if console != self.console.to_le_bytes() {
            return Err(wrong("the open session response is for another session"));
        }
        self.bmc = u32::from_le_bytes(bmc.try_into().map_err(|_| short("the open session response"))?);
        Ok(true)
    }

    pub fn rakp1(&self, tag: u8) -> Vec<u8> {
        let mut message = vec![tag, 0, 0, 0];
        message.extend(self.bmc.to_le_bytes());
        message.extend(self.console_random);
        message.extend([ROLE, 0, 0]);
        message.extend(self.name());
        message
    }

    /// Takes RAKP message 2, which proves that the BMC knows the password.
    pub fn rakp2(&mut self, message: &[u8]) -> Result<(), Cause> {
        let status = message.get(1).copied().unwrap_or(0xff);
        if status != 0 {
            return Err(status_cause(status, &self.credentials.user));
        }
        let length = self.suite.code_length();
        let code = message.get(40..40 + length).ok_or_else(|| short("RAKP message 2"))?;
        if message.get(4..8) != Some(&self.console.to_le_bytes()) {
            return Err(wrong("RAKP message 2 is for another session"));
        }
        self.bmc_random.copy_from_slice(message.get(8..24).ok_or_else(|| short("RAKP message 2"))?);
        self.bmc_guid.copy_from_slice(message.get(24..40).ok_or_else(|| short("RAKP message 2"))?);
        let expected = self.suite.hmac(
            &self.password(),
            &[
                &self.console.to_le_bytes(),
                &self.bmc.to_le_bytes(),
                &self.console_random,
                &self.bmc_random,
                &self.bmc_guid,
                &[ROLE],
                &self.name(),
            ],
        );
        match equal(&expected, code) {
            true => Ok(()),
            false => Err(Cause::Unauthorized { user: self.credentials.user.clone() }),
        }
    }

    pub fn rakp3(&self, tag: u8) -> Vec<u8> {
        let mut message = vec![tag, 0, 0, 0];
        message.extend(self.bmc.to_le_bytes());
        let parts: [&[u8]; 4] = [&self.bmc_random, &self.console.to_le_bytes(), &[ROLE], &self.name()];
        message.extend_from_slice(&self.suite.hmac(&self.password(), &parts));
        message
    }

    /// Takes RAKP message 4 and gives the keys of the session.
    pub fn rakp4(&self, message: &[u8]) -> Result<Keys, Cause> {
        let status = message.get(1).copied().unwrap_or(0xff);
        if status != 0 {
            return Err(status_cause(status, &self.credentials.user));
        }
        let parts: [&[u8]; 4] = [&self.console_random, &self.bmc_random, &[ROLE], &self.name()];
        let session_key = self.suite.hmac(&self.password(), &parts);
        let parts: [&[u8]; 3] = [&self.console_random, &self.bmc.to_le_bytes(), &self.bmc_guid];
        let expected = self.suite.hmac(&session_key, &parts);
        let length = self.suite.integrity_length();
        let code = message.get(8..8 + length).ok_or_else(|| short("RAKP message 4"))?;
        match expected.get(..length).is_some_and(|expected| equal(expected, code)) {
            true => Ok(Keys::derive(self.suite, &session_key)),
            false => Err(wrong("RAKP message 4 has a wrong integrity check value")),
        }
    }

    /// Length of the name, and the name.
    fn name(&self) -> Vec<u8> {
        let name = self.credentials.user.as_bytes();
        // At most 16: checked when the driver was made.
        let mut field = vec![name.len() as u8];
        field.extend_from_slice(name);
        field
    }

    /// The password as the key of a user: 20 bytes.
    fn password(&self) -> Zeroizing<Vec<u8>> {
        let mut key = Zeroizing::new(self.credentials.password.reveal().as_bytes().to_vec());
        key.resize(20, 0);
        key
    }
}

/// Status codes of RMCP+ (IPMI 2.0, table 13-15).
fn status_cause(status: u8, user: &str) -> Cause {
    match status {
        0x01 => Cause::Busy { why: "no free session".to_owned(), retry_after: None },
        0x02 => wrong("the BMC does not know the session"),
        0x09 | 0x0a => Cause::Forbidden { user: user.to_owned() },
        // Unauthorized role, name or GUID; invalid integrity check value (RAKP message 3 was refused).
        0x0c..=0x0f => Cause::Unauthorized { user: user.to_owned() },
        other => {
            Cause::Refusal { code: format!("RMCP+ {other:#04x}"), why: "the session was refused".to_owned() }
        }
    }
}

fn short(what: &str) -> Cause {
    wrong(&format!("{what} is too short"))
}

fn wrong(why: &str) -> Cause {
    Cause::WrongShape { why: why.to_owned() }
}

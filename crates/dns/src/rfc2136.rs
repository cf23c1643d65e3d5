//! Dynamic updates (RFC 2136), signed with TSIG (RFC 8945), to the primary server of a zone.

mod exchange;
pub mod key;
mod update;

use std::net::IpAddr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hickory_proto::op::{Message, OpCode, Query, ResponseCode};
use hickory_proto::rr::rdata::tsig::TsigError;
use hickory_proto::rr::{RData, RecordType};

use self::exchange::exchange;
use self::key::TsigKey;
use self::update::{RecordSet, comparison, replacement};
use crate::error::Error;
use crate::name::DnsName;
use crate::provider::{Ensured, Later, Provider, within_zone};
use crate::records::Addresses;

/// The label of a name at which nothing is ever written: a change there shows whether changes are allowed.
const CHECK_LABEL: &str = "_groundplane-check";

/// How a zone is reached.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Host and port of the zone's primary server, such as `192.0.2.53:53` or `ns1.example.org:53`.
    pub server: String,
    /// The zone. Names outside of it are refused.
    pub zone: DnsName,
    /// The key that signs changes.
    pub key: TsigKey,
    /// Time to live of new records, in seconds.
    pub ttl: u32,
    /// Limit for one request and its answer.
    pub timeout: Duration,
}

impl Settings {
    /// With a time to live of 60 s and a limit of 5 s per request.
    pub fn new(server: impl Into<String>, zone: DnsName, key: TsigKey) -> Settings {
        Settings { server: server.into(), zone, key, ttl: 60, timeout: Duration::from_secs(5) }
    }
}

/// A zone on a server that takes signed updates. No zone transfer is needed.
pub struct Rfc2136 {
    settings: Settings,
    now: Box<dyn Fn() -> u64 + Send + Sync>,
}

impl Rfc2136 {
    /// A zone, signed with the time of this machine.
    pub fn new(settings: Settings) -> Rfc2136 {
        Rfc2136::with_clock(settings, || {
            SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
        })
    }

    /// A zone, signed with the time that `now` tells, in seconds since 1970.
    pub fn with_clock(settings: Settings, now: impl Fn() -> u64 + Send + Sync + 'static) -> Rfc2136 {
        Rfc2136 { settings, now: Box::new(now) }
    }

    async fn replace(&self, sets: &[RecordSet]) -> Result<Ensured, Error> {
        if self.has(sets).await? {
            return Ok(Ensured::Unchanged);
        }
        let mut differing = Vec::new();
        for set in sets {
            if !self.has(std::slice::from_ref(set)).await? {
                differing.push(set.clone());
            }
        }
        let message = replacement(&self.settings.zone, &differing, self.settings.ttl);
        match self.send(message).await? {
            ResponseCode::NoError => Ok(Ensured::Changed),
            code => Err(self.failed(code)),
        }
    }

    /// Whether the zone has exactly these sets.
    async fn has(&self, sets: &[RecordSet]) -> Result<bool, Error> {
        match self.send(comparison(&self.settings.zone, sets)).await? {
            ResponseCode::NoError => Ok(true),
            ResponseCode::NXRRSet | ResponseCode::YXRRSet | ResponseCode::NXDomain => Ok(false),
            code => Err(self.failed(code)),
        }
    }

    /// Sends a signed message. The code is returned only if the answer is signed by our key, too.
    async fn send(&self, mut message: Message) -> Result<ResponseCode, Error> {
        let signed_at = (self.now)();
        let verifier = message
            .finalize(&self.settings.key.signer()?, signed_at)
            .map_err(|error| Error::Message(error.to_string()))?;
        let (answer, bytes) = exchange(&self.settings.server, &message, self.settings.timeout).await?;
        if let Some(error) = self.signature_error(&answer, signed_at) {
            return Err(error);
        }
        if answer.signature().is_none() {
            // A server that does not serve the zone may answer before it looks at signatures; such an answer is only
            // ever a failure.
            return Err(match answer.response_code {
                ResponseCode::NoError
                | ResponseCode::NXRRSet
                | ResponseCode::YXRRSet
                | ResponseCode::NXDomain => self.untrusted("it is not signed"),
                code => self.failed(code),
            });
        }
        let mut verifier = verifier.ok_or_else(|| self.untrusted("the request was not signed"))?;
        verifier.verify(&bytes).map_err(|_| self.untrusted("its signature is wrong"))?;
        Ok(answer.response_code)
    }

    /// What the server says of our signature, if it did not accept it.
    fn signature_error(&self, answer: &Message, signed_at: u64) -> Option<Error> {
        let tsig = &answer.signature()?.data;
        let server = self.settings.server.clone();
        let key = self.settings.key.name().clone();
        Some(match tsig.error.as_ref()? {
            TsigError::BadKey => {
                Error::KeyNotAccepted { server, key, reason: "it knows no such key (BADKEY)" }
            }
            TsigError::BadTime => {
                let difference =
                    seconds(&tsig.other).map(|theirs| theirs.cast_signed() - signed_at.cast_signed());
                Error::ClockSkew { server, difference }
            }
            _ => Error::KeyNotAccepted { server, key, reason: "its secret or algorithm is another (BADSIG)" },
        })
    }

    fn failed(&self, code: ResponseCode) -> Error {
        let (server, zone) = (self.settings.server.clone(), self.settings.zone.clone());
        match code {
            ResponseCode::Refused => Error::Refused { server, zone },
            ResponseCode::NotAuth | ResponseCode::NotZone => Error::NotAuthoritative { server, zone },
            code => Error::Failed { server, code: format!("{code:?}").to_uppercase() },
        }
    }

    fn untrusted(&self, reason: &str) -> Error {
        Error::Untrusted { server: self.settings.server.clone(), reason: reason.to_owned() }
    }

    /// Asks the server as a resolver would.
    async fn query(&self, name: &DnsName, kind: RecordType) -> Result<Message, Error> {
        let mut message = Message::query();
        message.metadata.op_code = OpCode::Query;
        message.metadata.recursion_desired = false;
        message.add_query(Query::query(name.as_wire().clone(), kind));
        let (answer, _) = exchange(&self.settings.server, &message, self.settings.timeout).await?;
        match answer.response_code {
            ResponseCode::NoError | ResponseCode::NXDomain if answer.authoritative => Ok(answer),
            ResponseCode::NoError | ResponseCode::NXDomain | ResponseCode::Refused => {
                Err(self.failed(ResponseCode::NotAuth))
            }
            code => Err(self.failed(code)),
        }
    }
}

impl Provider for Rfc2136 {
    fn ensure<'a>(&'a self, wanted: &'a [Addresses]) -> Later<'a, Ensured> {
        Box::pin(async move {
            within_zone(&self.settings.zone, wanted.iter().map(|wanted| &wanted.name))?;
            let sets: Vec<RecordSet> = wanted.iter().flat_map(RecordSet::of).collect();
            self.replace(&sets).await
        })
    }

    fn remove<'a>(&'a self, names: &'a [DnsName]) -> Later<'a, Ensured> {
        Box::pin(async move {
            within_zone(&self.settings.zone, names)?;
            let sets: Vec<RecordSet> = names.iter().flat_map(RecordSet::none_of).collect();
            self.replace(&sets).await
        })
    }

    fn lookup<'a>(&'a self, name: &'a DnsName) -> Later<'a, Addresses> {
        Box::pin(async move {
            within_zone(&self.settings.zone, [name])?;
            let mut found = Addresses::new(name.clone(), []);
            for kind in [RecordType::A, RecordType::AAAA] {
                let answer = self.query(name, kind).await?;
                found.addresses.extend(answer.answers.iter().filter_map(|record| match &record.data {
                    RData::A(address) => Some(IpAddr::V4(address.0)),
                    RData::AAAA(address) => Some(IpAddr::V6(address.0)),
                    _ => None,
                }));
            }
            Ok(found)
        })
    }

    fn check(&self) -> Later<'_, ()> {
        Box::pin(async move {
            let zone = &self.settings.zone;
            let soa = self.query(zone, RecordType::SOA).await?;
            if !soa.answers.iter().any(|record| record.record_type() == RecordType::SOA) {
                return Err(self.failed(ResponseCode::NotAuth));
            }
            let name = zone.prepend(CHECK_LABEL).map_err(|invalid| Error::Message(invalid.to_string()))?;
            match self.send(replacement(zone, &[RecordSet::probe(name)], self.settings.ttl)).await? {
                ResponseCode::NoError => Ok(()),
                code => Err(self.failed(code)),
            }
        })
    }
}

/// The server's time, as an answer with BADTIME carries it: 48 bits.
fn seconds(other: &[u8]) -> Option<u64> {
    let bytes: [u8; 6] = other.try_into().ok()?;
    Some(bytes.iter().fold(0, |sum, byte| (sum << 8) | u64::from(*byte)))
}

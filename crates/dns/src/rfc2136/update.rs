//! UPDATE messages: what must hold in a zone, and what is to change.

use hickory_proto::op::{Message, OpCode, Query, UpdateMessage};
use hickory_proto::rr::rdata::{A, AAAA};
use hickory_proto::rr::{DNSClass, RData, Record, RecordType};

use crate::name::DnsName;
use crate::records::Addresses;

/// The records of one name and one type.
#[derive(Clone, Debug)]
pub(super) struct RecordSet {
    name: DnsName,
    kind: RecordType,
    values: Vec<RData>,
}

impl RecordSet {
    /// Both address types of a name: an absent one must be absent in the zone too.
    pub fn of(wanted: &Addresses) -> [RecordSet; 2] {
        let v4 = wanted.v4().map(|address| RData::A(A(address))).collect();
        let v6 = wanted.v6().map(|address| RData::AAAA(AAAA(address))).collect();
        [
            RecordSet { name: wanted.name.clone(), kind: RecordType::A, values: v4 },
            RecordSet { name: wanted.name.clone(), kind: RecordType::AAAA, values: v6 },
        ]
    }

    /// No addresses of either type.
    pub fn none_of(name: &DnsName) -> [RecordSet; 2] {
        RecordSet::of(&Addresses::new(name.clone(), []))
    }

    /// A set that changes nothing and still takes the right to change the zone.
    pub fn probe(name: DnsName) -> RecordSet {
        RecordSet { name, kind: RecordType::TXT, values: Vec::new() }
    }
}

/// Asks whether the zone has exactly these sets, whatever their time to live, and changes nothing.
///
/// A query would be answered from a wildcard of the zone where a set does not exist; prerequisites look at the zone
/// itself (RFC 2136 section 2.4), and their answer is signed.
pub(super) fn comparison(zone: &DnsName, sets: &[RecordSet]) -> Message {
    let mut message = update(zone);
    for set in sets {
        if set.values.is_empty() {
            let mut absent = Record::update0(set.name.as_wire().clone(), 0, set.kind);
            absent.dns_class = DNSClass::NONE;
            message.add_pre_requisite(absent);
        }
        for value in &set.values {
            message.add_pre_requisite(Record::from_rdata(set.name.as_wire().clone(), 0, value.clone()));
        }
    }
    message
}

/// Replaces these sets, all in one transaction of the server.
pub(super) fn replacement(zone: &DnsName, sets: &[RecordSet], ttl: u32) -> Message {
    let mut message = update(zone);
    for set in sets {
        let mut removed = Record::update0(set.name.as_wire().clone(), 0, set.kind);
        removed.dns_class = DNSClass::ANY;
        message.add_update(removed);
        for value in &set.values {
            message.add_update(Record::from_rdata(set.name.as_wire().clone(), ttl, value.clone()));
        }
    }
    message
}

fn update(zone: &DnsName) -> Message {
    let mut message = Message::query();
    message.metadata.op_code = OpCode::Update;
    message.metadata.recursion_desired = false;
    let mut query = Query::new();
    query.set_name(zone.as_wire().clone()).set_query_class(DNSClass::IN).set_query_type(RecordType::SOA);
    message.add_zone(query);
    message
}

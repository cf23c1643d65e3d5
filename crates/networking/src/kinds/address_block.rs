//! AddressBlock: a page of the allocator, which divides a prefix of a network into 256 slots.

use krm::kind::{Bucket, Declaration, History, Metadata, Planes, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::prefix::Prefix;
use crate::references::NetworkReference;
use crate::slots::Slots;

/// The bucket of the blocks with a free run of slots, by the network's uid, family, depth and order of the largest run.
pub const OPEN: Bucket = Bucket::new("networking.datumapis.com/open-address-blocks");

/// A page of the allocator: a prefix of a network, divided into slots of which subnets and smaller blocks take runs.
/// Written with the SubnetClaims that take and release addresses.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct AddressBlock {
    /// Standard object metadata. The name is made of the uid of the network and the prefix.
    pub metadata: Metadata,
    /// What is divided. Immutable.
    pub spec: AddressBlockSpec,
    /// What is taken of it.
    pub status: AddressBlockStatus,
}

/// What a block divides.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AddressBlockSpec {
    /// Network, in the same namespace.
    pub network: NetworkReference,
    /// Uid of the network.
    #[schemars(length(min = 1, max = 36))]
    pub network_uid: String,
    /// Prefix in CIDR notation.
    #[schemars(length(min = 1, max = 43))]
    pub prefix: String,
    /// Number of blocks that it lies within.
    #[schemars(range(max = 16))]
    pub depth: u8,
}

/// What is taken of a block.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct AddressBlockStatus {
    /// A bit for each of the 256 slots, as hexadecimal digits; set when the slot is taken or beyond the end of the prefix.
    #[schemars(length(min = 64, max = 64))]
    pub taken: String,
}

impl Resource for AddressBlock {
    const GROUP: &'static str = crate::GROUP;
    const VERSION: &'static str = crate::VERSION;
    const KIND: &'static str = "AddressBlock";
    const PLURAL: &'static str = "addressblocks";

    fn declare() -> Declaration<AddressBlock> {
        Declaration::namespaced()
            .planes(Planes::Project)
            .verbs(&["get", "list", "watch"])
            .history(History::None)
            // Whatever is taken and freed counts as a change of the whole block, so that claims that wait notice it.
            .no_generations()
            .prints("Network", "string", ".spec.network.name")
            .prints("Prefix", "string", ".spec.prefix")
            .prints_age()
            .bucket(OPEN, |block: &AddressBlock| block.open_under().into_iter().collect())
    }
}

impl AddressBlock {
    /// Its prefix.
    pub fn prefix(&self) -> Option<Prefix> {
        Prefix::parse(&self.spec.prefix)
    }

    /// Its slots.
    pub fn slots(&self) -> Option<Slots> {
        Slots::parse(&self.status.taken)
    }

    /// Where it is found while it has room.
    fn open_under(&self) -> Option<String> {
        let (prefix, largest) = (self.prefix()?, self.slots()?.largest()?);
        Some(open_at(&self.spec.network_uid, &prefix, self.spec.depth, largest))
    }
}

/// Where blocks of a network are found that have room for a run of at most this order.
pub fn open_at(network_uid: &str, range: &Prefix, depth: u8, order: u8) -> String {
    format!("{network_uid}/{}/{depth}/{order}", range.family().as_str())
}

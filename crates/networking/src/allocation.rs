//! Allocation: which prefix of a network a claim gets, as a tree of blocks with 256 slots each.
//!
//! A block divides its prefix by 8 more bits. A claim takes an aligned run of slots of one block, whose size is next to
//! its own. When no block of that depth has room, a new one takes one slot of the depth above. So a claim reads and writes
//! one block, and seldom one more for each depth, however many subnets the network has. What is read guards the commit:
//! no two claims take the same slot.

use std::fmt;
use std::net::IpAddr;

use krm::kind::{Effect, Metadata, Resource, View};

use crate::kinds::address_block::{AddressBlock, AddressBlockSpec, AddressBlockStatus, OPEN, open_at};
use crate::kinds::network::Network;
use crate::prefix::{IpFamily, Prefix};
use crate::references::NetworkReference;
use crate::slots::{BITS, Run, Slots};

/// Open blocks that are tried before another is begun: what is found by the index nearly always has room.
const TRIED: usize = 4;

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// Address family.
    pub family: IpFamily,
    /// Length of the prefix in bits.
    pub length: u8,
    /// First address; any that is free if not given.
    pub address: Option<IpAddr>,
}

/// Why nothing was allocated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unallocated {
    /// The context does not exist.
    NoContext(String),
    /// The context is at another location.
    OtherLocation(String, String),
    /// The network does not exist.
    NoNetwork(String),
    /// The network has no range of the family.
    NoRange(String, IpFamily),
    /// The prefix does not lie within the range of the network.
    OutOfRange(String, Prefix),
    /// Somebody else has an address of the prefix.
    Occupied(Prefix),
    /// No free prefix of this length is left in the range.
    Exhausted(Prefix, u8),
}

impl Unallocated {
    /// Reason of a condition.
    pub fn reason(&self) -> &'static str {
        match self {
            Unallocated::NoContext(_) => "NetworkContextNotFound",
            Unallocated::OtherLocation(..) => "LocationMismatch",
            Unallocated::NoNetwork(_) => "NetworkNotFound",
            Unallocated::NoRange(..) | Unallocated::OutOfRange(..) => "RangeUnsupported",
            Unallocated::Occupied(_) => "RangeOccupied",
            Unallocated::Exhausted(..) => "RangeExhausted",
        }
    }
}

impl fmt::Display for Unallocated {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unallocated::NoContext(name) => write!(out, "NetworkContext {name} not found"),
            Unallocated::OtherLocation(context, location) => {
                write!(out, "NetworkContext {context} is at the location {location}")
            }
            Unallocated::NoNetwork(name) => write!(out, "Network {name} not found"),
            Unallocated::NoRange(network, family) => {
                write!(out, "Network {network} has no {} range", family.as_str())
            }
            Unallocated::OutOfRange(network, prefix) => {
                write!(out, "{prefix} does not lie within the range of Network {network}")
            }
            Unallocated::Occupied(prefix) => {
                write!(out, "addresses of {prefix} are allocated; the claim waits until they are released")
            }
            Unallocated::Exhausted(range, length) => {
                write!(
                    out,
                    "no prefix of {length} bits is free in {range}; the claim waits until one is released"
                )
            }
        }
    }
}

/// Chooses a free prefix; the prefix, and the writes that take it.
pub fn allocate(
    network: &Network,
    request: Request,
    view: &mut View<'_>,
) -> Result<(Prefix, Vec<Effect>), Unallocated> {
    let name = &network.metadata.name;
    let range =
        network.range(request.family).ok_or_else(|| Unallocated::NoRange(name.clone(), request.family))?;
    let mut tree = Tree { network, range, view, effects: Vec::new() };
    let prefix = match request.address {
        None => {
            let free = tree.any(request.length).ok_or(Unallocated::Exhausted(range, request.length));
            free?
        }
        Some(address) => {
            let out_of_range = |prefix| Unallocated::OutOfRange(name.clone(), prefix);
            let wanted = Prefix::new(address, request.length).ok_or_else(|| out_of_range(range))?;
            if !range.contains(&wanted) {
                return Err(out_of_range(wanted));
            }
            tree.exactly(wanted).ok_or(Unallocated::Occupied(wanted))?
        }
    };
    Ok((prefix, tree.effects))
}

/// The writes that give a prefix back.
pub fn release(network: &Network, prefix: Prefix, view: &mut View<'_>) -> Vec<Effect> {
    let Some(range) = network.range(prefix.family()).filter(|range| range.contains(&prefix)) else {
        return Vec::new();
    };
    let mut tree = Tree { network, range, view, effects: Vec::new() };
    tree.release(prefix);
    tree.effects
}

/// The blocks of one range of a network.
struct Tree<'a, 'v> {
    network: &'a Network,
    range: Prefix,
    view: &'a mut View<'v>,
    effects: Vec<Effect>,
}

impl Tree<'_, '_> {
    /// Takes any free prefix of this length.
    fn any(&mut self, length: u8) -> Option<Prefix> {
        let (depth, order) = self.depth_and_order(length)?;
        for space in order..=BITS {
            let open = open_at(&self.network.metadata.uid, &self.range, depth, space);
            // The first of those that fit is taken, so that the range fills from its beginning.
            for at in self.view.reader().members(OPEN, &open, None, TRIED) {
                let Some(block) = self.view.take::<AddressBlock>(&at) else { continue };
                if let Some(run) = block.slots().and_then(|slots| slots.find(order)) {
                    return self.take_run(block, run, depth);
                }
            }
        }
        let block = match depth {
            0 if self.block(self.range).is_some() => return self.none_is_open(depth, order),
            0 => self.range,
            _ => match self.any(self.length_at(depth)) {
                Some(prefix) => prefix,
                None => return self.none_is_open(depth, order),
            },
        };
        self.begin(block, depth, |slots| slots.find(order))
    }

    /// That no block has room decides it: a block that gets some before the commit changes the decision.
    fn none_is_open(&mut self, depth: u8, order: u8) -> Option<Prefix> {
        for space in order..=BITS {
            self.view.bucket(OPEN, &open_at(&self.network.metadata.uid, &self.range, depth, space));
        }
        None
    }

    /// Takes one prefix, if all of it is free.
    fn exactly(&mut self, wanted: Prefix) -> Option<Prefix> {
        let (depth, _) = self.depth_and_order(wanted.length())?;
        let within = wanted.widened(self.length_at(depth))?;
        let run = self.run_of(within, wanted, depth)?;
        match self.block(within) {
            Some(block) => {
                let is_free = block.slots()?.is_free(run);
                is_free.then(|| self.take_run(block, run, depth)).flatten()
            }
            None => {
                if depth > 0 {
                    self.exactly(within)?;
                }
                self.begin(within, depth, |slots| slots.is_free(run).then_some(run))
            }
        }
    }

    /// Frees a prefix. A block of which nothing is taken any more goes, and gives its own prefix back.
    fn release(&mut self, prefix: Prefix) {
        let Some((depth, _)) = self.depth_and_order(prefix.length()) else { return };
        let Some(within) = prefix.widened(self.length_at(depth)) else { return };
        let (Some(run), Some(mut block)) = (self.run_of(within, prefix, depth), self.block(within)) else {
            return;
        };
        let Some(mut slots) = block.slots() else { return };
        slots.free(run);
        if slots != self.blank(depth) {
            block.status.taken = slots.text();
            self.effects.push(Effect::status(&block));
            return;
        }
        self.effects
            .push(Effect::delete(AddressBlock::address(&block.metadata.namespace, &block.metadata.name)));
        if depth > 0 {
            self.release(within);
        }
    }

    fn take_run(&mut self, mut block: AddressBlock, run: Run, depth: u8) -> Option<Prefix> {
        let within = block.prefix()?;
        let mut slots = block.slots()?;
        slots.take(run);
        block.status.taken = slots.text();
        self.effects.push(Effect::status(&block));
        self.prefix_of(within, run, depth)
    }

    /// Makes a block, and takes a run of it.
    fn begin(&mut self, within: Prefix, depth: u8, choose: impl Fn(&Slots) -> Option<Run>) -> Option<Prefix> {
        let mut slots = self.blank(depth);
        let run = choose(&slots)?;
        slots.take(run);
        let metadata = Metadata {
            name: self.name_of(within),
            namespace: self.network.metadata.namespace.clone(),
            ..Metadata::default()
        };
        let network = NetworkReference { name: self.network.metadata.name.clone(), namespace: None };
        let network_uid = self.network.metadata.uid.clone();
        let spec = AddressBlockSpec { network, network_uid, prefix: within.to_string(), depth };
        let block = AddressBlock { metadata, spec, status: AddressBlockStatus { taken: slots.text() } };
        self.effects.push(Effect::create(&block));
        self.prefix_of(within, run, depth)
    }

    fn block(&mut self, prefix: Prefix) -> Option<AddressBlock> {
        let name = self.name_of(prefix);
        self.view.get_in(&self.network.metadata.namespace, &name)
    }

    /// The uid keeps the blocks of an earlier network of the same name apart.
    fn name_of(&self, prefix: Prefix) -> String {
        format!("{}-{}-{}", self.network.metadata.uid, prefix.digits(), prefix.length())
    }

    /// How deep prefixes of this length are allocated, and how many slots each takes, as a power of two.
    fn depth_and_order(&self, length: u8) -> Option<(u8, u8)> {
        let below = length.checked_sub(self.range.length())?;
        let depth = below.saturating_sub(1) / BITS;
        Some((depth, self.slot_length(depth).checked_sub(length)?))
    }

    /// Length of the prefixes of blocks.
    fn length_at(&self, depth: u8) -> u8 {
        self.range.length() + BITS * depth
    }

    /// Length of the prefix of a slot.
    fn slot_length(&self, depth: u8) -> u8 {
        self.length_at(depth + 1).min(self.range.family().width())
    }

    /// The slots of a new block: those beyond its end are taken.
    fn blank(&self, depth: u8) -> Slots {
        let mut slots = Slots::default();
        let bits = self.slot_length(depth) - self.length_at(depth);
        for order in bits..BITS {
            slots.take(Run { start: 1 << order, order });
        }
        slots
    }

    fn run_of(&self, within: Prefix, prefix: Prefix, depth: u8) -> Option<Run> {
        let slot = within.number_of(&prefix, self.slot_length(depth))?;
        Some(Run {
            start: u8::try_from(slot).ok()?,
            order: self.slot_length(depth).checked_sub(prefix.length())?,
        })
    }

    fn prefix_of(&self, within: Prefix, run: Run, depth: u8) -> Option<Prefix> {
        let slot = within.part(self.slot_length(depth), u128::from(run.start))?;
        slot.widened(self.slot_length(depth) - run.order)
    }
}

#[cfg(test)]
mod tests;

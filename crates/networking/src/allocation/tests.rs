//! The allocator on a map of blocks: nothing overlaps, everything comes back.

use std::collections::BTreeMap;
use std::sync::Arc;

use krm::Object;
use krm::kind::{Address, Bucket, EffectWrite, Project, Reader, Resource};
use proptest::prelude::*;
use serde_json::json;

use super::*;

/// Blocks in memory, without guards.
#[derive(Default)]
struct Blocks(BTreeMap<Address, Arc<Object>>);

impl Reader for Blocks {
    fn get(&mut self, at: &Address) -> Option<Arc<Object>> {
        self.0.get(at).cloned()
    }

    fn exists(&mut self, at: &Address) -> bool {
        self.0.contains_key(at)
    }

    fn bucket(&mut self, bucket: Bucket, value: &str) -> Vec<Arc<Object>> {
        let members = self.members(bucket, value, None, usize::MAX);
        members.iter().map(|at| self.0[at].clone()).collect()
    }

    fn somewhere(&mut self, bucket: Bucket, value: &str, _: u64) -> Option<Address> {
        self.members(bucket, value, None, 1).pop()
    }

    fn members(&mut self, bucket: Bucket, value: &str, after: Option<&Address>, most: usize) -> Vec<Address> {
        let kind = AddressBlock::kind();
        let (_, values) = kind.buckets.iter().find(|(name, _)| *name == bucket).unwrap();
        let is_in =
            |(_, object): &(&Address, &Arc<Object>)| values(object).iter().any(|found| found == value);
        let is_after = |at: &Address| after.is_none_or(|after| at > after);
        self.0.iter().filter(is_in).map(|(at, _)| at.clone()).filter(is_after).take(most).collect()
    }

    fn peek(&mut self, at: &Address) -> Option<Arc<Object>> {
        self.get(at)
    }

    fn root(&mut self) -> Box<dyn Reader + '_> {
        Box::new(self)
    }

    fn project(&self) -> Option<Project> {
        None
    }
}

impl Blocks {
    fn allocate(&mut self, network: &Network, request: Request) -> Result<Prefix, Unallocated> {
        let (prefix, effects) = allocate(network, request, &mut View::new(self))?;
        self.land(effects);
        Ok(prefix)
    }

    fn release(&mut self, network: &Network, prefix: Prefix) {
        let effects = release(network, prefix, &mut View::new(self));
        self.land(effects);
    }

    fn land(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect.write {
                EffectWrite::Create(object) => {
                    let at = AddressBlock::address(object.namespace(), object.name());
                    assert!(self.0.insert(at, Arc::new(object)).is_none(), "a block is made once");
                }
                EffectWrite::Delete(at) => assert!(self.0.remove(&at).is_some()),
                EffectWrite::Status(at, status) => {
                    let block = self.0.get_mut(&at).unwrap();
                    Arc::make_mut(block).set("status", Some(status));
                }
                other => panic!("{other:?}"),
            }
        }
    }
}

fn network(ipv4: &str, ipv6: &str) -> Network {
    let network = json!({
        "metadata": {"name": "net", "namespace": "default", "uid": "11111111-2222-3333-4444-555555555555"},
        "spec": {"ipam": {"mode": "Policy", "ipv4Range": ipv4, "ipv6Range": ipv6}, "ipFamilies": ["IPv4", "IPv6"], "mtu": 1460},
    });
    serde_json::from_value(network).unwrap()
}

fn some(family: IpFamily, length: u8) -> Request {
    Request { family, length, address: None }
}

fn exactly(text: &str) -> Request {
    let prefix = Prefix::parse(text).unwrap();
    Request { family: prefix.family(), length: prefix.length(), address: Some(prefix.address()) }
}

#[test]
fn prefixes_are_given_out_from_the_beginning_of_the_range() {
    let (network, mut blocks) = (network("10.128.0.0/9", "fd20:1::/48"), Blocks::default());
    let next = |blocks: &mut Blocks, request| blocks.allocate(&network, request).unwrap().to_string();
    assert_eq!(next(&mut blocks, some(IpFamily::IPv4, 20)), "10.128.0.0/20");
    assert_eq!(next(&mut blocks, some(IpFamily::IPv4, 20)), "10.128.16.0/20");
    assert_eq!(next(&mut blocks, some(IpFamily::IPv4, 17)), "10.128.128.0/17");
    assert_eq!(next(&mut blocks, some(IpFamily::IPv4, 32)), "10.128.32.0/32");
    assert_eq!(next(&mut blocks, some(IpFamily::IPv6, 64)), "fd20:1::/64");
    assert_eq!(next(&mut blocks, some(IpFamily::IPv6, 64)), "fd20:1:0:1::/64");
    assert_eq!(next(&mut blocks, some(IpFamily::IPv6, 128)), "fd20:1:0:2::/128");
}

#[test]
fn a_whole_range_is_used_to_the_last_address_and_comes_back() {
    let (network, mut blocks) = (network("10.0.0.0/22", "fd20:1::/48"), Blocks::default());
    let mut held = Vec::new();
    while let Ok(prefix) = blocks.allocate(&network, some(IpFamily::IPv4, 30)) {
        held.push(prefix);
    }
    assert_eq!(held.len(), 256);
    let full = blocks.allocate(&network, some(IpFamily::IPv4, 32)).unwrap_err();
    assert_eq!(full.reason(), "RangeExhausted");
    held.iter().for_each(|prefix| blocks.release(&network, *prefix));
    assert!(blocks.0.is_empty(), "no block is left: {:?}", blocks.0.keys());
    assert_eq!(blocks.allocate(&network, some(IpFamily::IPv4, 22)).unwrap().to_string(), "10.0.0.0/22");
}

#[test]
fn a_certain_prefix_is_had_once() {
    let (network, mut blocks) = (network("10.0.0.0/8", "fd20:1::/48"), Blocks::default());
    let refused = |blocks: &mut Blocks, text| blocks.allocate(&network, exactly(text)).unwrap_err().reason();
    assert_eq!(blocks.allocate(&network, exactly("10.7.0.0/24")).unwrap().to_string(), "10.7.0.0/24");
    assert_eq!(refused(&mut blocks, "10.7.0.0/24"), "RangeOccupied");
    assert_eq!(refused(&mut blocks, "10.7.0.0/16"), "RangeOccupied", "the larger one around it");
    assert_eq!(refused(&mut blocks, "10.7.0.8/29"), "RangeOccupied", "the smaller one within it");
    assert_eq!(refused(&mut blocks, "11.0.0.0/24"), "RangeUnsupported");
    assert_eq!(blocks.allocate(&network, exactly("10.7.1.0/24")).unwrap().to_string(), "10.7.1.0/24");
    blocks.release(&network, Prefix::parse("10.7.0.0/24").unwrap());
    blocks.release(&network, Prefix::parse("10.7.1.0/24").unwrap());
    assert_eq!(blocks.allocate(&network, exactly("10.7.0.0/16")).unwrap().to_string(), "10.7.0.0/16");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_is_claimed_and_released_nothing_overlaps_and_all_of_it_comes_back(
        steps in prop::collection::vec((any_family(), 0u8..=12, 0u8..=3, any::<prop::sample::Index>()), 1..120),
    ) {
        let (network, mut blocks) = (network("10.0.0.0/20", "fd20:1::/116"), Blocks::default());
        let mut held: Vec<Prefix> = Vec::new();
        for (family, size, step, which) in steps {
            if step == 0 && !held.is_empty() {
                blocks.release(&network, held.remove(which.index(held.len())));
                continue;
            }
            let range = network.range(family).unwrap();
            let length = range.length() + size;
            let request = match step {
                1 => exactly(&range.part(length, which.index(1 << size) as u128).unwrap().to_string()),
                _ => some(family, length),
            };
            match blocks.allocate(&network, request) {
                Ok(prefix) => {
                    prop_assert!(range.contains(&prefix) && prefix.length() == length);
                    prop_assert!(held.iter().all(|other| !other.overlaps(&prefix)), "{prefix} of {held:?}");
                    held.push(prefix);
                }
                Err(Unallocated::Occupied(prefix)) => {
                    prop_assert!(held.iter().any(|other| other.overlaps(&prefix)), "{prefix} of {held:?}");
                }
                Err(why) => prop_assert_eq!(why.reason(), "RangeExhausted"),
            }
        }
        held.into_iter().for_each(|prefix| blocks.release(&network, prefix));
        prop_assert!(blocks.0.is_empty());
    }
}

fn any_family() -> impl Strategy<Value = IpFamily> {
    prop_oneof![Just(IpFamily::IPv4), Just(IpFamily::IPv6)]
}

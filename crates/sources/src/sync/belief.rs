//! Whether a list is believed.

use ring::digest::{SHA256, digest};

use super::{Listing, Policy};
use crate::kinds::source::Doubts;

/// A reason not to believe a list, with the hosts that it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doubt {
    /// What is wrong, as a phrase with `{n}` for the number of hosts and `{all}` for that of all hosts.
    pub what: &'static str,
    /// The hosts.
    pub hosts: Vec<String>,
}

/// What a list says of the hosts that its source owns.
#[derive(Debug, Default)]
pub(super) struct Signs {
    /// Hosts that the source owns and that were not lost for long already.
    pub owned: usize,
    /// Those that the list lacks, now or since less than a day.
    pub lost: Vec<String>,
    /// Those with another name.
    pub renamed: Vec<String>,
    /// Those with another class.
    pub reclassed: Vec<String>,
    /// Those that are another machine.
    pub replaced: Vec<String>,
    /// Those that are the machine that another host of the source was.
    pub swapped: Vec<String>,
}

impl Signs {
    /// Why the list is not believed.
    pub fn doubts(&self, policy: &Policy, listing: &Listing) -> Vec<Doubt> {
        let mut doubts = Vec::new();
        let mut doubt = |is_doubted: bool, what: &'static str, hosts: &[String]| {
            if is_doubted {
                doubts.push(Doubt { what, hosts: hosts.to_vec() });
            }
        };
        let limit = policy.limit(self.owned);
        if listing.is_complete {
            let is_empty = listing.hosts.is_empty() && listing.unreadable.is_empty() && !self.lost.is_empty();
            doubt(is_empty, "the list is empty, and {n} of {all} hosts would be missing", &self.lost);
            let is_lost = !is_empty && self.lost.len() > limit;
            doubt(is_lost, "{n} of {all} hosts are missing", &self.lost);
            doubt(self.renamed.len() > limit, "{n} of {all} hosts have other names", &self.renamed);
            doubt(self.reclassed.len() > limit, "{n} of {all} hosts have other classes", &self.reclassed);
            doubt(self.replaced.len() > limit, "{n} of {all} hosts are other machines", &self.replaced);
        }
        let duplicates: Vec<String> = listing.duplicates.iter().cloned().collect();
        doubt(!duplicates.is_empty(), "{n} identifiers are listed more than once", &duplicates);
        doubt(
            !self.swapped.is_empty(),
            "{n} of {all} hosts are machines that others of them were",
            &self.swapped,
        );
        doubts
    }
}

/// The doubts as the status of the Source tells them.
pub(super) fn told(doubts: &[Doubt], owned: usize) -> Option<Doubts> {
    if doubts.is_empty() {
        return None;
    }
    let mut text = String::new();
    let mut hosts = Vec::new();
    let mut reasons = Vec::new();
    for doubt in doubts {
        let mut about = doubt.hosts.clone();
        about.sort();
        text.push_str(doubt.what);
        text.push('\n');
        for host in &about {
            text.push_str(host);
            text.push('\n');
        }
        let (number, all) = (about.len().to_string(), owned.to_string());
        reasons.push(doubt.what.replace("{n}", &number).replace("{all}", &all));
        hosts.extend(about.into_iter().take(20_usize.saturating_sub(hosts.len())));
    }
    let hash = digest(&SHA256, text.as_bytes());
    let digest: String = hash.as_ref().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    Some(Doubts { digest, reasons, hosts })
}

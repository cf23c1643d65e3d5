//! Chains of profiles: each is merged once, after the one it inherits from.

use std::{collections::HashMap, sync::Arc};

use indexmap::IndexMap;

use super::{ledger::Ledger, refusal::Refusal, settings};
use crate::model::{DocumentRef, Field, HostProfile, HostSettings, MachineSettings, Set};

/// Settings after inheritance, and how they came to be.
#[derive(Clone, Debug)]
pub struct Effective {
    /// The settings, without markers. Each value carries the document that set it.
    pub settings: HostSettings,
    /// What was overridden or removed, level by level.
    pub ledger: Arc<Ledger>,
    /// What each level says of the machine itself, the farthest first, markers included: the hardware profile, under all
    /// of them, is known only when the chain is resolved.
    pub(crate) machines: Vec<Arc<MachineSettings>>,
}

impl Effective {
    fn over(parent: Option<&Self>, document: &Arc<DocumentRef>, own: &HostSettings) -> Self {
        let nothing = HostSettings::default();
        let inherited = parent.map_or(&nothing, |parent| &parent.settings);
        let mut ledger = Ledger::of(document, parent.map(|parent| &parent.ledger));
        let settings = settings::merge(&mut ledger, inherited, own);
        let mut machines = parent.map(|parent| parent.machines.clone()).unwrap_or_default();
        if own.machine != MachineSettings::default() {
            machines.push(Arc::new(own.machine.clone()));
        }
        Self { settings, ledger: Arc::new(ledger), machines }
    }

    /// The documents that took part, the nearest first.
    pub fn chain(&self) -> impl Iterator<Item = &Arc<DocumentRef>> {
        self.ledger.levels().map(Ledger::document)
    }
}

/// Profiles that were resolved before, by name: each with what it was made of. The same parts make the same again.
#[derive(Debug, Default)]
pub(crate) struct ResolvedBefore(HashMap<String, Resolved>);

/// A profile, what it inherited, and what both come to.
type Resolved = (Arc<HostProfile>, Option<Arc<Effective>>, Arc<Effective>);

impl ResolvedBefore {
    fn get(&self, profile: &Arc<HostProfile>, inherited: Option<&Arc<Effective>>) -> Option<Arc<Effective>> {
        let (own, from, effective) = self.0.get(profile.name())?;
        let is_same = Arc::ptr_eq(own, profile) && is_same(from.as_ref(), inherited);
        is_same.then(|| Arc::clone(effective))
    }
}

/// Whether two are one and the same, or both nothing.
pub(crate) fn is_same<T>(a: Option<&Arc<T>>, b: Option<&Arc<T>>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => Arc::ptr_eq(a, b),
        (None, None) => true,
        _ => false,
    }
}

/// All host profiles of a design after inheritance, by name.
#[derive(Clone, Debug, Default)]
pub struct Profiles {
    by_name: HashMap<String, Arc<Effective>>,
    broken: HashMap<String, Refusal>,
    cycles: Vec<Refusal>,
}

impl Profiles {
    /// Resolves every profile.
    pub fn resolve(profiles: &[Arc<HostProfile>]) -> Self {
        Self::resolve_with(profiles, &mut ResolvedBefore::default())
    }

    /// The same, without merging again what was merged before out of the same parts.
    pub(crate) fn resolve_with(profiles: &[Arc<HostProfile>], before: &mut ResolvedBefore) -> Self {
        let designed: HashMap<&str, &Arc<HostProfile>> =
            profiles.iter().map(|profile| (profile.name(), profile)).collect();
        let mut resolved = Self::default();
        for profile in profiles {
            let chain = resolved.unresolved_chain(profile, &designed);
            for link in chain.into_iter().rev() {
                resolved.add(link, &designed, before);
            }
        }
        before.0.retain(|name, _| resolved.by_name.contains_key(name));
        resolved
    }

    /// The effective settings of a profile. Those of a broken one hold what is known.
    pub fn get(&self, name: &str) -> Option<&Arc<Effective>> {
        self.by_name.get(name)
    }

    /// What is wrong with a profile: it has an ancestor that is not in the design, or is its own.
    pub fn mistake(&self, name: &str) -> Option<&Refusal> {
        self.broken.get(name)
    }

    /// The circles in which profiles inherit, each told once.
    pub fn cycles(&self) -> &[Refusal] {
        &self.cycles
    }

    /// What a document says, merged over the profile it inherits from.
    pub fn effective(
        &self,
        document: &Arc<DocumentRef>,
        parent: &Field<String>,
        own: &HostSettings,
    ) -> Result<Effective, Refusal> {
        let Some(parent) = parent else { return Ok(Effective::over(None, document, own)) };
        if let Some(mistake) = self.mistake(&parent.value) {
            return Err(mistake.clone());
        }
        let inherited = self.get(&parent.value).ok_or_else(|| unknown(document, parent))?;
        Ok(Effective::over(Some(&**inherited), document, own))
    }

    /// Resolves a profile whose parent is resolved, or missing.
    fn add(
        &mut self,
        profile: &Arc<HostProfile>,
        designed: &HashMap<&str, &Arc<HostProfile>>,
        before: &mut ResolvedBefore,
    ) {
        let name = profile.name().to_owned();
        let parent = profile.parent.as_ref();
        let mistake = parent.and_then(|parent| match self.mistake(&parent.value) {
            Some(inherited) => Some(inherited.clone()),
            None if designed.contains_key(parent.value.as_str()) => None,
            None => Some(unknown(&profile.document, parent)),
        });
        if let Some(mistake) = mistake {
            self.broken.entry(name.clone()).or_insert(mistake);
        }
        let inherited = parent.and_then(|parent| self.get(&parent.value)).cloned();
        let effective = before.get(profile, inherited.as_ref()).unwrap_or_else(|| {
            let inherited = inherited.as_deref();
            Arc::new(Effective::over(inherited, &profile.document, &profile.settings))
        });
        before.0.insert(name.clone(), (Arc::clone(profile), inherited, Arc::clone(&effective)));
        self.by_name.insert(name, effective);
    }

    /// A profile and those of its ancestors that are not resolved yet, the nearest first. A walk, not a recursion: chains
    /// may be as long as a design. A circle is noted and cut where it closes.
    fn unresolved_chain<'d>(
        &mut self,
        profile: &'d Arc<HostProfile>,
        designed: &HashMap<&str, &'d Arc<HostProfile>>,
    ) -> Vec<&'d Arc<HostProfile>> {
        let mut chain: IndexMap<&str, &Arc<HostProfile>> = IndexMap::new();
        let mut next = Some(profile);
        while let Some(link) = next.filter(|link| !self.by_name.contains_key(link.name())) {
            if let Some(start) = chain.get_index_of(link.name()) {
                let members = chain.keys().skip(start).copied().chain([link.name()]).map(str::to_owned);
                let cycle = Refusal::ProfileCycle { chain: members.collect() };
                self.broken.extend(chain.keys().map(|name| ((*name).to_owned(), cycle.clone())));
                self.cycles.push(cycle);
                break;
            }
            chain.insert(link.name(), link);
            next = link.parent.as_ref().and_then(|parent| designed.get(parent.value.as_str()).copied());
        }
        chain.into_values().collect()
    }
}

fn unknown(document: &DocumentRef, name: &Set<String>) -> Refusal {
    Refusal::UnknownHostProfile {
        referrer: document.to_string(),
        at: name.by.clone(),
        missing: name.value.clone(),
    }
}

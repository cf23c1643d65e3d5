//! All documents of a site, typed, with every problem found on the way.

use std::sync::Arc;

use super::{
    BaremetalNode, BootAction, DocumentRef, DriverPackage, Fault, HardwareProfile, HostProfile, Network,
    NetworkLink, Problem, Rack, Region,
    section::{Reading, Section},
};
use crate::{
    document::{Document, Envelope},
    object::UNAVAILABLE,
    yaml::Position,
};

/// A design as it was written: typed documents in the order of the files, nothing inherited yet.
#[derive(Clone, Debug, Default)]
pub struct Design {
    /// The site; the last one written.
    pub region: Option<Arc<Region>>,
    /// Cabinets.
    pub racks: Vec<Arc<Rack>>,
    /// Links.
    pub network_links: Vec<Arc<NetworkLink>>,
    /// Networks.
    pub networks: Vec<Arc<Network>>,
    /// Models of machine.
    pub hardware_profiles: Vec<Arc<HardwareProfile>>,
    /// Shared settings.
    pub host_profiles: Vec<Arc<HostProfile>>,
    /// Hosts.
    pub nodes: Vec<Arc<BaremetalNode>>,
    /// What hosts get when deployed.
    pub boot_actions: Vec<Arc<BootAction>>,
    /// Drivers that hardware needs.
    pub driver_packages: Vec<Arc<DriverPackage>>,
    /// How the reading of each document went, in order.
    pub outcomes: Vec<Arc<Outcome>>,
}

/// How the reading of one document went.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The document.
    pub document: Arc<DocumentRef>,
    /// In which form it was written.
    pub envelope: Envelope,
    /// Where it begins.
    pub at: Position,
    /// What was found.
    pub problems: Vec<Problem>,
}

impl Outcome {
    /// Whether the document is part of the design.
    pub fn is_accepted(&self) -> bool {
        !self.problems.iter().any(|problem| problem.fault.refuses())
    }
}

impl Design {
    /// Types all documents of the `drydock` namespace and of our own; those of others are passed over.
    pub fn read(documents: &[Document]) -> Self {
        let mut design = Self::default();
        documents.iter().filter_map(ReadDocument::of).for_each(|read| design.add(&read));
        design
    }

    /// Adds a document that was read.
    pub(crate) fn add(&mut self, read: &ReadDocument) {
        if let Some(typed) = &read.typed {
            self.file(typed.clone());
        }
        self.outcomes.push(Arc::clone(&read.outcome));
    }

    /// Whether every document was accepted.
    pub fn is_whole(&self) -> bool {
        self.outcomes.iter().all(|outcome| outcome.is_accepted())
    }

    /// The form of the documents: legacy if the first one is.
    pub fn envelope(&self) -> Envelope {
        self.outcomes.first().map_or(Envelope::Deckhand, |outcome| outcome.envelope)
    }

    /// Where a document begins.
    pub fn place_of(&self, document: &DocumentRef) -> Option<&Position> {
        self.outcomes.iter().find(|outcome| *outcome.document == *document).map(|outcome| &outcome.at)
    }

    fn file(&mut self, typed: Typed) {
        match typed {
            Typed::Region(region) => self.region = Some(region),
            Typed::Rack(rack) => self.racks.push(rack),
            Typed::NetworkLink(link) => self.network_links.push(link),
            Typed::Network(network) => self.networks.push(network),
            Typed::HardwareProfile(profile) => self.hardware_profiles.push(profile),
            Typed::HostProfile(profile) => self.host_profiles.push(profile),
            Typed::BaremetalNode(node) => self.nodes.push(node),
            Typed::BootAction(action) => self.boot_actions.push(action),
            Typed::DriverPackage(package) => self.driver_packages.push(package),
        }
    }
}

/// One document, typed.
#[derive(Clone, Debug)]
pub(crate) struct ReadDocument {
    outcome: Arc<Outcome>,
    /// Nothing if it was refused.
    typed: Option<Typed>,
}

impl ReadDocument {
    /// Types a document of the `drydock` namespace or of our own; nothing for another.
    pub(crate) fn of(document: &Document) -> Option<Self> {
        match document.id.schema_parts() {
            Some(("drydock" | "design.groundplane.dev", kind, version)) => {
                Some(Self::typed(document, kind, version))
            }
            Some(("promenade", kind, "v1")) if document.envelope == Envelope::Legacy => {
                Some(Self::kept(document, kind))
            }
            _ => None,
        }
    }

    /// Promenade's documents stood among Drydock's older ones; they are kept as they are, and nothing is read from them.
    fn kept(document: &Document, kind: &str) -> Self {
        let reference = DocumentRef {
            kind: format!("promenade/{kind}"),
            name: document.name().to_owned(),
            schema: None,
            layer: None,
        };
        let outcome = Outcome {
            document: Arc::new(reference),
            envelope: document.envelope,
            at: document.at.clone(),
            problems: Vec::new(),
        };
        Self { outcome: Arc::new(outcome), typed: None }
    }

    fn typed(document: &Document, kind: &str, version: &str) -> Self {
        let reference = Arc::new(DocumentRef::of(document));
        let mut reading = Reading::new(Arc::clone(&reference), document.envelope);
        if let Some(nameless) = &document.nameless {
            reading.invalid(&nameless.at, "", nameless.message.clone());
        }
        if is_sealed(document) {
            reading.missing(&document.at, "", SEALED.to_owned());
            let problems = reading.into_problems();
            let (envelope, at) = (document.envelope, document.at.clone());
            let outcome = Outcome { document: reference, envelope, at, problems };
            return Self { outcome: Arc::new(outcome), typed: None };
        }
        let typed = match (document.envelope, version) {
            // The legacy reader of the original never looked at the version.
            (Envelope::Native, "v1alpha1") | (Envelope::Deckhand, "v1") | (Envelope::Legacy, _) => {
                Typed::read(&mut reading, document, kind)
            }
            _ => Err(UnknownKind),
        };
        if typed.is_err() {
            let message = format!("unknown kind {kind} of version {version}");
            reading.invalid(&document.at, "", message);
        }
        let problems = reading.into_problems();
        let outcome =
            Outcome { document: reference, envelope: document.envelope, at: document.at.clone(), problems };
        let typed = typed.ok().flatten().filter(|_| outcome.is_accepted());
        Self { outcome: Arc::new(outcome), typed }
    }
}

/// What is said of a document whose data is in a Secret that nobody looked up.
const SEALED: &str = "the data of this document is in a Secret (storage policy `encrypted`), which is not read here; \
                      \"groundplane design compile -o drydock-json\" reads it with your permissions, or move its secrets to a \
                      deckhand/Passphrase/v1 document and substitute them";

fn is_sealed(document: &Document) -> bool {
    document.data.at.file.is_secret() && document.data.value.as_str() == Some(UNAVAILABLE)
}

struct UnknownKind;

#[derive(Clone, Debug)]
enum Typed {
    Region(Arc<Region>),
    Rack(Arc<Rack>),
    NetworkLink(Arc<NetworkLink>),
    Network(Arc<Network>),
    HardwareProfile(Arc<HardwareProfile>),
    HostProfile(Arc<HostProfile>),
    BaremetalNode(Arc<BaremetalNode>),
    BootAction(Arc<BootAction>),
    DriverPackage(Arc<DriverPackage>),
}

impl Typed {
    fn read(reading: &mut Reading, document: &Document, kind: &str) -> Result<Option<Self>, UnknownKind> {
        let read: fn(&mut Reading, &Section) -> Option<Self> = match kind {
            "Region" => |reading, data| Some(Self::Region(Arc::new(Region::read(reading, data)))),
            "Rack" => |reading, data| Some(Self::Rack(Arc::new(Rack::read(reading, data)))),
            "NetworkLink" => {
                |reading, data| Some(Self::NetworkLink(Arc::new(NetworkLink::read(reading, data))))
            }
            "Network" => |reading, data| Network::read(reading, data).map(Arc::new).map(Self::Network),
            "HardwareProfile" => {
                |reading, data| Some(Self::HardwareProfile(Arc::new(HardwareProfile::read(reading, data))))
            }
            "HostProfile" => {
                |reading, data| Some(Self::HostProfile(Arc::new(HostProfile::read(reading, data))))
            }
            "BaremetalNode" => {
                |reading, data| Some(Self::BaremetalNode(Arc::new(BaremetalNode::read(reading, data))))
            }
            "BootAction" => |reading, data| Some(Self::BootAction(Arc::new(BootAction::read(reading, data)))),
            "DriverPackage" if reading.is_extended() => {
                |reading, data| Some(Self::DriverPackage(Arc::new(DriverPackage::read(reading, data))))
            }
            _ => return Err(UnknownKind),
        };
        let data = Section::of(reading, &document.data, "");
        Ok(data.and_then(|data| read(reading, &data)))
    }
}

impl Outcome {
    /// The problems the original would have told of as schema errors, `DD001`.
    pub fn shape_problems(&self) -> impl Iterator<Item = &Problem> {
        self.problems.iter().filter(|problem| problem.fault == Fault::Shape)
    }
}

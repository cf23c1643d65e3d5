//! Documents as objects of an API, and back.
//!
//! An object has the same fields as its document, with three differences: ordered members are lists keyed by name, because
//! an API does not preserve the order of maps; secrets are references to Secrets; and scalars that count as text are
//! strings. How a document is layered is in `layering`, the file and line of its values in an annotation per source. Object
//! and document compile to the same result.

mod composer;
mod forms;
mod layering;
mod names;
mod origin;
mod owners;
mod read;
mod secret_values;
mod shape;
mod write;

pub use composer::{Composer, Shared};
pub use layering::is_partial;
pub use names::{document_name, object_name};
pub use origin::{ORIGIN, Origin};
pub use read::{Composed, Secrets, compose, document_of, documents_of, order};
pub(crate) use read::{UNKNOWN as UNAVAILABLE, in_file};
pub use write::{Credential, Layers, Written, item_of, object_of};

/// The group of the objects.
pub const GROUP: &str = "design.groundplane.dev";
/// Their version.
pub const VERSION: &str = "v1alpha1";
/// The label that says in which dialect a document was written, where it was not our own.
pub const DIALECT: &str = "design.groundplane.dev/dialect";
/// The dialect of Drydock's documents.
pub const DRYDOCK: &str = "drydock";
/// The dialect of Drydock's older documents.
pub const LEGACY: &str = "drydock-legacy";

/// The kinds of which a design is made, and the plurals of their objects.
pub const KINDS: [(&str, &str); 9] = [
    ("Region", "regions"),
    ("Rack", "racks"),
    ("Network", "networks"),
    ("NetworkLink", "networklinks"),
    ("HardwareProfile", "hardwareprofiles"),
    ("DriverPackage", "driverpackages"),
    ("HostProfile", "hostprofiles"),
    ("BaremetalNode", "baremetalnodes"),
    ("BootAction", "bootactions"),
];
/// The kind of the objects that hold documents of any other kind, and its plural.
pub const ITEMS: (&str, &str) = ("ConfigurationItem", "configurationitems");

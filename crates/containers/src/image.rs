//! Images: references, registries, layouts on disk, the store of unpacked layers.

mod digest;
mod layout;
mod manifest;
mod platform;
mod reference;
mod registry;
mod store;
pub mod unpack;

pub use digest::Digest;
pub use manifest::{
    Descriptor, Document, ImageConfig, Manifest, ProcessConfig, parse_config, parse_document,
};
pub use reference::{Reference, Remote};
pub use registry::RegistrySettings;
pub use store::{Image, ImageStore, StoreSettings};

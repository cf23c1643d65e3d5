//! Indexes, manifests and configs of images, as strangers write them.

use serde::{Deserialize, Serialize};

use super::digest::{Digest, shortened};

/// The most images that an index may list.
const MOST_MANIFESTS: usize = 1000;
/// The most layers of an image; overlayfs stacks no more than 500, and others write at most 127.
const MOST_LAYERS: usize = 127;

/// What a tag or a digest stands for.
#[derive(Debug, Clone)]
pub enum Document {
    /// A list of images, one for each platform.
    Index(Vec<Descriptor>),
    /// One image.
    Manifest(Manifest),
}

/// Points at content.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Descriptor {
    /// What it is.
    #[serde(default)]
    pub media_type: String,
    /// Its digest.
    pub digest: Digest,
    /// Its size in bytes.
    pub size: u64,
    /// The platform, in an index.
    #[serde(default)]
    pub platform: Option<Platform>,
    /// Notes; the name of the reference in a layout on disk.
    #[serde(default)]
    pub annotations: std::collections::BTreeMap<String, String>,
}

/// The platform of an image.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Platform {
    /// CPU architecture.
    #[serde(default)]
    pub architecture: String,
    /// Operating system.
    #[serde(default)]
    pub os: String,
    /// Variant of the architecture.
    #[serde(default)]
    pub variant: Option<String>,
}

impl std::fmt::Display for Platform {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", shortened(&self.os), shortened(&self.architecture))?;
        match &self.variant {
            Some(variant) => write!(f, "/{}", shortened(variant)),
            None => Ok(()),
        }
    }
}

/// One image: its config and layers, the lowest first.
#[derive(Debug, Clone, Deserialize)]
pub struct Manifest {
    /// The config.
    pub config: Descriptor,
    /// The layers, the lowest first.
    pub layers: Vec<Descriptor>,
}

/// The config of an image.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ImageConfig {
    /// What it was built for.
    #[serde(flatten)]
    pub platform: Platform,
    /// What its process is like.
    #[serde(default)]
    pub config: Option<ProcessConfig>,
    /// Its layers.
    pub rootfs: RootFs,
}

/// What the process of an image is like.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ProcessConfig {
    /// User and group.
    pub user: Option<String>,
    /// Environment.
    pub env: Option<Vec<String>>,
    /// The command that always runs.
    pub entrypoint: Option<Vec<String>>,
    /// Its arguments, or the command where there is no entrypoint.
    pub cmd: Option<Vec<String>>,
    /// Working directory.
    pub working_dir: Option<String>,
}

/// The layers of an image by the digests of their uncompressed content.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RootFs {
    /// The digests, the lowest first.
    pub diff_ids: Vec<Digest>,
}

/// Parses an index or a manifest.
pub fn parse_document(bytes: &[u8]) -> Result<Document, String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Shape {
        #[serde(default)]
        schema_version: u32,
        manifests: Option<Vec<Descriptor>>,
        config: Option<Descriptor>,
        layers: Option<Vec<Descriptor>>,
    }
    let shape: Shape =
        serde_json::from_slice(bytes).map_err(|error| format!("the manifest can't be parsed: {error}"))?;
    match shape {
        Shape { schema_version: 1, .. } => Err("manifests of schema version 1 are not supported".to_owned()),
        Shape { manifests: Some(manifests), config: None, layers: None, .. } => match manifests.len() {
            ..=MOST_MANIFESTS => Ok(Document::Index(manifests)),
            many => Err(format!("its index lists {many} images, more than {MOST_MANIFESTS}")),
        },
        Shape { manifests: None, config: Some(config), layers: Some(layers), .. } => {
            if layers.len() > MOST_LAYERS {
                return Err(format!("it has {} layers, more than {MOST_LAYERS}", layers.len()));
            }
            match layers.iter().find(|layer| !is_layer(&layer.media_type)) {
                Some(layer) => {
                    let media_type = shortened(&layer.media_type);
                    Err(format!("layers of media type {media_type:?} are not supported"))
                }
                None => Ok(Document::Manifest(Manifest { config, layers })),
            }
        }
        _ => Err("the manifest is neither an index nor that of an image".to_owned()),
    }
}

/// Parses the config of an image.
pub fn parse_config(bytes: &[u8]) -> Result<ImageConfig, String> {
    serde_json::from_slice(bytes).map_err(|error| format!("the config can't be parsed: {error}"))
}

/// Whether it is a layer that is distributed as a tar file, plain or compressed.
fn is_layer(media_type: &str) -> bool {
    let kind = media_type.split('+').next().unwrap_or_default();
    matches!(
        kind,
        "" | "application/vnd.oci.image.layer.v1.tar"
            | "application/vnd.docker.image.rootfs.diff.tar"
            | "application/vnd.docker.image.rootfs.diff.tar.gzip"
            | "application/vnd.docker.image.rootfs.diff.tar.zstd"
    )
}

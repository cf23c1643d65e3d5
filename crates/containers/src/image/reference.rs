//! References of images: at a registry, or on disk.

use std::path::PathBuf;

use super::digest::Digest;
use crate::error::{Error, Result};

/// Where an image is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reference {
    /// At a registry.
    Registry(Remote),
    /// In an OCI layout, a folder on disk.
    Layout {
        /// The folder.
        folder: PathBuf,
        /// The tag, where the layout has several images.
        tag: Option<String>,
    },
    /// In an OCI layout in a tar file.
    Archive {
        /// The file.
        file: PathBuf,
        /// The tag, where the layout has several images.
        tag: Option<String>,
    },
}

/// An image at a registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remote {
    /// Host of the registry, with its port if one was given.
    pub registry: String,
    /// The repository, without the host.
    pub repository: String,
    /// The tag. `latest` where neither a tag nor a digest was given.
    pub tag: Option<String>,
    /// The digest, which wins over the tag.
    pub digest: Option<Digest>,
}

impl Reference {
    /// Parses a reference. A name without a host is one of Docker Hub, as everywhere.
    pub fn parse(image: &str) -> Result<Self> {
        let refuse =
            |reason: &str| Error::InvalidReference { image: image.to_owned(), reason: reason.to_owned() };
        if image.len() > 1024 {
            return Err(refuse("it is longer than 1024 bytes"));
        }
        if let Some(path) = image.strip_prefix("oci:") {
            let (folder, tag) = split_path(path).ok_or_else(|| refuse("the path is empty"))?;
            return Ok(Self::Layout { folder, tag });
        }
        if let Some(path) = image.strip_prefix("oci-archive:") {
            let (file, tag) = split_path(path).ok_or_else(|| refuse("the path is empty"))?;
            return Ok(Self::Archive { file, tag });
        }
        if image.contains("://") {
            return Err(refuse("it is a URL; leave out the scheme"));
        }
        let (rest, digest) = match image.split_once('@') {
            None => (image, None),
            Some((rest, digest)) => (rest, Some(Digest::parse(digest).map_err(|error| refuse(&error))?)),
        };
        // A colon after the last slash starts the tag; one before it is the port of the registry.
        let name_start = rest.rfind('/').map_or(0, |slash| slash + 1);
        let (name, tag) = match rest[name_start..].find(':') {
            None => (rest, None),
            Some(colon) => (&rest[..name_start + colon], Some(rest[name_start + colon + 1..].to_owned())),
        };
        let (registry, repository) = match name.split_once('/') {
            Some((host, repository)) if host.contains(['.', ':']) || host == "localhost" => {
                (host.to_owned(), repository.to_owned())
            }
            Some(_) => ("docker.io".to_owned(), name.to_owned()),
            None => ("docker.io".to_owned(), format!("library/{name}")),
        };
        if !is_host(&registry) {
            return Err(refuse("the registry is not a host with an optional port"));
        }
        if !repository.split('/').all(is_component) {
            return Err(refuse(
                "the repository has parts other than lower-case letters, digits, '.', '_' and '-'",
            ));
        }
        if tag.as_deref().is_some_and(|tag| !is_tag(tag)) {
            return Err(refuse("the tag is not one"));
        }
        let tag = tag.or_else(|| digest.is_none().then(|| "latest".to_owned()));
        Ok(Self::Registry(Remote { registry, repository, tag, digest }))
    }
}

fn split_path(path: &str) -> Option<(PathBuf, Option<String>)> {
    let name_start = path.rfind('/').map_or(0, |slash| slash + 1);
    let (path, tag) = match path[name_start..].find(':') {
        None => (path, None),
        Some(colon) => (&path[..name_start + colon], Some(path[name_start + colon + 1..].to_owned())),
    };
    (!path.is_empty()).then(|| (PathBuf::from(path), tag.filter(|tag| !tag.is_empty())))
}

fn is_host(host: &str) -> bool {
    let (name, port) = host.rsplit_once(':').unwrap_or((host, "1"));
    let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || b".-".contains(&byte);
    !name.is_empty() && name.bytes().all(is_fit) && port.parse::<u16>().is_ok_and(|port| port > 0)
}

fn is_component(part: &str) -> bool {
    let is_fit = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"._-".contains(&byte);
    part.starts_with(|first: char| first.is_ascii_lowercase() || first.is_ascii_digit())
        && part.bytes().all(is_fit)
        && !part.contains("..")
}

fn is_tag(tag: &str) -> bool {
    let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    !tag.is_empty() && tag.len() <= 128 && !tag.starts_with(['.', '-']) && tag.bytes().all(is_fit)
}

//! The images of this machine: unpacked layers that images share, collected under a size limit.

mod collect;
mod record;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::RwLock;

use super::digest::Digest;
use super::layout::{self, Layout};
use super::manifest::{Descriptor, Document, ImageConfig, Manifest, parse_config, parse_document};
use super::reference::{Reference, Remote};
use super::registry::{self, RegistrySettings, RegistryTransport, Session};
use super::unpack::{IdShift, UnpackError, UnpackLimits, unpack};
use super::{manifest, platform};
use crate::error::{Error, Result};
use crate::spec::{Credentials, PullPolicy};
use crate::state::PullProgress;
use record::Record;

/// The most layers of all images together that are unpacked at a time.
const UNPACKS: usize = 2;

/// How images are kept.
#[derive(Debug, Clone)]
pub struct StoreSettings {
    /// Bytes of unpacked layers beyond which images that no instance uses are removed.
    pub most_bytes: u64,
    /// Bytes of one image, all layers together, as they are downloaded.
    pub largest_image: u64,
    /// Limits of a layer.
    pub unpack: UnpackLimits,
    /// Whose files layers are unpacked as.
    pub ids: Option<IdShift>,
    /// How registries are talked to.
    pub registry: RegistrySettings,
}

impl Default for StoreSettings {
    fn default() -> Self {
        Self {
            most_bytes: 20 << 30,
            largest_image: 8 << 30,
            unpack: UnpackLimits::default(),
            ids: None,
            registry: RegistrySettings::default(),
        }
    }
}

/// The images of this machine.
pub struct ImageStore {
    root: PathBuf,
    settings: StoreSettings,
    transport: RegistryTransport,
    /// Layers that are worked on: two pulls of one layer are one.
    layers: Mutex<HashMap<Digest, Arc<tokio::sync::Mutex<()>>>>,
    /// Pulls share it, the collector has it alone.
    collecting: RwLock<()>,
    unpacking: tokio::sync::Semaphore,
    /// Layers in use, by whom.
    pins: Mutex<BTreeMap<String, BTreeSet<Digest>>>,
}

/// An image that is unpacked.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub struct Image {
    /// Digest of its manifest.
    pub digest: Digest,
    /// Its config.
    pub config: ImageConfig,
    /// Its layers, the lowest first.
    pub layers: Vec<Digest>,
}

impl ImageStore {
    /// Opens the store in a folder, which is made if it is not there. What an interrupted pull left is removed, except
    /// downloads, which are resumed.
    pub fn open(root: &Path, settings: StoreSettings) -> Result<Self> {
        let failed = |error: std::io::Error| {
            Error::machine(format!("opening the image store {}", root.display()), error)
        };
        for folder in ["layers", "images", "downloads", "unpacking"] {
            fs::create_dir_all(root.join(folder)).map_err(failed)?;
        }
        for left in fs::read_dir(root.join("unpacking")).map_err(failed)?.flatten() {
            fs::remove_dir_all(left.path()).map_err(failed)?;
        }
        Ok(Self {
            root: root.to_owned(),
            transport: registry::transport(&settings.registry)?,
            settings,
            layers: Mutex::default(),
            collecting: RwLock::new(()),
            unpacking: tokio::sync::Semaphore::new(UNPACKS),
            pins: Mutex::default(),
        })
    }

    /// Has an image on the machine, unpacked, and pins its layers for `user` until [`ImageStore::unpin`].
    pub async fn pull(
        &self,
        image: &str,
        policy: PullPolicy,
        credentials: &[Credentials],
        user: &str,
        progress: &(dyn Fn(PullProgress) + Send + Sync),
    ) -> Result<Image> {
        let reference = Reference::parse(image)?;
        let _shared = self.collecting.read().await;
        let is_fixed = matches!(&reference, Reference::Registry(Remote { digest: Some(_), .. }));
        if (policy != PullPolicy::Always || is_fixed)
            && let Some(known) = self.known(image)
        {
            self.pin(user, &known.layers);
            return Ok(known);
        }
        if policy == PullPolicy::Never {
            return Err(Error::ImageNotPresent { image: image.to_owned() });
        }
        let pulled = match &reference {
            Reference::Registry(remote) => {
                let total = self.settings.registry.total;
                let pulled =
                    tokio::time::timeout(total, self.pull_remote(image, remote, credentials, progress));
                pulled.await.map_err(|_| Error::RegistryUnavailable {
                    registry: remote.registry.clone(),
                    reason: format!("the image was not complete after {} s", total.as_secs()),
                })?
            }
            Reference::Layout { folder, tag } => {
                self.pull_layout(image, folder.clone(), tag.as_deref()).await
            }
            Reference::Archive { file, tag } => self.pull_archive(image, file, tag.as_deref()).await,
        };
        let (pulled, config) = pulled?;
        self.pin(user, &pulled.layers);
        Record::new(image, &pulled, config).write(&self.root)?;
        Ok(pulled)
    }

    /// The folder of an unpacked layer.
    pub fn layer_folder(&self, layer: &Digest) -> PathBuf {
        self.root.join("layers").join(layer.hex()).join("fs")
    }

    /// Keeps layers from being collected.
    pub fn pin(&self, user: &str, layers: &[Digest]) {
        self.pins().entry(user.to_owned()).or_default().extend(layers.iter().cloned());
    }

    /// Lets go of the layers of `user`.
    pub fn unpin(&self, user: &str) {
        self.pins().remove(user);
    }

    fn pins(&self) -> MutexGuard<'_, BTreeMap<String, BTreeSet<Digest>>> {
        self.pins.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An image that is here with all its layers.
    fn known(&self, image: &str) -> Option<Image> {
        let mut record = Record::read(&self.root, image)?;
        let known = record.image()?;
        let is_whole = known.layers.iter().all(|layer| self.layer_folder(layer).is_dir());
        record.touch(&self.root);
        is_whole.then_some(known)
    }

    async fn pull_remote(
        &self,
        image: &str,
        remote: &Remote,
        credentials: &[Credentials],
        progress: &(dyn Fn(PullProgress) + Send + Sync),
    ) -> Result<(Image, Vec<u8>)> {
        let hosts = registry::hosts(&self.settings.registry, remote);
        let mut last = None;
        for host in hosts {
            let settings = &self.settings.registry;
            let mut session =
                Session::new(settings, &self.transport, image, &host, &remote.repository, credentials);
            match self.pull_from(image, remote, &mut session, progress).await {
                Ok(pulled) => return Ok(pulled),
                Err(error) => last = Some(error),
            }
        }
        Err(last.unwrap_or_else(|| Error::machine("pulling", "no host to ask")))
    }

    async fn pull_from(
        &self,
        image: &str,
        remote: &Remote,
        session: &mut Session<'_>,
        progress: &(dyn Fn(PullProgress) + Send + Sync),
    ) -> Result<(Image, Vec<u8>)> {
        let wanted = match (&remote.digest, &remote.tag) {
            (Some(digest), _) => digest.to_string(),
            (None, Some(tag)) => tag.clone(),
            (None, None) => "latest".to_owned(),
        };
        let (mut digest, bytes) = session.manifest(&wanted).await?;
        let mut document = parse_document(&bytes).map_err(|reason| refused(image, reason))?;
        if let Document::Index(manifests) = document {
            let chosen = choose(image, &manifests)?;
            let (chosen_digest, bytes) = session.manifest(&chosen.digest.to_string()).await?;
            digest = chosen_digest;
            document = parse_document(&bytes).map_err(|reason| refused(image, reason))?;
        }
        let Document::Manifest(manifest) = document else {
            return Err(refused(image, "its index lists another index".to_owned()));
        };
        self.check_size(image, &manifest)?;
        let config_bytes = session.document(&manifest.config, "config").await?;
        let config = check_config(image, &manifest, &config_bytes)?;
        let sizes = manifest.layers.iter().map(|layer| layer.size);
        let total: u64 = sizes.clone().sum();
        let mut before = 0;
        for ((layer, diff_id), size) in manifest.layers.iter().zip(&config.rootfs.diff_ids).zip(sizes) {
            let report = |bytes| progress(PullProgress { bytes: before + bytes, total });
            self.download_layer(image, session, layer, diff_id, &report).await?;
            before += size;
            progress(PullProgress { bytes: before, total });
        }
        Ok((Image { digest, layers: config.rootfs.diff_ids.clone(), config }, config_bytes))
    }

    async fn download_layer(
        &self,
        image: &str,
        session: &mut Session<'_>,
        layer: &Descriptor,
        diff_id: &Digest,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<()> {
        let lock = self.lock_of(diff_id);
        let _alone = lock.lock().await;
        if self.layer_folder(diff_id).is_dir() {
            return Ok(());
        }
        let path = self.root.join("downloads").join(layer.digest.hex());
        let mut options = tokio::fs::OpenOptions::new();
        let opened = options.read(true).write(true).create(true).truncate(false).open(&path).await;
        let mut file =
            opened.map_err(|error| Error::machine(format!("opening {}", path.display()), error))?;
        session.layer(layer, &mut file, progress).await?;
        let unpacked = self.unpack_layer(image, file.into_std().await, diff_id).await;
        // Refused or unpacked, the download has served.
        let _ = fs::remove_file(&path);
        unpacked
    }

    async fn pull_layout(&self, image: &str, folder: PathBuf, tag: Option<&str>) -> Result<(Image, Vec<u8>)> {
        let layout = Layout { image, folder };
        let mut descriptor = layout.find(tag)?;
        let mut document = parse(image, &layout.document(&descriptor, "manifest")?)?;
        if let Document::Index(manifests) = document {
            descriptor = choose(image, &manifests)?.clone();
            document = parse(image, &layout.document(&descriptor, "manifest")?)?;
        }
        let Document::Manifest(manifest) = document else {
            return Err(refused(image, "its index lists another index".to_owned()));
        };
        self.check_size(image, &manifest)?;
        let config_bytes = layout.document(&manifest.config, "config")?;
        let config = check_config(image, &manifest, &config_bytes)?;
        for (layer, diff_id) in manifest.layers.iter().zip(&config.rootfs.diff_ids) {
            let lock = self.lock_of(diff_id);
            let _alone = lock.lock().await;
            if !self.layer_folder(diff_id).is_dir() {
                self.unpack_layer(image, layout.layer(layer)?, diff_id).await?;
            }
        }
        let layers = config.rootfs.diff_ids.clone();
        Ok((Image { digest: descriptor.digest, layers, config }, config_bytes))
    }

    async fn pull_archive(&self, image: &str, file: &Path, tag: Option<&str>) -> Result<(Image, Vec<u8>)> {
        let folder = self.scratch("archive")?;
        let (name, file, to) = (image.to_owned(), file.to_owned(), folder.clone());
        let most = self.settings.largest_image;
        let extracted = tokio::task::spawn_blocking(move || layout::extract(&name, &file, &to, most)).await;
        let pulled = match extracted {
            Ok(Ok(())) => self.pull_layout(image, folder.clone(), tag).await,
            Ok(Err(error)) => Err(error),
            Err(error) => Err(Error::machine("extracting an archive", error)),
        };
        let _ = fs::remove_dir_all(&folder);
        pulled
    }

    /// Unpacks a layer beside the others, and moves it among them when it is whole and its digest is right.
    async fn unpack_layer(&self, image: &str, file: fs::File, diff_id: &Digest) -> Result<()> {
        let _turn = self.unpacking.acquire().await;
        let folder = self.scratch(diff_id.hex())?;
        let target = self.root.join("layers").join(diff_id.hex());
        let (limits, ids, expected) = (self.settings.unpack, self.settings.ids, diff_id.clone());
        let (image, path) = (image.to_owned(), self.root.display().to_string());
        let unpacked = tokio::task::spawn_blocking(move || {
            let result = unpack_into(&image, file, &folder, limits, ids, &expected, &path);
            let result = result.and_then(|()| {
                fs::rename(&folder, &target)
                    .map_err(|error| Error::machine("keeping an unpacked layer", error))
            });
            if result.is_err() {
                let _ = fs::remove_dir_all(&folder);
            }
            result
        });
        unpacked.await.map_err(|error| Error::machine("unpacking a layer", error))?
    }

    fn scratch(&self, name: &str) -> Result<PathBuf> {
        static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
        let next = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let folder = self.root.join("unpacking").join(format!("{name}.{next}"));
        fs::create_dir_all(&folder).map_err(|error| disk_error(&folder, error))?;
        Ok(folder)
    }

    fn check_size(&self, image: &str, manifest: &Manifest) -> Result<()> {
        let sizes = manifest.layers.iter().map(|layer| layer.size);
        let total = sizes.fold(0_u64, |total, size| total.saturating_add(size));
        match total <= self.settings.largest_image {
            true => Ok(()),
            false => {
                let most = self.settings.largest_image;
                Err(refused(image, format!("its layers are {total} bytes, more than {most}")))
            }
        }
    }

    fn lock_of(&self, layer: &Digest) -> Arc<tokio::sync::Mutex<()>> {
        let mut layers = self.layers.lock().unwrap_or_else(PoisonError::into_inner);
        layers.retain(|_, lock| Arc::strong_count(lock) > 1);
        layers.entry(layer.clone()).or_default().clone()
    }
}

fn unpack_into(
    image: &str,
    file: fs::File,
    folder: &Path,
    limits: UnpackLimits,
    ids: Option<IdShift>,
    expected: &Digest,
    store: &str,
) -> Result<()> {
    let files = folder.join("fs");
    fs::create_dir(&files).map_err(|error| disk_error(folder, error))?;
    let unpacked = unpack(file, &files, limits, ids).map_err(|error| match error {
        UnpackError::Refused(reason) => refused(image, reason),
        UnpackError::NoSpace => Error::NoSpace { path: store.to_owned() },
        UnpackError::Machine(error) => Error::machine(format!("unpacking a layer of {image}"), error),
    })?;
    if unpacked.diff_id != *expected {
        return Err(Error::DigestMismatch {
            image: image.to_owned(),
            what: "an uncompressed layer".to_owned(),
            expected: expected.to_string(),
            actual: unpacked.diff_id.to_string(),
        });
    }
    fs::write(folder.join("size"), unpacked.bytes.to_string()).map_err(|error| disk_error(folder, error))
}

/// The image of an index that runs on this machine.
fn choose<'a>(image: &str, manifests: &'a [Descriptor]) -> Result<&'a Descriptor> {
    let runs = |descriptor: &&Descriptor| descriptor.platform.as_ref().is_none_or(platform::runs);
    manifests.iter().find(runs).ok_or_else(|| {
        let platforms = manifests.iter().filter_map(|descriptor| descriptor.platform.as_ref());
        let offered = platforms.map(ToString::to_string).filter(|platform| !platform.starts_with("unknown"));
        wrong_architecture(image, offered.collect())
    })
}

fn check_config(image: &str, manifest: &Manifest, bytes: &[u8]) -> Result<ImageConfig> {
    let config = parse_config(bytes).map_err(|reason| refused(image, reason))?;
    if !platform::runs(&manifest::Platform { variant: None, ..config.platform.clone() }) {
        return Err(wrong_architecture(image, vec![config.platform.to_string()]));
    }
    let (layers, diff_ids) = (manifest.layers.len(), config.rootfs.diff_ids.len());
    match layers == diff_ids {
        true => Ok(config),
        false => Err(refused(image, format!("its manifest has {layers} layers and its config {diff_ids}"))),
    }
}

fn parse(image: &str, bytes: &[u8]) -> Result<Document> {
    parse_document(bytes).map_err(|reason| refused(image, reason))
}

fn wrong_architecture(image: &str, offered: Vec<String>) -> Error {
    Error::WrongArchitecture { image: image.to_owned(), machine: platform::machine(), offered }
}

fn refused(image: &str, reason: String) -> Error {
    Error::ImageRefused { image: image.to_owned(), reason }
}

fn disk_error(path: &Path, error: std::io::Error) -> Error {
    match error.kind() {
        std::io::ErrorKind::StorageFull => Error::NoSpace { path: path.display().to_string() },
        _ => Error::machine(format!("writing {}", path.display()), error),
    }
}

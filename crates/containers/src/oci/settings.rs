//! How containers are run on this machine.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::backoff::Backoff;
use crate::id::InstanceId;
use crate::image::unpack::IdShift;
use crate::image::{Digest, StoreSettings};
use crate::logs::LogSettings;

/// How containers are run on this machine.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Folder on disk for images, writable layers and logs. It is readable by root alone.
    pub data: PathBuf,
    /// Folder in memory for specs, secrets and the state of runs. A tmpfs is mounted there unless it is on one.
    pub run: PathBuf,
    /// The program and first arguments that run [`shim::main`](crate::shim::main).
    pub shim: Vec<OsString>,
    /// The program runc.
    pub runc: PathBuf,
    /// The program ip of iproute2.
    pub ip: PathBuf,
    /// The program nft of nftables, for instances that say who may connect to them.
    pub nft: PathBuf,
    /// How root file systems are made.
    pub rootfs: RootfsMode,
    /// The ids of the user namespace that containers run in; without it their root is the machine's root.
    pub user_namespace: Option<IdShift>,
    /// How images are kept.
    pub images: StoreSettings,
    /// How logs are kept.
    pub logs: LogSettings,
    /// How long restarts and failed starts wait.
    pub backoff: Backoff,
    /// Processes and threads of a container that sets no number.
    pub default_pids: u64,
}

/// How root file systems are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RootfsMode {
    /// By overlayfs over shared layers. An image with more layers than fit one mount is copied.
    Overlay,
    /// By copies of all layers.
    Copy,
}

impl Settings {
    /// Settings with the defaults: user namespaces from id 1,000,000 on, overlayfs, runc and ip from the path.
    pub fn new(data: impl Into<PathBuf>, run: impl Into<PathBuf>, shim: Vec<OsString>) -> Self {
        let ids = IdShift { base: 1_000_000, size: 65_536 };
        Self {
            data: data.into(),
            run: run.into(),
            shim,
            runc: PathBuf::from("runc"),
            ip: PathBuf::from("ip"),
            nft: PathBuf::from("nft"),
            rootfs: RootfsMode::Overlay,
            user_namespace: Some(ids),
            images: StoreSettings { ids: Some(ids), ..StoreSettings::default() },
            logs: LogSettings::default(),
            backoff: Backoff::default(),
            default_pids: 1024,
        }
    }

    /// The same settings without user namespaces.
    pub fn without_user_namespace(mut self) -> Self {
        self.user_namespace = None;
        self.images.ids = None;
        self
    }

    /// What namespaces and control groups of this runtime are named after; different for every folder `run`.
    pub(crate) fn prefix(&self) -> String {
        let run = self.run.as_os_str().as_encoded_bytes();
        format!("gp-{}", &Digest::of(run).hex()[..8])
    }

    pub(crate) fn image_folder(&self) -> PathBuf {
        self.data.join("images")
    }

    pub(crate) fn runc_folder(&self) -> PathBuf {
        self.run.join("runc")
    }

    pub(crate) fn run_folder(&self, id: &InstanceId) -> PathBuf {
        self.run.join("instances").join(id.as_str())
    }

    pub(crate) fn data_folder(&self, id: &InstanceId) -> PathBuf {
        self.data.join("instances").join(id.as_str())
    }

    pub(crate) fn log_folder(&self, id: &InstanceId, container: &str) -> PathBuf {
        self.data_folder(id).join("logs").join(container)
    }

    /// Where the user namespace of an instance is kept.
    pub(crate) fn user_namespace_path(&self, id: &InstanceId) -> PathBuf {
        self.run_folder(id).join("userns")
    }

    /// The folder of the state of a container, which has one folder for each run.
    pub(crate) fn container_folder(&self, id: &InstanceId, container: &str) -> PathBuf {
        self.run_folder(id).join("containers").join(container)
    }

    /// Whether a path can be an option of a mount.
    pub(crate) fn is_mountable(path: &Path) -> bool {
        path.to_str().is_some_and(|path| !path.contains([':', ',', '\\', '\n', ' ']))
    }
}

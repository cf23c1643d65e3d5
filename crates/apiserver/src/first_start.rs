//! Bootstrap of a data directory: CA, certificates, the administrator's kubeconfig and the signing key of
//! service account tokens. A second start reuses them.

mod authority;
mod certificate;
mod error;
mod files;
mod kubeconfig;
mod names;

use std::path::{Path, PathBuf};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, SystemTime};

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use zeroize::Zeroizing;

pub use error::CredentialsError;
pub use names::ServerNames;

use crate::identity::MASTERS;
use authority::Authority;
use certificate::KeyedCertificate;

/// The user of the administrator's certificate; its group is the one that may do everything.
pub const ADMIN_USER: &str = "system:admin";
/// The administrator's kubeconfig, in the data directory.
pub const KUBECONFIG_FILE: &str = "admin.kubeconfig";
/// What clients trust, in the data directory.
pub const CA_FILE: &str = "ca.crt";

/// Private files stand in a folder of their own, so that it can be backed up or copied to a second server as one.
const FOLDER: &str = "pki";
/// The CA, in that folder.
const AUTHORITY_FILE: &str = "ca.pem";
/// The key that signs tokens of service accounts, in that folder.
const ACCOUNTS_FILE: &str = "service-accounts.pem";
const DAY: Duration = Duration::from_secs(24 * 3600);
const CERTIFICATE_LIFE: Duration = Duration::from_secs(365 * 24 * 3600);
/// A certificate with less than this left is issued again.
const RENEW_BEFORE: Duration = Duration::from_secs(30 * 24 * 3600);

/// The keys and certificates of one data directory.
pub struct Credentials {
    directory: PathBuf,
    names: ServerNames,
    authority: Authority,
    serving: KeyedCertificate,
    admin: KeyedCertificate,
    token_key: Zeroizing<Vec<u8>>,
}

impl Credentials {
    /// Reads what `directory` holds and makes what is missing. The serving certificate is issued again when the
    /// names have changed or its end is near; the CA is kept.
    pub fn open_or_create(directory: &Path, names: ServerNames) -> Result<Credentials, CredentialsError> {
        Credentials::open_or_create_at(directory, names, SystemTime::now())
    }

    /// The same at another time.
    pub fn open_or_create_at(
        directory: &Path,
        names: ServerNames,
        now: SystemTime,
    ) -> Result<Credentials, CredentialsError> {
        let folder = directory.join(FOLDER);
        files::make_folder(&folder)?;

        let authority = Authority::open_or_create(&folder.join(AUTHORITY_FILE), now)?;
        let (serving_path, admin_path) = (folder.join("serving.pem"), folder.join("admin.pem"));
        let token_path = folder.join(ACCOUNTS_FILE);
        // Every new file waits for the disk; together they wait once.
        let (serving, admin, public, token_key) = std::thread::scope(|scope| {
            let serving = scope.spawn(|| {
                KeyedCertificate::open_or_issue(
                    &serving_path,
                    |found| found.serves(&names) && found.is_good(&authority, now),
                    || authority.issue_serving(&names, now),
                )
            });
            let admin = scope.spawn(|| {
                KeyedCertificate::open_or_issue(
                    &admin_path,
                    |found| found.is_good(&authority, now),
                    || authority.issue_client(ADMIN_USER, MASTERS, now),
                )
            });
            let public = scope.spawn(|| {
                files::replace_if_different(&directory.join(CA_FILE), authority.pem(), files::PUBLIC)
            });
            let token_key = files::read_or_create_private(&token_path, authority::new_key);
            (joined(serving), joined(admin), joined(public), token_key)
        });
        let (serving, admin) = (serving?, admin?);
        public?;
        let token_key = certificate::private_key(&token_path, &token_key?)?;
        files::sync_folder(&folder)?;
        files::sync_folder(directory)?;
        Ok(Credentials { directory: directory.to_owned(), names, authority, serving, admin, token_key })
    }

    /// The credentials with every certificate renewed whose end is near, or `None` while none is. The kubeconfig is
    /// to be written again then.
    pub fn renewed(&self, now: SystemTime) -> Result<Option<Credentials>, CredentialsError> {
        if self.serving.is_good(&self.authority, now) && self.admin.is_good(&self.authority, now) {
            return Ok(None);
        }
        Credentials::open_or_create_at(&self.directory, self.names.clone(), now).map(Some)
    }

    /// The credentials that are in the folder now. Files that are missing, or no longer good, are made anew.
    pub fn read_again(&self, now: SystemTime) -> Result<Credentials, CredentialsError> {
        Credentials::open_or_create_at(&self.directory, self.names.clone(), now)
    }

    /// The private files that a copy of this server needs, for the manifest of a backup.
    pub fn key_files(&self) -> Vec<store::KeyNote> {
        let folder = self.directory.join(FOLDER);
        let note = |file: &str, id: Option<String>| store::KeyNote {
            file: format!("{FOLDER}/{file}"),
            path: folder.join(file).display().to_string(),
            ids: id.into_iter().collect(),
        };
        let token_key = certificate::to_pem("PRIVATE KEY", &self.token_key);
        vec![note(AUTHORITY_FILE, key_id(self.authority.pem())), note(ACCOUNTS_FILE, key_id(&token_key))]
    }

    /// Writes the administrator's kubeconfig for a server at `url`, and says where.
    pub fn write_kubeconfig(&self, url: &str) -> Result<PathBuf, CredentialsError> {
        let path = self.directory.join(KUBECONFIG_FILE);
        let text = kubeconfig::text(url, self.authority.pem(), &self.admin);
        files::replace_if_different(&path, &text, files::PRIVATE)?;
        Ok(path)
    }

    /// What clients trust, as PEM.
    pub fn ca_pem(&self) -> &str {
        self.authority.pem()
    }

    /// What clients trust.
    pub fn ca_certificate(&self) -> &CertificateDer<'static> {
        self.authority.certificate()
    }

    /// The private key of service account tokens: PKCS#8 of a P-256 key.
    pub fn token_key(&self) -> &[u8] {
        &self.token_key
    }

    /// A certificate for a client: its PEM, and the PEM of its key.
    pub fn issue_client(
        &self,
        user: &str,
        group: &str,
    ) -> Result<(String, Zeroizing<String>), CredentialsError> {
        self.issue_client_at(user, group, SystemTime::now())
    }

    pub(crate) fn issue_client_at(
        &self,
        user: &str,
        group: &str,
        now: SystemTime,
    ) -> Result<(String, Zeroizing<String>), CredentialsError> {
        let issued = self.authority.issue_client(user, group, now)?;
        let parsed = KeyedCertificate::parse(Path::new("new client certificate"), &issued)?;
        Ok((parsed.certificate_pem().to_owned(), parsed.key_pem()))
    }

    pub(crate) fn serving_chain(&self) -> CertificateDer<'static> {
        self.serving.certificate().clone()
    }

    pub(crate) fn serving_key(&self) -> &[u8] {
        self.serving.key()
    }
}

/// The fingerprint of what a PEM file holds: the SHA-256 of its certificate, or else of the public half of its private
/// key. `None` when it holds neither.
pub fn key_id(pem: &str) -> Option<String> {
    let hash = |bytes: &[u8]| {
        let hash = ring::digest::digest(&ring::digest::SHA256, bytes);
        hash.as_ref().iter().map(|byte| format!("{byte:02x}")).collect::<String>()
    };
    if let Ok(certificate) = CertificateDer::from_pem_slice(pem.as_bytes()) {
        return Some(hash(&certificate));
    }
    let key = certificate::private_key(Path::new("a key"), pem).ok()?;
    let pair = rcgen::KeyPair::try_from(key.as_slice()).ok()?;
    Some(hash(pair.public_key_raw()))
}

fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credentials").field("directory", &self.directory).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;

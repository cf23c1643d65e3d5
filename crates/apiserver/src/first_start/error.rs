//! Errors of the bootstrap of a data directory.

use std::path::PathBuf;

/// Why a data directory's credentials could not be had. Each is one line that names the file and the next step.
#[derive(Debug, thiserror::Error)]
pub enum CredentialsError {
    /// The operating system refused.
    #[error("cannot {action} {}: check that its directory exists, is writable by this user and has free space", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// Others may read a private key.
    #[error(
        "{path} contains a private key and has mode {mode:04o}, so that other users can read or change it: \
         run `chmod 600 {path}`, and replace the key if others may have read it",
        path = path.display()
    )]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The file does not hold what it should.
    #[error("{} is damaged ({what}): {remedy}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: &'static str,
        /// What to do.
        remedy: &'static str,
    },
    /// A name that cannot stand in a certificate.
    #[error("`{name}` cannot be in the serving certificate: use a DNS name or an IP address")]
    BadName {
        /// The name.
        name: String,
    },
    /// A key or certificate could not be made.
    #[error("cannot make {what}")]
    Make {
        /// Of what.
        what: &'static str,
        /// Why.
        source: rcgen::Error,
    },
}

//! The identity in a client certificate.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::danger::ClientCertVerifier;
use x509_parser::asn1_rs::Oid;
use x509_parser::oid_registry::{OID_X509_COMMON_NAME, OID_X509_ORGANIZATION_NAME, asn1_rs};
use x509_parser::prelude::{FromDer, X509Certificate};

use crate::authn::CREDENTIAL_ID;
use crate::identity::Identity;

/// The attribute of a subject that carries the user's uid.
const USER_UID: Oid<'static> = asn1_rs::oid!(1.3.6.1.4.1.57683.2);

/// The other end of a connection, by its certificate. Judged once for a connection, asked at every request.
#[derive(Debug, Clone, PartialEq)]
pub enum Peer {
    /// It gave no certificate.
    Unknown,
    /// It gave one of a CA we believe.
    Known {
        /// Whose it is.
        identity: Arc<Identity>,
        /// When it ends; a connection may outlive it.
        until: SystemTime,
    },
    /// It gave one that is not believed.
    Refused {
        /// Why.
        reason: Arc<str>,
    },
}

impl Peer {
    /// The peer that presented `certificates`, judged by `judge`.
    pub(super) fn of(
        certificates: &[CertificateDer<'_>],
        judge: &dyn ClientCertVerifier,
        now: SystemTime,
    ) -> Peer {
        let Some((own, intermediates)) = certificates.split_first() else { return Peer::Unknown };
        let since = now.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        if let Err(error) = judge.verify_client_cert(own, intermediates, UnixTime::since_unix_epoch(since)) {
            return Peer::Refused { reason: format!("client certificate: {error}").into() };
        }
        match (identity_of(own), ends(own)) {
            (Some(identity), Some(until)) => Peer::Known { identity: Arc::new(identity), until },
            // Kubernetes takes a certificate that names nobody for none at all.
            _ => Peer::Unknown,
        }
    }
}

/// Whose certificate this is: the common name is the user, the organizations are the groups.
///
/// It says nothing about whether the certificate is to be believed.
pub fn identity_of(certificate: &[u8]) -> Option<Identity> {
    let (_, parsed) = X509Certificate::from_der(certificate).ok()?;
    let texts = |oid: &Oid<'_>| -> Vec<Arc<str>> {
        let found = parsed.subject().iter_attributes().filter(|attribute| attribute.attr_type() == oid);
        found.filter_map(|attribute| attribute.as_str().ok()).map(Arc::from).collect()
    };
    // Of several common names the last one counts, as Go reads them.
    let user = texts(&OID_X509_COMMON_NAME).pop().filter(|user| !user.is_empty())?;
    let mut uids = texts(&USER_UID);
    let uid = uids.pop().unwrap_or_default();
    if !uids.is_empty() {
        return None;
    }
    let digest = ring::digest::digest(&ring::digest::SHA256, certificate);
    let fingerprint: String = digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    let extra = [(CREDENTIAL_ID.to_owned(), vec![format!("X509SHA256={fingerprint}")])];
    Some(Identity {
        user,
        uid,
        groups: texts(&OID_X509_ORGANIZATION_NAME),
        extra: extra.into(),
        ..Identity::default()
    })
}

fn ends(certificate: &[u8]) -> Option<SystemTime> {
    let (_, parsed) = X509Certificate::from_der(certificate).ok()?;
    let seconds = u64::try_from(parsed.validity().not_after.timestamp()).ok()?;
    Some(UNIX_EPOCH + Duration::from_secs(seconds))
}

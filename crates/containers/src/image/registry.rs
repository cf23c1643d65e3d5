//! A client of registries: the pull half of the OCI distribution protocol.

mod auth;
mod transport;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use http_body_util::BodyExt;
use hyper::Response;
use hyper::body::Incoming;
use serde::Deserialize;
use tokio::io::{AsyncSeekExt, AsyncWriteExt};
use tokio::time::timeout;

use super::digest::{Digest, Hasher, shortened};
use super::manifest::Descriptor;
use super::reference::Remote;
use crate::error::{Error, Result};
use crate::spec::Credentials;
use auth::Authorization;
use transport::{Failed, Transport};

/// The largest manifest, config or answer in words, in bytes.
pub(super) const LARGEST_DOCUMENT: u64 = 4 << 20;
/// How often a download that got further is resumed.
const MOST_RESUMES: u32 = 20;

const MANIFESTS: &str = "application/vnd.oci.image.index.v1+json, \
    application/vnd.oci.image.manifest.v1+json, \
    application/vnd.docker.distribution.manifest.list.v2+json, \
    application/vnd.docker.distribution.manifest.v2+json";

/// How registries are talked to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistrySettings {
    /// Hosts, with their port, that are talked to without TLS. Loopback addresses are, without being named.
    pub plain_http: BTreeSet<String>,
    /// Hosts that are asked before a registry, in this order.
    pub mirrors: BTreeMap<String, Vec<String>>,
    /// Certificate authorities, as PEM. Defaults to the system's.
    pub authorities: Option<Vec<u8>>,
    /// Time to connect, TLS included.
    pub connect: Duration,
    /// Time without a byte after which a download is given up.
    pub idle: Duration,
    /// Time for a whole image.
    pub total: Duration,
    /// Redirects that are followed for one request.
    pub redirects: u32,
}

impl Default for RegistrySettings {
    fn default() -> Self {
        Self {
            plain_http: BTreeSet::new(),
            mirrors: BTreeMap::new(),
            authorities: None,
            connect: Duration::from_secs(10),
            idle: Duration::from_secs(30),
            total: Duration::from_secs(1800),
            redirects: 5,
        }
    }
}

/// A conversation with one host about one image.
pub(super) struct Session<'a> {
    settings: &'a RegistrySettings,
    transport: &'a Transport,
    /// The image as it was asked for, for messages.
    image: &'a str,
    host: String,
    repository: String,
    authorization: Authorization,
}

/// Hosts to ask for an image, mirrors first.
pub(super) fn hosts(settings: &RegistrySettings, remote: &Remote) -> Vec<String> {
    let mirrors = settings.mirrors.get(&remote.registry).into_iter().flatten().cloned();
    mirrors.chain([remote.registry.clone()]).collect()
}

pub(super) fn transport(settings: &RegistrySettings) -> Result<Transport> {
    Transport::new(settings).map_err(|reason| Error::machine("setting up TLS for registries", reason))
}

pub(super) use transport::Transport as RegistryTransport;

impl<'a> Session<'a> {
    pub(super) fn new(
        settings: &'a RegistrySettings,
        transport: &'a RegistryTransport,
        image: &'a str,
        host: &str,
        repository: &str,
        credentials: &[Credentials],
    ) -> Self {
        let login = credentials.iter().find(|credentials| credentials.registry == host);
        let authorization = Authorization::new(login.map(|credentials| credentials.login.clone()));
        let (host, repository) = (host.to_owned(), repository.to_owned());
        Self { settings, transport, image, host, repository, authorization }
    }

    /// The manifest or index that a tag or a digest stands for, with its digest, which is checked.
    pub(super) async fn manifest(&mut self, tag_or_digest: &str) -> Result<(Digest, Vec<u8>)> {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, HeaderValue::from_static(MANIFESTS));
        let response = self.get(&format!("manifests/{tag_or_digest}"), &headers).await?;
        let said = response.headers().get("docker-content-digest").and_then(|digest| digest.to_str().ok());
        let expected =
            Digest::parse(tag_or_digest).ok().or_else(|| said.and_then(|digest| Digest::parse(digest).ok()));
        let bytes = self.read(response, LARGEST_DOCUMENT, "manifest").await?;
        let actual = Digest::of(&bytes);
        match expected {
            Some(expected) if expected != actual => Err(self.mismatch("the manifest", &expected, &actual)),
            _ => Ok((actual, bytes)),
        }
    }

    /// A small blob, such as the config, whose size and digest are checked.
    pub(super) async fn document(&mut self, descriptor: &Descriptor, what: &str) -> Result<Vec<u8>> {
        if descriptor.size > LARGEST_DOCUMENT {
            return Err(self.refused(format!("its {what} is larger than {LARGEST_DOCUMENT} bytes")));
        }
        let response = self.get(&format!("blobs/{}", descriptor.digest), &HeaderMap::new()).await?;
        let bytes = self.read(response, descriptor.size, what).await?;
        let actual = Digest::of(&bytes);
        match actual == descriptor.digest {
            true => Ok(bytes),
            false => Err(self.mismatch(&format!("the {what}"), &descriptor.digest, &actual)),
        }
    }

    /// Downloads a layer into a file, and goes on where an earlier download of it stopped. Size and digest are checked while
    /// the bytes arrive; `progress` gets the number of bytes that are there.
    pub(super) async fn layer(
        &mut self,
        descriptor: &Descriptor,
        file: &mut tokio::fs::File,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<()> {
        let mut resumes = 0;
        let (mut have, mut hasher) = hash_of(file).await?;
        if have > descriptor.size {
            (have, hasher) = start_over(file).await?;
        }
        while have < descriptor.size {
            let before = have;
            let attempt = self.layer_part(descriptor, file, &mut have, &mut hasher, progress).await;
            match attempt {
                Ok(()) => {}
                // A connection that broke is taken up again as long as it brings something.
                Err(Error::RegistryUnavailable { .. }) if have > before && resumes < MOST_RESUMES => {
                    resumes += 1
                }
                Err(error) => return Err(error),
            }
        }
        let actual = hasher.finish();
        match actual == descriptor.digest {
            true => Ok(()),
            false => {
                start_over(file).await?;
                Err(self.mismatch("a layer", &descriptor.digest, &actual))
            }
        }
    }

    async fn layer_part(
        &mut self,
        descriptor: &Descriptor,
        file: &mut tokio::fs::File,
        have: &mut u64,
        hasher: &mut Hasher,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<()> {
        let mut headers = HeaderMap::new();
        if *have > 0 {
            let range = HeaderValue::from_str(&format!("bytes={have}-"));
            headers.insert(header::RANGE, range.map_err(|error| self.unavailable(error.to_string()))?);
        }
        let response = self.get(&format!("blobs/{}", descriptor.digest), &headers).await?;
        let is_rest = response.status() == StatusCode::PARTIAL_CONTENT
            && response
                .headers()
                .get(header::CONTENT_RANGE)
                .is_some_and(|range| range.as_bytes().starts_with(format!("bytes {have}-").as_bytes()));
        if *have > 0 && !is_rest {
            (*have, *hasher) = start_over(file).await?;
        }
        let mut body = response.into_body();
        loop {
            let frame = timeout(self.settings.idle, body.frame()).await;
            let frame = match frame {
                Err(_) => return Err(self.unavailable(self.idle_words())),
                Ok(None) => break,
                Ok(Some(Err(error))) => {
                    return Err(self.unavailable(format!("the download broke off: {error}")));
                }
                Ok(Some(Ok(frame))) => frame,
            };
            let Some(bytes) = frame.data_ref() else { continue };
            *have += bytes.len() as u64;
            if *have > descriptor.size {
                start_over(file).await?;
                let size = descriptor.size;
                return Err(
                    self.refused(format!("a layer is larger than the {size} bytes that were announced"))
                );
            }
            hasher.update(bytes);
            file.write_all(bytes).await.map_err(|error| write_error(&error))?;
            progress(*have);
        }
        file.flush().await.map_err(|error| write_error(&error))?;
        match *have == descriptor.size {
            true => Ok(()),
            false => {
                Err(self.unavailable(format!("the download ended after {have} of {} bytes", descriptor.size)))
            }
        }
    }

    /// A request below the repository, with what the registry wants to be shown. Answers other than success become errors.
    async fn get(&mut self, path: &str, headers: &HeaderMap) -> Result<Response<Incoming>> {
        let scheme = if self.transport.is_plain(&self.host) { "http" } else { "https" };
        let host = if self.host == "docker.io" { "registry-1.docker.io" } else { &self.host };
        let url = format!("{scheme}://{host}/v2/{}/{path}", self.repository);
        let url: Uri =
            url.parse().map_err(|error: http::uri::InvalidUri| self.unavailable(error.to_string()))?;
        for _ in 0..2 {
            let authorization = self.authorization.header();
            let response = self.transport.get(&url, headers, authorization.as_ref()).await;
            let response = response.map_err(|failed| self.failed(failed))?;
            match response.status() {
                status if status.is_success() => return Ok(response),
                StatusCode::UNAUTHORIZED => {
                    let challenges: Vec<_> =
                        response.headers().get_all(header::WWW_AUTHENTICATE).iter().cloned().collect();
                    let words = self.words(response).await;
                    let answered = self.authorization.answer(self.transport, &url, &challenges).await;
                    match answered {
                        Ok(true) => continue,
                        Ok(false) => return Err(self.unauthorized(words)),
                        Err(reason) => return Err(self.unauthorized(reason)),
                    }
                }
                StatusCode::FORBIDDEN => {
                    let words = self.words(response).await;
                    return Err(self.unauthorized(words));
                }
                StatusCode::NOT_FOUND => {
                    let reason = self.words(response).await;
                    return Err(Error::ImageNotFound { image: self.image.to_owned(), reason });
                }
                status => {
                    let words = self.words(response).await;
                    return Err(self.unavailable(format!("it answers {status}: {words}")));
                }
            }
        }
        Err(self.unauthorized("the registry does not take the token that it was shown".to_owned()))
    }

    /// The registry's own words.
    async fn words(&self, response: Response<Incoming>) -> String {
        #[derive(Deserialize)]
        struct Answer {
            errors: Vec<Item>,
        }
        #[derive(Deserialize)]
        struct Item {
            #[serde(default)]
            code: String,
            #[serde(default)]
            message: String,
        }
        let status = response.status();
        let bytes = self.read(response, 64 << 10, "answer").await.unwrap_or_default();
        let said = match serde_json::from_slice::<Answer>(&bytes) {
            Ok(answer) => {
                let items = answer.errors.iter().map(|item| format!("{}: {}", item.code, item.message));
                items.collect::<Vec<_>>().join("; ")
            }
            Err(_) => String::new(),
        };
        // Control characters of a stranger do not reach a terminal.
        let said: String = said.chars().filter(|character| !character.is_control()).collect();
        if said.is_empty() { status.to_string() } else { shortened(&said) }
    }

    async fn read(&self, response: Response<Incoming>, most: u64, what: &str) -> Result<Vec<u8>> {
        let mut body = response.into_body();
        let mut bytes = Vec::new();
        loop {
            match timeout(self.settings.idle, body.frame()).await {
                Err(_) => return Err(self.unavailable(self.idle_words())),
                Ok(None) => return Ok(bytes),
                Ok(Some(Err(error))) => {
                    return Err(self.unavailable(format!("the answer broke off: {error}")));
                }
                Ok(Some(Ok(frame))) => bytes.extend_from_slice(frame.data_ref().map_or(&[][..], |data| data)),
            }
            if bytes.len() as u64 > most {
                return Err(self.refused(format!("its {what} is larger than {most} bytes")));
            }
        }
    }

    fn idle_words(&self) -> String {
        format!("no byte came for {} s", self.settings.idle.as_secs_f32())
    }

    fn failed(&self, failed: Failed) -> Error {
        match failed {
            Failed::Refused(reason) => self.refused(reason),
            Failed::Unavailable(reason) => self.unavailable(reason),
        }
    }

    fn unavailable(&self, reason: String) -> Error {
        Error::RegistryUnavailable { registry: self.host.clone(), reason }
    }

    fn refused(&self, reason: String) -> Error {
        Error::ImageRefused { image: self.image.to_owned(), reason }
    }

    fn unauthorized(&self, reason: String) -> Error {
        Error::Unauthorized { image: self.image.to_owned(), reason }
    }

    fn mismatch(&self, what: &str, expected: &Digest, actual: &Digest) -> Error {
        Error::DigestMismatch {
            image: self.image.to_owned(),
            what: what.to_owned(),
            expected: expected.to_string(),
            actual: actual.to_string(),
        }
    }
}

/// What is in the file already.
async fn hash_of(file: &mut tokio::fs::File) -> Result<(u64, Hasher)> {
    use tokio::io::AsyncReadExt;
    let mut hasher = Hasher::new();
    let mut have = 0;
    let mut buffer = vec![0; 1 << 16];
    file.rewind().await.map_err(|error| write_error(&error))?;
    loop {
        let read = file.read(&mut buffer).await.map_err(|error| write_error(&error))?;
        if read == 0 {
            return Ok((have, hasher));
        }
        hasher.update(&buffer[..read]);
        have += read as u64;
    }
}

async fn start_over(file: &mut tokio::fs::File) -> Result<(u64, Hasher)> {
    file.set_len(0).await.map_err(|error| write_error(&error))?;
    file.rewind().await.map_err(|error| write_error(&error))?;
    Ok((0, Hasher::new()))
}

fn write_error(error: &std::io::Error) -> Error {
    match error.kind() {
        std::io::ErrorKind::StorageFull => Error::NoSpace { path: "the image store".to_owned() },
        _ => Error::machine("keeping a downloaded layer", error),
    }
}

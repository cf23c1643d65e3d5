//! Reads a layer: decompressed, hashed and limited.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::rc::Rc;

use flate2::read::MultiGzDecoder;
use ruzstd::decoding::StreamingDecoder;

use super::{UnpackError, UnpackLimits};
use crate::image::digest::{Digest, Hasher};

const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The uncompressed bytes of a layer.
pub(super) struct LayerReader {
    source: Box<dyn Read>,
    hasher: Hasher,
    limits: UnpackLimits,
    read: u64,
    compressed: Rc<Cell<u64>>,
    is_compressed: bool,
    refusal: Option<String>,
}

impl LayerReader {
    /// Tells by the first bytes how the layer is compressed, whatever its media type says.
    pub(super) fn open(mut layer: File, limits: UnpackLimits) -> Result<Self, UnpackError> {
        let mut first = Vec::new();
        // Whoever has written it has left it at its end.
        layer.seek(SeekFrom::Start(0))?;
        layer.by_ref().take(4).read_to_end(&mut first)?;
        layer.seek(SeekFrom::Start(0))?;
        let compressed = Rc::new(Cell::new(0));
        let counted = Counted { inner: BufReader::with_capacity(1 << 16, layer), count: compressed.clone() };
        let is_gzip = first.starts_with(&GZIP);
        let is_zstd = first.starts_with(&ZSTD);
        let source: Box<dyn Read> = if is_gzip {
            Box::new(MultiGzDecoder::new(counted))
        } else if is_zstd {
            let decoder = StreamingDecoder::new(counted).map_err(|error| {
                UnpackError::Refused(format!("a layer is compressed by zstd and can't be read: {error}"))
            })?;
            Box::new(decoder)
        } else {
            Box::new(counted)
        };
        let is_compressed = is_gzip || is_zstd;
        Ok(Self { source, hasher: Hasher::new(), limits, read: 0, compressed, is_compressed, refusal: None })
    }

    /// Why reading was stopped, if it was.
    pub(super) fn refusal(&mut self) -> Option<String> {
        self.refusal.take()
    }

    pub(super) fn finish(self) -> Digest {
        self.hasher.finish()
    }

    fn refuse(&mut self, reason: String) -> io::Error {
        self.refusal = Some(reason);
        io::Error::other("the layer is refused")
    }
}

impl Read for LayerReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = match self.source.read(buffer) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Err(error),
            Err(error) if self.is_compressed => {
                return Err(self.refuse(format!("a layer can't be decompressed: {error}")));
            }
            Err(error) => return Err(error),
        };
        self.hasher.update(&buffer[..read]);
        self.read += read as u64;
        if self.read > self.limits.bytes {
            let limit = self.limits.bytes;
            return Err(self.refuse(format!("a layer is larger than {limit} bytes when it is unpacked")));
        }
        let most = self.compressed.get().saturating_mul(self.limits.ratio);
        if self.is_compressed && self.read > self.limits.ratio_from && self.read > most {
            let ratio = self.limits.ratio;
            return Err(self.refuse(format!("a layer grows more than {ratio} times when it is unpacked")));
        }
        Ok(read)
    }
}

/// Counts the compressed bytes.
struct Counted {
    inner: BufReader<File>,
    count: Rc<Cell<u64>>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.count.set(self.count.get() + read as u64);
        Ok(read)
    }
}

/// An error of the tar parser is the layer's fault, unless the machine says otherwise.
pub(super) fn stopped_by(error: io::Error) -> UnpackError {
    match error.kind() {
        io::ErrorKind::StorageFull => UnpackError::NoSpace,
        _ => UnpackError::Refused(format!("a layer is not a readable tar file: {error}")),
    }
}

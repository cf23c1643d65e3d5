//! A tar archive, packed: files of a name and some bytes, nothing more.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

/// Files in the making of an archive.
#[derive(Default)]
pub struct Archive {
    bytes: Vec<u8>,
}

const BLOCK: usize = 512;

impl Archive {
    /// Adds a file. Names are ours, and short.
    pub fn add(&mut self, name: &str, content: &[u8]) {
        let mut header = [0u8; BLOCK];
        let name = format!("groundplane-support/{name}");
        put(&mut header, 0, name.as_bytes());
        put(&mut header, 100, b"0000600\0");
        put(&mut header, 108, b"0000000\0");
        put(&mut header, 116, b"0000000\0");
        put(&mut header, 124, format!("{:011o}\0", content.len()).as_bytes());
        let now =
            std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_secs();
        put(&mut header, 136, format!("{now:011o}\0").as_bytes());
        put(&mut header, 156, b"0");
        put(&mut header, 257, b"ustar\x0000");
        // The sum is made with blanks in its own place.
        put(&mut header, 148, b"        ");
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        put(&mut header, 148, format!("{sum:06o}\0 ").as_bytes());
        self.bytes.extend_from_slice(&header);
        self.bytes.extend_from_slice(content);
        self.bytes.resize(self.bytes.len().next_multiple_of(BLOCK), 0);
    }

    /// The whole, packed.
    pub fn finish(mut self) -> std::io::Result<Vec<u8>> {
        self.bytes.resize(self.bytes.len() + 2 * BLOCK, 0);
        let mut packed = GzEncoder::new(Vec::new(), Compression::default());
        packed.write_all(&self.bytes)?;
        packed.finish()
    }
}

fn put(header: &mut [u8; BLOCK], at: usize, bytes: &[u8]) {
    header[at..at + bytes.len()].copy_from_slice(bytes);
}

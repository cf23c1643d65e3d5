//! Frames of an exec stream: a channel, a length, and bytes. The channels are those of Kubernetes' `channel.k8s.io`.

use bytes::{Buf, BufMut, Bytes, BytesMut};

/// Input of the command. An empty frame ends it.
pub const STDIN: u8 = 0;
/// Output of the command.
pub const STDOUT: u8 = 1;
/// Error output of the command.
pub const STDERR: u8 = 2;
/// How the command ended, as JSON: `{"exitCode": 0}`, or `{"message": "…"}` if that is not known. The last frame.
pub const RESULT: u8 = 3;
/// A new size of the terminal, as JSON: `{"rows": 24, "columns": 80}`.
pub const RESIZE: u8 = 4;

/// Most bytes of a frame.
const LARGEST: usize = 1 << 20;
/// Bytes before those of the channel.
const HEAD: usize = 5;

/// A frame with bytes of a channel.
pub fn encode(channel: u8, bytes: &[u8]) -> Bytes {
    let mut frame = BytesMut::with_capacity(HEAD + bytes.len());
    frame.put_u8(channel);
    frame.put_u32(u32::try_from(bytes.len()).unwrap_or(u32::MAX));
    frame.put_slice(bytes);
    frame.freeze()
}

/// Reads frames from a stream of bytes that is cut anywhere.
#[derive(Default)]
pub struct Decoder(BytesMut);

impl Decoder {
    /// Takes in what has arrived.
    pub fn push(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// The next whole frame; none if more has to arrive.
    pub fn take(&mut self) -> Result<Option<(u8, Bytes)>, String> {
        if self.0.len() < HEAD {
            return Ok(None);
        }
        let length = u32::from_be_bytes([self.0[1], self.0[2], self.0[3], self.0[4]]) as usize;
        if length > LARGEST {
            return Err(format!("a frame of {length} bytes is larger than {LARGEST}"));
        }
        if self.0.len() < HEAD + length {
            return Ok(None);
        }
        let channel = self.0.get_u8();
        self.0.advance(HEAD - 1);
        Ok(Some((channel, self.0.split_to(length).freeze())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_however_they_are_cut() {
        let sent = [encode(STDOUT, b"hello"), encode(STDIN, b""), encode(RESULT, b"{}")].concat();
        for size in 1..sent.len() {
            let (mut decoder, mut read) = (Decoder::default(), Vec::new());
            for piece in sent.chunks(size) {
                decoder.push(piece);
                while let Some((channel, bytes)) = decoder.take().unwrap() {
                    read.push((channel, bytes));
                }
            }
            let wanted = [(STDOUT, "hello"), (STDIN, ""), (RESULT, "{}")];
            assert_eq!(read, wanted.map(|(channel, text)| (channel, Bytes::from(text))), "pieces of {size}");
        }
        let mut decoder = Decoder::default();
        decoder.push(&[STDIN, 0xff, 0xff, 0xff, 0xff]);
        assert!(decoder.take().unwrap_err().contains("larger than"));
    }
}

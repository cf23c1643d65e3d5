//! Reads and writes messages by their descriptors.

use prost::Message;
use prost_reflect::{DynamicMessage, MessageDescriptor};
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};

/// Reads messages of one type, and writes any.
pub struct MessageCodec(MessageDescriptor);

impl MessageCodec {
    /// Reads messages of a type.
    pub fn new(read: MessageDescriptor) -> MessageCodec {
        MessageCodec(read)
    }
}

impl Codec for MessageCodec {
    type Encode = DynamicMessage;
    type Decode = DynamicMessage;
    type Encoder = Writer;
    type Decoder = Reader;

    fn encoder(&mut self) -> Writer {
        Writer
    }

    fn decoder(&mut self) -> Reader {
        Reader(self.0.clone())
    }
}

/// Writes messages.
pub struct Writer;

impl Encoder for Writer {
    type Item = DynamicMessage;
    type Error = tonic::Status;

    fn encode(&mut self, message: DynamicMessage, into: &mut EncodeBuf<'_>) -> Result<(), tonic::Status> {
        message.encode(into).map_err(|error| tonic::Status::internal(error.to_string()))
    }
}

/// Reads messages.
pub struct Reader(MessageDescriptor);

impl Decoder for Reader {
    type Item = DynamicMessage;
    type Error = tonic::Status;

    fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<DynamicMessage>, tonic::Status> {
        let message = DynamicMessage::decode(self.0.clone(), from);
        message.map(Some).map_err(|error| {
            let why = format!("the message is not a {}: {error}", self.0.full_name());
            tonic::Status::invalid_argument(why)
        })
    }
}

//! The system event log (SEL).

use super::Ipmi;
use super::message::Command;
use crate::error::{Cause, Result};
use crate::sensors::LogEntry;

const LAST: u16 = 0xffff;
const NO_SUCH_RECORD: &str = "IPMI 0xcb";

impl Ipmi {
    pub(super) async fn read_log(&self, limit: usize) -> Result<Vec<LogEntry>> {
        let mut entries = Vec::new();
        let mut next = 0_u16;
        while entries.len() < limit && next != LAST {
            let [low, high] = next.to_le_bytes();
            let read =
                self.request("read the event log", Command::SEL_ENTRY, &[0, 0, low, high, 0, 0xff]).await;
            let data = match read {
                Ok(data) => data,
                // An empty log has no first record.
                Err(error) if matches!(error.cause(), Cause::Refusal { code, .. } if code == NO_SUCH_RECORD) =>
                {
                    break;
                }
                Err(error) => return Err(error),
            };
            let Some((head, record)) = data.split_first_chunk::<2>() else { break };
            let following = u16::from_le_bytes(*head);
            entries.extend(entry(record));
            // A BMC that points backwards would never end.
            if following <= next && following != LAST {
                break;
            }
            next = following;
        }
        Ok(entries)
    }
}

fn entry(record: &[u8]) -> Option<LogEntry> {
    let record: &[u8; 16] = record.first_chunk()?;
    let [id0, id1, kind, t0, t1, t2, t3, rest @ ..] = record;
    let time = u32::from_le_bytes([*t0, *t1, *t2, *t3]);
    let bytes: Vec<String> = rest.iter().map(|byte| format!("{byte:02x}")).collect();
    Some(LogEntry {
        id: u16::from_le_bytes([*id0, *id1]).to_string(),
        // Below that, the clock counts from the start of the BMC.
        time: (time > 0x2000_0000 && time != u32::MAX && *kind < 0xe0).then_some(u64::from(time)),
        message: format!("type {kind:#04x}, data {}", bytes.join(" ")),
    })
}

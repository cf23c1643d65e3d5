//! Commands of the simulated BMC.

use tokio::time::Instant;

use super::wire::Asked;
use super::{Fault, Machine, Options};

/// What a command does to the session it came in.
pub enum Done {
    Nothing,
    CloseSession,
    OpenConsole,
    CloseConsole,
}

const INVALID_COMMAND: u8 = 0xc1;
const INVALID_FIELD: u8 = 0xcc;
const NO_RECORD: u8 = 0xcb;
const BUSY: u8 = 0xc0;

/// The completion code and data that answer a request.
pub fn answer(machine: &mut Machine, options: &Options, asked: &Asked<'_>) -> (Done, u8, Vec<u8>) {
    let byte = |at: usize| asked.data.get(at).copied().unwrap_or_default();
    let ok = |data: &[u8]| (Done::Nothing, 0, data.to_vec());
    let refused = |code: u8| (Done::Nothing, code, Vec::new());
    if machine.fault == Some(Fault::Busy) && asked.function == 0 {
        return refused(BUSY);
    }
    match (asked.function, asked.command) {
        (0, 0x01) => {
            let light = 0x40 | if machine.is_identified { 0x20 } else { 0 };
            ok(&[u8::from(machine.is_on), 0, light])
        }
        (0, 0x02) => control(machine, options, byte(0)),
        (0, 0x04) => {
            machine.is_identified = byte(0) != 0 || byte(1) & 1 == 1;
            ok(&[])
        }
        (0, 0x08) => match (byte(0) & 0x7f, asked.data.get(1..6)) {
            (5, Some(flags)) => {
                machine.boot_flags.copy_from_slice(flags);
                ok(&[])
            }
            (3 | 4, _) => ok(&[]),
            _ => refused(0x80),
        },
        (0, 0x09) => {
            let mut data = vec![1, byte(0)];
            data.extend(machine.boot_flags);
            if byte(0) & 0x7f == 5 { ok(&data) } else { refused(0x80) }
        }
        (6, 0x01) => ok(&[0x20, 1, 0x02, 0x41, 0x02, 0x8f, 0x57, 0x01, 0, 0x0b, 0, 0, 0, 0, 0]),
        (6, 0x3b) => ok(&[4]),
        (6, 0x3c) => (Done::CloseSession, 0, Vec::new()),
        // Three accounts, two of them in use; administrator.
        (6, 0x44) => ok(&[3, 2, 1, 0x34]),
        (6, 0x46) => match byte(0) {
            1 => ok(&[0; 16]),
            2 => ok(&padded(options.user.as_bytes())),
            _ => refused(INVALID_FIELD),
        },
        (6, 0x47) => match (byte(0) & 0x3f, byte(1) & 3, asked.data.get(2..)) {
            (2, 2, Some(password)) => {
                let end = password.iter().position(|byte| *byte == 0).unwrap_or(password.len());
                machine.password = password.get(..end).unwrap_or_default().to_vec();
                ok(&[])
            }
            _ => refused(INVALID_FIELD),
        },
        (6, 0x48) => (Done::OpenConsole, 0, vec![0, 0, 0, 0, 0x68, 0, 0x68, 0, 0x6f, 0x02, 0xff, 0xff]),
        (6, 0x49) => (Done::CloseConsole, 0, Vec::new()),
        (0x0a, 0x40) => ok(&[0x51, 2, 0, 0xff, 0x0f, 0, 0xf1, 0x53, 0x65, 0, 0xf1, 0x53, 0x65, 0]),
        (0x0a, 0x43) => match u16::from_le_bytes([byte(2), byte(3)]) {
            0 | 1 => ok(&record(1, 2)),
            2 => ok(&record(2, 0xffff)),
            _ => refused(NO_RECORD),
        },
        _ => refused(INVALID_COMMAND),
    }
}

fn control(machine: &mut Machine, options: &Options, control: u8) -> (Done, u8, Vec<u8>) {
    machine.controls.push(control);
    let at = Instant::now() + options.power_delay;
    if machine.fault != Some(Fault::PowerLies) {
        match control {
            0 | 5 if machine.is_on => machine.becomes = Some((false, at)),
            1 if !machine.is_on => machine.becomes = Some((true, at)),
            _ => {}
        }
    }
    (Done::Nothing, 0, Vec::new())
}

/// The next record, and a record of a sensor's event.
fn record(id: u16, next: u16) -> Vec<u8> {
    let mut data = next.to_le_bytes().to_vec();
    data.extend(id.to_le_bytes());
    data.push(2);
    data.extend(1_700_000_000_u32.to_le_bytes());
    data.extend([0x20, 0, 4, 1, 0x30, 1, 0x57, 0x2d, 0x2a]);
    data
}

fn padded(name: &[u8]) -> [u8; 16] {
    let mut field = [0; 16];
    field.iter_mut().zip(name).for_each(|(field, byte)| *field = *byte);
    field
}

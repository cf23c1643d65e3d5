//! What the header of an ELF binary says: its machine, and whether it needs a dynamic linker.

use std::path::Path;

use super::read as file;
use crate::step::Failure;

/// A machine that packages are made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    X86_64,
    Aarch64,
}

impl Machine {
    /// Its name in target triples and in names of archives.
    pub fn rust(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64",
            Self::Aarch64 => "aarch64",
        }
    }

    /// Its name in Debian packages.
    pub fn debian(self) -> &'static str {
        match self {
            Self::X86_64 => "amd64",
            Self::Aarch64 => "arm64",
        }
    }

    /// Its name in images, which is Go's.
    pub fn oci(self) -> &'static str {
        self.debian()
    }
}

/// What matters of a binary.
#[derive(Debug)]
pub struct Elf {
    pub machine: Machine,
    /// The dynamic linker; `None` in a static binary.
    pub interpreter: Option<String>,
}

/// Reads the header of a 64-bit little-endian binary.
pub fn read_bytes(bytes: &[u8]) -> Result<Elf, String> {
    const PT_INTERP: u64 = 3;
    if !bytes.starts_with(b"\x7fELF\x02\x01") {
        return Err("it is no 64-bit little-endian ELF binary".to_owned());
    }
    let machine = match number(bytes, 18, 2)? {
        62 => Machine::X86_64,
        183 => Machine::Aarch64,
        other => return Err(format!("packages are not made for ELF machine {other}")),
    };
    let (table, size, count) = (number(bytes, 32, 8)?, number(bytes, 54, 2)?, number(bytes, 56, 2)?);
    let mut interpreter = None;
    for header in 0..count {
        let at = table + header * size;
        if number(bytes, at, 4)? == PT_INTERP {
            let (start, length) = (number(bytes, at + 8, 8)?, number(bytes, at + 32, 8)?);
            let name = slice(bytes, start, length)?;
            interpreter = Some(String::from_utf8_lossy(name).trim_end_matches('\0').to_owned());
        }
    }
    Ok(Elf { machine, interpreter })
}

/// Reads the header of a file.
pub fn read(path: &Path) -> Result<Elf, Failure> {
    read_bytes(&file(path)?).map_err(|why| Failure(format!("{}: {why}", path.display())))
}

fn number(bytes: &[u8], at: u64, length: u64) -> Result<u64, String> {
    Ok(slice(bytes, at, length)?.iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte)))
}

fn slice(bytes: &[u8], at: u64, length: u64) -> Result<&[u8], String> {
    let range =
        usize::try_from(at).ok().zip(at.checked_add(length).and_then(|end| usize::try_from(end).ok()));
    range.and_then(|(start, end)| bytes.get(start..end)).ok_or_else(|| "its headers are cut off".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header with one program header of a kind, whose content is the text.
    fn binary(kind: u8, text: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; 120];
        bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
        bytes[18] = 62;
        bytes[32] = 64;
        bytes[54] = 56;
        bytes[56] = 1;
        bytes[64] = kind;
        bytes[64 + 8] = 120;
        bytes[64 + 32] = text.len() as u8;
        bytes.extend_from_slice(text);
        bytes
    }

    #[test]
    fn a_binary_with_an_interpreter_is_dynamic() {
        let elf = read_bytes(&binary(3, b"/lib/ld.so\0")).unwrap();
        assert_eq!(elf.interpreter.as_deref(), Some("/lib/ld.so"));
        assert_eq!(read_bytes(&binary(1, b"")).unwrap().interpreter, None);
    }

    #[test]
    fn tests_themselves_are_dynamic() {
        let this = read(&std::env::current_exe().unwrap()).unwrap();
        assert!(this.interpreter.is_some(), "{this:?}");
    }

    #[test]
    fn what_is_cut_off_is_refused() {
        let whole = binary(3, b"/lib/ld.so\0");
        for length in 0..whole.len() {
            assert!(read_bytes(&whole[..length]).is_err(), "{length} bytes");
        }
        assert!(read_bytes(b"#!/bin/sh\n").is_err());
    }
}

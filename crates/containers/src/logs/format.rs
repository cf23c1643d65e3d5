//! The form of a line.

use crate::runtime::{LogLine, Output};
use crate::timestamp;

pub(super) fn write(line: &LogLine) -> Vec<u8> {
    let output = match line.output {
        Output::Stdout => "stdout",
        Output::Stderr => "stderr",
    };
    let tag = if line.partial { 'P' } else { 'F' };
    format!("{} {output} {tag} {}\n", timestamp::format(line.at), line.text).into_bytes()
}

pub(super) fn parse(line: &str) -> Option<LogLine> {
    let mut parts = line.splitn(4, ' ');
    let at = timestamp::parse(parts.next()?)?;
    let output = match parts.next()? {
        "stdout" => Output::Stdout,
        "stderr" => Output::Stderr,
        _ => return None,
    };
    let partial = parts.next()? == "P";
    Some(LogLine { at, output, text: parts.next().unwrap_or_default().to_owned(), partial })
}

//! Writes the seeds and the words of every target into a folder, for libFuzzer: `<folder>/<target>/seeds/<number>` and
//! `<folder>/<target>/words`. Prints the names of the targets.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use fuzz::{TARGETS, Target};

fn main() -> ExitCode {
    let Some(folder) = std::env::args_os().nth(1) else {
        eprintln!("usage: seeds FOLDER");
        return ExitCode::FAILURE;
    };
    for target in &TARGETS {
        if let Err(error) = write(target, &Path::new(&folder).join(target.name)) {
            eprintln!("the seeds of {} can't be written to {}: {error}", target.name, folder.display());
            return ExitCode::FAILURE;
        }
        #[expect(clippy::print_stdout, reason = "it is what is asked for")]
        {
            println!("{}", target.name);
        }
    }
    ExitCode::SUCCESS
}

fn write(target: &Target, folder: &Path) -> std::io::Result<()> {
    let seeds = folder.join("seeds");
    std::fs::create_dir_all(&seeds)?;
    for (number, seed) in (target.seeds)().iter().enumerate() {
        std::fs::write(seeds.join(number.to_string()), seed)?;
    }
    let mut words = String::new();
    for word in target.words {
        let escaped: String = word.bytes().map(|byte| format!("\\x{byte:02x}")).collect();
        let _ = writeln!(words, "\"{escaped}\"");
    }
    std::fs::write(folder.join("words"), words)
}

//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, ValueEnum};

use crate::Outcome;

/// Measures the store beside bare redb and bare etcd.
#[derive(Parser)]
#[command(name = "store", bin_name = "cargo xtask bench store", after_help = EXAMPLES)]
pub struct Options {
    /// A short look: few rounds, one size.
    #[arg(long)]
    pub quick: bool,

    /// Only these parts; may be given several times.
    #[arg(long, value_name = "NAME", num_args = 1..)]
    only: Vec<Section>,

    /// Also the store on etcd, beside bare etcd; needs `etcd` and `etcdctl`.
    #[arg(long)]
    etcd: bool,

    /// How many write at a time in the parts that write, one load after the other.
    #[arg(long, value_name = "N", num_args = 1.., default_values_t = [1, 16, 64])]
    pub writers: Vec<usize>,

    /// MiB of the file that redb keeps in memory, on both sides; ours has the default unless said.
    #[arg(long, value_name = "MIB", default_value_t = store::Settings::default().cache >> 20)]
    cache: usize,

    /// Write all figures to this file.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// End with an error if a floor is missed.
    #[arg(long)]
    pub check: bool,

    /// Where the files are made; they go when the run ends. Must be a real disk to mean anything.
    #[arg(long, value_name = "FOLDER", default_value_os_t = std::env::temp_dir())]
    pub dir: PathBuf,

    /// A step of the memory part, which runs in a process of its own.
    #[arg(long, hide = true)]
    pub child: Option<Step>,

    /// Objects of that step.
    #[arg(long, hide = true, default_value_t = 0)]
    pub objects: usize,

    /// Given by `cargo bench`; means nothing here.
    #[arg(long, hide = true)]
    bench: bool,
}

const EXAMPLES: &str = "\
Examples:
  cargo xtask bench store                            everything but etcd, about six minutes
  cargo xtask bench store --quick                    a first look, about a minute
  cargo xtask bench store --only writes reads        two parts
  cargo xtask bench store --only writes --writers 1  one load of one part
  cargo xtask bench store --only etcd                the store on etcd beside bare etcd
  cargo xtask bench store --check --json today.json  for a machine that keeps the figures

Ours and bare take turns, so that both see the same machine. On a busy one, look at the ratios.";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Section {
    /// Single objects, with and without writers beside.
    Reads,
    /// 10,000 and 50,000 objects.
    Lists,
    /// Durable updates and creates by 1, 16 and 64 writers.
    Writes,
    /// One change to 1,000 watchers.
    Watch,
    /// An object with 1,000 changes.
    History,
    /// Memory, file and reopening at 50,000, 200,000 and 1,000,000 objects.
    Memory,
    /// Writes on etcd.
    Etcd,
}

/// What a child process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Step {
    /// Fill a store and die without closing it.
    Fill,
    /// Open a store, measure, close it.
    Open,
}

impl Options {
    pub fn wants(&self, section: Section) -> bool {
        if self.only.is_empty() {
            return section != Section::Etcd || self.etcd;
        }
        self.only.contains(&section) || (section == Section::Etcd && self.etcd)
    }

    /// How often ours and bare take turns.
    pub fn rounds(&self) -> usize {
        if self.quick { 2 } else { 5 }
    }

    /// How long one turn lasts.
    pub fn turn(&self) -> Duration {
        if self.quick { Duration::from_millis(1_000) } else { Duration::from_secs(2) }
    }

    /// Bytes of the file that redb keeps in memory.
    pub fn cache(&self) -> usize {
        self.cache << 20
    }

    pub fn folder(&self) -> Outcome<tempfile::TempDir> {
        Ok(tempfile::Builder::new().prefix("groundplane-bench-").tempdir_in(&self.dir)?)
    }
}

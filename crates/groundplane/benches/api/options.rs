//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, ValueEnum};

/// Measures a Kubernetes API server through its public API, beside the figures of kube-apiserver.
#[derive(Parser)]
#[command(name = "api", bin_name = "cargo xtask bench api", after_help = EXAMPLES)]
pub struct Options {
    /// A short look: 10,000 objects and a second for each figure.
    #[arg(long)]
    pub quick: bool,

    /// Only these parts; the objects are made in any case.
    #[arg(long, value_name = "NAME", num_args = 1..)]
    only: Vec<Part>,

    /// Measure the server that this kubeconfig's current context names, instead of one started for it.
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,

    /// Its processes on this machine, whose CPU and memory are counted: those of kube-apiserver and of etcd, say.
    #[arg(long, value_name = "PID", num_args = 1.., requires = "kubeconfig")]
    pub pid: Vec<u32>,

    /// Another `groundplane` than the one that was just built.
    #[arg(long, value_name = "FILE", conflicts_with = "kubeconfig")]
    pub binary: Option<PathBuf>,

    /// One more argument of `groundplane serve`; may be given several times.
    #[arg(long, value_name = "ARGUMENT", allow_hyphen_values = true, conflicts_with = "kubeconfig")]
    pub serve: Vec<String>,

    /// How many objects there are in the end. The peer's figures are those of 50,000.
    #[arg(long, value_name = "N")]
    objects: Option<usize>,

    /// How long each figure is measured for.
    #[arg(long, value_name = "SECONDS")]
    seconds: Option<f64>,

    /// Write all figures to this file.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// End with an error if a floor is missed.
    #[arg(long)]
    pub check: bool,

    /// Where the server's folder is made; it goes when the run ends. Must be a real disk to mean anything.
    #[arg(long, value_name = "FOLDER", default_value_os_t = std::env::temp_dir())]
    pub dir: PathBuf,

    /// Given by `cargo bench`; means nothing here.
    #[arg(long, hide = true)]
    bench: bool,
}

const EXAMPLES: &str = "\
Examples:
  cargo xtask bench api                                  everything, about two minutes
  cargo xtask bench api --quick                          a first look
  cargo xtask bench api --only reads lists               two parts
  cargo xtask bench api --serve=--audit-log=none         without the audit log
  cargo xtask bench api --kubeconfig ~/.kube/config --pid 4711 4712
                                                         another server, with the CPU and memory of two processes
  cargo xtask bench api --check --json today.json        for a machine that keeps the figures

It makes a CustomResourceDefinition and up to 50,000 objects, and removes both from a server that it did not start.";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// From the start of the process until it is ready, empty and full.
    Start,
    /// Merge patches, patches of the status, server-side applies.
    Writes,
    /// Single objects.
    Reads,
    /// Lists, pages, tables, selectors.
    Lists,
    /// Changes to 1, 100 and 1,000 watchers.
    Watch,
}

impl Options {
    pub fn wants(&self, part: Part) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }

    pub fn objects(&self) -> usize {
        self.objects.unwrap_or(if self.quick { 10_000 } else { 50_000 })
    }

    /// How long each figure is measured for.
    pub fn time(&self) -> Duration {
        let seconds = self.seconds.unwrap_or(if self.quick { 1.0 } else { 4.0 });
        Duration::from_secs_f64(seconds.clamp(0.05, 3_600.0))
    }
}

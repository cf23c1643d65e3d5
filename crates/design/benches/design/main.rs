//! How long a large site takes: `cargo xtask bench design`. With `--check` a missed floor fails the run.
#![allow(clippy::print_stdout, reason = "a bench is for what it prints")]

mod site;

use std::{
    process::ExitCode,
    sync::Arc,
    time::{Duration, Instant},
};

use design::{
    compile::{Compiled, Compiler, LshwInputs, compile},
    document::{Document, parse},
    object::Composer,
    provenance,
    reach::reach,
};

use site::site;

fn main() -> ExitCode {
    let check = std::env::args().any(|argument| argument == "--check");
    let mut bench = Bench::default();

    let text = site(10_000, "jammy");
    let megabytes = text.len() as f64 / 1e6;
    let documents =
        bench.time(&format!("read 10,000 nodes ({megabytes:.1} MB of YAML)"), None, || read(&text));
    let effective = bench.time("effective design of 10,000 nodes", Some(2.0), || made(&documents));
    let nodes = effective.site().map_or(0, |site| site.nodes.len());
    assert_eq!(nodes, 10_000, "the site compiles whole");

    let small = made(&read(&site(2_000, "jammy")));
    let validated = bench.time("validation of 2,000 nodes", Some(1.0), || small.clone().validated());
    let found = validated.report.as_ref().map_or(0, |report| report.findings().len());
    assert!(found > 0, "the validators ran");

    let changed = read(&site(10_000, "noble"));
    let reached = bench.time("what a profile change reaches over 10,000 nodes", Some(2.0), || {
        let after = made(&changed);
        match (effective.site(), after.site()) {
            (Some(before), Some(after)) => reach(before, after).len(),
            _ => 0,
        }
    });
    assert_eq!(reached, 10_000, "every node inherits from the profile");

    bench.changes(&documents);
    bench.end(check)
}

impl Bench {
    /// A design that is kept compiled: one node changes, and one is asked for.
    fn changes(&mut self, documents: &[Document]) {
        let mut shared: Vec<Arc<Document>> = documents.iter().cloned().map(Arc::new).collect();
        let (mut composer, mut compiler) = (Composer::default(), Compiler::default());
        let mut compiled = |shared: &[Arc<Document>]| {
            let composed = composer.compose(shared, &[]).map(|composed| composed.documents);
            compiler.compile(&composed.unwrap_or_default())
        };
        let first = compiled(&shared);
        let last = shared.len() - 1;
        let start = Instant::now();
        shared[last] = Arc::new(Document::clone(&shared[last]));
        let after = compiled(&shared);
        self.judge("compiling again after one of 10,000 nodes changed", Some(0.1), start.elapsed());
        drop(first);
        let node = after.site().and_then(|site| site.node("node5000")).map(Arc::clone);
        self.time("one node of a compiled design, as JSON with provenance", Some(0.005), || {
            node.as_ref().map(|node| provenance::node_json(node).to_string().len())
        });
        let nodes = after.site().map(|site| site.nodes.clone()).unwrap_or_default();
        self.time("all 10,000 nodes as JSON, one by one", None, || {
            nodes.iter().map(|node| provenance::node_json(node).to_string().len()).sum::<usize>()
        });
        self.time("validation of 10,000 nodes", None, || after.clone().validated().report.is_some());
        println!("peak memory: {}", peak_memory());
    }
}

/// The most memory that the process has had, as the kernel says.
fn peak_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    line.and_then(|line| line.split_once(':'))
        .map_or("unknown".to_owned(), |(_, value)| value.trim().to_owned())
}

#[derive(Default)]
struct Bench {
    missed: Vec<String>,
}

impl Bench {
    /// The best of three runs: what the work costs, not what the neighbours do.
    fn time<T>(&mut self, what: &str, floor: Option<f64>, work: impl Fn() -> T) -> T {
        let mut best = Duration::MAX;
        let mut made = None;
        for _ in 0..3 {
            let start = Instant::now();
            made = Some(work());
            best = best.min(start.elapsed());
        }
        self.judge(what, floor, best);
        made.unwrap_or_else(|| unreachable!("three runs were made"))
    }

    fn judge(&mut self, what: &str, floor: Option<f64>, took: Duration) {
        let seconds = took.as_secs_f64();
        let judged = match floor {
            Some(floor) if seconds > floor => {
                self.missed.push(what.to_owned());
                format!("(< {floor} s) MISSED")
            }
            Some(floor) => format!("(< {floor} s) ok"),
            None => String::new(),
        };
        println!("| {what:56} | {seconds:8.4} s {judged} |");
    }

    fn end(self, check: bool) -> ExitCode {
        if self.missed.is_empty() || !check {
            return ExitCode::SUCCESS;
        }
        eprintln!("floors missed: {}", self.missed.join(", "));
        ExitCode::FAILURE
    }
}

fn read(text: &str) -> Vec<Document> {
    parse("site.yaml", text.as_bytes()).map(|loaded| loaded.documents).unwrap_or_default()
}

fn made(documents: &[Document]) -> Compiled {
    compile(documents, &LshwInputs::new())
}

//! `cargo xtask bench api`: what a Kubernetes API server does in a second, how long it takes, and what it costs; through
//! its public API alone, over HTTPS, whoever made it. The figures stand beside those of kube-apiserver on the same work.
#![allow(clippy::print_stdout, reason = "a command for people: what it prints is what it is for")]

mod connection;
mod creates;
mod crowd;
mod keeping;
mod kubeconfig;
mod lists;
mod objects;
mod options;
mod peer;
mod reads;
mod subject;
mod table;
mod watch;
mod writes;

use std::process::ExitCode;

use clap::Parser;
use testbed::bench::report::Report;
use testbed::bench::{Outcome, machine};

use crate::keeping::Memory;
use crate::options::{Options, Part};
use crate::subject::Subject;

fn main() -> ExitCode {
    match measure(&Options::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(failure) => {
            eprintln!("bench api: {failure}");
            ExitCode::FAILURE
        }
    }
}

/// Measures what was asked for; whether all is as it should be, as far as `--check` cares.
fn measure(options: &Options) -> Outcome<bool> {
    let mut report = Report::new(machine::describe()?);
    println!("{}", report.machine);
    let mut starts = keeping::starts();
    let timed = options.wants(Part::Start) && options.kubeconfig.is_none();
    if timed {
        starts.row(keeping::start_row("first, empty folder", 0, keeping::first_starts(options)?));
    }
    let (objects, full) = (options.objects(), options.objects() >= 50_000);
    let mut memory = Memory::default();
    let mut subject = Subject::of(options)?;
    memory.look("idle, empty", &subject, peer::MEMORY_IDLE, false, false)?;
    subject.define()?;
    report.add(creates::measure(&subject, options)?);
    if full {
        memory.look("50,000 created", &subject, peer::MEMORY_50K, true, false)?;
    }
    if options.wants(Part::Reads) {
        report.add(reads::measure(&subject, options)?);
    }
    if options.wants(Part::Lists) {
        report.add(lists::measure(&subject, options)?);
        if full {
            memory.look("at most, after full lists", &subject, peer::MEMORY_PEAK, true, true)?;
        }
    }
    if timed && full {
        (subject, _) = subject.restart(false)?;
        memory.look("50,000, started again", &subject, peer::MEMORY_50K, true, false)?;
    }
    if options.wants(Part::Writes) {
        report.add(writes::measure(&subject, options)?);
    }
    if options.wants(Part::Watch) {
        report.add(watch::measure(&subject, options)?);
    }
    if timed {
        for (start, crash) in [("after a crash", true), ("after a stop", false)] {
            let (restarted, took) = subject.restart(crash)?;
            subject = restarted;
            starts.row(keeping::start_row(start, objects, took));
        }
        if full {
            // Its objects are larger by then: those that were applied have a second manager. The peer's are as created.
            memory.look(
                "50,000 after all changes, started again",
                &subject,
                peer::MEMORY_50K,
                false,
                false,
            )?;
        }
        report.add(starts);
    }
    report.add(memory.table());
    subject.leave()?;
    if let Some(file) = &options.json {
        std::fs::write(file, report.to_json())?;
    }
    Ok(!options.check || report.all_floors_hold())
}

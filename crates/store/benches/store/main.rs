//! `cargo xtask bench store`: what the store costs, beside bare redb and bare etcd, measured in one run.
#![allow(clippy::print_stdout, reason = "a command for people: what it prints is what it is for")]

mod bare_etcd;
mod bare_redb;
mod etcd;
mod fanout;
mod history;
mod lists;
mod load;
mod memory;
mod objects;
mod options;
mod ours;
mod reads;
mod stage;
mod writes;

use std::process::ExitCode;

use clap::Parser;
use testbed::bench::report::Report;
use testbed::bench::{Failure, Outcome, machine};

use crate::options::{Options, Section};
use crate::stage::Stage;

fn main() -> ExitCode {
    let options = Options::parse();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&error.into()),
    };
    let ended = match &options.child {
        Some(step) => runtime.block_on(memory::child(*step, &options)),
        None => runtime.block_on(measure(&options)),
    };
    match ended {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(failure) => fail(&failure),
    }
}

fn fail(failure: &Failure) -> ExitCode {
    eprintln!("bench store: {failure}");
    ExitCode::FAILURE
}

/// Measures what was asked for; whether all is as it should be, as far as `--check` cares.
async fn measure(options: &Options) -> Outcome<bool> {
    let mut report = Report::new(machine::describe()?);
    println!("{}", report.machine);
    if [Section::Reads, Section::Lists, Section::Writes].iter().any(|section| options.wants(*section)) {
        // In this order: writes make objects that lists would find.
        let stage = Stage::set(options).await?;
        if options.wants(Section::Reads) {
            report.add(reads::measure(&stage, options).await?);
        }
        if options.wants(Section::Lists) {
            report.add(lists::measure(&stage, options).await?);
        }
        if options.wants(Section::Writes) {
            report.add(writes::measure(&stage, options).await?);
        }
        stage.strike().await?;
    }
    if options.wants(Section::Watch) {
        report.add(fanout::measure(options).await?);
    }
    if options.wants(Section::History) {
        report.add(history::measure(options).await?);
    }
    if options.wants(Section::Memory) {
        report.add(memory::measure(options)?);
    }
    if options.wants(Section::Etcd) {
        report.add(etcd::measure(options).await?);
    }
    if let Some(file) = &options.json {
        std::fs::write(file, report.to_json())?;
    }
    Ok(!options.check || report.all_floors_hold())
}

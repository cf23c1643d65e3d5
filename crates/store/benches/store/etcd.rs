//! Durable writes on one real member of etcd.

use std::sync::Arc;
use std::time::Duration;

use store::etcd::{Config, Etcd, Options as EtcdOptions};
use store::{Keys, Level, Store};
use testbed::etcd::Cluster;

use crate::bare_etcd::BareEtcd;
use crate::load::{Filled, Kind, Measured, Subject};
use crate::options::Options;
use crate::ours::Ours;
use crate::{Outcome, machine};
use testbed::bench::report::{Cell, Table};

/// Objects of each: etcd takes a while to fill.
const OBJECTS: usize = 5_000;

pub async fn measure(options: &Options) -> Outcome<Table> {
    let mut table = Table::new(
        "etcd",
        "Durable updates of 1.4 KB objects on one member of etcd",
        &["load", "engine", "writes/s", "p50 ms", "p99 ms", "CPU µs/write here", "CPU µs/write etcd"],
    );
    let cluster = Cluster::start(1)?;
    let member = machine::children("etcd")?.pop().ok_or("the etcd that was started is not there")?;
    let folder = options.folder()?;
    let keys = Keys::open(folder.path())?;
    let full = ours(&cluster, "/full", &keys, Level::Full).await?;
    let none = ours(&cluster, "/none", &keys, Level::None).await?;
    let endpoint = cluster.endpoints().into_iter().next().ok_or("etcd without an address")?;
    let bare = Filled::with(BareEtcd::connect(endpoint).await?, OBJECTS).await?;

    for &writers in &options.writers {
        let mut sums = [Both::default(), Both::default(), Both::default()];
        for _ in 0..options.rounds() {
            sums[0].add(turn(&full, &member, writers, options).await?);
            sums[1].add(turn(&none, &member, writers, options).await?);
            sums[2].add(turn(&bare, &member, writers, options).await?);
        }
        let names = ["ours, full history", "ours, no history", "bare etcd"];
        for (name, mut sum) in names.into_iter().zip(sums) {
            let etcd = sum.etcd.as_micros() as f64 / sum.here.writes.max(1) as f64;
            table.row(vec![
                Cell::text(format!("update by {writers}")),
                Cell::text(name),
                Cell::number(sum.here.per_second(), 0),
                Cell::number(sum.here.latency(0.5), 2),
                Cell::number(sum.here.latency(0.99), 2),
                Cell::number(sum.here.cpu_per_write(), 0),
                Cell::number(etcd, 0),
            ]);
        }
    }
    table.note(
        "random updates over 5,000 objects each. Ours: one guarded Txn with the object, its record and the log, then \
         followed by this server's watch. Bare: a Txn of one put",
    );
    full.subject.store.close().await?;
    none.subject.store.close().await?;
    Ok(table)
}

async fn ours(cluster: &Cluster, prefix: &str, keys: &Keys, level: Level) -> Outcome<Arc<Filled<Ours>>> {
    let options = EtcdOptions::new(Config::new(cluster.endpoints()), prefix, keys.clone());
    let store: Arc<dyn Store> = Etcd::open(options).await?;
    Filled::with(Ours::on(store, level), OBJECTS).await
}

#[derive(Default)]
struct Both {
    here: Measured,
    etcd: Duration,
}

impl Both {
    fn add(&mut self, other: Both) {
        self.here.add(other.here);
        self.etcd += other.etcd;
    }
}

async fn turn<S: Subject>(
    filled: &Arc<Filled<S>>,
    member: &str,
    writers: usize,
    options: &Options,
) -> Outcome<Both> {
    let before = machine::cpu_of(member)?;
    let here = filled.load(Kind::Update, writers, options.turn()).await?;
    Ok(Both { here, etcd: machine::cpu_of(member)?.saturating_sub(before) })
}

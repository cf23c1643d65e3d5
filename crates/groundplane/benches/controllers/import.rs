//! An import of a large inventory: how much its controllers write, and what a user beside them notices.

use std::time::{Duration, Instant};

use testbed::bench::machine;
use testbed::server::Server;

use crate::GROUNDPLANE;
use crate::fleet::Fleet;
use crate::foreground::{self, Latencies, User};
use crate::queues::{commits, empty};
use crate::report::Report;

/// How long a user is observed while nothing else goes on.
const IDLE: Duration = Duration::from_secs(5);

pub async fn measure(objects: u32, report: &mut Report) {
    let server = Server::fresh(GROUNDPLANE, &["--audit-log", "none"]).unwrap();
    let client = server.client();
    foreground::prepare(&client).await;
    let user = User::begin(&client);
    tokio::time::sleep(IDLE).await;
    let idle = user.end().await;

    let fleet = Fleet::of_about(objects);
    report.line("objects imported", fleet.objects as f64, "", None);
    let before = commits(&client).await;
    let user = User::begin(&client);
    let begun = Instant::now();
    fleet.load(&client).await;
    report.time("import", begun.elapsed(), None);
    let during = user.end().await;

    let user = User::begin(&client);
    let begun = Instant::now();
    let last = empty(&client).await;
    let settling = user.end().await;
    report.time("then until controllers have nothing to do", last - begun, None);
    let each = (commits(&client).await - before) as f64 / fleet.objects as f64;
    report.line("commits of controllers for each object", each, "", Some(1.05));

    tell("idle", &idle, None, report);
    tell("during the import", &during, None, report);
    tell("while controllers work", &settling, Some(&idle), report);
    report.line("memory", server.memory() as f64, "MiB", None);
    let cpu = machine::cpu_of(&server.pid().to_string()).unwrap();
    let each = cpu.as_secs_f64() * 1e6 / fleet.objects as f64;
    report.line("CPU of the server for each object", each, "µs", None);
}

/// A user's latencies, with those of an idle server as the measure where they have a floor.
fn tell(when: &str, latencies: &Latencies, idle: Option<&Latencies>, report: &mut Report) {
    let (read, write) = latencies.p99();
    let twice = idle.map(|idle| idle.p99()).map(|(read, write)| (read * 2, write * 2));
    report.time(&format!("p99 of a read, {when}"), read, twice.map(|(read, _)| read));
    report.time(&format!("p99 of a write, {when}"), write, twice.map(|(_, write)| write));
}

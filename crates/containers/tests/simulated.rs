//! Simulated instances follow their scripts, in the time that the clock shows.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

use std::sync::Arc;
use std::time::Duration;

use containers::clock::TokioClock;
use containers::simulated::{Ending, Script, Simulated};
use containers::{
    ContainerPhase, ContainerSpec, Error, ExitCause, InstanceId, InstanceSpec, LogRequest, Phase,
    RestartPolicy, Runtime,
};

const SECOND: Duration = Duration::from_secs(1);

fn machine() -> Simulated {
    Simulated::new(Arc::new(TokioClock::new()))
}

fn id(name: &str) -> InstanceId {
    InstanceId::new(name).unwrap()
}

fn spec(name: &str, epoch: u64, image: &str) -> InstanceSpec {
    InstanceSpec::new(id(name), epoch).with_container(ContainerSpec::new("app", image))
}

#[tokio::test(start_paused = true)]
async fn an_instance_is_pulled_started_and_becomes_ready_in_its_own_time() {
    let machine = machine();
    let script = Script {
        pull_takes: 10 * SECOND,
        image_bytes: 1000,
        start_takes: SECOND,
        ready_after: Some(5 * SECOND),
        ..Script::default()
    };
    machine.script("web:1", script);
    machine.ensure(spec("web-0", 1, "web:1")).await.unwrap();
    tokio::time::sleep(4 * SECOND).await;
    let state = machine.observe(&id("web-0")).await.unwrap();
    assert_eq!(state.phase, Phase::Pulling);
    let ContainerPhase::Pulling(progress) = state.containers[0].phase else { panic!("{state:?}") };
    assert_eq!((progress.bytes, progress.total), (400, 1000));
    tokio::time::sleep(8 * SECOND).await;
    let state = machine.observe(&id("web-0")).await.unwrap();
    assert_eq!((state.phase, state.ready), (Phase::Running, false));
    tokio::time::sleep(5 * SECOND).await;
    assert!(machine.observe(&id("web-0")).await.unwrap().ready);
}

#[tokio::test(start_paused = true)]
async fn a_crash_backs_off_names_its_last_lines_and_recovers() {
    let machine = machine();
    let ending =
        Ending { after: SECOND, cause: ExitCause::Code(3), last_lines: vec!["no database".to_owned()] };
    machine.script("web:1", Script { ends: Some(ending), ends_times: Some(2), ..Script::default() });
    machine.ensure(spec("web-0", 1, "web:1")).await.unwrap();
    tokio::time::sleep(SECOND + SECOND / 2).await;
    let state = machine.observe(&id("web-0")).await.unwrap();
    assert_eq!(state.phase, Phase::BackOff);
    let failure = state.failure.unwrap().to_string();
    assert_eq!(failure, "container app ended with exit code 3; its last lines:\nno database");
    tokio::time::sleep(60 * SECOND).await;
    let state = machine.observe(&id("web-0")).await.unwrap();
    assert_eq!((state.phase, state.ready, state.containers[0].restarts), (Phase::Running, true, 2));
    let request = LogRequest { previous: true, ..LogRequest::new(id("web-0")) };
    let lines = machine.logs(request).await.unwrap().collect().await.unwrap();
    assert_eq!(lines[0].text, "no database");
}

#[tokio::test(start_paused = true)]
async fn a_higher_epoch_starts_only_after_the_lower_one_has_stopped() {
    let machine = machine();
    machine.script("web:1", Script { stop_takes: 5 * SECOND, ..Script::default() });
    machine.ensure(spec("web-0", 1, "web:1")).await.unwrap();
    machine.ensure(spec("web-0", 2, "web:2")).await.unwrap();
    assert_eq!(machine.running(), [(id("web-0"), 1)]);
    tokio::time::sleep(6 * SECOND).await;
    assert_eq!(machine.running(), [(id("web-0"), 2)]);
    let refused = machine.ensure(spec("web-0", 1, "web:1")).await;
    assert_eq!(refused, Err(Error::StaleEpoch { id: id("web-0"), running: 2, asked: 1 }));
    assert_eq!(machine.starts(), [(id("web-0"), 1), (id("web-0"), 2)]);
}

#[tokio::test(start_paused = true)]
async fn a_stopped_instance_stays_stopped_under_its_epoch_and_is_gone_when_removed() {
    let machine = machine();
    machine.script("web:1", Script { stop_takes: 60 * SECOND, ..Script::default() });
    machine.ensure(spec("web-0", 1, "web:1")).await.unwrap();
    machine.stop(&id("web-0"), 10 * SECOND).await.unwrap();
    machine.ensure(spec("web-0", 1, "web:1")).await.unwrap();
    let state = machine.observe(&id("web-0")).await.unwrap();
    assert_eq!(state.phase, Phase::Stopped);
    assert_eq!(state.containers[0].last_exit.as_ref().unwrap().cause, ExitCause::Signal(9));
    machine.remove(&id("web-0")).await.unwrap();
    assert!(matches!(machine.observe(&id("web-0")).await, Err(Error::NotFound { .. })));
}

#[tokio::test(start_paused = true)]
async fn a_job_that_is_not_restarted_succeeds_or_fails() {
    let machine = machine();
    let ending = |code| Ending { after: SECOND, cause: ExitCause::Code(code), last_lines: Vec::new() };
    machine.script("good", Script { ends: Some(ending(0)), ..Script::default() });
    machine.script("bad", Script { ends: Some(ending(1)), ..Script::default() });
    for image in ["good", "bad"] {
        let spec = InstanceSpec { restart: RestartPolicy::Never, ..spec(image, 1, image) };
        machine.ensure(spec).await.unwrap();
    }
    tokio::time::sleep(2 * SECOND).await;
    assert_eq!(machine.observe(&id("good")).await.unwrap().phase, Phase::Succeeded);
    assert_eq!(machine.observe(&id("bad")).await.unwrap().phase, Phase::Failed);
}

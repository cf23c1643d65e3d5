//! A simulated instance: its containers' steps, each due at a time.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use super::script::{Ending, Script};
use crate::backoff::Backoff;
use crate::error::{Error, Result};
use crate::id::InstanceId;
use crate::runtime::{ExecRequest, LogLine, LogRequest, Output};
use crate::spec::{InstanceSpec, RestartPolicy};
use crate::state::{
    ContainerPhase, ContainerState, Exit, ExitCause, InstanceState, Phase, PullProgress, Usage,
};

pub(super) struct Instance {
    pub(super) spec: InstanceSpec,
    pub(super) usage: Usage,
    accepted_at: SystemTime,
    turn: u64,
    stopping: Option<Stopping>,
    containers: Vec<Container>,
}

/// A stop under way, and what comes after it.
struct Stopping {
    killed_at: SystemTime,
    replaced_by: Option<Box<InstanceSpec>>,
}

struct Container {
    name: String,
    image: String,
    script: Script,
    step: Step,
    pulls: u32,
    runs: u32,
    failures: u32,
    failure: Option<Error>,
    last_exit: Option<Exit>,
    lines: Vec<LogLine>,
    previous_lines: Vec<LogLine>,
}

#[derive(Clone)]
enum Step {
    Waiting,
    Pulling {
        since: SystemTime,
        until: SystemTime,
    },
    Starting {
        until: SystemTime,
    },
    Running {
        since: SystemTime,
        ready_at: Option<SystemTime>,
        is_ready: bool,
        ends: Option<(SystemTime, Ending)>,
    },
    Stopping {
        since: SystemTime,
        until: SystemTime,
        cause: ExitCause,
    },
    BackOff {
        until: SystemTime,
        is_pulled: bool,
    },
    Exited,
}

impl Instance {
    pub(super) fn new(spec: InstanceSpec, now: SystemTime) -> Self {
        let containers = spec.containers.iter().map(|container| Container {
            name: container.name.clone(),
            image: container.image.clone(),
            script: Script::default(),
            step: Step::Waiting,
            pulls: 0,
            runs: 0,
            failures: 0,
            failure: None,
            last_exit: None,
            lines: Vec::new(),
            previous_lines: Vec::new(),
        });
        let containers = containers.collect();
        Self { spec, usage: Usage::default(), accepted_at: now, turn: 0, stopping: None, containers }
    }

    pub(super) fn turn(&self) -> u64 {
        self.turn
    }

    /// A number for the wait that begins now; waits with an older one are over.
    pub(super) fn next_turn(&mut self) -> u64 {
        self.turn += 1;
        self.turn
    }

    pub(super) fn is_running(&self) -> bool {
        let runs =
            |container: &Container| matches!(container.step, Step::Running { .. } | Step::Stopping { .. });
        self.containers.iter().any(runs)
    }

    /// Stops what runs, and plays `spec` after that.
    pub(super) fn replace_by(&mut self, spec: InstanceSpec, now: SystemTime) {
        let grace = self.spec.grace;
        self.stop(now, grace);
        if let Some(stopping) = &mut self.stopping {
            stopping.replaced_by = Some(Box::new(spec));
        }
    }

    pub(super) fn stop(&mut self, now: SystemTime, grace: Duration) {
        let killed_at = match &self.stopping {
            Some(stopping) => stopping.killed_at.min(now + grace),
            None => now + grace,
        };
        let replaced_by = self.stopping.take().and_then(|stopping| stopping.replaced_by);
        self.stopping = Some(Stopping { killed_at, replaced_by });
        for container in &mut self.containers {
            container.stop(now, killed_at);
        }
    }

    /// Ends a running container by hand.
    pub(super) fn end(
        &mut self,
        name: &str,
        cause: ExitCause,
        last_lines: &[&str],
        now: SystemTime,
    ) -> Result<()> {
        let not_running = Error::NotRunning { id: self.spec.id.clone(), container: name.to_owned() };
        let container = self.containers.iter_mut().find(|container| container.name == name);
        let Some(container) = container else { return Err(not_running) };
        let Step::Running { ends, .. } = &mut container.step else { return Err(not_running) };
        let last_lines = last_lines.iter().map(|line| (*line).to_owned()).collect();
        *ends = Some((now, Ending { after: Duration::ZERO, cause, last_lines }));
        Ok(())
    }

    /// Takes every step that is due. Returns whether there was one.
    pub(super) fn advance(
        &mut self,
        now: SystemTime,
        scripts: &BTreeMap<String, Script>,
        starts: &mut Vec<(InstanceId, u64)>,
    ) -> bool {
        let was_running = self.is_running();
        let mut has_changed = self.turn == 0;
        let restart = self.spec.restart;
        let is_stopping = self.stopping.is_some();
        for container in &mut self.containers {
            while container.is_due(now) {
                if let Some(script) = scripts.get(&container.image)
                    && matches!(container.step, Step::Waiting | Step::BackOff { .. })
                {
                    container.script = script.clone();
                }
                container.take_step(now, restart, is_stopping);
                has_changed = true;
            }
        }
        if !was_running
            && self.is_running()
            && self.containers.iter().map(|container| container.runs).sum::<u32>() == 1
        {
            starts.push((self.spec.id.clone(), self.spec.epoch));
        }
        if is_stopping && self.containers.iter().all(|container| matches!(container.step, Step::Exited)) {
            let replacement = self.stopping.as_mut().and_then(|stopping| stopping.replaced_by.take());
            if let Some(spec) = replacement {
                let turn = self.turn + 1;
                *self = Self { turn, ..Self::new(*spec, now) };
                self.advance(now, scripts, starts);
                return true;
            }
        }
        has_changed || is_stopping
    }

    /// When the next step is due.
    pub(super) fn next_step(&self) -> Option<SystemTime> {
        self.containers.iter().filter_map(Container::due_at).min()
    }

    pub(super) fn state(&self, now: SystemTime) -> InstanceState {
        let containers: Vec<_> = self.containers.iter().map(|container| container.state(now)).collect();
        let phase = self.phase();
        let is_ready = phase == Phase::Running && containers.iter().all(|container| container.ready);
        let address = self.spec.network.as_ref().and_then(|network| network.address);
        InstanceState {
            id: self.spec.id.clone(),
            epoch: self.spec.epoch,
            labels: self.spec.labels.clone(),
            accepted_at: self.accepted_at,
            phase,
            ready: is_ready,
            failure: self.containers.iter().find_map(|container| container.failure.clone()),
            containers,
            addresses: address.into_iter().collect(),
            published: Vec::new(),
        }
    }

    fn phase(&self) -> Phase {
        let any = |is: fn(&Step) -> bool| self.containers.iter().any(|container| is(&container.step));
        let all = |is: fn(&Step) -> bool| self.containers.iter().all(|container| is(&container.step));
        let have_exited = all(|step| matches!(step, Step::Exited));
        if self.stopping.is_some() {
            return if have_exited { Phase::Stopped } else { Phase::Stopping };
        }
        if any(|step| matches!(step, Step::BackOff { .. })) {
            return Phase::BackOff;
        }
        if have_exited {
            let has_failed = self.containers.iter().any(|container| container.failure.is_some());
            return if has_failed { Phase::Failed } else { Phase::Succeeded };
        }
        if any(|step| matches!(step, Step::Pulling { .. })) {
            return Phase::Pulling;
        }
        if any(|step| matches!(step, Step::Starting { .. })) {
            return Phase::Starting;
        }
        if all(|step| matches!(step, Step::Waiting)) { Phase::Pending } else { Phase::Running }
    }

    pub(super) fn lines(&self, request: &LogRequest) -> Result<Vec<LogLine>> {
        let container = self.container(request.container.as_deref())?;
        let lines = if request.previous { &container.previous_lines } else { &container.lines };
        let since = request.since;
        let lines: Vec<_> =
            lines.iter().filter(|line| since.is_none_or(|since| line.at >= since)).cloned().collect();
        let skipped = request.tail.map_or(0, |tail| lines.len().saturating_sub(tail));
        Ok(lines.into_iter().skip(skipped).collect())
    }

    /// The output of a command: the command itself.
    pub(super) fn echo(&self, request: &ExecRequest) -> Result<Vec<u8>> {
        let container = self.container(request.container.as_deref())?;
        match container.step {
            Step::Running { .. } => Ok(format!("{}\n", request.command.join(" ")).into_bytes()),
            _ => Err(Error::NotRunning { id: self.spec.id.clone(), container: container.name.clone() }),
        }
    }

    fn container(&self, name: Option<&str>) -> Result<&Container> {
        let found = match name {
            None if self.containers.len() == 1 => self.containers.first(),
            None => None,
            Some(name) => self.containers.iter().find(|container| container.name == name),
        };
        found.ok_or_else(|| Error::NoSuchContainer {
            id: self.spec.id.clone(),
            container: name.unwrap_or_default().to_owned(),
            containers: self.containers.iter().map(|container| container.name.clone()).collect(),
        })
    }
}

impl Container {
    fn due_at(&self) -> Option<SystemTime> {
        match &self.step {
            Step::Waiting => Some(SystemTime::UNIX_EPOCH),
            Step::Pulling { until, .. } | Step::Starting { until } => Some(*until),
            Step::Stopping { until, .. } | Step::BackOff { until, .. } => Some(*until),
            Step::Running { ready_at, is_ready, ends, .. } => {
                let ready_at = ready_at.filter(|_| !is_ready);
                ready_at.into_iter().chain(ends.as_ref().map(|(at, _)| *at)).min()
            }
            Step::Exited => None,
        }
    }

    fn is_due(&self, now: SystemTime) -> bool {
        self.due_at().is_some_and(|at| at <= now)
    }

    fn take_step(&mut self, now: SystemTime, restart: RestartPolicy, is_stopping: bool) {
        match self.step.clone() {
            _ if is_stopping && !matches!(self.step, Step::Stopping { .. }) => self.step = Step::Exited,
            Step::Waiting | Step::BackOff { is_pulled: false, .. } => {
                self.step = Step::Pulling { since: now, until: now + self.script.pull_takes };
            }
            Step::Pulling { .. } => self.finish_pull(now),
            Step::BackOff { is_pulled: true, .. } => {
                self.step = Step::Starting { until: now + self.script.start_takes };
            }
            Step::Starting { .. } => self.start(now),
            Step::Running { ends: Some((at, ending)), .. } if at <= now => {
                self.finish_run(now, &ending, restart)
            }
            Step::Running { since, ready_at, ends, .. } => {
                self.failure = None;
                self.step = Step::Running { since, ready_at, is_ready: true, ends };
            }
            Step::Stopping { cause, .. } => {
                self.failure = None;
                self.last_exit = Some(Exit { at: now, cause, last_lines: Vec::new() });
                self.step = Step::Exited;
            }
            Step::Exited => {}
        }
    }

    fn finish_pull(&mut self, now: SystemTime) {
        self.pulls += 1;
        let fails =
            self.script.pull_fails.clone().filter(|_| is_within(self.pulls, self.script.pull_fails_times));
        match fails {
            Some(error) => self.back_off(now, error, false),
            None => {
                self.failures = 0;
                self.failure = None;
                self.step = Step::Starting { until: now + self.script.start_takes };
            }
        }
    }

    fn start(&mut self, now: SystemTime) {
        if let Some(error) = self.script.start_fails.clone() {
            return self.back_off(now, error, true);
        }
        self.runs += 1;
        self.previous_lines = std::mem::take(&mut self.lines);
        self.write(now, &self.script.writes.clone());
        let ends = self.script.ends.clone().filter(|_| is_within(self.runs, self.script.ends_times));
        self.step = Step::Running {
            since: now,
            ready_at: self.script.ready_after.map(|after| now + after),
            is_ready: false,
            ends: ends.map(|ending| (now + ending.after, ending)),
        };
    }

    fn finish_run(&mut self, now: SystemTime, ending: &Ending, restart: RestartPolicy) {
        let Ending { cause, last_lines, .. } = ending.clone();
        self.write(now, &last_lines);
        self.last_exit = Some(Exit { at: now, cause, last_lines: last_lines.clone() });
        let container = self.name.clone();
        let error = match cause {
            ExitCause::OutOfMemory => Error::OutOfMemory { container, limit_bytes: None, last_lines },
            _ => Error::Crashed { container, cause, last_lines },
        };
        let is_final = match restart {
            RestartPolicy::Always => false,
            RestartPolicy::OnFailure => cause.is_success(),
            RestartPolicy::Never => true,
        };
        if !is_final {
            return self.back_off(now, error, true);
        }
        self.failure = (!cause.is_success()).then_some(error);
        self.step = Step::Exited;
    }

    fn back_off(&mut self, now: SystemTime, error: Error, is_pulled: bool) {
        self.failures += 1;
        self.failure = Some(error);
        self.step = Step::BackOff { until: now + Backoff::default().wait(self.failures), is_pulled };
    }

    fn stop(&mut self, now: SystemTime, killed_at: SystemTime) {
        let ends_at = now + self.script.stop_takes;
        self.step = match &self.step {
            Step::Running { since, .. } if ends_at <= killed_at => {
                Step::Stopping { since: *since, until: ends_at, cause: ExitCause::Code(0) }
            }
            Step::Running { since, .. } => {
                Step::Stopping { since: *since, until: killed_at, cause: ExitCause::Signal(9) }
            }
            Step::Stopping { since, until, .. } if *until > killed_at => {
                Step::Stopping { since: *since, until: killed_at, cause: ExitCause::Signal(9) }
            }
            Step::Stopping { .. } => self.step.clone(),
            _ => Step::Exited,
        };
    }

    fn write(&mut self, at: SystemTime, lines: &[String]) {
        let line = |text: &String| LogLine { at, output: Output::Stdout, text: text.clone(), partial: false };
        self.lines.extend(lines.iter().map(line));
    }

    fn state(&self, now: SystemTime) -> ContainerState {
        let (phase, is_ready) = match &self.step {
            Step::Waiting => (ContainerPhase::Waiting, false),
            Step::Pulling { since, until } => {
                (ContainerPhase::Pulling(self.progress(now, *since, *until)), false)
            }
            Step::Starting { .. } => (ContainerPhase::Created, false),
            Step::Running { since, is_ready, .. } => (ContainerPhase::Running { since: *since }, *is_ready),
            Step::Stopping { since, .. } => (ContainerPhase::Running { since: *since }, false),
            Step::BackOff { until, .. } => (ContainerPhase::BackOff { until: *until }, false),
            Step::Exited => (ContainerPhase::Exited, false),
        };
        ContainerState {
            name: self.name.clone(),
            image: self.image.clone(),
            image_digest: None,
            phase,
            ready: is_ready,
            probe_failure: None,
            restarts: self.runs.saturating_sub(1),
            last_exit: self.last_exit.clone(),
        }
    }

    fn progress(&self, now: SystemTime, since: SystemTime, until: SystemTime) -> PullProgress {
        let total = self.script.image_bytes;
        let elapsed = now.duration_since(since).unwrap_or_default().as_millis() as u64;
        let whole = until.duration_since(since).unwrap_or_default().as_millis() as u64;
        let bytes = (total * elapsed.min(whole)).checked_div(whole).unwrap_or(total);
        PullProgress { bytes, total }
    }
}

/// Whether the `nth` time is among the first `times`; all are, where no number is given.
fn is_within(nth: u32, times: Option<u32>) -> bool {
    times.is_none_or(|times| nth <= times)
}

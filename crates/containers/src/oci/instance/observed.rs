//! What is known of an instance while it runs.

use std::net::IpAddr;
use std::time::SystemTime;

use super::Order;
use crate::error::Error;
use crate::oci::network::Target;
use crate::spec::InstanceSpec;
use crate::state::{ContainerPhase, ContainerState, InstanceState, Phase, PublishedPort};

pub(super) struct Observed {
    /// The phase, where it does not follow from the containers'.
    pub(super) phase: Option<Phase>,
    pub(super) failure: Option<Error>,
    pub(super) containers: Vec<ContainerState>,
    pub(super) addresses: Vec<IpAddr>,
    pub(super) published: Vec<PublishedPort>,
    pub(super) target: Option<Target>,
}

impl Observed {
    pub(super) fn new(spec: &InstanceSpec) -> Self {
        let containers = spec.containers.iter().map(|container| ContainerState {
            name: container.name.clone(),
            image: container.image.clone(),
            image_digest: None,
            phase: ContainerPhase::Waiting,
            ready: false,
            probe_failure: None,
            restarts: 0,
            last_exit: None,
        });
        Self {
            phase: Some(Phase::Pending),
            failure: None,
            containers: containers.collect(),
            addresses: Vec::new(),
            published: Vec::new(),
            target: None,
        }
    }

    pub(super) fn container(&self, name: &str) -> Option<&ContainerState> {
        self.containers.iter().find(|container| container.name == name)
    }

    pub(super) fn set_phase(&mut self, name: &str, phase: ContainerPhase) {
        if let Some(container) = self.containers.iter_mut().find(|container| container.name == name) {
            container.phase = phase;
        }
    }

    /// Nothing could be started.
    pub(super) fn back_off(&mut self, error: Error, until: SystemTime) {
        self.phase = Some(Phase::BackOff);
        self.failure = Some(error);
        for container in &mut self.containers {
            container.phase = ContainerPhase::BackOff { until };
        }
    }

    /// Nothing is reachable any more.
    pub(super) fn close(&mut self) {
        self.target = None;
        self.addresses.clear();
        self.published.clear();
        for container in &mut self.containers {
            container.phase = ContainerPhase::Exited;
            container.ready = false;
        }
    }

    pub(super) fn state(&self, spec: &InstanceSpec, accepted_at: SystemTime, order: Order) -> InstanceState {
        let phase = match (self.phase, order) {
            (Some(Phase::Stopped), _) => Phase::Stopped,
            (_, Order::Stop { .. } | Order::Remove { .. }) => Phase::Stopping,
            (Some(phase), Order::Run) => phase,
            (None, Order::Run) => self.phase_of_containers(),
        };
        InstanceState {
            id: spec.id.clone(),
            epoch: spec.epoch,
            labels: spec.labels.clone(),
            accepted_at,
            phase,
            ready: phase == Phase::Running && self.containers.iter().all(|container| container.ready),
            failure: self.failure.clone(),
            containers: self.containers.clone(),
            addresses: self.addresses.clone(),
            published: self.published.clone(),
        }
    }

    fn phase_of_containers(&self) -> Phase {
        let any =
            |is: fn(&ContainerPhase) -> bool| self.containers.iter().any(|container| is(&container.phase));
        let all =
            |is: fn(&ContainerPhase) -> bool| self.containers.iter().all(|container| is(&container.phase));
        let has_failed = |container: &ContainerState| {
            container.last_exit.as_ref().is_none_or(|exit| !exit.cause.is_success())
        };
        if any(|phase| matches!(phase, ContainerPhase::BackOff { .. })) {
            return Phase::BackOff;
        }
        if all(|phase| matches!(phase, ContainerPhase::Exited)) {
            let is_failed = self.containers.iter().any(has_failed);
            return if is_failed { Phase::Failed } else { Phase::Succeeded };
        }
        match any(|phase| matches!(phase, ContainerPhase::Waiting | ContainerPhase::Created)) {
            true => Phase::Starting,
            false => Phase::Running,
        }
    }
}

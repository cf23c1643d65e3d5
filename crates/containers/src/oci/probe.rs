//! Probes of containers.

use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http_body_util::Empty;
use hyper_util::rt::TokioIo;
use tokio::time::{sleep, timeout};

use super::exec;
use super::machine::Machine;
use super::network::Target;
use crate::spec::{Probe, ProbeAction};

/// Tries a probe again and again and tells when its result turns: Ok after enough successes, the reason after enough
/// failures. Returns when `turned` says so.
pub(super) async fn watch(
    machine: &Machine,
    target: &Target,
    container_id: &str,
    probe: &Probe,
    mut turned: impl FnMut(Result<(), String>) -> bool,
) {
    sleep(probe.initial_delay).await;
    let mut is_up = None;
    let (mut successes, mut failures) = (0, 0);
    loop {
        let tried = timeout(probe.timeout, once(machine, target, container_id, &probe.action)).await;
        let tried =
            tried.unwrap_or_else(|_| Err(format!("no answer within {} s", probe.timeout.as_secs_f32())));
        match tried {
            Ok(()) => {
                (successes, failures) = (successes + 1, 0);
                if successes >= probe.success_threshold && is_up.replace(true) != Some(true) && turned(Ok(()))
                {
                    return;
                }
            }
            Err(reason) => {
                (successes, failures) = (0, failures + 1);
                if failures >= probe.failure_threshold
                    && is_up.replace(false) != Some(false)
                    && turned(Err(reason))
                {
                    return;
                }
            }
        }
        sleep(probe.period.max(Duration::from_millis(10))).await;
    }
}

async fn once(
    machine: &Machine,
    target: &Target,
    container_id: &str,
    action: &ProbeAction,
) -> Result<(), String> {
    match action {
        ProbeAction::Tcp { port } => {
            let connected = machine.networks.connect(target, *port).await;
            connected.map(|_| ()).map_err(|error| format!("port {port}: {error}"))
        }
        ProbeAction::Http { port, path } => http(machine, target, *port, path).await,
        ProbeAction::Exec { command } => exec::succeeds(machine, container_id, command).await,
    }
}

async fn http(machine: &Machine, target: &Target, port: u16, path: &str) -> Result<(), String> {
    let stream =
        machine.networks.connect(target, port).await.map_err(|error| format!("port {port}: {error}"))?;
    let words = |error: hyper::Error| format!("GET {path} at port {port}: {error}");
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(words)?;
    tokio::spawn(connection);
    let request = Request::get(path)
        .header(http::header::HOST, format!("{}:{port}", target.address))
        .header(http::header::USER_AGENT, "groundplane-probe")
        .header(http::header::CONNECTION, "close")
        .body(Empty::<Bytes>::new())
        .map_err(|error| error.to_string())?;
    let status = sender.send_request(request).await.map_err(words)?.status();
    match (200..400).contains(&status.as_u16()) {
        true => Ok(()),
        false => Err(format!("GET {path} at port {port} is answered with {status}")),
    }
}

//! How long an event takes to all watchers, after the answer to the update that made it.

use std::time::{Duration, Instant};

use http_body_util::BodyExt;
use tokio::sync::mpsc;

use super::load::Found;
use super::rows;
use super::wire::{Call, Endpoint};

/// Updates that are watched.
const UPDATES: usize = 200;
/// Watchers that share a connection.
const PER_CONNECTION: usize = 10;
const MARK: &str = "event-";

/// Measures events.
pub async fn measure(endpoint: &Endpoint, watchers: usize, hosts: usize) -> Found {
    let (tell, mut told) = mpsc::unbounded_channel::<(usize, Instant)>();
    let (ready, mut begun) = mpsc::unbounded_channel::<()>();
    for _ in 0..watchers.div_ceil(PER_CONNECTION) {
        let connection = endpoint.connect().await;
        for _ in 0..PER_CONNECTION {
            let (mut connection, tell, ready) = (connection.clone(), tell.clone(), ready.clone());
            tokio::spawn(async move {
                // With a token, even an empty one, a mark of progress comes first.
                let call = Call {
                    path: "osac.private.v1.Events/Watch",
                    message: [vec![0xa2, 0x06], vec![0]].concat(),
                };
                let mut body = connection.begin(&call).await.into_body();
                let mut is_begun = false;
                let (mut rest, mut last) = (Vec::new(), None);
                while let Some(Ok(frame)) = body.frame().await {
                    let at = Instant::now();
                    if !is_begun {
                        is_begun = true;
                        let _ = ready.send(());
                    }
                    let Ok(data) = frame.into_data() else { break };
                    rest.extend_from_slice(&data);
                    while let Some(number) = next(&mut rest) {
                        // Controllers may write the status of the host after it: another event with the same title.
                        if last.replace(number) != Some(number) {
                            let _ = tell.send((number, at));
                        }
                    }
                }
            });
        }
    }
    let watchers = watchers.div_ceil(PER_CONNECTION) * PER_CONNECTION;
    for _ in 0..watchers {
        begun.recv().await.unwrap();
    }
    let (mut writer, mut times) = (endpoint.connect().await, Vec::new());
    let all = Instant::now();
    for number in 0..UPDATES {
        writer.call(&rows::titled(number % hosts.max(1), &format!("{MARK}{number:06}"))).await;
        let answered = Instant::now();
        let mut last = Duration::ZERO;
        for _ in 0..watchers {
            let (seen, at) =
                tokio::time::timeout(Duration::from_secs(30), told.recv()).await.unwrap().unwrap();
            assert_eq!(seen, number, "events come in their order");
            last = last.max(at.saturating_duration_since(answered));
        }
        times.push(last);
    }
    Found::of(times, all.elapsed())
}

/// The number of the next event in what came.
fn next(rest: &mut Vec<u8>) -> Option<usize> {
    let at = rest.windows(MARK.len()).position(|window| window == MARK.as_bytes())?;
    let digits = rest.get(at + MARK.len()..at + MARK.len() + 6)?;
    let number = std::str::from_utf8(digits).ok()?.parse().ok()?;
    rest.drain(..at + MARK.len() + 6);
    Some(number)
}

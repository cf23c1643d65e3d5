//! Live pages: a stream that tells the browser when something that a page shows has changed.

use std::convert::Infallible;
use std::time::Duration;

use apiserver::answer::{Aborted, Answer, Body};
use bytes::Bytes;
use futures_util::StreamExt;
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use tokio::sync::mpsc;

use crate::refusal::Refusal;
use crate::viewer::{Ask, Viewer};
use crate::{PATH, address, answers};

/// Metadata is all that has to be known of a change.
const METADATA: &str = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
/// How many collections one page may follow.
const MOST: usize = 12;
/// Changes within this time are told once.
const GATHER: Duration = Duration::from_millis(300);
/// How often an idle stream says that it is still there.
const BEAT: Duration = Duration::from_secs(45);

/// Answers with a stream of the changes of the collections that the address names.
pub async fn answer(viewer: &Viewer) -> Result<Answer, Refusal> {
    let watches = viewer.query.all("w");
    if watches.is_empty() || watches.len() > MOST {
        return Err(Refusal::new(400, "name between one and twelve collections with w="));
    }
    let mut bodies = Vec::new();
    for path in watches {
        // A watch of the public API in the viewer's name, and nothing else.
        if !path.starts_with("/api") || path.starts_with(PATH) {
            return Err(Refusal::new(400, "w= is a path of the API"));
        }
        let joint = if path.contains('?') { '&' } else { '?' };
        let since = address::encoded(viewer.parameter("since"));
        let watch = format!("{path}{joint}watch=true&resourceVersion={since}");
        let watch = Ask::get(&watch).accept(METADATA);
        // What may not be watched changes nothing that can be seen.
        if let Ok(body) = viewer.stream(watch).await {
            bodies.push(body);
        }
    }
    let (changed, changes) = mpsc::channel::<()>(1);
    for body in bodies {
        tokio::spawn(follow(body, changed.clone()));
    }
    Ok(answers::events(told(changes, changed)))
}

/// Says for every frame of a watch that something has changed.
async fn follow(mut body: Body, changed: mpsc::Sender<()>) {
    loop {
        tokio::select! {
            biased;
            () = changed.closed() => return,
            frame = body.frame() => match frame {
                Some(Ok(_)) => drop(changed.try_send(())),
                _ => return,
            },
        }
    }
}

/// The stream: an event for changes that came together, and a comment now and then.
fn told(changes: mpsc::Receiver<()>, keeps_open: mpsc::Sender<()>) -> Body {
    let frames = futures_util::stream::unfold(
        (changes, keeps_open, true),
        |(mut changes, open, is_first)| async move {
            if is_first {
                return Some((": live\n\n", (changes, open, false)));
            }
            let text = tokio::select! {
                biased;
                change = changes.recv() => {
                    change?;
                    tokio::time::sleep(GATHER).await;
                    let _ = changes.try_recv();
                    "event: change\ndata: now\n\n"
                }
                () = tokio::time::sleep(BEAT) => ": still here\n\n",
            };
            Some((text, (changes, open, false)))
        },
    );
    let frames = frames.map(|text| Ok::<_, Infallible>(Frame::data(Bytes::from_static(text.as_bytes()))));
    StreamBody::new(frames).map_err(|never| Aborted(never.to_string())).boxed_unsync()
}

//! `log`: what a container has written, as text, with the parameters of Kubernetes' `pods/log`.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use apiserver::answer::{self, Answer};
use apiserver::request::query::Query;
use bytes::Bytes;
use containers::{Error, InstanceId, LogLine, LogRequest, LogStream, Runtime};
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use krm::status::Status;
use krm::time::Moment;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

/// Pieces that are read ahead of the client.
const AHEAD: usize = 16;

/// What a log is asked for.
struct Asked {
    request: LogRequest,
    timestamps: bool,
    limit: Option<u64>,
}

/// Answers a request for a log.
pub async fn answer(
    runtime: &Arc<dyn Runtime>,
    id: InstanceId,
    query: &Query,
) -> Result<Result<Answer, Error>, Status> {
    let asked = read(id, query)?;
    Ok(runtime.logs(asked.request.clone()).await.map(|lines| stream(lines, asked)))
}

fn read(id: InstanceId, query: &Query) -> Result<Asked, Status> {
    let mut request = LogRequest::new(id);
    request.container = query.get("container").filter(|name| !name.is_empty()).map(str::to_owned);
    request.follow = query.flag("follow").unwrap_or(false);
    request.previous = query.flag("previous").unwrap_or(false);
    let positive = |name: &str| {
        let number = query.number(name)?;
        number
            .map(u64::try_from)
            .transpose()
            .map_err(|_| Status::bad_request(format!("{name} must not be negative")))
    };
    request.tail = positive("tailLines")?.and_then(|lines| usize::try_from(lines).ok());
    if let Some(seconds) = positive("sinceSeconds")? {
        request.since = SystemTime::now().checked_sub(Duration::from_secs(seconds));
    }
    if let Some(time) = query.get("sinceTime") {
        let time = Moment::parse(time).map_err(|_| {
            Status::bad_request(format!("sinceTime {time:?} must be a time such as 2026-01-31T12:00:00Z"))
        })?;
        let seconds = Duration::from_secs(u64::try_from(time.seconds).unwrap_or(0));
        request.since =
            SystemTime::UNIX_EPOCH.checked_add(seconds + Duration::from_nanos(time.nanoseconds.into()));
    }
    let timestamps = query.flag("timestamps").unwrap_or(false);
    Ok(Asked { request, timestamps, limit: positive("limitBytes")? })
}

fn stream(mut lines: LogStream, asked: Asked) -> Answer {
    let (frames, read) = mpsc::channel::<Result<Frame<Bytes>, answer::Aborted>>(AHEAD);
    tokio::spawn(async move {
        let mut left = asked.limit.unwrap_or(u64::MAX);
        loop {
            let line = tokio::select! {
                line = lines.next() => line,
                // Nobody reads any more.
                () = frames.closed() => return,
            };
            let Some(Ok(line)) = line else { return };
            let mut text = written(&line, asked.timestamps);
            text.truncate(usize::try_from(left).unwrap_or(usize::MAX));
            left -= text.len() as u64;
            if frames.send(Ok(Frame::data(Bytes::from(text)))).await.is_err() || left == 0 {
                return;
            }
        }
    });
    answer::stream(200, "text/plain", StreamBody::new(ReceiverStream::new(read)).boxed_unsync())
}

fn written(line: &LogLine, timestamps: bool) -> Vec<u8> {
    let end = if line.partial && !timestamps { "" } else { "\n" };
    let text = match timestamps {
        true => format!("{} {}{end}", time(line.at), line.text),
        false => format!("{}{end}", line.text),
    };
    text.into_bytes()
}

/// A time to the nanosecond, always of the same length, so that texts are ordered as times are.
fn time(at: SystemTime) -> String {
    let since = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let moment = Moment { seconds: i64::try_from(since.as_secs()).unwrap_or(i64::MAX), nanoseconds: 0 };
    let whole = moment.to_string();
    format!("{}.{:09}Z", whole.trim_end_matches('Z'), since.subsec_nanos())
}

#[cfg(test)]
mod tests {
    use containers::Output;

    use super::*;

    #[test]
    fn lines_are_written_with_a_time_if_that_is_asked_for() {
        let at = SystemTime::UNIX_EPOCH + Duration::new(1_700_000_000, 5_000_000);
        let line = LogLine { at, output: Output::Stdout, text: "hello".to_owned(), partial: false };
        assert_eq!(written(&line, false), b"hello\n");
        assert_eq!(
            String::from_utf8(written(&line, true)).unwrap(),
            "2023-11-14T22:13:20.005000000Z hello\n"
        );
        let begun = LogLine { partial: true, ..line };
        assert_eq!(written(&begun, false), b"hello");
    }

    #[test]
    fn what_can_not_be_meant_is_refused() {
        let id = || InstanceId::new("0").unwrap();
        let refused = |text: &str| read(id(), &Query::parse(text).unwrap()).err().unwrap().message;
        assert!(refused("tailLines=-1").contains("tailLines must not be negative"));
        assert!(refused("sinceTime=yesterday").contains("must be a time"));
        let asked = read(id(), &Query::parse("tailLines=2&follow=true&container=app").unwrap()).unwrap();
        assert_eq!((asked.request.tail, asked.request.follow), (Some(2), true));
    }
}

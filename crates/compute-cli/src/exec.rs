//! `compute exec`: a command in an instance.

mod terminal;

use std::io::{IsTerminal as _, Read as _, Write as _};

use bytes::Bytes;
use cli::{Ask, Failure, Session};
use compute::exec_frame::{self as frame, Decoder};
use http::Method;
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use self::terminal::Raw;
use crate::api::{self, Compute, city, name};
use crate::instances::status;

/// Bytes of input that are read at once.
const PIECE: usize = 16 << 10;

/// Run a command in an instance.
///
/// The command ends with the exit code of the remote one. On a terminal, it gets one too, so that shells and editors work.
/// Runs in the first available instance if you name a workload.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Name of the instance, or of a workload.
    #[arg(value_name = "INSTANCE")]
    name: String,

    /// Container, where the instance has several.
    #[arg(long, short, value_name = "NAME")]
    container: Option<String>,

    /// Only instances in this city, if you name a workload.
    #[arg(long, value_name = "CODE")]
    city: Option<String>,

    /// Pass standard input on. Implied where a terminal is given.
    #[arg(long, short = 'i')]
    stdin: bool,

    /// Give the command a terminal. Defaults to whether this one is used from a terminal.
    #[arg(long, short, value_name = "BOOLEAN", num_args = 0..=1, default_missing_value = "true", require_equals = true)]
    tty: Option<bool>,

    /// The command and its arguments, after --.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

const EXAMPLES: &str = "\
Examples:
  groundplane compute exec web-default-dfw-0 -- sh
  groundplane compute exec web -- cat /etc/hostname
  groundplane compute exec web --city IAD -i -- sh -c 'cat > /tmp/file' < file";

/// Runs a command.
pub async fn run(arguments: &Arguments, compute: &Compute, session: &mut Session) -> Result<(), Failure> {
    let instance = chosen(arguments, compute).await?;
    let is_terminal = std::io::stdin().is_terminal() && session.console.out_is_terminal;
    let has_terminal = arguments.tty.unwrap_or(is_terminal);
    let has_input = arguments.stdin || (has_terminal && is_terminal);
    let mut ask = Ask::new(Method::POST, format!("{}/exec", api::path("instances", &instance)))
        .accept("*/*")
        .query_if("container", arguments.container.clone())
        .query_if("stdin", has_input.then_some("true"))
        .query_if("tty", has_terminal.then_some("true"));
    if let Some((rows, columns)) = terminal::size().filter(|_| has_terminal) {
        ask = ask.query("rows", rows.to_string()).query("columns", columns.to_string());
    }
    for word in &arguments.command {
        ask = ask.query("command", word);
    }
    let (input, sent) = mpsc::channel::<Bytes>(16);
    let mut body = compute.client().inner().exchange(&ask, sent).await?;
    let raw = (has_terminal && is_terminal).then(Raw::enter).flatten();
    if has_input {
        pass_input(input.clone());
    }
    if has_terminal {
        tokio::spawn(pass_sizes(input.clone()));
    }
    drop(input);
    let mut decoder = Decoder::default();
    let mut result = None;
    while let Some(Ok(piece)) = body.frame().await {
        let Ok(bytes) = piece.into_data() else { continue };
        decoder.push(&bytes);
        while let Some((channel, bytes)) = decoder.take().map_err(Failure::other)? {
            match channel {
                frame::STDOUT => write(&mut session.console.out, &bytes)?,
                frame::STDERR => write(&mut session.console.err, &bytes)?,
                frame::RESULT => result = serde_json::from_slice::<Value>(&bytes).ok(),
                _ => {}
            }
        }
    }
    drop(raw);
    ended(&instance, result)
}

fn ended(instance: &str, result: Option<Value>) -> Result<(), Failure> {
    let Some(result) = result else {
        return Err(Failure::other(format!(
            "the connection to instance {instance:?} was lost, and the command ended"
        )));
    };
    match result["exitCode"].as_u64() {
        Some(0) => Ok(()),
        Some(code) => Err(Failure::Exit(u8::try_from(code).unwrap_or(u8::MAX))),
        None => {
            let why = result["message"].as_str().unwrap_or("its exit code is unknown");
            Err(Failure::other(format!("the command in instance {instance:?} failed: {why}")))
        }
    }
}

/// The instance that is meant: itself, or the first available one of a workload.
async fn chosen(arguments: &Arguments, compute: &Compute) -> Result<String, Failure> {
    if compute.find(&api::path("instances", &arguments.name)).await?.is_some() {
        return Ok(arguments.name.clone());
    }
    let Some(workload) = compute.find_workload(&arguments.name).await? else {
        return Err(Failure::other(format!(
            "there is no instance or workload {:?} in project {}",
            arguments.name, compute.project
        ))
        .hint(format!("\"{}\" lists the instances", compute.program.command("instances"))));
    };
    let mut instances = compute.instances(Some(&workload)).await?;
    if let Some(wanted) = &arguments.city {
        instances.retain(|instance| city(instance).eq_ignore_ascii_case(wanted));
    }
    let available = instances.iter().find(|instance| status(instance).is_available());
    available.map(|instance| name(instance).to_owned()).ok_or_else(|| {
        Failure::other(format!("workload {:?} has no available instance", arguments.name))
            .hint(format!("\"{}\" says why", compute.program.command(&format!("status {}", arguments.name))))
    })
}

fn write(to: &mut Box<dyn std::io::Write>, bytes: &[u8]) -> Result<(), Failure> {
    to.write_all(bytes)?;
    Ok(to.flush()?)
}

/// Passes standard input on, on a thread of its own: reading it can't be given up.
fn pass_input(input: mpsc::Sender<Bytes>) {
    std::thread::spawn(move || {
        let mut piece = vec![0; PIECE];
        while let Ok(count @ 1..) = std::io::stdin().lock().read(&mut piece) {
            if input.blocking_send(frame::encode(frame::STDIN, &piece[..count])).is_err() {
                return;
            }
        }
        let _ = input.blocking_send(frame::encode(frame::STDIN, b""));
    });
}

async fn pass_sizes(input: mpsc::Sender<Bytes>) {
    let Ok(mut changes) = signal(SignalKind::window_change()) else { return };
    while changes.recv().await.is_some() {
        let Some((rows, columns)) = terminal::size() else { continue };
        let bytes = json!({"rows": rows, "columns": columns}).to_string();
        if input.send(frame::encode(frame::RESIZE, bytes.as_bytes())).await.is_err() {
            return;
        }
    }
}

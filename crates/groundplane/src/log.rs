//! The log, on stderr.

use clap::ValueEnum;
use serde_json::json;
use tracing_subscriber::EnvFilter;

use crate::failure::Failure;

/// Format of the lines of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Text,
    /// One JSON object per line, for programs.
    Json,
}

/// Starts logging. `filter` is as in `info,apiserver=debug`.
pub fn start(filter: &str, format: Format) -> Result<(), Failure> {
    let parsed = EnvFilter::try_new(filter);
    let lines = tracing_subscriber::fmt().with_writer(std::io::stderr);
    let lines = lines.with_env_filter(EnvFilter::new(match &parsed {
        Ok(_) => filter,
        Err(_) => "info",
    }));
    // In tests it may have been started before; then it goes on as it was.
    let _ = match format {
        Format::Text => lines.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr())).try_init(),
        Format::Json => {
            std::panic::set_hook(Box::new(|panic| tracing::error!("{panic}")));
            lines.json().flatten_event(true).try_init()
        }
    };
    let wrong = |error| {
        let why = format!("{error}; write a level or levels by module, as in \"info,apiserver=debug\"");
        reported(Failure::new(format_args!("reading --log {filter:?}"), why), format)
    };
    parsed.map(drop).map_err(wrong)
}

/// Logs a failure where the log is JSON; elsewhere whoever called prints it.
pub fn reported(failure: Failure, format: Format) -> Failure {
    if format == Format::Text || failure.is_reported() {
        return failure;
    }
    match tracing::enabled!(tracing::Level::ERROR) {
        true => tracing::error!("{failure}"),
        // With a filter that lets nothing through the reason is still told.
        false => eprintln!("{}", json!({"level": "ERROR", "message": failure.to_string()})),
    }
    failure.reported()
}

/// Prints why a command line can't be read, as JSON if it asks for a JSON log. Gives whether it did.
pub fn usage(words: &[std::ffi::OsString], error: &clap::Error) -> bool {
    let value = words.iter().zip(words.iter().skip(1)).filter(|(flag, _)| *flag == "--log-format");
    let is_json = words.iter().any(|word| word == "--log-format=json")
        || value.into_iter().any(|(_, format)| format == "json");
    if is_json && error.use_stderr() {
        let message = error.to_string();
        eprintln!("{}", json!({"level": "ERROR", "message": message.trim_end()}));
    }
    is_json && error.use_stderr()
}

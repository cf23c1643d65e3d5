//! What the program says about itself while it runs, on stderr.

use clap::ValueEnum;
use tracing_subscriber::EnvFilter;

/// How lines of the log are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Text,
    /// One JSON object per line, for programs.
    Json,
}

/// Starts logging. `filter` is as in `info,apiserver=debug`.
pub fn start(filter: &str, format: Format) {
    let filter = EnvFilter::try_new(filter).unwrap_or_else(|_| EnvFilter::new("info"));
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    // Somebody may have started it before, in tests; then it goes on as it was.
    let _ = match format {
        Format::Text => lines.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr())).try_init(),
        Format::Json => lines.json().flatten_event(true).try_init(),
    };
}

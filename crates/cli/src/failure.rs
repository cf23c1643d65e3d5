//! Why a command failed, in kubectl's words where it has some, with a next step.

use std::io::Write;

use serde_json::Value;

use crate::console::Console;

/// Why a command failed.
#[derive(Debug)]
pub enum Failure {
    /// The server said no.
    Server(Box<Refusal>),
    /// Something is wrong with what was asked for: exit code 2.
    Usage(String),
    /// Anything else, in one line that names the thing and the cause.
    Other(String),
    /// A line that is told as it is, without `error:` before it.
    Bare(String),
    /// A change was sent, and no answer came: whether it was made is not known. Exit code 3.
    Unanswered(String),
    /// Several things at once.
    Several(Vec<Failure>),
    /// With lines below it: where it is, or what to do.
    Noted(Box<Failure>, Vec<String>),
    /// It was told already; only the exit code is left.
    Exit(u8),
}

/// What a server answered instead of what was asked for.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// The `Status` it sent, or one made from what it sent.
    pub status: Value,
    /// What was being done when it was said, as in `error when creating "a.yaml"`.
    pub during: Option<String>,
}

impl Refusal {
    /// The word for programs, such as `NotFound`.
    pub fn reason(&self) -> &str {
        self.status["reason"].as_str().unwrap_or("")
    }

    /// The sentence for people.
    pub fn message(&self) -> &str {
        self.status["message"].as_str().unwrap_or("unknown")
    }

    /// The HTTP status.
    pub fn code(&self) -> u64 {
        self.status["code"].as_u64().unwrap_or(0)
    }

    /// Everything that is wrong.
    pub fn causes(&self) -> impl Iterator<Item = &Value> {
        self.status["details"]["causes"].as_array().into_iter().flatten()
    }
}

impl Failure {
    /// A failure in one line.
    pub fn other(message: impl std::fmt::Display) -> Failure {
        Failure::Other(message.to_string())
    }

    /// A wrong use of the command.
    pub fn usage(message: impl std::fmt::Display) -> Failure {
        Failure::Usage(message.to_string())
    }

    /// The same with a line below it.
    pub fn note(self, line: impl Into<String>) -> Failure {
        match self {
            Failure::Noted(failure, mut lines) => {
                lines.push(line.into());
                Failure::Noted(failure, lines)
            }
            other => Failure::Noted(Box::new(other), vec![line.into()]),
        }
    }

    /// The same with what to do next.
    pub fn hint(self, line: impl std::fmt::Display) -> Failure {
        self.note(format!("hint: {line}"))
    }

    /// None, one, or several.
    pub fn all(mut failures: Vec<Failure>) -> Result<(), Failure> {
        match failures.len() {
            0 => Ok(()),
            1 => Err(failures.remove(0)),
            _ => Err(Failure::Several(failures)),
        }
    }

    /// The server's answer, if it is one.
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            Failure::Server(refusal) => Some(refusal),
            Failure::Noted(failure, _) => failure.refusal(),
            _ => None,
        }
    }

    /// Whether the server said that there is no such thing.
    pub fn is_not_found(&self) -> bool {
        self.refusal().is_some_and(|refusal| refusal.reason() == "NotFound")
    }

    /// Whether a change was sent, and nobody knows what became of it.
    pub fn is_unanswered(&self) -> bool {
        match self {
            Failure::Unanswered(_) => true,
            Failure::Noted(failure, _) => failure.is_unanswered(),
            _ => false,
        }
    }

    /// Where a path that only Groundplane has is not there: says what is missing.
    pub fn without(self, what: &str) -> Failure {
        let is_unknown =
            |refusal: &Refusal| refusal.code() == 404 && refusal.message() == crate::client::UNKNOWN_PATH;
        match self.refusal().is_some_and(is_unknown) {
            true => Failure::other(format!(
                "this server does not support {what}: it is another Kubernetes API server, or an older Groundplane"
            )),
            false => self,
        }
    }

    /// Says what was being done, as kubectl does for files.
    pub fn during(self, what: &str) -> Failure {
        match self {
            Failure::Server(mut refusal) => {
                refusal.during = Some(what.to_owned());
                Failure::Server(refusal)
            }
            Failure::Noted(failure, lines) => Failure::Noted(Box::new(failure.during(what)), lines),
            Failure::Other(message) => Failure::Other(format!("{what}: {message}")),
            Failure::Unanswered(message) => Failure::Unanswered(format!("{what}: {message}")),
            other => other,
        }
    }

    /// What to exit with.
    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::Usage(_) => 2,
            Failure::Unanswered(_) => 3,
            Failure::Exit(code) => *code,
            Failure::Noted(failure, _) => failure.exit_code(),
            _ => 1,
        }
    }

    /// Tells it on stderr.
    pub fn tell(&self, console: &mut Console) {
        let text = self.text();
        // There is nobody else to tell when stderr is gone.
        let _ = console.err.write_all(text.as_bytes());
        let _ = console.err.flush();
    }

    /// The lines that are told.
    pub fn text(&self) -> String {
        match self {
            Failure::Server(refusal) => of_server(refusal),
            Failure::Usage(message) | Failure::Other(message) => format!("error: {message}\n"),
            Failure::Unanswered(message) => format!("error: {message}\n"),
            Failure::Bare(message) => format!("{message}\n"),
            Failure::Several(failures) => failures.iter().map(Failure::text).collect(),
            Failure::Noted(failure, lines) => {
                let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
                failure.text() + &lines
            }
            Failure::Exit(_) => String::new(),
        }
    }
}

fn of_server(refusal: &Refusal) -> String {
    let message = match &refusal.during {
        Some(during) => format!("{during}: {}", refusal.message()),
        None => refusal.message().to_owned(),
    };
    match refusal.reason() {
        "Invalid" => invalid(refusal),
        "Unauthorized" => format!("error: You must be logged in to the server ({message})\n"),
        "" => format!("Error from server: {message}\n"),
        reason => format!("Error from server ({reason}): {message}\n"),
    }
}

/// An object that breaks rules: each of them on a line.
fn invalid(refusal: &Refusal) -> String {
    let details = &refusal.status["details"];
    let text = |field: &str| details[field].as_str().unwrap_or("");
    let mut causes: Vec<String> = Vec::new();
    for cause in refusal.causes() {
        let part = |field: &str| cause[field].as_str().unwrap_or("");
        let told = format!("{}: {}", part("field"), part("message"));
        if !causes.contains(&told) {
            causes.push(told);
        }
    }
    let head = match (text("kind"), text("name")) {
        ("", "") if causes.is_empty() => return format!("The request is invalid: {}\n", refusal.message()),
        ("", "") => "The request is invalid".to_owned(),
        (kind, name) => format!("The {kind} {} is invalid", krm::field::quote(name)),
    };
    match causes.as_slice() {
        [] => format!("{head}\n"),
        [one] => format!("{head}: {one}\n"),
        many => many.iter().fold(format!("{head}: \n"), |lines, cause| format!("{lines}* {cause}\n")),
    }
}

impl From<std::io::Error> for Failure {
    /// Writing to stdout failed: nobody reads on, or the disk is full.
    fn from(error: std::io::Error) -> Failure {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Failure::Exit(0),
            _ => Failure::Other(format!("writing the output: {error}")),
        }
    }
}

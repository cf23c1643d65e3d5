//! Query parameters, parsed and validated as by Kubernetes.

use krm::body::FieldValidation;
use krm::field::{FieldError, Path};
use krm::status::{Status, Subject};
use serde_json::Value;

use super::path::decode_bytes;

/// The parameters of a query, in order.
#[derive(Debug, Clone, Default)]
pub struct Query(Vec<(String, String)>);

impl Query {
    /// Takes the text after the question mark apart. What is not UTF-8 in it can't be what anything is called; what is no
    /// escape is refused, lest a selector that was lost selects everything.
    pub fn parse(text: &str) -> Result<Query, Status> {
        let mut pairs = Vec::new();
        for pair in text.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let plain = |text: &str| {
                let bytes = decode_bytes(&text.replace('+', " "));
                bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            };
            match (plain(key), plain(value)) {
                (Some(key), Some(value)) => pairs.push((key, value)),
                _ => return Err(Status::bad_request(format!("invalid URL escape in the query at {pair:?}"))),
            }
        }
        Ok(Query(pairs))
    }

    /// The same with a parameter.
    pub fn with(&self, key: &str, value: &str) -> Query {
        let mut query = self.clone();
        query.0.insert(0, (key.to_owned(), value.to_owned()));
        query
    }

    /// The first value of a parameter.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(found, _)| found == key).map(|(_, value)| value.as_str())
    }

    /// All parameters with their values, in order.
    pub fn pairs(&self) -> impl Iterator<Item = &(String, String)> {
        self.0.iter()
    }

    /// All values of a parameter.
    pub fn all(&self, key: &str) -> Vec<&str> {
        self.0.iter().filter(|(found, _)| found == key).map(|(_, value)| value.as_str()).collect()
    }

    /// A parameter that is on unless it says otherwise.
    pub fn flag(&self, key: &str) -> Option<bool> {
        self.get(key).map(|value| !matches!(value.to_ascii_lowercase().as_str(), "" | "0" | "false"))
    }

    /// A number.
    pub fn number(&self, key: &str) -> Result<Option<i64>, Status> {
        let Some(text) = self.get(key) else { return Ok(None) };
        text.parse().map(Some).map_err(|error: std::num::ParseIntError| {
            use std::num::IntErrorKind::{NegOverflow, PosOverflow};
            let why = match error.kind() {
                PosOverflow | NegOverflow => "value out of range",
                _ => "invalid syntax",
            };
            Status::bad_request(format!("strconv.ParseInt: parsing {text:?}: {why}"))
        })
    }
}

/// What a list or a watch asks for.
#[derive(Debug, Clone, Default)]
pub struct ListOptions {
    /// Which labels.
    pub label_selector: String,
    /// Which fields.
    pub field_selector: String,
    /// A watch, not a list.
    pub watch: bool,
    /// Bookmarks are welcome.
    pub bookmarks: bool,
    /// At which version, or from which one on.
    pub resource_version: String,
    /// How that version is meant.
    pub version_match: String,
    /// How long a watch lasts, in seconds.
    pub timeout: Option<i64>,
    /// At most this many objects; zero for all.
    pub limit: i64,
    /// Where an earlier answer ended.
    pub resume: String,
    /// A watch that begins with what is there.
    pub initial_events: Option<bool>,
    /// The time or revision to read at. Defaults to the present.
    pub as_of: Option<String>,
}

impl ListOptions {
    /// Reads and checks them.
    pub fn read(query: &Query) -> Result<ListOptions, Status> {
        let text = |key: &str| query.get(key).unwrap_or_default().to_owned();
        let options = ListOptions {
            label_selector: text("labelSelector"),
            field_selector: text("fieldSelector"),
            watch: query.flag("watch").unwrap_or(false),
            bookmarks: query.flag("allowWatchBookmarks").unwrap_or(false),
            resource_version: text("resourceVersion"),
            version_match: text("resourceVersionMatch"),
            timeout: query.number("timeoutSeconds")?,
            limit: query.number("limit")?.unwrap_or(0),
            resume: text("continue"),
            initial_events: query.flag("sendInitialEvents"),
            as_of: query.get("asOf").map(str::to_owned),
        };
        let errors = if options.watch { options.watch_errors() } else { options.list_errors() };
        match errors.is_empty() {
            true => Ok(options),
            false => Err(Status::invalid(&Subject::new("meta.k8s.io", "ListOptions"), "", &errors)),
        }
    }

    fn watch_errors(&self) -> Vec<FieldError> {
        let field = Path::of("resourceVersionMatch");
        let mut errors = Vec::new();
        if self.initial_events.is_some() {
            if self.version_match != "NotOlderThan" {
                errors.push(FieldError::forbidden(
                    &field,
                    "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
                ));
            }
        } else if !self.version_match.is_empty() {
            errors.push(FieldError::forbidden(
                &field,
                "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
            ));
        }
        if !self.version_match.is_empty() && self.version_match != "NotOlderThan" {
            let found = Value::from(self.version_match.as_str());
            errors.push(FieldError::not_supported(&field, &found, &["NotOlderThan"]));
        }
        if !self.resume.is_empty() {
            let why = "resourceVersionMatch is forbidden when continue is provided";
            errors.push(FieldError::forbidden(&field, why));
        }
        errors
    }

    fn list_errors(&self) -> Vec<FieldError> {
        let field = Path::of("resourceVersionMatch");
        let mut errors = Vec::new();
        if self.initial_events.is_some() {
            errors.push(FieldError::forbidden(
                &Path::of("sendInitialEvents"),
                "sendInitialEvents is forbidden for list",
            ));
        }
        if self.version_match.is_empty() {
            return errors;
        }
        if self.resource_version.is_empty() {
            let why = "resourceVersionMatch is forbidden unless resourceVersion is provided";
            errors.push(FieldError::forbidden(&field, why));
        }
        if !self.resume.is_empty() {
            let why = "resourceVersionMatch is forbidden when continue is provided";
            errors.push(FieldError::forbidden(&field, why));
        }
        if !matches!(self.version_match.as_str(), "Exact" | "NotOlderThan") {
            let found = Value::from(self.version_match.as_str());
            errors.push(FieldError::not_supported(&field, &found, &["Exact", "NotOlderThan", ""]));
        }
        if self.version_match == "Exact" && self.resource_version == "0" {
            let why = "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
            errors.push(FieldError::forbidden(&field, why));
        }
        errors
    }
}

/// What a write asks for.
#[derive(Debug, Clone, Default)]
pub struct WriteOptions {
    /// Do everything but write.
    pub dry_run: bool,
    /// Who writes; empty when the request does not say.
    pub manager: String,
    /// What to do about unknown fields.
    pub validation: FieldValidation,
    /// Take over what others own.
    pub force: Option<bool>,
}

impl WriteOptions {
    /// Reads and checks those of a create, an update or a patch; `kind` names the options in messages.
    pub fn read(query: &Query, kind: &str, is_apply: bool) -> Result<WriteOptions, Status> {
        let mut errors = Vec::new();
        let dry_run = dry_run(&query.all("dryRun"), &mut errors);
        let manager = query.get("fieldManager").unwrap_or_default();
        let force = query.flag("force");
        let path = Path::of("fieldManager");
        if is_apply && manager.is_empty() {
            errors.push(FieldError::required(&path, "is required for apply patch"));
        }
        if kind == "PatchOptions" && !is_apply && force.is_some() {
            errors
                .push(FieldError::forbidden(&Path::of("force"), "may not be specified for non-apply patch"));
        }
        errors.extend(krm::meta::validate_field_manager(manager, &path));
        let text = query.get("fieldValidation").unwrap_or_default();
        let validation = match text {
            "" | "Warn" => FieldValidation::Warn,
            "Ignore" => FieldValidation::Ignore,
            "Strict" => FieldValidation::Strict,
            _ => {
                let allowed = ["", "Ignore", "Strict", "Warn"];
                let path = Path::of("fieldValidation");
                errors.push(FieldError::not_supported(&path, &Value::from(text), &allowed));
                FieldValidation::Warn
            }
        };
        match errors.is_empty() {
            true => Ok(WriteOptions { dry_run, manager: manager.to_owned(), validation, force }),
            false => Err(Status::invalid(&Subject::new("meta.k8s.io", kind), "", &errors)),
        }
    }
}

/// Whether a write is a rehearsal.
pub fn dry_run(values: &[&str], errors: &mut Vec<FieldError>) -> bool {
    if values.iter().any(|value| *value != "All") {
        let found = Value::from(values.to_vec());
        errors.push(FieldError::not_supported(&Path::of("dryRun"), &found, &["All"]));
    }
    !values.is_empty()
}

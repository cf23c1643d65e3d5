//! Validators and findings.

use std::{fmt, sync::Arc};

use crate::{
    compile::Site,
    model::{Design, DocumentRef},
};

/// One check over a whole site.
#[derive(Debug)]
pub struct Validator {
    /// Its own code, which no other has and which never changes.
    pub code: &'static str,
    /// The id the original gave it; those the original lacks have none.
    pub drydock_id: Option<&'static str>,
    /// What it is called.
    pub title: &'static str,
    pub(super) check: fn(&Design, &Site, &mut Findings),
}

/// Something a validator has to say.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Who says it.
    pub validator: &'static Validator,
    /// How bad it is.
    pub severity: Severity,
    /// Message that names the problem.
    pub message: String,
    /// What to do about it.
    pub advice: String,
    /// The documents concerned.
    pub documents: Vec<Arc<DocumentRef>>,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Nothing to do.
    Info,
    /// Probably not meant.
    Warning,
    /// The design must not be used.
    Error,
}

impl Severity {
    /// As the original spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Info => "Info",
            Self::Warning => "Warning",
            Self::Error => "Error",
        }
    }
}

impl Finding {
    /// Whether it keeps the design from being used.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.validator.code, self.severity.as_str(), self.message)?;
        for (i, document) in self.documents.iter().enumerate() {
            write!(f, "{}{document}", if i == 0 { " (" } else { ", " })?;
        }
        f.write_str(if self.documents.is_empty() { "" } else { ")" })
    }
}

/// Everything the validators found, in order.
#[derive(Clone, Debug, Default)]
pub struct Report {
    findings: Vec<Finding>,
}

impl Report {
    pub(super) fn of(findings: Vec<Finding>) -> Self {
        Self { findings }
    }

    /// Everything found.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Whether the design may be used.
    pub fn is_good(&self) -> bool {
        !self.findings.iter().any(Finding::is_error)
    }

    /// What the validators of the original found; its output has no place for the others.
    pub fn drydock_findings(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.validator.drydock_id.is_some())
    }
}

impl Validator {
    /// Checks a site. A validator without an error says that all is well.
    pub(super) fn run(&'static self, design: &Design, site: &Site) -> Vec<Finding> {
        let mut findings = Findings { validator: self, found: Vec::new() };
        (self.check)(design, site, &mut findings);
        if !findings.found.iter().any(Finding::is_error) {
            findings.add(Severity::Info, "Validation successful.".to_owned(), "", &[]);
        }
        findings.found
    }
}

/// Where a validator puts what it finds.
pub(super) struct Findings {
    validator: &'static Validator,
    found: Vec<Finding>,
}

impl Findings {
    pub(super) fn error(&mut self, message: String, advice: &str, documents: &[&Arc<DocumentRef>]) {
        self.add(Severity::Error, message, advice, documents);
    }

    pub(super) fn warning(&mut self, message: String, advice: &str, documents: &[&Arc<DocumentRef>]) {
        self.add(Severity::Warning, message, advice, documents);
    }

    pub(super) fn tell(
        &mut self,
        severity: Severity,
        message: String,
        advice: &str,
        documents: &[&Arc<DocumentRef>],
    ) {
        self.add(severity, message, advice, documents);
    }

    fn add(&mut self, severity: Severity, message: String, advice: &str, documents: &[&Arc<DocumentRef>]) {
        self.found.push(Finding {
            validator: self.validator,
            severity,
            message,
            advice: advice.to_owned(),
            documents: documents.iter().map(|document| Arc::clone(document)).collect(),
        });
    }
}

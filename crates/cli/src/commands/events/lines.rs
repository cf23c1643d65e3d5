//! Events as lines of a table.

use std::io::Write;

use serde_json::Value;

use crate::commands::describe;
use crate::failure::Failure;
use crate::print::{self, Output};
use crate::tabs;

/// What of the table is printed already.
pub struct Lines {
    with_namespace: bool,
    no_headers: bool,
    has_begun: bool,
    widths: Vec<usize>,
}

impl Lines {
    /// A table with nothing printed.
    pub fn new(with_namespace: bool, no_headers: bool) -> Lines {
        Lines { with_namespace, no_headers, has_begun: false, widths: Vec::new() }
    }

    /// All events at once; cut to the width of a terminal.
    pub fn all(
        &mut self,
        events: &[Value],
        width: Option<usize>,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let mut text = self.headings();
        text.extend(events.iter().map(|event| self.line(event)));
        out.write_all(print::fitted(&text, width).as_bytes())?;
        Ok(())
    }

    /// One event, below those before it.
    pub fn one(&mut self, mut event: Value, output: &Output, out: &mut dyn Write) -> Result<(), Failure> {
        if !output.is_table() {
            if std::mem::replace(&mut self.has_begun, true) && matches!(output, Output::Yaml) {
                writeln!(out, "---")?;
            }
            print::without_managed_fields(&mut event);
            return output.print(out, &event);
        }
        let text = self.headings() + &self.line(&event);
        out.write_all(tabs::lay_out(&text, tabs::TABLE, &mut self.widths).as_bytes())?;
        Ok(())
    }

    fn headings(&mut self) -> String {
        let is_wanted = !self.no_headers && !self.has_begun;
        self.has_begun = true;
        match (is_wanted, self.with_namespace) {
            (false, _) => String::new(),
            (true, true) => "NAMESPACE\tLAST SEEN\tTYPE\tREASON\tOBJECT\tMESSAGE\n".to_owned(),
            (true, false) => "LAST SEEN\tTYPE\tREASON\tOBJECT\tMESSAGE\n".to_owned(),
        }
    }

    fn line(&self, event: &Value) -> String {
        let part = |field: &str| shown(event[field].as_str().unwrap_or("").trim());
        let object = |field: &str| shown(event["involvedObject"][field].as_str().unwrap_or(""));
        let mut line = String::new();
        if self.with_namespace {
            line += &format!("{}\t", event["metadata"]["namespace"].as_str().unwrap_or(""));
        }
        line += &format!(
            "{}\t{}\t{}\t{}/{}\t{}\n",
            describe::when(event),
            part("type"),
            part("reason"),
            object("kind"),
            object("name"),
            part("message")
        );
        line
    }
}

/// Nobody's message moves the cursor or ends a cell.
fn shown(text: &str) -> String {
    text.replace('\u{1b}', "^[").replace('\r', "\\r").replace(['\n', '\t'], " ")
}

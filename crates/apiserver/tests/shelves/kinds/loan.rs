//! Loans: somebody has a book for a while. Each branch of the library keeps its own, in its namespace.

use krm::field::{FieldError, Path};
use krm::kind::{Change, Declaration, History, Metadata, Missing, OnDelete, Planes, Reference, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::book::Book;

/// Somebody has a book for a while.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Loan {
    pub metadata: Metadata,
    pub spec: LoanSpec,
}

/// Who has which book, and for how long.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoanSpec {
    /// The books that were lent; they may have been lost since.
    #[schemars(length(min = 1, max = 20))]
    pub book_refs: Vec<BookRef>,
    /// Who has them.
    #[schemars(length(min = 1, max = 253))]
    pub reader: String,
    /// After how many days they are to be back.
    #[schemars(range(min = 1, max = 365))]
    pub days: u32,
    /// After how many days the reader is reminded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reminder: Option<u32>,
}

/// A book by its name.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct BookRef {
    pub name: String,
}

impl Resource for Loan {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = "Loan";
    const PLURAL: &'static str = "loans";

    fn declare() -> Declaration<Loan> {
        let books = Reference::to::<Book>("spec.bookRefs[].name");
        Declaration::namespaced()
            .planes(Planes::Both)
            .history(History::Spec)
            .refers(books.missing(Missing::NotReady("BookMissing")).on_delete(OnDelete::NotReady("BookLost")))
            .selects(&["spec.reader"])
            .searches(&["spec.reader"])
            .prints("Reader", "string", ".spec.reader")
            .prints("Days", "integer", ".spec.days")
            .prints_age()
            .validate(reminds_before_the_end)
    }
}

/// A reminder comes before the books are due.
fn reminds_before_the_end(change: &Change<Loan>) -> Vec<FieldError> {
    let Some(loan) = change.after() else { return Vec::new() };
    match loan.spec.reminder {
        Some(day) if day >= loan.spec.days => {
            let why = format!("must be less than the {} days of the loan", loan.spec.days);
            vec![FieldError::invalid(&Path::of("spec").field("reminder"), &day.into(), why)]
        }
        _ => Vec::new(),
    }
}

//! Books: each stands on a shelf, and no two in the same place.

use krm::field::{FieldError, Path};
use krm::kind::{Bucket, Change, Declaration, Metadata, Reference, Refusal, Resource, Verdict, View, allow};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shelf::Shelf;

/// The bucket of the books on a shelf, by the shelf's name.
pub const ON_SHELF: Bucket = Bucket::new("example.groundplane.dev/books-on-shelf");

/// A book and where it stands.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Book {
    pub metadata: Metadata,
    pub spec: BookSpec,
}

/// What a book is meant to be.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BookSpec {
    /// The shelf it stands on.
    pub shelf_ref: ShelfRef,
    /// How far it begins from the left end of the shelf, in millimetres.
    #[schemars(range(max = 10_000))]
    pub at: u32,
    /// How thick it is, in millimetres.
    #[schemars(range(min = 1, max = 500))]
    pub thickness: u32,
    /// Whose book it is.
    #[schemars(length(min = 1, max = 253))]
    pub author: String,
    /// How it is bound.
    #[serde(default)]
    pub binding: Binding,
}

/// A shelf by its name.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ShelfRef {
    #[schemars(length(min = 1))]
    pub name: String,
}

/// How a book is bound.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
pub enum Binding {
    #[default]
    Cloth,
    Leather,
    Paper,
}

impl Resource for Book {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = "Book";
    const PLURAL: &'static str = "books";

    fn declare() -> Declaration<Book> {
        Declaration::cluster()
            .refers(Reference::to::<Shelf>("spec.shelfRef.name").immutable())
            .selects(&["spec.shelfRef.name", "spec.author"])
            .searches(&["spec.author"])
            .prints("Shelf", "string", ".spec.shelfRef.name")
            .prints("At", "integer", ".spec.at")
            .prints("Thickness", "integer", ".spec.thickness")
            .prints_wide("Author", "string", ".spec.author")
            .prints_age()
            .bucket(ON_SHELF, |book: &Book| vec![book.spec.shelf_ref.name.clone()])
            .rule(stands_on_its_shelf)
            .rule(overlaps_no_other)
    }
}

impl Book {
    /// Where it ends.
    pub fn end(&self) -> u32 {
        self.spec.at.saturating_add(self.spec.thickness)
    }

    fn overlaps(&self, other: &Book) -> bool {
        self.spec.at < other.end() && other.spec.at < self.end()
    }
}

/// A book ends where its shelf does, or before.
fn stands_on_its_shelf(change: &Change<Book>, view: &mut View<'_>) -> Verdict {
    let Some(book) = change.after() else { return allow() };
    let Some(shelf) = view.get::<Shelf>(&book.spec.shelf_ref.name) else { return allow() };
    if book.end() <= shelf.spec.width {
        return allow();
    }
    let why =
        format!("it would end at {}, and Shelf {} at {}", book.end(), shelf.metadata.name, shelf.spec.width);
    Err(FieldError::invalid(&Path::of("spec").field("at"), &book.spec.at.into(), why).into())
}

/// No two books stand in the same place.
fn overlaps_no_other(change: &Change<Book>, view: &mut View<'_>) -> Verdict {
    let Some(book) = change.after() else { return allow() };
    let on_shelf = view.bucket_of::<Book>(ON_SHELF, &book.spec.shelf_ref.name);
    let mut others = on_shelf.iter().filter(|other| other.metadata.name != book.metadata.name);
    let Some(other) = others.find(|other| other.overlaps(book)) else { return allow() };
    let there =
        format!("Book {} stands there, from {} to {}", other.metadata.name, other.spec.at, other.end());
    Err(Refusal::Conflict(there))
}

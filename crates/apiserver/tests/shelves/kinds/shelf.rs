//! Shelves: boards of some width, on which books stand.

use krm::field::{FieldError, Path};
use krm::kind::{Change, Declaration, Metadata, Resource, Verdict, View, allow};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::book::{Book, ON_SHELF};

/// A board on which books stand.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Shelf {
    pub metadata: Metadata,
    pub spec: ShelfSpec,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ShelfStatus>,
}

/// What a shelf is meant to be.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ShelfSpec {
    /// How wide it is, in millimetres.
    #[schemars(range(min = 1, max = 10_000))]
    pub width: u32,
    /// The room it hangs in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub room: Option<String>,
}

/// What was found of a shelf.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ShelfStatus {
    /// What stands on it weighs this many grams.
    pub load: u32,
}

impl Resource for Shelf {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = "Shelf";
    const PLURAL: &'static str = "shelves";

    fn declare() -> Declaration<Shelf> {
        Declaration::cluster()
            .short(&["sh"])
            .status()
            .selects(&["spec.room"])
            .prints("Width", "integer", ".spec.width")
            .prints("Room", "string", ".spec.room")
            .prints_wide("Load", "integer", ".status.load")
            .prints_age()
            .rule(holds_all_its_books)
    }
}

/// A shelf never shrinks below its books.
fn holds_all_its_books(change: &Change<Shelf>, view: &mut View<'_>) -> Verdict {
    let Some(shelf) = change.after() else { return allow() };
    let books = view.bucket_of::<Book>(ON_SHELF, &shelf.metadata.name);
    let Some(last) = books.iter().max_by_key(|book| book.end()) else { return allow() };
    if last.end() <= shelf.spec.width {
        return allow();
    }
    let why = format!("must be at least {}, where Book {} ends", last.end(), last.metadata.name);
    Err(FieldError::invalid(&Path::of("spec").field("width"), &shelf.spec.width.into(), why).into())
}

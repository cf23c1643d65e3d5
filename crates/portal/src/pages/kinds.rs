//! All kinds of a control plane that the viewer may list.

use maud::html;

use crate::kinds::{plane_of, sections};
use crate::layout::Page;
use crate::refusal::Refusal;
use crate::viewer::Viewer;

/// The page.
pub fn page(viewer: &Viewer, plane: &str) -> Result<Page, Refusal> {
    let plane = plane_of(viewer, plane)?;
    let content = html! {
        p.muted { "Kinds whose objects you may list. Kinds that you define with a CustomResourceDefinition are here too." }
        div.cards {
            @for section in sections(viewer, &plane) {
                section.card {
                    h2 { (section.title) }
                    p.muted.small { (if section.group.is_empty() { "core" } else { section.group.as_str() }) }
                    ul.plain {
                        @for collection in &section.collections {
                            li { a href=(collection.page(viewer, &[])) { (collection.title()) } }
                        }
                    }
                }
            }
        }
    };
    Ok(Page { plane, ..Page::new("All kinds", content) })
}

//! The viewer's sessions, each of which can be ended.

use maud::html;

use crate::layout::{self, Page};
use crate::refusal::Refusal;
use crate::viewer::Viewer;
use crate::{address, session, text};

/// The page.
pub async fn page(viewer: &Viewer) -> Result<Page, Refusal> {
    let mut sessions = session::all_of(&viewer.api, viewer.session.user()).await?;
    sessions.retain(|session| session.expires > viewer.now.seconds);
    sessions.sort_by_key(|session| std::cmp::Reverse(session.started));
    let content = html! {
        p.muted { "Browsers in which you are signed in. A session ends after twelve hours, or with the credentials it was made with." }
        div.scroll tabindex="0" role="region" aria-label="Sessions" {
            table {
                thead { tr { th { "Browser" } th { "Signed in" } th { "By" } th { "Ends" } th { span.sr { "Action" } } } }
                tbody {
                    @for session in &sessions {
                        tr {
                            td { (text::foreign(&text::limited(&session.agent, 90)))
                                @if session.name == viewer.session.name { " " span.tag { "this one" } } }
                            td { (text::moment(&session::written(session.started), viewer.now)) }
                            td { (session.by) }
                            td { (text::moment(&session::written(session.expires), viewer.now)) }
                            td.end {
                                form method="post" action=(address::page(&["sessions", "end"], &[])) {
                                    (layout::csrf(viewer))
                                    input type="hidden" name="name" value=(session.name);
                                    button { "End session" }
                                }
                            }
                        }
                    }
                }
            }
        }
    };
    Ok(Page { has_time: false, ..Page::new("Sessions", content) })
}

/// Ends one of them.
pub async fn end(viewer: &Viewer) -> Result<String, Refusal> {
    session::end(&viewer.api, viewer.session.user(), viewer.parameter("name")).await?;
    Ok(address::page(&["sessions"], &[]))
}

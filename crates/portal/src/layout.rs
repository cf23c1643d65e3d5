//! The frame of every page: menu, search, time, project and user.

use apiserver::plane::Plane;
use krm::time::Moment;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::kinds::{self, Section};
use crate::refusal::Refusal;
use crate::viewer::Viewer;
use crate::{address, assets, text};

/// A page without its frame.
pub struct Page {
    /// Its title.
    pub title: String,
    /// The pages above it, with their addresses.
    pub crumbs: Vec<(String, String)>,
    /// The control plane that it shows.
    pub plane: Plane,
    /// What is looked at in the menu: the address of an entry.
    pub at: String,
    /// Collections whose changes refresh it: paths of watches in the API.
    pub live: Vec<String>,
    /// Actions of the page, beside its title.
    pub actions: Markup,
    /// Its content.
    pub content: Markup,
    /// HTTP status.
    pub code: u16,
    /// Whether the page can be shown as of another time.
    pub has_time: bool,
}

impl Page {
    /// A page of the root.
    pub fn new(title: impl Into<String>, content: Markup) -> Page {
        Page {
            title: title.into(),
            crumbs: Vec::new(),
            plane: Plane::root(),
            at: String::new(),
            live: Vec::new(),
            actions: html! {},
            content,
            code: 200,
            has_time: true,
        }
    }

    /// A page that says why there is no other.
    pub fn refused(refusal: &Refusal) -> Page {
        let title = match refusal.code {
            403 => "Not allowed",
            404 => "Not found",
            410 => "No longer kept",
            429 => "Too many requests",
            500.. => "The server has a problem",
            _ => "This did not work",
        };
        let content = html! {
            div.notice.bad role="alert" {
                p { (text::foreign(&refusal.message)) }
                @if !refusal.causes.is_empty() {
                    ul { @for (field, message) in &refusal.causes { li { code { (field) } " " (text::foreign(message)) } } }
                }
            }
            @if refusal.code == 403 {
                p { a href=(address::page(&["access"], &[])) { "Who may what: see which role would allow this" } }
            }
        };
        Page { code: refusal.code, ..Page::new(title, content) }
    }
}

/// The whole page.
pub fn whole(viewer: &Viewer, page: &Page) -> Markup {
    let sections = kinds::sections(viewer, &page.plane);
    html! {
        (DOCTYPE)
        html lang="en" data-theme=(viewer.theme) {
            (head(&page.title, Some(&viewer.session.csrf)))
            body.past[viewer.as_of.is_some()] data-live=[live(viewer, page)] {
                a.skip href="#main" { "Skip to content" }
                (top(viewer, page))
                div.frame {
                    details.menu #menu open {
                        summary { "Menu" }
                        (menu(viewer, page, &sections))
                    }
                    main #main tabindex="-1" {
                        (heading(viewer, page))
                        div #content data-live-part="" { (page.content) }
                    }
                }
                (palette(viewer, &page.plane, &sections))
                div.sr #said role="status" aria-live="polite" {}
            }
        }
    }
}

/// A page for who has not signed in.
pub fn bare(title: &str, content: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            (head(title, None))
            body.bare {
                main #main {
                    p.brand { (logo()) "Groundplane" }
                    h1 { (title) }
                    (content)
                }
            }
        }
    }
}

fn head(title: &str, csrf: Option<&str>) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            @if let Some(csrf) = csrf { meta name="csrf" content=(csrf); }
            title { (text::limited(title, 120)) " · Groundplane" }
            link rel="icon" href=(assets::address("icon.svg")) type="image/svg+xml";
            link rel="stylesheet" href=(assets::address("portal.css"));
            script src=(assets::address("portal.js")) defer {}
        }
    }
}

/// The address of the stream that tells of changes of what the page shows. A past state does not change.
fn live(viewer: &Viewer, page: &Page) -> Option<String> {
    if viewer.as_of.is_some() || page.live.is_empty() {
        return None;
    }
    let mut parameters: Vec<(&str, &str)> = page.live.iter().map(|path| ("w", path.as_str())).collect();
    parameters.push(("since", &viewer.version));
    Some(address::page(&["live"], &parameters))
}

fn logo() -> Markup {
    PreEscaped(
        "<svg class=\"logo\" viewBox=\"0 0 24 24\" aria-hidden=\"true\"><path d=\"M3 6h18v3H3zM3 11h18v3H3zM3 16h18v3H3z\"/></svg>"
            .to_owned(),
    )
}

fn top(viewer: &Viewer, page: &Page) -> Markup {
    html! {
        header.top {
            a.brand href=(viewer.page(&[], &[])) { (logo()) span { "Groundplane" } }
            form.search role="search" action=(address::page(&["search"], &[])) {
                label.sr for="q" { "Search" }
                input #q type="search" name="q" placeholder="Search names, serials, MACs, addresses" value=(viewer.parameter("q")) autocomplete="off";
                kbd title="Press / to search" { "/" }
            }
            details.pop {
                summary { span.sr { "Project: " } (if page.plane.is_root() { "Platform".to_owned() } else { page.plane.to_string() }) }
                nav.sheet aria-label="Projects" {
                    (projects(viewer, &page.plane))
                }
            }
            details.pop.user {
                summary aria-label=(format!("User menu of {}", viewer.session.user())) { (initial(viewer.session.user())) }
                div.sheet {
                    p { "Signed in as " br; strong { (text::foreign(viewer.session.user())) } }
                    a href=(address::page(&["sessions"], &[])) { "Sessions" }
                    a href=(address::page(&["access"], &[])) { "Who may what" }
                    form method="post" action=(address::page(&["theme"], &[])) {
                        (csrf(viewer))
                        input type="hidden" name="next" value=(viewer.here(&[]));
                        fieldset.theme {
                            legend { "Colours" }
                            @for (value, name) in [("", "Auto"), ("light", "Light"), ("dark", "Dark")] {
                                button.quiet name="theme" value=(value) aria-pressed=(viewer.theme == value) { (name) }
                            }
                        }
                    }
                    form method="post" action=(address::page(&["sign-out"], &[])) { (csrf(viewer)) button { "Sign out" } }
                }
            }
        }
    }
}

fn initial(user: &str) -> String {
    let name = user.strip_prefix("system:").unwrap_or(user);
    name.chars().find(|c| c.is_alphanumeric()).map_or("?".to_owned(), |c| c.to_uppercase().to_string())
}

fn projects(viewer: &Viewer, plane: &Plane) -> Markup {
    let projects = viewer.projects();
    html! {
        a href=(viewer.page(&[], &[])) aria-current=[plane.is_root().then_some("true")] { "Platform" }
        @for project in projects.iter().take(50) {
            a href=(viewer.page(&["p", project.as_str()], &[])) aria-current=[(project == plane).then_some("true")] { (project.as_str()) }
        }
        @if projects.len() > 50 { a href=(viewer.page(&["projects"], &[])) { "All projects" } }
    }
}

/// The token without which a form is not taken.
pub fn csrf(viewer: &Viewer) -> Markup {
    html! { input type="hidden" name="csrf" value=(viewer.session.csrf); }
}

fn menu(viewer: &Viewer, page: &Page, sections: &[Section]) -> Markup {
    let plane = page.plane.as_str();
    let home = if page.plane.is_root() { viewer.page(&[], &[]) } else { viewer.page(&["p", plane], &[]) };
    let has = |group: &str, plural: &str| {
        let section = sections.iter().find(|section| section.group == group);
        section.is_some_and(|it| it.collections.iter().any(|found| found.kind.names.plural == plural))
    };
    let has_sites = has("inventory.miloapis.com", "sites");
    let mut entries: Vec<(String, &str)> = vec![(home, "Home")];
    if has_sites {
        entries.push((viewer.page(&["sites"], &[]), "Sites and racks"));
        entries.push((viewer.page(&["map"], &[]), "Map"));
        entries.push((viewer.page(&["space"], &[]), "Find space"));
    }
    let of_plane = address::or_dash(plane);
    entries.push((viewer.page(&["activity", of_plane], &[]), "Activity"));
    entries.push((viewer.page(&["access"], &[("plane", plane)]), "Who may what"));
    html! {
        nav aria-label="Main" {
            ul.main {
                @for (address, name) in entries {
                    li { a href=(address) aria-current=[(page.at == address).then_some("page")] { (name) } }
                }
            }
            @for section in sections.iter().filter(|section| kinds::is_in_menu(&section.group)) {
                @let is_open = section.collections.iter().any(|it| it.page(viewer, &[]) == page.at)
                    || section.group == "inventory.miloapis.com";
                details.section open[is_open] {
                    summary { (section.title) }
                    ul {
                        @for collection in &section.collections {
                            @let address = collection.page(viewer, &[]);
                            li { a href=(address) aria-current=[(page.at == address).then_some("page")] { (collection.title()) } }
                        }
                    }
                }
            }
            ul.main { li { a href=(viewer.page(&["kinds", of_plane], &[])) { "All kinds" } } }
        }
    }
}

fn heading(viewer: &Viewer, page: &Page) -> Markup {
    html! {
        @if !page.crumbs.is_empty() {
            nav.crumbs aria-label="Breadcrumb" {
                ol { @for (name, address) in &page.crumbs { li { a href=(address) { (text::foreign(name)) } } } }
            }
        }
        div.heading {
            h1 { (text::foreign(&text::limited(&page.title, 200))) }
            div.actions data-live-part="" id="actions" { (page.actions) }
        }
        @if page.has_time { (time(viewer)) }
    }
}

/// Chooses the time at which everything is shown.
fn time(viewer: &Viewer) -> Markup {
    let kept = viewer.query.pairs().filter(|(name, _)| name != "asOf");
    html! {
        form.time method="get" action=(viewer.path) data-now=(viewer.now) {
            @for (name, value) in kept { input type="hidden" name=(name) value=(value); }
            @match &viewer.as_of {
                Some(as_of) => {
                    strong { "As of " (text::full_moment(as_of)) }
                    a.button href=(viewer.here(&[("asOf", "")])) { "Back to now" }
                }
                None => span.muted { "Now" }
            }
            label.slider { span.sr { "Hours ago" }
                input type="range" min="0" max="168" step="1" value=(hours_ago(viewer)) list="days" aria-label="Show as of hours ago";
            }
            details {
                summary { "As of…" }
                label { span { "Time (UTC)" }
                    input type="text" name="asOf" value=(viewer.as_of.as_deref().unwrap_or_default()) placeholder="2026-11-10T09:00:00Z" size="22";
                }
                button { "Show" }
            }
        }
    }
}

fn hours_ago(viewer: &Viewer) -> i64 {
    let Some(Ok(then)) = viewer.as_of.as_deref().map(Moment::parse) else { return 0 };
    ((viewer.now.seconds - then.seconds) / 3600).clamp(0, 168)
}

/// Everything that can be gone to or done from here, by its name.
fn palette(viewer: &Viewer, plane: &Plane, sections: &[Section]) -> Markup {
    let of_plane = address::or_dash(plane.as_str());
    html! {
        dialog #palette aria-label="Command palette" {
            form method="dialog" {
                label.sr for="command" { "Command" }
                input #command type="text" placeholder="Go to… or do…" autocomplete="off" role="combobox" aria-expanded="true" aria-controls="commands";
            }
            ul #commands role="listbox" aria-label="Commands" {
                (command("Home", &viewer.page(&[], &[])))
                (command("Sites and racks", &viewer.page(&["sites"], &[])))
                (command("Map of sites", &viewer.page(&["map"], &[])))
                (command("Find space", &viewer.page(&["space"], &[])))
                (command("Activity", &viewer.page(&["activity", of_plane], &[])))
                (command("Who may what", &viewer.page(&["access"], &[])))
                (command("Sessions", &address::page(&["sessions"], &[])))
                @for section in sections {
                    @for collection in &section.collections {
                        (command(&format!("{}: {}", section.title, collection.title()), &collection.page(viewer, &[])))
                    }
                }
                @for project in viewer.projects().iter().take(100) {
                    (command(&format!("Project {project}"), &viewer.page(&["p", project.as_str()], &[])))
                }
            }
        }
    }
}

fn command(name: &str, address: &str) -> Markup {
    html! { li role="option" { a href=(address) tabindex="-1" { (name) } } }
}

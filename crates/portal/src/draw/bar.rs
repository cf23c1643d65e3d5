//! Bars: how much of something is used.

use maud::{Markup, html};

/// A bar with its share in words beside it.
pub fn bar(name: &str, used: u64, all: u64, unit: &str) -> Markup {
    let share = (used * 100).checked_div(all).unwrap_or(0).min(100);
    let class = match share {
        0..=79 => "fill",
        80..=94 => "fill much",
        _ => "fill over",
    };
    html! {
        div.meter {
            span.meter-name { (name) }
            svg.bar viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label=(format!("{name}: {share} % used")) {
                rect.track width="100" height="6" rx="1" {}
                rect class=(class) width=(share) height="6" rx="1" {}
            }
            span.meter-text { (crate::text::number(used)) " of " (crate::text::number(all)) " " (unit) }
        }
    }
}

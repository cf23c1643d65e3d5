//! A site has one Region. Of several the last is used, as in the original, and the others have no effect.

use super::finding::{Findings, Validator};
use crate::{compile::Site, model::Design};

pub(super) const VALIDATOR: Validator =
    Validator { code: "GP6003", drydock_id: None, title: "Several Regions", check };

fn check(design: &Design, _: &Site, findings: &mut Findings) {
    let Some(used) = &design.region else { return };
    for outcome in design.outcomes.iter().filter(|outcome| outcome.document.kind == "Region") {
        if outcome.document != used.document {
            let (unused, used_at) = (&outcome.document, design.place_of(&used.document));
            let place = used_at.map(|at| format!(" ({at})")).unwrap_or_default();
            let message =
                format!("{unused} has no effect: {}{place} is the Region that is used.", used.document);
            let advice = "Keep one Region per site. The last one in the order of files and lines is used.";
            findings.warning(message, advice, &[unused, &used.document]);
        }
    }
}

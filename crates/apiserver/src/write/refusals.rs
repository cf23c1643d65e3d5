//! Refusals by rules and effects, as whoever writes may know them.
//!
//! Rules see everything that they ask for, also what the writer may not see, and say no in sentences that name it. What such
//! code was shown is known; a sentence with the name of something hidden is replaced, whatever kind it comes from.

use krm::field::FieldError;
use krm::kind::Refusal;
use store::Key;

use super::guarded::Shown;
use crate::call::Call;
use crate::identity::MASTERS;
use crate::keys;

/// What is said in the place of a sentence that names something hidden.
const HIDDEN: &str = "this is in conflict with an object that you are not allowed to see";

/// The same refusals without sentences that name objects which the writer may not see.
pub fn as_seen(call: &Call, name: &str, refusals: Vec<Refusal>, shown: &Shown) -> Vec<Refusal> {
    if refusals.is_empty() {
        return refusals;
    }
    let hidden = hidden_names(call, name, &shown.borrow());
    if hidden.is_empty() {
        return refusals;
    }
    let names_hidden = |text: &str| hidden.iter().any(|name| mentions(text, name));
    let told = |why: String| if names_hidden(&why) { HIDDEN.to_owned() } else { why };
    let told_field = |mut error: FieldError| {
        if names_hidden(&error.detail) {
            error.detail = HIDDEN.into();
        }
        error
    };
    let as_told = |refusal| match refusal {
        Refusal::Invalid(errors) => Refusal::Invalid(errors.into_iter().map(told_field).collect()),
        Refusal::Forbidden(why) => Refusal::Forbidden(told(why)),
        Refusal::Conflict(why) => Refusal::Conflict(told(why)),
        Refusal::Denied(why) => Refusal::Denied(told(why)),
    };
    refusals.into_iter().map(as_told).collect()
}

/// The names of those that the writer may not see. The object itself they know.
fn hidden_names(call: &Call, name: &str, shown: &[Key]) -> Vec<String> {
    // Effects of effects are decided as an administrator; whoever is told is the writer of the object.
    let asker = call.asker.as_deref().unwrap_or(call);
    let is_administrator = asker.who.is_in(MASTERS) && asker.really.is_none();
    if is_administrator || asker.who.compiled_role.is_some() {
        return Vec::new();
    }
    let own = call.key_of(name).ok();
    let mut keys: Vec<&Key> = shown.iter().filter(|key| Some(*key) != own.as_ref()).collect();
    keys.sort_unstable();
    keys.dedup();
    let hidden = keys.into_iter().filter_map(|key| {
        let parts = keys::parts(key)?;
        let at = parts.address();
        (!asker.may_see_in(&parts.plane(), &at)).then_some(at.name)
    });
    hidden.filter(|hidden| hidden != name).collect()
}

/// Whether a text has a name in it as a word of its own.
fn mentions(text: &str, name: &str) -> bool {
    let is_part = |character: char| character.is_alphanumeric() || matches!(character, '-' | '.' | '_');
    text.match_indices(name).any(|(at, found)| {
        let before = text[..at].chars().next_back();
        let after = text[at + found.len()..].chars().next();
        !before.is_some_and(|it| it.is_alphanumeric() || matches!(it, '-' | '_'))
            && !after.is_some_and(|it| is_part(it) && it != '.')
    })
}

#[cfg(test)]
mod tests {
    use super::mentions;

    #[test]
    fn a_name_is_found_as_a_word_of_its_own() {
        for text in ["node n1 is there", "taken by n1", "n1: no", "(n1)", "default/n1.", "n1, n2"] {
            assert!(mentions(text, "n1"), "{text}");
        }
        for text in ["node n12 is there", "rack-n1", "n1-a", "min1"] {
            assert!(!mentions(text, "n1"), "{text}");
        }
    }
}

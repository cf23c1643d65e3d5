//! Field sets written under an older schema, brought in line with the present one.

use super::element::Element;
use super::set::FieldSet;
use super::types::{Case, Items, Shape, Type};

/// The set as the type would have it now, if that is another.
///
/// A map or list that has become atomic is owned as a whole by whoever owned parts of it.
pub(super) fn reconcile(ty: &Type, set: &FieldSet) -> Option<FieldSet> {
    match reconcile_field(ty.root(), Ownership { itself: false, below: set }) {
        Verdict::Same | Verdict::Whole => None,
        Verdict::Changed(set) => Some(set),
    }
}

/// What of a field is owned.
#[derive(Clone, Copy)]
struct Ownership<'s> {
    itself: bool,
    below: &'s FieldSet,
}

enum Verdict {
    Same,
    /// The field is owned as a whole.
    Whole,
    /// These fields below it are owned.
    Changed(FieldSet),
}

fn reconcile_field(shape: Shape<'_>, owned: Ownership<'_>) -> Verdict {
    let as_a_whole = owned.itself && owned.below.is_empty();
    match shape.first_case() {
        Case::Scalar(_) => Verdict::Same,
        Case::Map(fields) if shape.is_free_form(fields) => Verdict::Same,
        Case::Map(fields) if fields.atomic => match owned.below.is_empty() {
            true => Verdict::Same,
            false => Verdict::Whole,
        },
        Case::List(list) if matches!(list.items, Items::Atomic) => match as_a_whole {
            true => Verdict::Same,
            false => Verdict::Whole,
        },
        Case::Map(fields) => reconcile_below(owned.below, |element| match element {
            Element::Field(name) => shape.entry(fields, name),
            _ => None,
        }),
        Case::List(list) => reconcile_below(owned.below, |_| Some(shape.item(list))),
    }
}

fn reconcile_below<'t>(set: &FieldSet, shape_of: impl Fn(&Element) -> Option<Shape<'t>>) -> Verdict {
    let mut changed: Option<FieldSet> = None;
    for (at, (element, member, below)) in set.steps().enumerate() {
        let verdict = match shape_of(element) {
            Some(shape) => reconcile_field(shape, Ownership { itself: member, below }),
            None => Verdict::Same,
        };
        let (member, below) = match verdict {
            Verdict::Same => (member, None),
            Verdict::Whole => (true, Some(FieldSet::new())),
            Verdict::Changed(below) => (member, Some(below)),
        };
        if below.is_some() && changed.is_none() {
            let mut before = FieldSet::new();
            set.steps().take(at).for_each(|(element, member, below)| {
                before.push(element.clone(), member, below.clone());
            });
            changed = Some(before);
        }
        if let Some(changed) = &mut changed {
            let below = below.unwrap_or_else(|| set.below(element).clone());
            changed.push(element.clone(), member, below);
        }
    }
    changed.map_or(Verdict::Same, Verdict::Changed)
}

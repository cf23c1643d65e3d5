//! Ranges of numbers.

use serde_json::{Number, Value};

use super::finding::Finding;
use super::{Check, Passed};
use crate::field::{Fault, Path};
use crate::number::float_in_text;
use crate::schema::format::Format;
use crate::schema::node::{JsonType, Limits, Node};

/// A number as Kubernetes holds it: whole where it was written so and fits, a float otherwise.
#[derive(Clone, Copy)]
pub enum Numeric {
    Whole(i64),
    Float(f64),
}

impl From<&Number> for Numeric {
    fn from(number: &Number) -> Numeric {
        match number.as_i64() {
            Some(whole) => Numeric::Whole(whole),
            None => Numeric::Float(number.as_f64().unwrap_or(f64::NAN)),
        }
    }
}

impl Numeric {
    fn as_float(self) -> f64 {
        match self {
            Numeric::Whole(whole) => whole as f64,
            Numeric::Float(float) => float,
        }
    }

    fn to_value(self) -> Value {
        match self {
            Numeric::Whole(whole) => Value::from(whole),
            Numeric::Float(float) => Value::from(float),
        }
    }

    fn shown(self) -> String {
        match self {
            Numeric::Whole(whole) => whole.to_string(),
            Numeric::Float(float) => float_in_text(float),
        }
    }
}

impl Check {
    pub(super) fn number(&mut self, node: &Node, number: Numeric, path: &Path<'_>) -> Passed {
        let range = Range::of(node);
        if !range.holds(number) {
            self.findings.add(range.finding("Checked", path));
        }
        if let Some(limits) = &node.limits {
            self.number_limits(limits, &range, number, path);
        }
        0
    }

    /// A bound that is itself outside the declared type is reported too, and then compared as a float.
    fn number_limits(&mut self, limits: &Limits, range: &Range, number: Numeric, path: &Path<'_>) {
        let mut bound = |what, bound: f64| {
            let fits = range.holds(Numeric::Float(bound));
            if !fits {
                self.findings.add(range.finding(what, path));
            }
            match number {
                // A bound is cut to a whole number before whole numbers are compared with it.
                Numeric::Whole(whole) if fits => (Numeric::Whole(whole), Numeric::Whole(bound as i64)),
                number => (Numeric::Float(number.as_float()), Numeric::Float(bound)),
            }
        };
        let multiple = limits.multiple_of.map(|factor| bound("MultipleOf", factor));
        let minimum = limits.minimum.map(|minimum| bound("Minimum boundary", minimum));
        let maximum = limits.maximum.map(|maximum| bound("Maximum boundary", maximum));

        if let Some((number, factor)) = multiple {
            self.multiple_of(number, factor, path);
        }
        if let Some((number, minimum)) = minimum {
            let exclusive = limits.exclusive_minimum;
            if is_beyond(minimum, number, exclusive) {
                let words = if exclusive { "greater than" } else { "greater than or equal to" };
                let said = format!("{path} in body should be {words} {}", minimum.shown());
                self.findings.add(Finding::value(Fault::Invalid, path, &number.to_value(), said));
            }
        }
        if let Some((number, maximum)) = maximum {
            let exclusive = limits.exclusive_maximum;
            if is_beyond(number, maximum, exclusive) {
                let words = if exclusive { "less than" } else { "less than or equal to" };
                let said = format!("{path} in body should be {words} {}", maximum.shown());
                self.findings.add(Finding::value(Fault::Invalid, path, &number.to_value(), said));
            }
        }
    }

    fn multiple_of(&mut self, number: Numeric, factor: Numeric, path: &Path<'_>) {
        if factor.as_float() <= 0.0 {
            let said = format!("factor MultipleOf declared for {path} must be positive: {}", factor.shown());
            self.findings.add(Finding::value(Fault::Invalid, path, &factor.to_value(), said));
            return;
        }
        let divides = match (number, factor) {
            (Numeric::Whole(number), Numeric::Whole(factor)) => number % factor == 0,
            (number, factor) => {
                let (number, factor) = (number.as_float(), factor.as_float());
                is_nearly_whole(if factor < 1.0 { 1.0 / factor * number } else { number / factor })
            }
        };
        if !divides {
            let said = format!("{path} in body should be a multiple of {}", factor.shown());
            self.findings.add(Finding::value(Fault::Invalid, path, &number.to_value(), said));
        }
    }
}

fn is_beyond(number: Numeric, bound: Numeric, exclusive: bool) -> bool {
    match (number, bound) {
        (Numeric::Whole(number), Numeric::Whole(bound)) => number > bound || exclusive && number == bound,
        (number, bound) => {
            let (number, bound) = (number.as_float(), bound.as_float());
            number > bound || exclusive && number == bound
        }
    }
}

/// The numbers a type and format can hold.
struct Range {
    kind: Option<JsonType>,
    format: Option<Format>,
}

impl Range {
    fn of(node: &Node) -> Range {
        let format = node.limits.as_ref().and_then(|limits| limits.format.as_ref());
        let kind = node.kind.filter(|kind| matches!(kind, JsonType::Integer | JsonType::Number));
        Range { kind, format: kind.and(format.map(|(format, _)| *format)) }
    }

    fn holds(&self, number: Numeric) -> bool {
        match (self.kind, self.format) {
            (Some(JsonType::Integer), format) => match (whole(number), format) {
                (Some(whole), Some(Format::Int32)) => i32::try_from(whole).is_ok(),
                (whole, _) => whole.is_some(),
            },
            (_, Some(Format::Float)) => (number.as_float() as f32).is_finite(),
            _ => true,
        }
    }

    fn finding(&self, what: &str, path: &Path<'_>) -> Finding {
        let kind = self.kind.map_or("", JsonType::name);
        let format = match self.format {
            Some(Format::Int32) => "with format int32",
            Some(Format::Int64) => "with format int64",
            Some(Format::Float) => "with format float",
            Some(Format::Double) => "with format double",
            _ => "(default format)",
        };
        Finding::nowhere(format!("{what} value must be of type {kind} {format} in {path}"))
    }
}

/// The number, if it is whole and fits into 64 bits.
fn whole(number: Numeric) -> Option<i64> {
    let two_to_63 = 9_223_372_036_854_775_808.0;
    match number {
        Numeric::Whole(whole) => Some(whole),
        Numeric::Float(float) if float.fract() == 0.0 && (-two_to_63..two_to_63).contains(&float) => {
            Some(float as i64)
        }
        Numeric::Float(_) => None,
    }
}

/// Whether a float passes for a whole number: those that every JSON reader holds exactly, give or take rounding.
pub fn is_nearly_whole(float: f64) -> bool {
    const MOST: f64 = 9_007_199_254_740_991.0;
    const TOLERANCE: f64 = 1e-9;
    if !(-MOST..=MOST).contains(&float) {
        return false;
    }
    let cut = float.trunc();
    if float == cut {
        return true;
    }
    cut != 0.0 && (float - cut).abs() / (float.abs() + cut.abs()) < TOLERANCE
}

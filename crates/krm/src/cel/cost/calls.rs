//! What single calls cost.

use super::{Argument, Estimator, Way};
use crate::cel::ast::{Expr, ExprId, Literal};
use crate::cel::cost::range::Range;
use crate::cel::decl::Decls;
use crate::cel::types::Type;

/// What a character costs that has to be looked at.
pub(in crate::cel) const PER_CHARACTER: f64 = 0.1;
/// What a character of a pattern costs for each that is looked at.
pub(in crate::cel) const PER_PATTERN_CHARACTER: f64 = 0.25;
/// What a format's pattern is taken to be long.
const FORMAT_PATTERN: f64 = 128.0;

/// A call, with one of the signatures that fit it.
pub(super) struct Call<'a, 'c> {
    pub id: ExprId,
    pub function: &'a str,
    pub overload: &'static str,
    pub target: Option<&'a Argument<'c>>,
}

/// What a call costs, and how large what it gives is, where that is known.
type Estimate = (Range, Option<Range>);

const ONE: Range = Range::fixed(1);

impl Estimator<'_> {
    pub(super) fn call_cost(
        &mut self,
        call: &Call<'_, '_>,
        args: &[Argument<'_>],
        costs: &[Range],
    ) -> Estimate {
        let all = || costs.iter().fold(Range::fixed(0), |sum, cost| sum.add(*cost));
        let special = self.of_extension(call, args).or_else(|| self.of_library(call, args));
        if let Some((cost, size)) = special {
            return (cost.add(all()), size);
        }
        match (call.overload, costs) {
            ("logical_or" | "logical_and", [first, ..]) => (Range { min: first.min, max: all().max }, None),
            ("conditional", [condition, yes, no]) => {
                let size = args[1].any_size().union(args[2].any_size());
                let both = (self.entries_of(args[1].id), self.entries_of(args[2].id));
                if let (Some(yes), Some(no)) = both {
                    self.entries[call.id] = Some(yes.union(no));
                }
                (condition.add(yes.union(*no)), Some(size))
            }
            _ => {
                let (cost, size) = self.of_standard(call, args);
                (cost.add(all()), size)
            }
        }
    }

    fn of_standard(&mut self, call: &Call<'_, '_>, args: &[Argument<'_>]) -> Estimate {
        let characters = |size: Range| size.each(PER_CHARACTER);
        match (call.overload, call.target, args) {
            ("string_format", Some(target), _) => (characters(target.any_size()), None),
            ("string_to_bytes", _, [text]) => {
                let size = text.any_size();
                (characters(size), Some(Range { min: size.min, max: size.max.saturating_mul(4) }))
            }
            ("bytes_to_string", _, [bytes]) => {
                let size = bytes.any_size();
                (characters(size), Some(Range { min: size.min / 4, max: size.max }))
            }
            ("strings_quote", _, [text]) => {
                let size = text.any_size();
                let longest = size.max.saturating_mul(2).saturating_add(2);
                (characters(size), Some(Range { min: size.min.saturating_add(2), max: longest }))
            }
            ("starts_with_string" | "ends_with_string", _, [part]) => (characters(part.any_size()), None),
            ("in_list", _, [_, list]) => (list.any_size(), None),
            ("matches_string", Some(text), [pattern]) => (pattern_cost(text, pattern), None),
            ("contains_string", Some(text), [part]) => {
                (characters(text.any_size()).times(characters(part.any_size())), None)
            }
            ("add_string" | "add_bytes" | "add_list", _, [left, right]) => {
                let size = left.any_size().add(right.any_size());
                let both = (self.entries_of(left.id), self.entries_of(right.id));
                if let (Some(left), Some(right)) = both {
                    self.entries[call.id] = Some(left.union(right));
                }
                let cost = if call.overload == "add_list" { ONE } else { characters(size) };
                (cost, Some(size))
            }
            (overload, _, [left, right]) if compares(overload) => {
                let most = left.any_size().max.min(right.any_size().max);
                (characters(Range { min: u64::from(most > 0), max: most }), None)
            }
            _ => (ONE, None),
        }
    }

    /// Functions of cel-go's own extensions.
    fn of_extension(&self, call: &Call<'_, '_>, args: &[Argument<'_>]) -> Option<Estimate> {
        let list = |factor: f64, size: Range| {
            let cost = size.each(factor).add(ONE).add(Range::fixed(10));
            Some((cost, Some(size)))
        };
        let squared = |argument: &Argument<'_>, factor: f64| {
            let size = self.sized(argument);
            list(factor, size.times(size))
        };
        match (call.overload, call.target, args) {
            ("list_slice", Some(target), [start, end]) => {
                let start = self.literal(start, 0);
                let end = self.literal(end, self.sized(target).max);
                list(1.0, Range::fixed(end.wrapping_sub(start)))
            }
            ("list_flatten", Some(target), []) => list(1.0, self.sized(target)),
            #[expect(clippy::cast_precision_loss, reason = "depths are reckoned in floats there too")]
            ("list_flatten_int", Some(target), [depth]) => {
                list(self.literal(depth, u64::MAX) as f64, self.sized(target))
            }
            ("lists_range", None, [count]) => list(1.0, Range::fixed(self.literal(count, u64::MAX))),
            ("list_reverse", Some(target), []) => list(1.0, self.sized(target)),
            ("list_distinct", Some(target), []) => squared(target, 2.0),
            ("list_string_sort" | "list_bytes_sort", Some(target), []) => {
                squared(target, 2.0 + PER_CHARACTER)
            }
            ("list_string_sortByAssociatedKeys" | "list_bytes_sortByAssociatedKeys", Some(_), [keys]) => {
                squared(keys, 2.0 + PER_CHARACTER)
            }
            (overload, Some(target), []) if overload.ends_with("_sort") => squared(target, 2.0),
            (overload, Some(_), [keys]) if overload.ends_with("_sortByAssociatedKeys") => squared(keys, 2.0),
            ("list_sets_contains_list" | "list_sets_intersects_list", None, [a, b]) => {
                Some((self.sized(a).times(self.sized(b)).each(1.0).add(ONE), None))
            }
            ("list_sets_equivalent_list", None, [a, b]) => {
                Some((self.sized(a).times(self.sized(b)).each(2.0).add(ONE), None))
            }
            _ => None,
        }
    }

    /// Functions of Kubernetes' libraries.
    fn of_library(&self, call: &Call<'_, '_>, args: &[Argument<'_>]) -> Option<Estimate> {
        let characters = |size: Range| size.each(PER_CHARACTER);
        match (call.function, call.target, args) {
            ("isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf", Some(target), _) => {
                let size = self.sized(target);
                let Type::List(item) = target.of else { return Some((characters(size), None)) };
                let mut each = ONE;
                if matches!(**item, Type::String | Type::Bytes) {
                    each = each.add(characters(self.item_size(target)));
                }
                Some((size.times(each), None))
            }
            ("url", _, [text]) => Some((characters(self.sized(text)), Some(self.sized(text)))),
            ("lowerAscii" | "upperAscii" | "substring" | "trim", Some(target), _) => {
                Some((characters(self.sized(target)), Some(self.sized(target))))
            }
            ("replace", Some(target), [old, new, ..]) => Some(self.replace(target, old, new)),
            ("split", Some(target), _) => {
                let size = self.sized(target);
                let most = args.get(1).map_or(size.max, |count| self.literal(count, size.max));
                Some((size.each(2.0 * PER_CHARACTER), Some(Range { min: 0, max: most })))
            }
            ("join", Some(target), _) => {
                let size = self.joined(target, args.first());
                Some((characters(size), Some(size)))
            }
            ("find" | "findAll", Some(target), [pattern, ..]) => {
                let text = self.sized(target);
                let cost = pattern_cost_of(text, self.sized(pattern));
                Some((cost, Some(Range { min: 0, max: text.max })))
            }
            ("ip", ..) if call.overload == "cidr_ip" => Some((ONE, None)),
            ("cidr" | "isIP" | "isCIDR" | "ip", _, [text, ..]) => Some((characters(self.sized(text)), None)),
            ("ip.isCanonical", _, [text]) => Some((self.sized(text).each(2.0 * PER_CHARACTER), None)),
            ("containsIP" | "containsCIDR", _, [other]) => {
                // Addresses have four bytes or sixteen.
                let address = Range { min: 4, max: 16 };
                let mut cost = characters(address.add(address));
                if call.function == "containsCIDR" {
                    cost = cost.add(characters(address)).add(ONE);
                }
                if call.overload.ends_with("_string") {
                    cost = cost.add(characters(self.sized(other)));
                }
                Some((cost, None))
            }
            ("quantity" | "isQuantity" | "semver" | "isSemver", _, [text, ..]) => {
                Some((characters(self.sized(text)), None))
            }
            ("validate", _, [text]) => {
                let cost = characters(self.sized(text)).each(FORMAT_PATTERN * PER_PATTERN_CHARACTER);
                Some((cost, None))
            }
            ("_==_", _, [left, right]) if left.of == right.of => library_equality(left.of, right),
            _ => None,
        }
    }

    fn replace(&self, target: &Argument<'_>, old: &Argument<'_>, new: &Argument<'_>) -> Estimate {
        let (size, old, new) = (self.sized(target), self.sized(old), self.sized(new));
        let (mut most, mut least, mut kept) = (0, 0, Range::fixed(0));
        if old.min == 0 {
            most = size.max.saturating_add(1);
            kept.max = size.max;
        } else if new.max <= old.min {
            kept.max = size.max;
        } else {
            most = size.max.div_ceil(old.min);
        }
        if old.max == 0 {
            least = size.min.saturating_add(1);
            kept.min = size.min;
        } else if old.max <= new.min {
            kept.min = size.min;
        } else {
            least = size.min.div_ceil(old.max);
        }
        let result = Range { min: least, max: most }.times(new).add(kept);
        (size.each(2.0 * PER_CHARACTER), Some(result))
    }

    fn joined(&self, list: &Argument<'_>, separator: Option<&Argument<'_>>) -> Range {
        let count = self.sized(list);
        let texts = count.times(self.item_size(list));
        let Some(separator) = separator else { return texts };
        let between = Range { min: count.min.saturating_sub(1), max: count.max.saturating_sub(1) };
        texts.add(self.sized(separator).times(between))
    }

    fn sized(&self, argument: &Argument<'_>) -> Range {
        argument.size.or_else(|| self.declared_size(argument.way)).unwrap_or(Range::ANY)
    }

    fn item_size(&self, list: &Argument<'_>) -> Range {
        let item = match list.way {
            Way::None => Way::None,
            way => self.further(way, Decls::element),
        };
        self.declared_size(item).unwrap_or(Range::ANY)
    }

    /// A whole number that stands there, or something else.
    fn literal(&self, argument: &Argument<'_>, otherwise: u64) -> u64 {
        match self.checked.ast.get(argument.id) {
            Expr::Literal(Literal::Int(number)) => u64::try_from(*number).unwrap_or(0),
            _ => otherwise,
        }
    }
}

impl Argument<'_> {
    fn any_size(&self) -> Range {
        self.size.unwrap_or(Range::ANY)
    }
}

fn pattern_cost(text: &Argument<'_>, pattern: &Argument<'_>) -> Range {
    pattern_cost_of(text.any_size(), pattern.any_size())
}

/// An empty text still costs something to match.
fn pattern_cost_of(text: Range, pattern: Range) -> Range {
    text.add(ONE).each(PER_CHARACTER).times(pattern.each(PER_PATTERN_CHARACTER))
}

fn compares(overload: &str) -> bool {
    let ordered =
        |prefix: &str| overload.strip_prefix(prefix).is_some_and(|of| matches!(of, "_string" | "_bytes"));
    matches!(overload, "equals" | "not_equals")
        || ["less", "less_equals", "greater", "greater_equals"].into_iter().any(ordered)
}

fn library_equality(of: &Type, right: &Argument<'_>) -> Option<Estimate> {
    match of {
        Type::Opaque(_) | Type::Library("kubernetes.Quantity" | "kubernetes.Semver") => Some((ONE, None)),
        Type::Library("kubernetes.NamedFormat") => {
            Some((Range { min: 1, max: 64 }.each(PER_CHARACTER), None))
        }
        Type::Library("kubernetes.URL") => {
            let most = right.size.map_or(1, |size| size.max);
            Some((Range { min: 1, max: most }.each(PER_CHARACTER), None))
        }
        _ => None,
    }
}

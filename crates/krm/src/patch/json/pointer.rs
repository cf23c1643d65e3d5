//! JSON pointers (RFC 6901) and what they point at.

use std::borrow::Cow;

use serde_json::Value;

/// The object or list that a pointer ends in, and its last step; nothing when there is none.
///
/// What stands before the first slash does not matter.
pub(super) fn find<'v, 'p>(object: &'v mut Value, pointer: &'p str) -> Option<(&'v mut Value, Cow<'p, str>)> {
    let mut steps = steps(pointer);
    let mut step = steps.next()?;
    let mut holder = object;
    for next in steps {
        holder = match holder {
            Value::Object(fields) => fields.get_mut(&*step)?,
            Value::Array(items) => {
                let at = place(&step, items.len()).ok()?;
                items.get_mut(at)?
            }
            _ => return None,
        };
        step = next;
    }
    matches!(holder, Value::Object(_) | Value::Array(_)).then_some((holder, step))
}

/// The steps of a pointer.
pub(super) fn steps(pointer: &str) -> impl Iterator<Item = Cow<'_, str>> {
    pointer.split('/').skip(1).map(unescape)
}

/// How many steps a pointer takes.
pub(super) fn count(pointer: &str) -> usize {
    pointer.bytes().filter(|byte| *byte == b'/').count()
}

/// The place a step names among that many; a negative one counts from the end.
pub(super) fn place(step: &str, count: usize) -> Result<usize, String> {
    let index: i64 = step.parse().map_err(|_| format!("strconv.Atoi: parsing {step:?}: invalid syntax"))?;
    let place = match index < 0 {
        true => usize::try_from(index.unsigned_abs()).ok().and_then(|back| count.checked_sub(back)),
        false => usize::try_from(index).ok().filter(|place| *place < count),
    };
    place.ok_or_else(|| format!("Unable to access invalid index: {index}: invalid index referenced"))
}

fn unescape(step: &str) -> Cow<'_, str> {
    if !step.contains('~') {
        return Cow::Borrowed(step);
    }
    let mut plain = String::with_capacity(step.len());
    let mut rest = step;
    while let Some((before, after)) = rest.split_once('~') {
        plain.push_str(before);
        rest = match after.as_bytes().first() {
            Some(b'0') => {
                plain.push('~');
                &after[1..]
            }
            Some(b'1') => {
                plain.push('/');
                &after[1..]
            }
            _ => {
                plain.push('~');
                after
            }
        };
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tildes_are_unescaped_once() {
        assert_eq!(unescape("a~1b~0c"), "a/b~c");
        assert_eq!(unescape("~01"), "~1");
        assert_eq!(unescape("~~1~2~"), "~/~2~");
    }

    #[test]
    fn indices_count_from_either_end() {
        assert_eq!(place("0", 2), Ok(0));
        assert_eq!(place("+1", 2), Ok(1));
        assert_eq!(place("-1", 2), Ok(1));
        assert_eq!(place("-2", 2), Ok(0));
        for step in ["2", "-3", "x", "", "-", "1.0", "99999999999999999999"] {
            assert!(place(step, 2).is_err(), "{step}");
        }
    }
}

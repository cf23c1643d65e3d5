//! Texts of pages: ages, sizes, values.

use krm::time::Moment;
use maud::{Markup, html};
use serde_json::Value;

/// The longest text that is shown in one place; the rest is in the YAML of the object.
const LONGEST: usize = 2_000;

/// A text within its limit, so that a single value can't make a page of megabytes.
pub fn clipped(text: &str) -> String {
    limited(text, LONGEST)
}

/// A text of at most so many characters.
pub fn limited(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}… ({} bytes in all)", &text[..end], text.len()),
    }
}

/// A text that belongs to nobody: shown in isolation, so that marks of writing direction in it move nothing around it.
pub fn foreign(text: &str) -> Markup {
    html! { bdi { (clipped(text)) } }
}

/// A moment: in UTC, which the script replaces by the reader's own time, with the age for people.
pub fn moment(text: &str, now: Moment) -> Markup {
    if text.is_empty() {
        return html! { span.muted { "—" } };
    }
    let Ok(then) = Moment::parse(text) else { return foreign(text) };
    html! { time datetime=(then) title=(then) { (age(then, now)) } }
}

/// A moment in full, in UTC; the script replaces it by the reader's own time.
pub fn full_moment(text: &str) -> Markup {
    let Ok(then) = Moment::parse(text) else { return foreign(text) };
    let shown = then.to_string().replace('T', " ").replace('Z', " UTC");
    html! { time.full datetime=(then) { (shown) } }
}

/// How long ago it was: "3 h ago".
pub fn age(then: Moment, now: Moment) -> String {
    let seconds = now.seconds - then.seconds;
    let (ahead, seconds) = (seconds < -1, seconds.abs());
    let span = match seconds {
        0..=59 => format!("{seconds} s"),
        60..=3599 => format!("{} min", seconds / 60),
        3600..=172_799 => format!("{} h", seconds / 3600),
        _ => format!("{} d", seconds / 86_400),
    };
    if ahead { format!("in {span}") } else { format!("{span} ago") }
}

/// A value as one line of text.
pub fn shown(value: &Value) -> String {
    match value {
        Value::Null => "—".to_owned(),
        Value::String(text) => clipped(text),
        Value::Array(items) if items.is_empty() => "[]".to_owned(),
        other => clipped(&krm::encode::to_json_text(other)),
    }
}

/// A number with separators: 12,345.
pub fn number(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count with its noun: "1 rack", "3 racks".
pub fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", number(count), if count == 1 { one } else { many })
}

/// A text at a pointer of a value; empty if there is none.
pub fn at<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// The items of a list at a pointer.
pub fn items<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    value.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_and_numbers_read_as_people_write_them() {
        let now = Moment::of_seconds(1_000_000);
        assert_eq!(age(Moment::of_seconds(999_941), now), "59 s ago");
        assert_eq!(age(Moment::of_seconds(1_000_000 - 7200), now), "2 h ago");
        assert_eq!(age(Moment::of_seconds(1_000_000 + 86_400 * 3), now), "in 3 d");
        assert_eq!([number(0), number(999), number(1_234_567)], ["0", "999", "1,234,567"]);
    }

    #[test]
    fn a_long_text_is_clipped_between_characters() {
        let text = limited(&"ü".repeat(10), 3);
        assert_eq!(text, "üüü… (20 bytes in all)");
    }
}

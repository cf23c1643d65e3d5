//! How a text is written in YAML: plain, in quotes, or as a block of lines.

use crate::decode::is_plain_text;
use crate::time::Moment;

/// The ways to write a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Single,
    Double,
    Literal,
}

/// How a text is written; a key has to stay on its line.
pub(super) fn style_of(text: &str, is_key: bool) -> Style {
    let shape = Shape::of(text);
    let wanted = match (text.contains('\n'), means_text(text)) {
        (true, _) => Style::Literal,
        (false, true) => Style::Plain,
        (false, false) => Style::Double,
    };
    match wanted {
        Style::Literal if shape.literal && !is_key => Style::Literal,
        Style::Plain if shape.plain => Style::Plain,
        Style::Plain if shape.single => Style::Single,
        _ => Style::Double,
    }
}

/// Whether YAML 1.1 reads a text without quotes as that text, and not as a number, a time or a yes.
fn means_text(text: &str) -> bool {
    text != "<<" && is_plain_text(text) && !is_base_60(text) && !is_time(text)
}

/// `1:30:00`, which old YAML counts by sixties.
fn is_base_60(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (first, rest) = match digits.split_once(':') {
        Some(parts) => parts,
        None => return false,
    };
    let starts = first.starts_with(|c: char| c.is_ascii_digit())
        && first.chars().all(|c| c.is_ascii_digit() || c == '_');
    let (rest, fraction) = rest.split_once('.').unwrap_or((rest, ""));
    let is_sixtieth = |part: &str| {
        let tens = part.len() == 1 || part.starts_with(|c| matches!(c, '0'..='5'));
        (1..=2).contains(&part.len()) && tens && part.chars().all(|c| c.is_ascii_digit())
    };
    starts && rest.split(':').all(is_sixtieth) && fraction.chars().all(|c| c.is_ascii_digit() || c == '_')
}

/// A date, alone or with a time of day.
fn is_time(text: &str) -> bool {
    let year = text.chars().take_while(char::is_ascii_digit).count();
    if year != 4 || !text[year..].starts_with('-') {
        return false;
    }
    let (date, time) = match text.find(['T', 't', ' ']) {
        Some(at) => (&text[..at], Some(&text[at..])),
        None => (text, None),
    };
    let two = |part: &str| {
        let is_number = (1..=2).contains(&part.len()) && part.chars().all(|c| c.is_ascii_digit());
        is_number.then(|| format!("{part:0>2}"))
    };
    let mut parts = date.splitn(3, '-').skip(1).map(two);
    let (Some(Some(month)), Some(Some(day))) = (parts.next(), parts.next()) else { return false };
    let (clock, zone) = match time {
        None => ("0:0:0", "Z"),
        Some(time) if time.starts_with(' ') => (&time[1..], "Z"),
        Some(time) => match time[1..].find(['Z', '+', '-']) {
            Some(at) => time[1..].split_at(at),
            None => return false,
        },
    };
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    if fraction.is_empty() || !fraction.chars().all(|c| c.is_ascii_digit()) {
        return false;
    }
    let clock: Option<Vec<String>> = clock.splitn(3, ':').map(two).collect();
    let Some(clock) = clock.filter(|clock| clock.len() == 3) else { return false };
    Moment::parse(&format!("{}-{month}-{day}T{}{zone}", &date[..4], clock.join(":"))).is_ok()
}

/// Which styles the characters of a text allow.
struct Shape {
    plain: bool,
    single: bool,
    literal: bool,
}

impl Shape {
    fn of(text: &str) -> Shape {
        let (mut indicators, mut special) = (text.starts_with("---") || text.starts_with("..."), false);
        let (mut break_space, mut space_break) = (false, false);
        let mut before: Option<char> = None;
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            let is_followed_by_blank = chars.peek().is_none_or(|next| matches!(next, ' ' | '\t'));
            let is_preceded_by_blank =
                before.is_none_or(|before| matches!(before, ' ' | '\t') || is_break(before));
            indicators |= match (before, c) {
                (
                    None,
                    '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@'
                    | '`',
                ) => true,
                (None, '?' | '-') | (_, ':') => is_followed_by_blank,
                (Some(_), '#') => is_preceded_by_blank,
                _ => false,
            };
            special |= !is_printable(c);
            break_space |= c == ' ' && before.is_some_and(is_break);
            space_break |= is_break(c) && before == Some(' ');
            before = Some(c);
        }
        let at_ends = |is: fn(char) -> bool| text.starts_with(is) || text.ends_with(is);
        let is_space = |c: char| c == ' ';
        let bare = !at_ends(is_space) && !at_ends(is_break) && !text.contains(is_break);
        Shape {
            plain: bare && !indicators && !special,
            single: !break_space && !space_break && !special,
            literal: !text.is_empty() && !text.ends_with(' ') && !space_break && !special,
        }
    }
}

/// Whether a character ends a line.
pub(super) fn is_break(c: char) -> bool {
    matches!(c, '\r' | '\n' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Whether a character may stand as it is. Those beyond the first plane may not, as libyaml has it.
pub(super) fn is_printable(c: char) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}') && c != '\u{feff}'
}

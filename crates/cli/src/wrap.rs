//! Text wrapped between words.

/// `head` and the words of a text, in lines of at most `width` columns; further lines begin with `indent` blanks. A word
/// that is longer than a line stays whole.
pub fn wrapped(head: &str, text: &str, indent: usize, width: usize) -> String {
    let mut lines = String::new();
    let mut line = head.to_owned();
    let mut is_empty = true;
    for word in text.split_whitespace() {
        if !is_empty && line.chars().count() + 1 + word.chars().count() > width {
            lines.push_str(&line);
            lines.push('\n');
            line = " ".repeat(indent);
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    lines + &line + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrapped("a  ", "one two three", 3, 10), "a  one two\n   three\n");
        assert_eq!(wrapped("a  ", "incomprehensibilities", 3, 10), "a  incomprehensibilities\n");
        assert_eq!(wrapped("a  ", "", 3, 10), "a  \n");
    }
}

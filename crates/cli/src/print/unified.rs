//! Two texts side by side: the lines that differ, with a few around them.

/// How many lines around a change are shown.
const AROUND: usize = 3;

/// A line of a comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Line<'a> {
    Same(&'a str),
    Gone(&'a str),
    New(&'a str),
}

/// What differs, in the form of `diff -u`, without the lines that name the texts; empty when nothing does.
pub fn unified(before: &str, after: &str) -> String {
    let lines = compare(&before.lines().collect::<Vec<_>>(), &after.lines().collect::<Vec<_>>());
    let is_change = |line: &Line| !matches!(line, Line::Same(_));
    let mut text = String::new();
    let mut at = 0;
    while let Some(first) = lines[at..].iter().position(is_change).map(|found| at + found) {
        let start = first.saturating_sub(AROUND).max(at);
        let mut end = first;
        while let Some(next) = lines[end..].iter().position(is_change).map(|found| end + found) {
            if next > end + 2 * AROUND && end > first {
                break;
            }
            end = next + 1;
        }
        let end = (end + AROUND).min(lines.len());
        text += &hunk(&lines, start, end);
        at = end;
    }
    text
}

fn hunk(lines: &[Line], start: usize, end: usize) -> String {
    let count = |lines: &[Line], is_old: bool| {
        lines
            .iter()
            .filter(|line| {
                matches!((line, is_old), (Line::Same(_), _) | (Line::Gone(_), true) | (Line::New(_), false))
            })
            .count()
    };
    let place = |is_old: bool| {
        let (before, within) = (count(&lines[..start], is_old), count(&lines[start..end], is_old));
        let first = if within == 0 { before } else { before + 1 };
        if within == 1 { first.to_string() } else { format!("{first},{within}") }
    };
    let mut text = format!("@@ -{} +{} @@\n", place(true), place(false));
    for line in &lines[start..end] {
        text += &match line {
            Line::Same(line) => format!(" {line}\n"),
            Line::Gone(line) => format!("-{line}\n"),
            Line::New(line) => format!("+{line}\n"),
        };
    }
    text
}

/// The shortest way from one text to the other, by Myers' algorithm.
fn compare<'a>(before: &[&'a str], after: &[&'a str]) -> Vec<Line<'a>> {
    let head = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    let (left, right) = (&before[head..], &after[head..]);
    let tail = left.iter().rev().zip(right.iter().rev()).take_while(|(a, b)| a == b).count();
    let mut lines: Vec<Line> = before[..head].iter().map(|line| Line::Same(line)).collect();
    lines.extend(between(&left[..left.len() - tail], &right[..right.len() - tail]));
    lines.extend(left[left.len() - tail..].iter().map(|line| Line::Same(line)));
    lines
}

fn between<'a>(before: &[&'a str], after: &[&'a str]) -> Vec<Line<'a>> {
    let (n, m) = (before.len(), after.len());
    let most = n + m;
    // How far each diagonal reaches after so many changes; the diagonals from -most to most.
    let mut reach = vec![0usize; 2 * most + 2];
    let mut steps: Vec<Vec<usize>> = Vec::new();
    let diagonal = |k: isize| usize::try_from(k + most.cast_signed()).unwrap_or(0);
    'search: for d in 0..=most.cast_signed() {
        steps.push(reach.clone());
        for k in (-d..=d).step_by(2) {
            let goes_down = k == -d || (k != d && reach[diagonal(k - 1)] < reach[diagonal(k + 1)]);
            let mut x = if goes_down { reach[diagonal(k + 1)] } else { reach[diagonal(k - 1)] + 1 };
            let mut y = usize::try_from(x.cast_signed() - k).unwrap_or(0);
            while x < n && y < m && before[x] == after[y] {
                (x, y) = (x + 1, y + 1);
            }
            reach[diagonal(k)] = x;
            if x >= n && y >= m {
                break 'search;
            }
        }
    }
    let (mut x, mut y) = (n.cast_signed(), m.cast_signed());
    let mut lines = Vec::new();
    for (d, reach) in steps.iter().enumerate().rev() {
        let (d, k) = (d.cast_signed(), x - y);
        let goes_down = k == -d || (k != d && reach[diagonal(k - 1)] < reach[diagonal(k + 1)]);
        let from = if goes_down { k + 1 } else { k - 1 };
        let (from_x, from_y) = match d {
            0 => (0, 0),
            _ => (reach[diagonal(from)].cast_signed(), reach[diagonal(from)].cast_signed() - from),
        };
        while x > from_x
            && y > from_y
            && x > 0
            && y > 0
            && before[x.cast_unsigned() - 1] == after[y.cast_unsigned() - 1]
        {
            lines.push(Line::Same(before[x.cast_unsigned() - 1]));
            (x, y) = (x - 1, y - 1);
        }
        if d > 0 {
            match goes_down {
                true => lines.push(Line::New(after[from_y.cast_unsigned()])),
                false => lines.push(Line::Gone(before[from_x.cast_unsigned()])),
            }
            (x, y) = (from_x, from_y);
        }
    }
    lines.reverse();
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_shown() {
        let before = "a\nb\nc\nd\ne\nf\ng\nh\n";
        let after = "a\nb\nc\nd\nE\nf\ng\nh\ni\n";
        let shown = "@@ -2,7 +2,8 @@\n b\n c\n d\n-e\n+E\n f\n g\n h\n+i\n";
        assert_eq!(unified(before, after), shown);
        assert_eq!(unified(before, before), "");
        assert_eq!(unified("", "a\nb\n"), "@@ -0,0 +1,2 @@\n+a\n+b\n");
    }

    #[test]
    fn far_changes_are_shown_apart() {
        let before: String = (0..30).map(|line| format!("{line}\n")).collect();
        let after = before.replace("3\n4\n", "3\nx\n").replace("25\n", "");
        let shown = unified(&before, &after);
        assert_eq!(shown.matches("@@ -").count(), 2, "{shown}");
        assert!(shown.contains("-4\n+x\n") && shown.contains("-25\n"), "{shown}");
    }
}

//! Tables that fit a terminal, for whoever looks at one; in a pipe they are left as they are.

use crate::tabs::{self, Layout};

/// Columns stand closer together before anything is cut.
const CLOSE: Layout = Layout { least: 0, between: 2 };
/// Texts are cut to this, and to that when it is not enough.
const SHORT: [usize; 2] = [8, 5];
/// Of what must not be cut, as long as anything else can be, this much stays.
const LEAST: usize = 16;

/// Lines of cells parted by tabs as a table of at most so many columns. The first `whole` cells of a line are cut last.
pub fn table(text: &str, width: Option<usize>, whole: usize) -> String {
    let Some(width) = width else { return tabs::lay_out(text, tabs::TABLE, &mut Vec::new()) };
    let mut lines: Vec<Vec<String>> =
        text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect();
    let layout = cut(&mut lines, width, whole);
    let text: String = lines.iter().map(|cells| cells.join("\t") + "\n").collect();
    tabs::lay_out(&text, layout, &mut Vec::new())
}

/// Cuts cells until every line fits: the widest first, numbers and the first `whole` of a line last. Gives how they are
/// to be laid out.
pub fn cut(lines: &mut [Vec<String>], width: usize, whole: usize) -> Layout {
    let columns = lines.iter().map(Vec::len).max().unwrap_or(0);
    let before: Vec<usize> = (0..columns)
        .map(|at| lines.iter().filter_map(|line| line.get(at)).map(|text| length(text)).max().unwrap_or(0))
        .collect();
    if taken(&before, tabs::TABLE) <= width {
        return tabs::TABLE;
    }
    let mut widths = before.clone();
    let texts: Vec<usize> = (whole..columns).filter(|at| !is_number(lines, *at)).collect();
    for least in SHORT {
        shorten(&mut widths, &texts, least, width);
    }
    shorten(&mut widths, &(0..whole.min(columns)).collect::<Vec<_>>(), LEAST, width);
    for line in lines {
        for (at, text) in line.iter_mut().enumerate() {
            if length(text) > widths[at] {
                let kept: String = text.chars().take(widths[at].saturating_sub(1)).collect();
                *text = kept + "…";
            }
        }
    }
    CLOSE
}

/// Takes from the widest of these columns until all fit, or none can give more.
fn shorten(widths: &mut [usize], columns: &[usize], least: usize, width: usize) {
    while taken(widths, CLOSE) > width {
        let widest = columns.iter().copied().max_by_key(|at| widths[*at]).filter(|at| widths[*at] > least);
        let Some(widest) = widest else { return };
        widths[widest] -= 1;
    }
}

fn taken(widths: &[usize], layout: Layout) -> usize {
    let (last, others) = widths.split_last().unwrap_or((&0, &[]));
    others.iter().map(|width| (width + layout.between).max(layout.least)).sum::<usize>() + last
}

/// A number that is cut is another number.
fn is_number(lines: &[Vec<String>], column: usize) -> bool {
    let mut cells = lines.iter().skip(1).filter_map(|line| line.get(column)).filter(|cell| !cell.is_empty());
    let is_one = |cell: &String| cell.starts_with(|first: char| first.is_ascii_digit()) && length(cell) <= 20;
    cells.clone().next().is_some() && cells.all(|cell| is_one(cell) && !cell.contains(['-', '/', ' ']))
}

fn length(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "NAME\tBYTES\tMESSAGE\tAGE\n\
        a-long-name\t17179869184\tsomething that goes on and on\t3s\nb\t\tshort\t12d\n";

    fn widest(text: &str) -> usize {
        text.lines().map(length).max().unwrap_or(0)
    }

    #[test]
    fn what_fits_is_left_alone() {
        assert_eq!(table(TEXT, Some(80), 1), table(TEXT, None, 1));
    }

    #[test]
    fn long_texts_are_cut_and_numbers_and_names_are_not() {
        let text = table(TEXT, Some(50), 1);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "NAME         BYTES        MESSAGE              AGE");
        assert_eq!(lines[1], "a-long-name  17179869184  something that goe…  3s");
    }

    #[test]
    fn every_width_is_kept_down_to_a_small_one() {
        for width in [40, 44, 60] {
            assert!(widest(&table(TEXT, Some(width), 1)) <= width, "{width}");
        }
    }
}

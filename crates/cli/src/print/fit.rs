//! Tables on a terminal: columns move closer together, and long free text is cut. Everything else stays whole, and in a
//! pipe all of it does.

use crate::tabs::{self, Layout};

/// Columns stand closer together before anything is cut.
const CLOSE: Layout = Layout { least: 0, between: 2 };
/// Free text keeps at least this many letters.
const LEAST: usize = 24;

/// Lines of cells separated by tabs as a table for a terminal of so many columns.
pub fn table(text: &str, width: Option<usize>) -> String {
    let Some(width) = width else { return tabs::lay_out(text, tabs::TABLE, &mut Vec::new()) };
    let mut lines: Vec<Vec<String>> =
        text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect();
    let layout = cut(&mut lines, width);
    let text: String = lines.iter().map(|cells| cells.join("\t") + "\n").collect();
    tabs::lay_out(&text, layout, &mut Vec::new())
}

/// Cuts free text until every line fits, the widest column first. Names, identifiers and numbers are never cut, because
/// they are copied into the next command: a line that is still too long is wrapped by the terminal. Gives the layout.
pub fn cut(lines: &mut [Vec<String>], width: usize) -> Layout {
    let columns = lines.iter().map(Vec::len).max().unwrap_or(0);
    let mut widths: Vec<usize> = (0..columns)
        .map(|at| lines.iter().filter_map(|line| line.get(at)).map(|text| length(text)).max().unwrap_or(0))
        .collect();
    if taken(&widths, tabs::TABLE) <= width {
        return tabs::TABLE;
    }
    let texts: Vec<usize> = (0..columns).filter(|at| is_free_text(lines, *at)).collect();
    while taken(&widths, CLOSE) > width {
        let widest = texts.iter().copied().max_by_key(|at| widths[*at]).filter(|at| widths[*at] > LEAST);
        let Some(widest) = widest else { break };
        widths[widest] -= 1;
    }
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

fn taken(widths: &[usize], layout: Layout) -> usize {
    let (last, others) = widths.split_last().unwrap_or((&0, &[]));
    others.iter().map(|width| (width + layout.between).max(layout.least)).sum::<usize>() + last
}

/// Whether a column has sentences: of the Kubernetes names and values, none has a space.
fn is_free_text(lines: &[Vec<String>], column: usize) -> bool {
    let mut cells = lines.iter().filter_map(|line| line.get(column));
    cells.any(|cell| cell.split(' ').count() > 2)
}

fn length(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "NAME\tRACK\tMESSAGE\tAGE\n\
        a-long-name\tfra1-row-2-rack-17\tsomething that goes on and on and on\t3s\nb\t\tshort\t12d\n";

    fn widest(text: &str) -> usize {
        text.lines().map(length).max().unwrap_or(0)
    }

    #[test]
    fn what_fits_is_left_alone() {
        assert_eq!(table(TEXT, Some(100)), table(TEXT, None));
    }

    #[test]
    fn sentences_are_cut_and_names_are_not() {
        let text = table(TEXT, Some(64));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], "a-long-name  fra1-row-2-rack-17  something that goes on an…  3s");
        assert!(widest(&text) <= 64, "{text}");
        let text = table(TEXT, Some(20));
        assert!(text.contains("a-long-name  fra1-row-2-rack-17  something that goes on …  3s"), "{text}");
    }
}

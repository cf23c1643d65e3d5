//! Columns that are as wide as what stands in them, as Go's tabwriter lays them out.

/// How columns are laid out.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    /// The least width of a column, with what follows it.
    pub least: usize,
    /// The blanks that follow the longest text of a column.
    pub between: usize,
}

/// What `kubectl get` prints.
pub const TABLE: Layout = Layout { least: 6, between: 3 };

/// What `kubectl describe` prints.
pub const DESCRIPTION: Layout = Layout { least: 0, between: 2 };

/// Lays out lines whose cells are parted by tabs. A column is a run of lines that have it; what follows the last tab
/// of a line belongs to none. Widths of columns that were printed before count too, and grow.
pub fn lay_out(text: &str, layout: Layout, widths_before: &mut Vec<usize>) -> String {
    let lines: Vec<Vec<&str>> = text.split('\n').map(|line| line.split('\t').collect()).collect();
    let mut widths: Vec<Vec<usize>> = lines.iter().map(|cells| vec![0; cells.len() - 1]).collect();
    let columns = widths.iter().map(Vec::len).max().unwrap_or(0);
    for column in 0..columns {
        let mut start = 0;
        while start < lines.len() {
            if widths[start].len() <= column {
                start += 1;
                continue;
            }
            let end = (start..lines.len()).find(|line| widths[*line].len() <= column).unwrap_or(lines.len());
            let longest =
                lines[start..end].iter().map(|cells| cells[column].chars().count()).max().unwrap_or(0);
            let before = widths_before.get(column).copied().unwrap_or(0);
            let width = (longest + layout.between).max(layout.least).max(before);
            widths[start..end].iter_mut().for_each(|widths| widths[column] = width);
            start = end;
        }
    }
    if let Some(last) = widths.iter().rev().find(|widths| !widths.is_empty()) {
        widths_before.clone_from(last);
    }
    let mut out = String::with_capacity(text.len() * 2);
    for (at, (cells, widths)) in lines.iter().zip(&widths).enumerate() {
        if at > 0 {
            out.push('\n');
        }
        for (cell, width) in cells.iter().zip(widths) {
            out.push_str(cell);
            out.extend(std::iter::repeat_n(' ', width.saturating_sub(cell.chars().count())));
        }
        out.push_str(cells.last().copied().unwrap_or(""));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn laid_out(text: &str, layout: Layout) -> String {
        lay_out(text, layout, &mut Vec::new())
    }

    #[test]
    fn columns_are_as_wide_as_their_longest_text() {
        assert_eq!(
            laid_out("NAME\tAGE\na\t1s\nlonger\t20m\n", TABLE),
            "NAME     AGE\na        1s\nlonger   20m\n"
        );
        assert_eq!(laid_out("A\tB\tC\na\t\tc\n", TABLE), "A     B     C\na           c\n");
    }

    #[test]
    fn a_line_without_a_column_ends_it() {
        let text = "Name:\tx\nSpec:\n  Long Name:\ty\n  B:\tz\n";
        assert_eq!(laid_out(text, DESCRIPTION), "Name:  x\nSpec:\n  Long Name:  y\n  B:          z\n");
    }

    #[test]
    fn widths_of_earlier_rows_are_kept() {
        let mut widths = Vec::new();
        assert_eq!(lay_out("NAME\tAGE\nlonger\t1s\n", TABLE, &mut widths), "NAME     AGE\nlonger   1s\n");
        assert_eq!(lay_out("a\t2s\n", TABLE, &mut widths), "a        2s\n");
    }
}

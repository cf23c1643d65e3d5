//! CSV according to RFC 4180: cells that contain a comma, quote or line break are quoted.

use super::Fault;

/// Formats a row as a line.
pub fn line(cells: &[String]) -> String {
    let quoted = cells.iter().map(|cell| match cell.contains([',', '"', '\n', '\r']) || is_formula(cell) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.clone(),
    });
    quoted.collect::<Vec<String>>().join(",") + "\n"
}

/// Whether a spreadsheet would interpret a cell as a formula. Most treat it as text when quoted.
fn is_formula(cell: &str) -> bool {
    cell.starts_with(['=', '+', '@'])
}

/// Parses rows with their spreadsheet row numbers. Empty rows are skipped.
pub fn parse(text: &str) -> Result<Vec<(usize, Vec<String>)>, Fault> {
    let text = text.trim_start_matches('\u{feff}');
    let between = separator(text);
    let (mut rows, mut cells, mut cell) = (Vec::new(), Vec::new(), String::new());
    let (mut number, mut is_quoted) = (1, false);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match (is_quoted, c) {
            (true, '"') if rest.peek() == Some(&'"') => {
                rest.next();
                cell.push('"');
            }
            (true, '"') => is_quoted = false,
            (true, c) => cell.push(c),
            (false, '"') if cell.is_empty() => is_quoted = true,
            (false, c) if c == between => cells.push(std::mem::take(&mut cell)),
            (false, '\r') if rest.peek() == Some(&'\n') => {}
            (false, '\n') => {
                cells.push(std::mem::take(&mut cell));
                finish(&mut rows, &mut cells, number);
                number += 1;
            }
            (false, c) => cell.push(c),
        }
    }
    if is_quoted {
        let problem = "unterminated quoted cell; close it with \"".to_owned();
        return Err(Fault { row: number, column: String::new(), problem });
    }
    if !cell.is_empty() || !cells.is_empty() {
        cells.push(cell);
        finish(&mut rows, &mut cells, number);
    }
    Ok(rows)
}

/// The delimiter: a comma, or the semicolon or tab that spreadsheets write in locales with a decimal comma.
fn separator(text: &str) -> char {
    let header = text.lines().next().unwrap_or_default();
    [',', ';', '\t'].into_iter().find(|separator| header.contains(*separator)).unwrap_or(',')
}

fn finish(rows: &mut Vec<(usize, Vec<String>)>, cells: &mut Vec<String>, number: usize) {
    let cells = std::mem::take(cells);
    if cells.iter().any(|cell| !cell.is_empty()) {
        rows.push((number, cells));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_written_reads_the_same(cells in proptest::collection::vec("[a-z,;\t\"\n=é ]{0,6}", 2..5)) {
            prop_assume!(cells.iter().any(|cell| !cell.is_empty()));
            let header = line(&vec!["column".to_owned(); cells.len()]);
            prop_assert_eq!(parse(&(header + &line(&cells))).unwrap().pop(), Some((2, cells)));
        }
    }

    #[test]
    fn semicolons_and_tabs_are_read_as_the_header_has_them() {
        for between in [";", "\t"] {
            let text = ["name", "spec.row\nr1", "\"a,b\""].join(between);
            assert_eq!(parse(&text).unwrap()[1], (2, vec!["r1".to_owned(), "a,b".to_owned()]), "{text:?}");
        }
    }

    #[test]
    fn lines_of_windows_and_a_byte_order_mark_are_read_too() {
        let rows = parse("\u{feff}name,row\r\nr1,A\r\n\r\nr2,B").unwrap();
        assert_eq!(rows[1], (2, vec!["r1".to_owned(), "A".to_owned()]));
        assert_eq!(rows[2].0, 4, "rows are counted as a spreadsheet does");
    }
}

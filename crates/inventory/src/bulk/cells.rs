//! Cells: converts a field of an object to text, and the text to the type of its field.

use krm::Object;
use krm::schema::{JsonType, Node};
use serde_json::{Map, Value};

/// The text of an object's cell in a column; empty if the field is unset.
pub fn text(object: &Object, column: &str) -> String {
    match column {
        "name" => object.name().to_owned(),
        "labels" => own_labels(object),
        path => object.at(path).map(shown).unwrap_or_default(),
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Labels as `key=value;key=value`, without the topology labels.
fn own_labels(object: &Object) -> String {
    let own = object.labels().filter(|(key, _)| !crate::topology::ALL.contains(key));
    own.map(|(key, value)| format!("{key}={value}")).collect::<Vec<String>>().join(";")
}

/// Parses a cell with labels.
pub fn labels(cell: &str) -> Result<Map<String, Value>, String> {
    let pair = |pair: &str| match pair.split_once('=') {
        Some((key, value)) => Ok((key.trim().to_owned(), value.trim().into())),
        None => Err(format!("{pair:?} is not a label; use key=value;key=value")),
    };
    cell.split(';').filter(|part| !part.trim().is_empty()).map(pair).collect()
}

/// Parses a cell as the type of its field.
pub fn typed(node: Option<&Node>, cell: &str) -> Result<Value, String> {
    match node.and_then(Node::json_type) {
        Some(JsonType::Integer) => whole(cell).map(Value::from),
        Some(JsonType::Number) => {
            let number = cell.trim().parse::<f64>().ok().and_then(serde_json::Number::from_f64);
            number
                .map(Value::Number)
                .ok_or_else(|| format!("{cell:?} is not a number; use a decimal such as 50.11"))
        }
        Some(JsonType::Boolean) => match cell.trim().to_lowercase().as_str() {
            "true" | "yes" => Ok(Value::Bool(true)),
            "false" | "no" => Ok(Value::Bool(false)),
            _ => Err(format!("{cell:?} is not a boolean; use true or false")),
        },
        Some(JsonType::Array | JsonType::Object) => serde_json::from_str(cell)
            .map_err(|error| format!("must be JSON, such as [{{\"name\":\"A\"}}]: {error}")),
        Some(JsonType::String) | None => Ok(Value::from(cell)),
    }
}

/// An integer, also as `42.0`, which some spreadsheets make of 42.
fn whole(cell: &str) -> Result<i64, String> {
    let digits = cell.trim();
    let digits = digits.split_once('.').filter(|(_, rest)| rest.bytes().all(|byte| byte == b'0'));
    let digits = digits.map_or(cell.trim(), |(whole, _)| whole);
    digits.parse::<i64>().map_err(|_| {
        // 5.49756E+11: the original digits are lost.
        let is_rounded = cell.contains(['e', 'E']) && cell.trim().parse::<f64>().is_ok();
        match is_rounded {
            true => format!(
                "{cell:?} is not an integer: the spreadsheet has rounded it; format the column as text before \
                 you open the file, and export it again"
            ),
            false => format!("{cell:?} is not an integer; use digits such as 42"),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_spreadsheets_write_them_unless_they_were_rounded() {
        for (cell, number) in
            [("42", 42), (" 42 ", 42), ("42.0", 42), ("-3", -3), ("549755813888", 549_755_813_888)]
        {
            assert_eq!(whole(cell), Ok(number), "{cell}");
        }
        assert!(whole("5.49756E+11").unwrap_err().contains("the spreadsheet has rounded it"));
        for cell in ["", "tall", "42.5", "1,024", "0x1f", "."] {
            assert!(whole(cell).unwrap_err().contains("is not an integer; use digits"), "{cell}");
        }
    }
}

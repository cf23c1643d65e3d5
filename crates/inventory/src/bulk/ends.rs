//! The ends of cables by device and port name: the columns `a.device`, `a.port`, `z.device` and `z.port` in place of JSON.
//!
//! Several ports at the Z end of a breakout cable are separated by semicolons, and so are their devices unless it is one for
//! all. Without a device, the port is the name of a Port object.

use serde_json::json;

use super::{Fault, rows};

/// The columns.
pub const COLUMNS: [&str; 4] = ["a.device", "a.port", "z.device", "z.port"];
/// The column that they stand for.
pub const ENDPOINTS: &str = "spec.endpoints";

/// Replaces the columns of a CSV file by `spec.endpoints`; `find` gives the Port object for a device and a port name. None if
/// the file does not have these columns.
pub fn resolve(
    text: &str,
    find: &dyn Fn(&str, &str) -> Result<String, String>,
) -> Result<Option<String>, Vec<Fault>> {
    let mut rows = rows::parse(text).map_err(|fault| vec![fault])?;
    let Some((_, header)) = rows.first().cloned() else { return Ok(None) };
    let at = COLUMNS.map(|column| header.iter().position(|cell| cell.trim() == column));
    if at.iter().all(Option::is_none) {
        return Ok(None);
    }
    let mut faults = Vec::new();
    for (column, _) in COLUMNS.iter().zip(at).filter(|(column, at)| column.ends_with(".port") && at.is_none())
    {
        let device = column.replace(".port", ".device");
        let is_alone = !header.iter().any(|cell| cell.trim() == device);
        let beside = if is_alone { format!(" on the device in column {device}") } else { String::new() };
        let problem = format!("this column is required beside the others: it names the port{beside}");
        faults.push(Fault { row: 1, column: (*column).to_owned(), problem });
    }
    let is_end = |cell: &str| cell.ends_with(".device") || cell.ends_with(".port");
    for cell in header.iter().map(|cell| cell.trim()).filter(|cell| is_end(cell) && !COLUMNS.contains(cell)) {
        let problem = format!("no such column; the ends of a cable are {}", COLUMNS.join(", "));
        faults.push(Fault { row: 1, column: cell.to_owned(), problem });
    }
    if header.iter().any(|cell| cell.trim() == ENDPOINTS) {
        let problem = "the ends are given twice; remove this column, or a.port and z.port".to_owned();
        faults.push(Fault { row: 1, column: ENDPOINTS.to_owned(), problem });
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    let (mut out, mut line) = (String::new(), 1);
    for (number, cells) in &mut rows {
        let cell = |at: Option<usize>| at.and_then(|at| cells.get(at)).map_or("", |cell| cell.trim());
        let ends = match *number == 1 {
            true => ENDPOINTS.to_owned(),
            false => {
                let [a_device, a_port, z_device, z_port] = at.map(cell);
                let mut ends = Vec::new();
                for (column, device, port) in [("a.port", a_device, a_port), ("z.port", z_device, z_port)] {
                    match found(device, port, find) {
                        Ok(ports) => ends.extend(ports),
                        Err(problem) => faults.push(Fault { row: *number, column: column.into(), problem }),
                    }
                }
                let ends: Vec<_> = ends.iter().map(|name| json!({"name": name})).collect();
                if ends.is_empty() { String::new() } else { json!(ends).to_string() }
            }
        };
        cells.resize(header.len(), String::new());
        let kept = cells.iter().enumerate().filter(|(column, _)| !at.contains(&Some(*column)));
        let kept: Vec<String> = kept.map(|(_, cell)| cell.clone()).chain([ends]).collect();
        // Rows keep their numbers.
        while line < *number {
            out.push('\n');
            line += 1;
        }
        out.push_str(&rows::line(&kept));
        line += 1;
    }
    if faults.is_empty() { Ok(Some(out)) } else { Err(faults) }
}

fn found(
    device: &str,
    port: &str,
    find: &dyn Fn(&str, &str) -> Result<String, String>,
) -> Result<Vec<String>, String> {
    let split = |text: &str| -> Vec<String> {
        text.split(';').map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
    };
    let (devices, ports) = (split(device), split(port));
    if ports.is_empty() && !devices.is_empty() {
        return Err(format!("empty; name the port of {device}"));
    }
    if devices.len() > 1 && devices.len() != ports.len() {
        return Err(format!(
            "{} ports for {} devices; name one device for all, or one for each",
            ports.len(),
            devices.len()
        ));
    }
    let device = |at: usize| devices.get(at).or(devices.first()).map_or("", String::as_str);
    ports.iter().enumerate().map(|(at, port)| find(device(at), port)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(device: &str, port: &str) -> Result<String, String> {
        match device {
            "" => Ok(port.to_owned()),
            "gone" => Err("no device gone".to_owned()),
            device => Ok(format!("{device}-{port}")),
        }
    }

    #[test]
    fn ends_by_device_and_port_become_endpoints() {
        let text = "name,a.device,a.port,z.device,z.port,spec.media\n\nk1,n1,eth0,leaf1,xe-0/0/1,DAC\nk2,leaf1,q,n1;n2,eth0;eth1,DAC\nk3,,p1,,p2,DAC\n";
        let resolved = resolve(text, &find).unwrap().unwrap();
        let rows = rows::parse(&resolved).unwrap();
        assert_eq!(rows[0].1, ["name", "spec.media", "spec.endpoints"]);
        assert_eq!(
            rows[1],
            (3, vec!["k1".into(), "DAC".into(), r#"[{"name":"n1-eth0"},{"name":"leaf1-xe-0/0/1"}]"#.into()])
        );
        assert_eq!(rows[2].1[2], r#"[{"name":"leaf1-q"},{"name":"n1-eth0"},{"name":"n2-eth1"}]"#);
        assert_eq!(rows[3].1[2], r#"[{"name":"p1"},{"name":"p2"}]"#);
        assert_eq!(resolve("name,spec.media\nk1,DAC\n", &find), Ok(None));
    }

    #[test]
    fn all_that_is_wrong_is_told_by_row_and_column() {
        let faults =
            resolve("name,a.device,a.port,z.device,z.port\nk1,gone,x,n1,\nk2,n1,a,n1;n2;n3,b;c\n", &find)
                .unwrap_err();
        let told: Vec<String> = faults.iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "row 2, column a.port: no device gone",
                "row 2, column z.port: empty; name the port of n1",
                "row 3, column z.port: 2 ports for 3 devices; name one device for all, or one for each",
            ]
        );
        let faults = resolve("name,a.device\nk1,n1\n", &find).unwrap_err();
        assert_eq!(faults.len(), 2, "both missing columns: {faults:?}");
    }
}

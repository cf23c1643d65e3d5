//! A task and its nodes as a tree of text.

use serde_json::Value;

use crate::output::{items, number, text};

/// The lines of a task: a heading, and a line for each node, or each step of the site. At most `most` nodes are shown: those
/// that failed, those that run, then the others.
pub fn lines(task: &Value, children: &[Value], most: usize) -> Vec<String> {
    let mut lines = vec![heading(task)];
    if let Some(message) = task.pointer("/status/message").and_then(Value::as_str).filter(|it| !it.is_empty())
    {
        lines.push(format!("  {message}"));
    }
    if let Some(waits) = task.pointer("/status/waitingFor").and_then(Value::as_str) {
        lines.push(format!("  waiting: {waits}"));
    }
    lines.extend(items(task, "/status/steps").map(|step| format!("├─ {}", step_line(step))));
    let mut order: Vec<&Value> = children.iter().collect();
    order.sort_by_key(|child| (urgency(child), text(child, "/spec/node").to_owned()));
    let width = order.iter().map(|child| text(child, "/spec/node").len()).max().unwrap_or(0);
    for child in order.iter().take(most) {
        lines.push(format!("├─ {:width$}  {}", text(child, "/spec/node"), child_line(child)));
    }
    if order.len() > most {
        lines.push(format!("├─ and {} more", order.len() - most));
    }
    if let Some(last) = lines.last_mut().filter(|last| last.starts_with('├')) {
        *last = last.replacen('├', "└", 1);
    }
    lines
}

fn heading(task: &Value) -> String {
    let nodes = match task.pointer("/status/nodes") {
        None => String::new(),
        Some(nodes) => format!(
            "  {}/{} nodes, {} failed, {} running, {} waiting",
            number(nodes, "/succeeded") + number(nodes, "/failed") + number(nodes, "/terminated"),
            number(nodes, "/total"),
            number(nodes, "/failed"),
            number(nodes, "/running"),
            number(nodes, "/waiting"),
        ),
    };
    let phase = match text(task, "/status/phase") {
        "" => "Queued",
        phase => phase,
    };
    let result = match text(task, "/status/result") {
        "" | "Incomplete" => String::new(),
        result => format!(" ({result})"),
    };
    format!("{} {}  {phase}{result}{nodes}", text(task, "/metadata/name"), text(task, "/spec/action"))
}

fn urgency(child: &Value) -> u8 {
    match (text(child, "/status/phase"), text(child, "/status/result")) {
        ("Complete", "Failure") => 0,
        ("Running" | "Queued" | "", _) => 1,
        ("Terminated", _) => 2,
        _ => 3,
    }
}

/// A node in a line: its steps as marks, and what it does.
fn child_line(child: &Value) -> String {
    let marks: String = items(child, "/status/steps").map(mark).collect();
    let current = items(child, "/status/steps")
        .find(|step| matches!(text(step, "/state"), "Running" | "Failed" | "Cancelled"));
    let told = match current {
        Some(step) => {
            let message = text(step, "/message");
            let colon = if message.is_empty() { "" } else { ": " };
            format!("{}{colon}{message}", text(step, "/name"))
        }
        None => match text(child, "/status/phase") {
            "" => "queued".to_owned(),
            "Complete" => "done".to_owned(),
            phase => phase.to_lowercase(),
        },
    };
    format!("{marks}  {told}")
}

fn mark(step: &Value) -> char {
    match text(step, "/state") {
        "Done" => '■',
        "Running" => '▶',
        "Skipped" => '-',
        "Failed" => '✗',
        "Cancelled" => '∅',
        _ => '□',
    }
}

/// A step in a line.
pub fn step_line(step: &Value) -> String {
    let state = text(step, "/state");
    let message = text(step, "/message");
    let tries = match number(step, "/tries") {
        0 | 1 => String::new(),
        tries => format!(" (try {tries})"),
    };
    let colon = if message.is_empty() { "" } else { ": " };
    format!("{} {:26} {state}{tries}{colon}{message}", mark(step), text(step, "/name"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn failed_nodes_come_first_and_the_others_are_counted() {
        let task = json!({"metadata": {"name": "t"}, "spec": {"action": "deploy_nodes"},
            "status": {"phase": "Running", "nodes": {"total": 3, "succeeded": 1, "failed": 1, "running": 1, "waiting": 0}}});
        let child = |node: &str, phase: &str, result: &str, step: &str| {
            json!({"spec": {"node": node}, "status": {"phase": phase, "result": result,
                "steps": [{"name": "deploy_node", "state": step, "message": "it burns"}]}})
        };
        let children = [
            child("a", "Complete", "Success", "Done"),
            child("b", "Running", "Incomplete", "Running"),
            child("c", "Complete", "Failure", "Failed"),
        ];
        let lines = lines(&task, &children, 2);
        assert_eq!(lines[0], "t deploy_nodes  Running  2/3 nodes, 1 failed, 1 running, 0 waiting");
        assert_eq!(lines[1], "├─ c  ✗  deploy_node: it burns");
        assert_eq!(lines[2], "├─ b  ▶  deploy_node: it burns");
        assert_eq!(lines[3], "└─ and 1 more");
    }
}

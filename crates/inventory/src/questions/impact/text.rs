//! Impact analysis as text.

use std::collections::BTreeMap;

use super::Impact;
use crate::questions::Stated;

/// Number of names in a list of what is out of service.
const FEW: usize = 10;
/// Number of names in the list of what fails.
const MANY: usize = 40;

impl Impact {
    /// Text output. If something was withheld, it does not say that there is no effect.
    pub fn text(&self, is_incomplete: bool) -> String {
        let told = [
            ("Lose power", &self.loses_power),
            ("Lose network", &self.loses_network),
            ("Lose power redundancy", &self.loses_power_redundancy),
            ("Lose network redundancy", &self.loses_network_redundancy),
            ("Virtual machines affected", &self.machines),
            ("Links affected", &self.links),
            ("Circuits affected", &self.circuits),
        ];
        let hangs: BTreeMap<&str, &[String]> =
            self.depends_on.iter().map(|one| (one.device.as_str(), one.on.as_slice())).collect();
        let mut text = self.title();
        if !self.overloaded.is_empty() {
            text.push_str(&format!("Overloaded ({})\n", self.overloaded.len()));
        }
        for one in &self.overloaded {
            let trips = if one.trips { " and trips" } else { "" };
            text.push_str(&format!("  {} carries {} W of {} W{trips}\n", one.name, one.watts, one.limit));
        }
        for (title, list) in told.iter().filter(|(_, list)| !list.is_empty()) {
            text.push_str(&format!("{title} ({})\n", list.len()));
            for name in *list {
                let on =
                    hangs.get(name.as_str()).filter(|_| std::ptr::eq(*list, &self.loses_network_redundancy));
                let on =
                    on.map(|on| on.iter().map(|name| self.marked(name)).collect::<Vec<String>>().join(", "));
                let on = on.map(|on| format!(" depends on {on}")).unwrap_or_default();
                text.push_str(&format!("  {}{on}\n", self.marked(name)));
            }
        }
        if self.overloaded.is_empty() && told.iter().all(|(_, list)| list.is_empty()) {
            text.push_str(match is_incomplete {
                true => "No effect on anything else is visible with your permissions.\n",
                false => "Nothing else loses power, network or redundancy.\n",
            });
        }
        text + &self.not_counted()
    }

    fn title(&self) -> String {
        let assumed: Vec<String> =
            self.as_if.iter().map(|one| format!("{} were {}", one.name, one.state)).collect();
        let assumed = match assumed.is_empty() {
            true => String::new(),
            false => format!(", as if {}", assumed.join(" and ")),
        };
        match self.fails.as_slice() {
            [one] => format!("If {} fails{assumed}:\n", self.marked(one)),
            many => {
                let names = many.iter().take(MANY).map(|name| format!("  {}\n", self.marked(name)));
                let names: String = names.chain(more(many.len(), MANY)).collect();
                format!("If these {} fail{assumed}:\n{names}", many.len())
            }
        }
    }

    /// A name, with its state if it is not `Active`.
    fn marked(&self, name: &str) -> String {
        match self.states.get(name) {
            Some(state) => format!("{name} ({state})"),
            None => name.to_owned(),
        }
    }

    fn not_counted(&self) -> String {
        if self.out_of_service.is_empty() {
            return String::new();
        }
        let line = |one: &Stated| format!("  {} ({})\n", one.name, one.state);
        let lines: String = self
            .out_of_service
            .iter()
            .take(FEW)
            .map(line)
            .chain(more(self.out_of_service.len(), FEW))
            .collect();
        format!("Not counted, because out of service ({})\n{lines}", self.out_of_service.len())
    }
}

/// A line for the names that are not listed.
fn more(all: usize, listed: usize) -> Option<String> {
    let left = all.checked_sub(listed).filter(|left| *left > 0)?;
    Some(format!("  and {left} more\n"))
}

//! Which controllers run in this process.

use std::sync::Arc;

use apiserver::api::Api;
use apiserver::controllers::definitions::DefinitionController;
use apiserver::controllers::host;
use reconcile::reconciler::Reconciler;

use crate::failure::Failure;

/// Starts those that are asked for: `all`, `none`, or a list of names, without those after a minus sign. Definitions are
/// always looked after, or nothing that users define would be served.
pub fn start(api: &Api, choices: Vec<Arc<dyn Reconciler>>, asked: &str) -> Result<(), Failure> {
    let known: Vec<&str> = choices.iter().map(|controller| controller.name()).collect();
    let asked = Asked::read(asked, &known)?;
    tokio::spawn(host::run(Arc::new(DefinitionController), api.clone(), None));
    let holder = apiserver::write::new_uid();
    for reconciler in choices.into_iter().filter(|reconciler| asked.wants(reconciler.name())) {
        tokio::spawn(host::run(reconciler, api.clone(), Some(holder.clone())));
    }
    Ok(())
}

/// The controllers that are asked for.
struct Asked<'a> {
    all: bool,
    names: Vec<&'a str>,
    left_out: Vec<&'a str>,
}

impl<'a> Asked<'a> {
    fn read(text: &'a str, known: &[&str]) -> Result<Asked<'a>, Failure> {
        let mut asked = Asked { all: false, names: Vec::new(), left_out: Vec::new() };
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            let name = word.strip_prefix('-').unwrap_or(word);
            match word {
                "all" | "*" => asked.all = true,
                "none" => {}
                _ if !known.contains(&name) => {
                    let why = format!("there is no controller {name:?}; there are {}", known.join(", "));
                    return Err(Failure::new("starting controllers", why));
                }
                _ if name != word => asked.left_out.push(name),
                _ => asked.names.push(name),
            }
        }
        // Only a list of those that are left out means all others.
        asked.all |= asked.names.is_empty() && !asked.left_out.is_empty();
        Ok(asked)
    }

    fn wants(&self, name: &str) -> bool {
        (self.all || self.names.contains(&name)) && !self.left_out.contains(&name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(text: &str) -> Result<Vec<&'static str>, String> {
        const KNOWN: [&str; 3] = ["a", "b-c", "d"];
        let asked = Asked::read(text, &KNOWN).map_err(|failure| failure.to_string())?;
        Ok(KNOWN.into_iter().filter(|name| asked.wants(name)).collect())
    }

    #[test]
    fn controllers_are_chosen_by_name_all_of_them_or_all_but_some() {
        assert_eq!(chosen("all").unwrap(), ["a", "b-c", "d"]);
        assert_eq!(chosen("none").unwrap(), [""; 0]);
        assert_eq!(chosen("a, d").unwrap(), ["a", "d"]);
        assert_eq!(chosen("all,-b-c").unwrap(), ["a", "d"]);
        assert_eq!(chosen("*,-a").unwrap(), ["b-c", "d"]);
        assert_eq!(chosen("-a").unwrap(), ["b-c", "d"]);
        assert_eq!(chosen("a,-a").unwrap(), [""; 0]);
        assert!(chosen("all,-x").unwrap_err().contains("there is no controller \"x\""));
    }
}

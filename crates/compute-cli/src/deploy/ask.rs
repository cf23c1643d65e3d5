//! The questions that `compute deploy` asks when nothing is named.

use cli::{Failure, Session};

use super::settings::{DEFAULT_TYPE, Settings};
use crate::gate::answer;

/// Asks for what a first deploy needs, and returns the name of the workload.
pub fn for_all(settings: &mut Settings, session: &mut Session) -> Result<String, Failure> {
    let name = required("Workload name: ", session)?;
    settings.image = Some(required("Container image: ", session)?);
    let size = answer(&format!("Instance type [{DEFAULT_TYPE}]: "), session);
    settings.instance_type = Some(size).filter(|size| !size.is_empty());
    let cities = answer("Cities (comma-separated) [DFW]: ", session);
    let cities = if cities.is_empty() { "DFW".to_owned() } else { cities };
    settings.city =
        cities.split(',').map(|city| city.trim().to_owned()).filter(|city| !city.is_empty()).collect();
    settings.min = number("Min replicas per city [1]: ", session)?;
    settings.port = number("Expose port (optional): ", session)?;
    Ok(name)
}

fn required(question: &str, session: &mut Session) -> Result<String, Failure> {
    for _ in 0..3 {
        let answer = answer(question, session);
        if !answer.is_empty() {
            return Ok(answer);
        }
    }
    Err(Failure::usage("nothing was entered").hint("\"compute deploy --help\" has examples"))
}

fn number<T: std::str::FromStr>(question: &str, session: &mut Session) -> Result<Option<T>, Failure> {
    for _ in 0..3 {
        let answer = answer(question, session);
        if answer.is_empty() {
            return Ok(None);
        }
        match answer.parse() {
            Ok(number) => return Ok(Some(number)),
            Err(_) => session.console.say(&format!("{answer:?} is not a number that can be used here.")),
        }
    }
    Err(Failure::usage("no number was entered"))
}

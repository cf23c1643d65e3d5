//! The questions that `compute deploy` asks when nothing is named.

use cli::{Failure, Session};

use super::settings::{DEFAULT_TYPE, Settings};
use crate::api::Compute;
use crate::catalog::city_codes;
use crate::gate::answer;

/// Asks for what a first deploy needs, and returns the name of the workload.
pub async fn for_all(
    settings: &mut Settings,
    compute: &Compute,
    session: &mut Session,
) -> Result<String, Failure> {
    let name = required("Workload name: ", compute, session)?;
    settings.image = Some(required("Container image: ", compute, session)?);
    let size = answer(&format!("Instance type [{DEFAULT_TYPE}]: "), session);
    settings.instance_type = Some(size).filter(|size| !size.is_empty());
    // The first city that there is.
    let first = city_codes(compute).await?.into_iter().next().unwrap_or_else(|| "DFW".to_owned());
    let cities = answer(&format!("Cities (comma-separated) [{first}]: "), session);
    let cities = if cities.is_empty() { first } else { cities };
    settings.city =
        cities.split(',').map(|city| city.trim().to_owned()).filter(|city| !city.is_empty()).collect();
    settings.min = number("Min replicas per city [1]: ", session)?;
    settings.port = number("Expose port (optional): ", session)?;
    Ok(name)
}

fn required(question: &str, compute: &Compute, session: &mut Session) -> Result<String, Failure> {
    for _ in 0..3 {
        let answer = answer(question, session);
        if !answer.is_empty() {
            return Ok(answer);
        }
    }
    let help = compute.program.command("deploy --help");
    Err(Failure::usage("nothing was entered").hint(format!("\"{help}\" has examples")))
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

//! The flag `--as-if` of all questions: assumes the state of objects.

use cli::{Ask, Failure};
use inventory::state::{AsIf, states};

/// Assumptions about the state of objects.
#[derive(clap::Args, Debug, Default)]
pub struct AsIfFlag {
    /// Answer as if an object were in this state, such as networkdevice/fra1-spine2=failed; rack/NAME:FEED=failed for a power
    /// feed. Repeat it for several objects.
    #[arg(long = "as-if", value_name = "KIND/NAME=STATE", value_parser = StateParser)]
    assumed: Vec<String>,
}

impl AsIfFlag {
    /// Adds the assumptions to a question.
    pub fn ask(&self, ask: Ask) -> Result<Ask, Failure> {
        self.assumed.iter().try_fold(ask, |ask, text| {
            AsIf::parse(text).map_err(|why| Failure::usage(format!("--as-if: {why}")))?;
            Ok(ask.query("asIf", text.as_str()))
        })
    }
}

/// Takes any text; the states are what completion offers after `KIND/NAME=`.
#[derive(Clone)]
struct StateParser;

impl clap::builder::TypedValueParser for StateParser {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<String, clap::Error> {
        clap::builder::StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = clap::builder::PossibleValue> + '_>> {
        Some(Box::new(states().into_iter().map(clap::builder::PossibleValue::new)))
    }
}

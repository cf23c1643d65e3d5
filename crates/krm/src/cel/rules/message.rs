//! Messages that are computed by `messageExpression`.

use super::{PER_RUN, Ready};
use crate::cel::program::{Inputs, run};
use crate::cel::value::{Effort, Fault, Value};

/// No message is longer.
const LONGEST: usize = 5 * 1024;

/// Where a message comes from.
pub(super) enum Message {
    /// It was worked out.
    Made(String),
    /// None was worked out: what is written has to do.
    Written,
    /// It could not be afforded, which says so.
    TooExpensive(String),
}

/// The message of a rule that does not hold.
pub(super) fn message<'a>(
    rule: &'a Ready,
    inputs: Inputs<'a>,
    left: &mut u64,
    effort: &mut Effort,
) -> Message {
    let Some(program) = &rule.compiled.message else { return Message::Written };
    // The old value is there or not; a message never sees it as one that may not be there.
    let inputs = Inputs { old_is_optional: false, ..inputs };
    let (outcome, cost) = run(program, inputs, PER_RUN.min(left.saturating_add(1)), effort);
    if cost > *left {
        return Message::TooExpensive(
            "messageExpression evaluation failed due to running out of cost budget, no further validation rules will \
             be run"
                .to_owned(),
        );
    }
    *left -= cost;
    match outcome {
        Ok(Value::String(text)) => {
            let text = text.trim();
            let fits = !text.is_empty() && text.len() <= LONGEST && !text.contains('\n');
            if fits { Message::Made(text.to_owned()) } else { Message::Written }
        }
        Err(Fault::TooExpensive) => {
            let shown = crate::field::quote(&rule.message_expression);
            Message::TooExpensive(format!(
                "no further validation rules will be run due to call cost exceeds limit for messageExpression: {shown}"
            ))
        }
        Ok(_) | Err(_) => Message::Written,
    }
}

//! Posted queries: what they have in common, and ActivityQuery.

use std::sync::{Mutex, PoisonError};

use apiserver::api::store_failure;
use apiserver::call::Call;
use apiserver::past::moment;
use krm::Object;
use krm::base64;
use krm::field::{FieldError, Path};
use krm::status::Status;
use krm::time::Moment;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::answers::Activities;
use super::asked::Asked;
use super::filter::Filter;
use super::page::{Ended, page};
use super::window::Window;

/// Default number of results on a page.
const USUAL: usize = 100;
/// Largest number of results on a page.
const MOST: usize = 1000;

/// What can be done to an object.
pub const VERBS: [&str; 3] = ["create", "update", "delete"];

/// A query that was posted.
pub struct Posted<'a> {
    /// The request.
    pub call: &'a Call,
    /// What was posted.
    pub object: &'a Object,
    /// What the asker should know of the answer.
    pub warnings: Mutex<Vec<String>>,
}

impl Posted<'_> {
    /// Tells the asker something that the answer itself does not say.
    pub fn warn(&self, warning: String) {
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner).push(warning);
    }

    /// What is asked.
    pub fn spec(&self) -> Value {
        self.object.get("spec").cloned().unwrap_or_else(|| json!({}))
    }

    /// What time it is.
    pub fn now(&self) -> Moment {
        self.call.api.now()
    }

    /// The refusal of what is wrong with it.
    pub fn invalid(&self, errors: &[FieldError]) -> Status {
        Status::invalid(&self.call.kind.subject(), self.object.name(), errors)
    }

    /// A status that says which window was looked at.
    pub fn window_status(&self, window: Window) -> Value {
        json!({
            "results": [],
            "effectiveStartTime": moment(window.start).to_string(),
            "effectiveEndTime": moment(window.end).to_string(),
        })
    }
}

/// How many results a page has.
pub fn limit_of(posted: &Posted<'_>, spec: &Value) -> Result<usize, Status> {
    let at = Path::of("spec");
    match spec.get("limit").filter(|limit| !limit.is_null()) {
        None => Ok(USUAL),
        Some(limit) => match limit.as_i64() {
            Some(0) => Ok(USUAL),
            Some(number) if number > 0 && number <= MOST as i64 => {
                Ok(usize::try_from(number).unwrap_or(USUAL))
            }
            Some(number) if number < 0 => {
                Err(posted.invalid(&[FieldError::invalid(&at.field("limit"), limit, "must not be negative")]))
            }
            _ => {
                let why = format!("must be at most {MOST}");
                Err(posted.invalid(&[FieldError::invalid(&at.field("limit"), limit, why)]))
            }
        },
    }
}

/// The words of a search, as they are compared.
pub fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_lowercase).collect()
}

/// Where a page ended, for the next one.
pub fn token(place: &impl Serialize) -> String {
    base64::url(&serde_json::to_vec(place).unwrap_or_default())
}

/// Reads where a page ended.
pub fn untoken<T: DeserializeOwned>(text: &str) -> Option<T> {
    base64::from_url(text).and_then(|json| serde_json::from_slice(&json).ok())
}

/// Answers an ActivityQuery.
pub async fn answer(activities: &Activities, posted: &Posted<'_>) -> Result<Value, Status> {
    let spec = posted.spec();
    let at = Path::of("spec");
    let text = |field: &str| spec[field].as_str().unwrap_or_default();
    let ended: Option<Ended> = match text("continue") {
        "" => None,
        said => Some(untoken(said).ok_or_else(|| {
            posted.invalid(&[FieldError::invalid_text(
                &at.field("continue"),
                said,
                "must be the status.continue of an earlier page",
            )])
        })?),
    };
    let window = match &ended {
        // Later pages look at the window of the first, also where that was told from now.
        Some(ended) => ended.window(),
        None => Window::read(&spec, &at, posted.now(), None).map_err(|errors| posted.invalid(&errors))?,
    };
    let filter = Filter::of_activities(text("filter")).map_err(|why| {
        posted.invalid(&[FieldError::invalid_text(&at.field("filter"), text("filter"), why)])
    })?;
    if !matches!(text("changeSource"), "" | "human" | "system") {
        let why =
            FieldError::not_supported(&at.field("changeSource"), &spec["changeSource"], &["human", "system"]);
        return Err(posted.invalid(&[why]));
    }
    let limit = limit_of(posted, &spec)?;
    let mut equal = filter.equal.clone();
    for (field, name) in [
        ("changeSource", "spec.changeSource"),
        ("resourceKind", "spec.resource.kind"),
        ("resourceUID", "spec.resource.uid"),
        ("apiGroup", "spec.resource.apiGroup"),
        ("actorName", "spec.actor.name"),
        ("namespace", "spec.resource.namespace"),
    ] {
        if !text(field).is_empty() {
            equal.push((name.to_owned(), text(field).to_owned()));
        }
    }
    let words = words(text("search"));
    if !text("verb").is_empty() && !VERBS.contains(&text("verb")) {
        let why = FieldError::not_supported(&at.field("verb"), &spec["verb"], &VERBS);
        return Err(posted.invalid(&[why]));
    }
    let asked = Asked { window, equal, filter, words, verb: text("verb").to_owned() };
    let sight = activities.sight(posted.call);
    if ended.is_none() {
        warn_of_what_is_gone(posted, window).await?;
    }
    let page = page(activities, posted.call, &sight, &asked, ended.as_ref(), limit).await?;
    let mut status = posted.window_status(window);
    status["results"] = page.items.into();
    if let Some(ended) = page.ended {
        status["continue"] = token(&ended).into();
    }
    Ok(status)
}

/// Retention may have let go of some of what is asked for.
async fn warn_of_what_is_gone(posted: &Posted<'_>, window: Window) -> Result<(), Status> {
    let whole = posted.call.api.store().whole_since().await.map_err(|error| store_failure(&error))?;
    if let Some(whole) = whole.filter(|whole| whole.time > window.start) {
        posted.warn(format!(
            "history before {} is incomplete: retention policies removed some changes",
            moment(whole.time)
        ));
    }
    Ok(())
}

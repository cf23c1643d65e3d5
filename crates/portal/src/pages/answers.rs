//! What the server can answer about an object: the questions of its kind, such as the effective values of a design with where
//! each comes from, and its rollouts.

use maud::{Markup, html};
use serde_json::Value;

use crate::kinds::Collection;
use crate::refusal::Refusal;
use crate::viewer::{Ask, Viewer};
use crate::{address, layout, text};

/// Questions that have pages of their own.
const ELSEWHERE: [&str; 5] = ["elevation", "trace", "impact", "find-space", "referrers"];

/// The questions that can be asked about one object of a kind.
pub fn questions(collection: &Collection) -> Vec<&'static str> {
    let all = collection.kind.questions.iter().map(|question| question.name);
    all.filter(|name| !ELSEWHERE.contains(name)).collect()
}

/// The answer to a question, as text.
pub async fn shown(
    viewer: &Viewer,
    collection: &Collection,
    namespace: &str,
    name: &str,
) -> Result<Markup, Refusal> {
    let questions = questions(collection);
    let asked = questions.iter().copied().find(|question| *question == viewer.parameter("question"));
    let Some(asked) = asked.or(questions.first().copied()) else {
        return Ok(html! { p.empty { "There is nothing to ask about these." } });
    };
    let given =
        viewer.query.pairs().filter(|(name, _)| !matches!(name.as_str(), "tab" | "question" | "more"));
    let mut parameters: Vec<(&str, &str)> =
        given.map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let more: Vec<(&str, &str)> =
        viewer.parameter("more").split('&').filter_map(|pair| pair.split_once('=')).collect();
    parameters.extend(more);
    let path = format!("{}/{asked}{}", collection.path(viewer, namespace, name), address::query(&parameters));
    let answer = viewer.bytes(Ask::get(&path).accept("text/plain")).await;
    Ok(html! {
        nav.tabs.small aria-label="Questions" { @for question in &questions {
            a href=(viewer.here(&[("question", question), ("more", "")])) aria-current=[(*question == asked).then_some("true")] { (question) }
        } }
        form.filters method="get" action=(viewer.path) {
            input type="hidden" name="tab" value="answers";
            input type="hidden" name="question" value=(asked);
            label { span { "Options" } input name="more" value=(viewer.parameter("more")) placeholder="name=value&name=value" size="40"; }
            button { "Ask" }
        }
        @match answer {
            Ok(bytes) => pre.yaml tabindex="0" { code { (text::limited(&String::from_utf8_lossy(&bytes), 200_000)) } },
            Err(refusal) => div.notice.bad role="alert" { (text::foreign(&refusal.message)) },
        }
    })
}

/// Changes of the spec as numbered rollouts, and the way back to each.
pub async fn rollouts(
    viewer: &Viewer,
    collection: &Collection,
    namespace: &str,
    name: &str,
) -> Result<Markup, Refusal> {
    let path = collection.path(viewer, namespace, name) + "/rollout-history";
    let history = viewer.get_now(&path, &[]).await?;
    let items = text::items(&history, "/items");
    let may =
        viewer.as_of.is_none() && viewer.may(&collection.plane, "update", &collection.kind, "", namespace);
    let number = |item: &Value| {
        item["revision"]
            .as_i64()
            .or_else(|| item["generation"].as_i64())
            .map(|it| it.to_string())
            .unwrap_or_default()
    };
    Ok(html! {
        @if items.is_empty() { p.empty { "No rollouts yet." } }
        ol.timeline { @for (index, item) in items.iter().enumerate() { li {
            div.when { (text::full_moment(text::at(item, "/time"))) }
            div.what {
                h2 { "Rollout " (number(item)) " by " (text::foreign(text::at(item, "/user"))) }
                @if !text::at(item, "/message").is_empty() { p.why { "“" (text::foreign(text::at(item, "/message"))) "”" } }
                (super::plan::diff(text::items(item, "/diff")))
                @if index > 0 { form method="post" action=(viewer.path) {
                    (layout::csrf(viewer))
                    input type="hidden" name="do" value="rollback";
                    input type="hidden" name="revision" value=(number(item));
                    @if may { button { "Return to this rollout" } } @else { button disabled title="You are not allowed to, or look at the past." { "Return to this rollout" } }
                } }
            }
        } } }
    })
}

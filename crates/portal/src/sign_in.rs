//! Signing in: with a one-time link that `groundplane portal` prints, or with a token.

use apiserver::answer::{self, Answer};
use apiserver::api::Api;
use apiserver::identity::Identity;
use apiserver::request::query::Query;
use apiserver::route::RouteRequest;
use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, USER_AGENT};
use http::{HeaderMap, Method, Request};
use http_body_util::BodyExt;
use krm::status::Status;
use maud::html;
use serde_json::{Value, json};

use crate::refusal::Refusal;
use crate::route::is_same_site;
use crate::{PATH, address, answers, layout, session, text};

/// Where tokens tell whose they are.
const REVIEWS: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

/// The page to sign in on. A link is not used up by looking at it: programs that preview links do that.
pub fn page(request: &RouteRequest) -> Answer {
    let query = Query::parse(request.head.uri.query().unwrap_or_default()).unwrap_or_default();
    let (code, to) = (query.get("code").unwrap_or_default(), query.get("next").unwrap_or_default());
    let user = session::linked(&request.api, code).filter(|_| !code.is_empty());
    let action = address::page(&["sign-in"], &[]);
    let content = html! {
        @if let Some(user) = &user {
            form method="post" action=(action) {
                input type="hidden" name="code" value=(code);
                input type="hidden" name="next" value=(to);
                p { "You sign in as " strong { (text::foreign(user)) } "." }
                button.primary autofocus { "Sign in" }
            }
        } @else {
            @if !code.is_empty() {
                div.notice.bad role="alert" { "This link was used already, or is older than ten minutes." }
            }
            p { "On a machine where you use the command line, run" }
            pre { code { "groundplane portal" } }
            p { "and open the link that it prints. It works once, for ten minutes." }
            details {
                summary { "Sign in with a token" }
                form method="post" action=(action) {
                    input type="hidden" name="next" value=(to);
                    label { span { "Bearer token" } input type="password" name="token" required autocomplete="off"; }
                    button { "Sign in" }
                }
            }
        }
    };
    answers::page(200, layout::bare("Sign in", &content))
}

/// Takes the form of that page.
pub async fn sign_in(request: RouteRequest) -> Answer {
    let (api, headers) = (request.api.clone(), request.head.headers.clone());
    let from = request.from.unwrap_or(([127, 0, 0, 1], 0).into());
    let form = match request.body.read().await {
        Ok(body) => Query::parse(std::str::from_utf8(&body).unwrap_or_default()).unwrap_or_default(),
        Err(_) => Query::default(),
    };
    let (code, to) = (form.get("code").unwrap_or_default(), form.get("next").unwrap_or_default());
    let token = form.get("token").unwrap_or_default();
    let begun = async {
        if !is_same_site(&headers) {
            return Err(Refusal::new(403, "This form comes from another site."));
        }
        if !code.is_empty() {
            return session::redeem(&api, code, agent(&headers)).await;
        }
        let public = api.public().ok_or_else(|| Refusal::new(503, "The server is starting."))?;
        let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"});
        let review = Request::builder()
            .method(Method::POST)
            .uri(REVIEWS)
            .header(AUTHORIZATION, format!("Bearer {token}"))
            .header(CONTENT_TYPE, "application/json")
            .body(Bytes::from(krm::encode::to_json(&review)));
        let review = review.map_err(|_| Refusal::new(400, "This is no token."))?;
        let answer = public.answer_with_credentials(from, review).await?;
        let is_good = answer.status().is_success();
        let body =
            answer.into_body().collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
        let said: Value = serde_json::from_slice(&body).unwrap_or_default();
        let who = identity(said.pointer("/status/userInfo").filter(|_| is_good), token);
        let who = who.ok_or_else(|| {
            Refusal::new(401, "The server does not accept this token; it may have expired.")
        })?;
        session::begin(&api, &who, agent(&headers), "token").await
    };
    match begun.await {
        Ok(secret) => {
            let answer = answers::redirect(&next(to));
            answers::with_cookie(answer, session::NAME, &secret, 12 * 3600, true)
        }
        Err(refusal) => failed(&api, code, to, &refusal),
    }
}

/// Says why somebody is not signed in.
fn failed(api: &Api, code: &str, to: &str, refusal: &Refusal) -> Answer {
    let is_known = !code.is_empty() && session::linked(api, code).is_some();
    let again = address::page(&["sign-in"], &[("next", to), ("code", if is_known { code } else { "" })]);
    let content = html! {
        div.notice.bad role="alert" { (text::foreign(&refusal.message)) }
        p { a.button href=(again) { "Try again" } }
    };
    answers::page(refusal.code, layout::bare("Sign in", &content))
}

/// Who a review says that the holder of a token is. A session ends when the token does.
fn identity(info: Option<&Value>, token: &str) -> Option<Identity> {
    let info = info?;
    let user = text::at(info, "/username");
    let groups: Vec<&str> = text::items(info, "/groups").iter().filter_map(Value::as_str).collect();
    if user.is_empty() || user == "system:anonymous" {
        return None;
    }
    let extra = serde_json::from_value(info["extra"].clone()).unwrap_or_default();
    let claims = token.split('.').nth(1).and_then(krm::base64::from_url);
    let claims: Value = claims.and_then(|claims| serde_json::from_slice(&claims).ok()).unwrap_or_default();
    let expires = claims["exp"].as_u64();
    let expires = expires.map(|end| std::time::UNIX_EPOCH + std::time::Duration::from_secs(end));
    Some(Identity { uid: text::at(info, "/uid").into(), extra, expires, ..Identity::new(user, &groups) })
}

/// Makes a one-time link for who asks with the credentials of the API: `groundplane portal`.
pub async fn link(request: RouteRequest) -> Answer {
    let has_session = session::of(&request.api, &request.head.headers).is_some();
    let refused = match (request.who.is_anonymous(), has_session, &request.really) {
        (true, ..) => Some(Status::unauthorized()),
        (_, true, _) => Some(Status::failure(403, "Forbidden", "a session of the portal can't make links")),
        (.., Some(_)) => Some(Status::failure(
            403,
            "Forbidden",
            "links can't be made for somebody else: leave out the impersonation",
        )),
        _ => None,
    };
    if let Some(status) = refused {
        return answer::failure(&status);
    }
    match session::link(&request.api, &request.who).await {
        Ok(secret) => {
            let path = address::page(&["sign-in"], &[("code", &secret)]);
            answers::json(&json!({"path": path, "user": &*request.who.user, "expiresInSeconds": 600}))
        }
        Err(refusal) => answer::failure(&Status::failure(refusal.code, "InternalError", refusal.message)),
    }
}

/// Where to go after signing in: a page of ours.
pub fn next(wanted: &str) -> String {
    let is_ours = wanted.starts_with(&format!("{PATH}/")) && !wanted.contains(['\\', '\r', '\n']);
    if is_ours { wanted.to_owned() } else { address::page(&[], &[]) }
}

fn agent(headers: &HeaderMap) -> &str {
    headers.get(USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or("unknown browser")
}

#[cfg(test)]
mod tests {
    use super::next;

    #[test]
    fn nobody_is_led_to_another_site() {
        assert_eq!(next("/ui/sites?x=1"), "/ui/sites?x=1");
        for other in ["https://evil.example", "//evil.example", "/ui", "/uix/", "/ui/\\\\evil", ""] {
            assert_eq!(next(other), "/ui/", "{other}");
        }
    }
}

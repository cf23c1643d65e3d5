//! The route: which address is which page, who may see it, and which writes are taken.

use apiserver::answer::Answer;
use apiserver::request::path;
use apiserver::request::query::Query;
use apiserver::route::{Access, Claim, Requirement, Route, RouteRequest, Rules};
use futures_util::future::BoxFuture;
use http::request::Parts;
use http::{HeaderMap, Method};
use krm::status::Status;

use crate::attention::Attention;
use crate::layout::{self, Page};
use crate::refusal::Refusal;
use crate::session::{self, Session};
use crate::viewer::Viewer;
use crate::{PATH, address, answers, assets, live, pages, sign_in};

/// The cookie with the colours that somebody chose.
const THEME: &str = "groundplane-theme";

/// All pages.
#[derive(Default)]
pub struct Pages {
    attention: Attention,
}

impl Route for Pages {
    fn name(&self) -> &'static str {
        "portal"
    }

    fn claims(&self) -> Vec<Claim> {
        vec![Claim::Path(PATH.to_owned())]
    }

    fn access(&self, _: &Parts) -> Result<Access, Status> {
        // Who has not signed in is led to the page for that.
        Ok(Access::root(Requirement::Public))
    }

    fn rules(&self, head: &Parts) -> Rules {
        match head.uri.path() == "/ui/live" {
            true => Rules { max_body_bytes: 0, ..Rules::stream() },
            false => Rules::default(),
        }
    }

    fn answer(&self, request: RouteRequest) -> BoxFuture<'_, Result<Answer, Status>> {
        Box::pin(async move { Ok(answered(request, &self.attention).await) })
    }
}

async fn answered(request: RouteRequest, attention: &Attention) -> Answer {
    let segments = path::segments(request.head.uri.path()).ok().flatten().unwrap_or_default();
    let segments: Vec<&str> =
        segments.iter().skip(1).map(String::as_str).filter(|it| !it.is_empty()).collect();
    let is_read = matches!(request.head.method, Method::GET | Method::HEAD);
    match (is_read, segments.as_slice()) {
        (true, ["assets", _, name]) => {
            let page = || {
                answers::page(404, layout::bare("Not found", &maud::html! { p { "There is no such file." } }))
            };
            return assets::answer(name).unwrap_or_else(page);
        }
        (true, ["sign-in"]) => return sign_in::page(&request),
        (false, ["sign-in"]) => return sign_in::sign_in(request).await,
        (false, ["links"]) => return sign_in::link(request).await,
        _ => {}
    }
    let Some(session) = session::of(&request.api, &request.head.headers) else {
        let here = request.head.uri.path_and_query().map_or("", |here| here.as_str());
        return answers::redirect(&address::page(&["sign-in"], &[("next", if is_read { here } else { "" })]));
    };
    let mut viewer = viewer(&request, session);
    let answered = match is_read {
        true => read(&viewer, &segments, attention).await,
        false => match form(request, &viewer).await {
            Ok(form) => {
                viewer.query = form;
                written(&viewer, &segments).await
            }
            Err(refusal) => Err(refusal),
        },
    };
    answered.unwrap_or_else(|refusal| shown(&viewer, &Page { has_time: false, ..Page::refused(&refusal) }))
}

fn viewer(request: &RouteRequest, session: Session) -> Viewer {
    let head = &request.head;
    let query = Query::parse(head.uri.query().unwrap_or_default()).unwrap_or_default();
    let theme = match session::cookie(&head.headers, THEME) {
        Some("dark") => "dark",
        Some("light") => "light",
        _ => "",
    };
    Viewer {
        api: request.api.clone(),
        who: request.who.clone(),
        session,
        from: request.from.unwrap_or(([127, 0, 0, 1], 0).into()),
        as_of: query.get("asOf").filter(|time| !time.is_empty()).map(str::to_owned),
        query,
        path: head.uri.path().to_owned(),
        version: request.api.store().latest().version().to_string(),
        now: request.api.now(),
        theme,
    }
}

/// The fields of a form, if it comes from a page of ours in this session.
async fn form(request: RouteRequest, viewer: &Viewer) -> Result<Query, Refusal> {
    let is_ours = is_same_site(&request.head.headers);
    let body = request.body.read().await.map_err(|error| Refusal::new(400, error.to_string()))?;
    let text = std::str::from_utf8(&body).map_err(|_| Refusal::new(400, "The form is not UTF-8."))?;
    let form = Query::parse(text)?;
    let is_proved = form.get("csrf").is_some_and(|token| token == viewer.session.csrf);
    match is_ours && is_proved {
        true => Ok(form),
        false => Err(Refusal::new(
            403,
            "This form is not from a page of your session. Reload the page and try again.",
        )),
    }
}

/// Whether a request was not sent by a page of another site.
pub fn is_same_site(headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let site = text("sec-fetch-site").is_none_or(|site| matches!(site, "same-origin" | "none"));
    let host = text("host").unwrap_or_default();
    let origin = text("origin").filter(|_| !host.is_empty());
    site && origin.is_none_or(|origin| origin == format!("https://{host}"))
}

fn shown(viewer: &Viewer, page: &Page) -> Answer {
    answers::page(page.code, layout::whole(viewer, page))
}

async fn read(viewer: &Viewer, segments: &[&str], attention: &Attention) -> Result<Answer, Refusal> {
    let page = match segments {
        [] => pages::home::page(viewer, attention).await?,
        ["live"] => return live::answer(viewer).await,
        ["p", project] => pages::project::page(viewer, project, attention).await?,
        ["kinds", plane] => pages::kinds::page(viewer, plane)?,
        ["search"] => pages::search::page(viewer).await?,
        ["activity", plane] => pages::activity::page(viewer, plane).await?,
        ["access"] => pages::access::page(viewer).await?,
        ["sessions"] => pages::sessions::page(viewer).await?,
        ["plans", plane, name] => pages::plan::page(viewer, plane, name).await?,
        ["sites"] => pages::sites::page(viewer).await?,
        ["sites", site] => pages::site::page(viewer, site).await?,
        ["racks", rack] => pages::rack::page(viewer, rack).await?,
        ["trace", port] => pages::trace::page(viewer, port).await?,
        ["impact", plural, name] => pages::impact::page(viewer, plural, name).await?,
        ["space"] => pages::space::page(viewer).await?,
        ["map"] => pages::map::page(viewer).await?,
        ["o", plane, group, plural] => match viewer.parameter("format") {
            "" => pages::list::page(viewer, plane, group, plural).await?,
            format => return pages::export::answer(viewer, plane, group, plural, format),
        },
        ["o", plane, group, plural, "import"] => pages::import::page(viewer, plane, group, plural)?,
        ["o", plane, group, plural, "new"] => pages::edit::new(viewer, plane, group, plural)?,
        ["o", plane, group, plural, namespace, name] => {
            pages::object::page(viewer, plane, group, plural, namespace, name).await?
        }
        _ => return Err(Refusal::no_page()),
    };
    Ok(shown(viewer, &page))
}

async fn written(viewer: &Viewer, segments: &[&str]) -> Result<Answer, Refusal> {
    let to = match segments {
        ["sign-out"] => {
            session::end(&viewer.api, viewer.session.user(), &viewer.session.name).await?;
            let answer = answers::redirect(&address::page(&["sign-in"], &[]));
            return Ok(answers::with_cookie(answer, session::NAME, "", 0, true));
        }
        ["theme"] => {
            let theme = match viewer.parameter("theme") {
                "dark" => "dark",
                "light" => "light",
                _ => "",
            };
            let answer = answers::redirect(&sign_in::next(viewer.parameter("next")));
            return Ok(answers::with_cookie(answer, THEME, theme, 31_536_000, false));
        }
        ["check"] => return pages::edit::check(viewer).await,
        ["sessions", "end"] => pages::sessions::end(viewer).await?,
        ["plans", plane, name, "apply"] => pages::plan::apply(viewer, plane, name).await?,
        ["plans", plane, name, "discard"] => pages::plan::discard(viewer, plane, name).await?,
        ["move"] => pages::rack::plan_move(viewer).await?,
        ["o", plane, group, plural, "bulk"] => pages::list::plan_bulk(viewer, plane, group, plural).await?,
        ["o", plane, group, plural, "import"] => pages::import::plan(viewer, plane, group, plural).await?,
        ["o", plane, group, plural, "new"] => pages::edit::plan_new(viewer, plane, group, plural).await?,
        ["o", plane, group, plural, namespace, name] => {
            pages::object::plan(viewer, plane, group, plural, namespace, name).await?
        }
        _ => return Err(Refusal::no_page()),
    };
    Ok(answers::redirect(&to))
}

//! Parts of URLs.

use std::rc::Rc;

use super::Run;
use super::operators::text;
use super::url::Url;
use crate::cel::value::{Fault, MadeMap, Map, Outcome, Value};

pub(super) fn find(name: &str) -> Option<Run> {
    Some(match name {
        "url" => |args| match Url::parse(text(&args[0])?) {
            Ok(url) => Ok(Value::Url(Rc::new(url))),
            Err(why) => Err(Fault::Error(format!("URL parse error during conversion from string: {why}"))),
        },
        "isURL" => |args| Ok(Value::Bool(Url::parse(text(&args[0])?).is_ok())),
        "getScheme" => |args| Ok(Value::text(&*url(&args[0])?.scheme)),
        "getHost" => |args| Ok(Value::text(&*url(&args[0])?.host)),
        "getHostname" => |args| Ok(Value::text(url(&args[0])?.hostname())),
        "getPort" => |args| Ok(Value::text(url(&args[0])?.port())),
        "getEscapedPath" => |args| Ok(Value::text(&*url(&args[0])?.path)),
        "getQuery" => query,
        _ => return None,
    })
}

fn url<'v>(value: &'v Value<'_>) -> Result<&'v Url, Fault> {
    match value {
        Value::Url(url) => Ok(url),
        _ => Err(Fault::NoOverload),
    }
}

fn query<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    let mut map = MadeMap::default();
    for (name, values) in url(&args[0])?.query() {
        map.set(Value::text(name), Value::texts(values))?;
    }
    Ok(Value::Map(Map::Made(Rc::new(map))))
}

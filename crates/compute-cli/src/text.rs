//! Values as people read them: ages, images, environment variables, counts.

use krm::time::Moment;
use serde_json::Value;

/// What stands where there is nothing.
pub const NOTHING: &str = "—";

/// Text at a path; empty if there is none.
pub fn at<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// A number at a path; 0 if there is none.
pub fn number(value: &Value, pointer: &str) -> i64 {
    value.pointer(pointer).and_then(Value::as_i64).unwrap_or(0)
}

/// The elements of a list at a path.
pub fn list<'a>(value: &'a Value, pointer: &str) -> impl Iterator<Item = &'a Value> {
    value.pointer(pointer).and_then(Value::as_array).into_iter().flatten()
}

/// A text, or a dash where it is empty.
pub fn or_nothing(text: &str) -> String {
    if text.is_empty() { NOTHING.to_owned() } else { text.to_owned() }
}

/// How long ago a time was, as in `5m`; a dash for none.
pub fn age(time: &str) -> String {
    let now =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let Ok(then) = Moment::parse(time) else { return NOTHING.to_owned() };
    short_time((i64::try_from(now).unwrap_or(i64::MAX) - then.seconds).max(0))
}

fn short_time(seconds: i64) -> String {
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..86_400 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// A duration, as in `47s` or `1m 12s`.
pub fn took(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds}s"),
        _ => format!("{}m {}s", seconds / 60, seconds % 60),
    }
}

/// One thing or several: `1 instance`, `2 instances`.
pub fn counted(count: i64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// Images of a template or an instance, by `spec`.
pub fn images(spec: &Value) -> Vec<&str> {
    list(spec, "/runtime/sandbox/containers").map(|container| at(container, "/image")).collect()
}

/// Images without the host of their registry, for lists; `(vm)` for a virtual machine.
pub fn short_images(spec: &Value) -> String {
    if spec.pointer("/runtime/virtualMachine").is_some() {
        return "(vm)".to_owned();
    }
    let images: Vec<&str> = images(spec).into_iter().map(without_host).collect();
    or_nothing(&images.join(","))
}

fn without_host(image: &str) -> &str {
    match image.split_once('/') {
        Some((host, rest)) if host.contains('.') || host.contains(':') || host == "localhost" => rest,
        _ => image,
    }
}

/// What an instance is: `sandbox` or `vm`.
pub fn runtime(spec: &Value) -> &'static str {
    if spec.pointer("/runtime/virtualMachine").is_some() { "vm" } else { "sandbox" }
}

/// Type of the instances, without the provider's name.
pub fn instance_type(spec: &Value) -> &str {
    let name = at(spec, "/runtime/resources/instanceType");
    name.strip_prefix("datumcloud/").or_else(|| name.strip_prefix("datumcloud-")).unwrap_or(name)
}

/// Ports of all containers, as in `8080/TCP`.
pub fn ports(spec: &Value) -> Vec<String> {
    let containers =
        list(spec, "/runtime/sandbox/containers").flat_map(|container| list(container, "/ports"));
    let machine = list(spec, "/runtime/virtualMachine/ports");
    let shown = |port: &Value| {
        let protocol = Some(at(port, "/protocol")).filter(|protocol| !protocol.is_empty()).unwrap_or("TCP");
        format!("{}/{protocol}", number(port, "/port"))
    };
    containers.chain(machine).map(shown).collect()
}

/// Environment variables of a container with their value, or where it comes from. Values of Secrets are never known here.
pub fn environment(container: &Value) -> Vec<(String, String)> {
    let from = list(container, "/envFrom").map(|source| {
        let (kind, name) = match at(source, "/secretRef/name") {
            "" => ("configmap", at(source, "/configMapRef/name")),
            name => ("secret", name),
        };
        (format!("{}*", at(source, "/prefix")), format!("all of {kind} {name}"))
    });
    let set = list(container, "/env").map(|variable| {
        let source = &variable["valueFrom"];
        let value = match (at(source, "/secretKeyRef/name"), at(source, "/configMapKeyRef/name")) {
            ("", "") => match at(source, "/fieldRef/fieldPath") {
                "" => at(variable, "/value").to_owned(),
                path => format!("from field {path}"),
            },
            ("", name) => format!("from configmap {name}"),
            (name, _) => format!("from secret {name}"),
        };
        (at(variable, "/name").to_owned(), value)
    });
    from.chain(set).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn ages_are_in_the_largest_unit_that_fits() {
        let shown = [0, 59, 60, 3_599, 3_600, 86_399, 86_400, 200_000].map(short_time);
        assert_eq!(shown, ["0s", "59s", "1m", "59m", "1h", "23h", "1d", "2d"]);
        assert_eq!(age("not a time"), NOTHING);
        assert_eq!((took(47), took(72)), ("47s".to_owned(), "1m 12s".to_owned()));
    }

    #[test]
    fn an_image_is_listed_without_its_registry() {
        let spec = |image: &str| json!({"runtime": {"sandbox": {"containers": [{"image": image}]}}});
        assert_eq!(short_images(&spec("ghcr.io/acme/api:1.4.2")), "acme/api:1.4.2");
        assert_eq!(short_images(&spec("localhost:5000/api")), "api");
        assert_eq!(short_images(&spec("library/nginx")), "library/nginx");
        assert_eq!(short_images(&json!({"runtime": {"virtualMachine": {}}})), "(vm)");
        assert_eq!(short_images(&json!({})), NOTHING);
    }

    #[test]
    fn a_variable_tells_where_it_comes_from_and_no_secret() {
        let container = json!({
            "envFrom": [{"prefix": "DB_", "secretRef": {"name": "db"}}, {"configMapRef": {"name": "settings"}}],
            "env": [{"name": "LOG", "value": "info"},
                {"name": "URL", "valueFrom": {"secretKeyRef": {"name": "db", "key": "url"}}}],
        });
        let shown: Vec<String> =
            environment(&container).into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(
            shown,
            ["DB_*=all of secret db", "*=all of configmap settings", "LOG=info", "URL=from secret db"]
        );
    }
}

//! Paths: `/apis/<group>/<version>/namespaces/<namespace>/<plural>/<name>/<subresource>`, in the root or in a project.

use krm::status::Status;

use crate::plane::{Plane, PlaneKind};

/// What a path is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Route {
    /// A path that is no resource, such as `/healthz`; without its leading slash.
    Other(String),
    /// `/api`: the versions of the core group.
    CoreVersions,
    /// `/apis`: the groups.
    Groups,
    /// `/apis/<group>`: the versions of a group.
    Group(String),
    /// `/api/v1`, `/apis/<group>/<version>`: the resources of a version.
    GroupVersion {
        /// The group; empty for the core one.
        group: String,
        /// The version.
        version: String,
    },
    /// Objects.
    Resource(Target),
}

impl Route {
    /// Whether the answer depends on which kinds there are, and is not about the objects of one.
    pub fn tells_of_kinds(&self) -> bool {
        match self {
            Route::Other(path) => path.starts_with("openapi/"),
            Route::CoreVersions | Route::Groups | Route::Group(_) | Route::GroupVersion { .. } => true,
            Route::Resource(_) => false,
        }
    }
}

/// Which objects a path names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Target {
    /// The group; empty for the core one.
    pub group: String,
    /// The version.
    pub version: String,
    /// The namespace; empty for objects without one, and for those of all namespaces.
    pub namespace: String,
    /// The plural.
    pub resource: String,
    /// The name; empty for a collection.
    pub name: String,
    /// The subresource; empty for the object itself.
    pub subresource: String,
    /// What comes after the subresource.
    pub rest: Vec<String>,
    /// Whether the path itself asks for a watch.
    pub is_watch: bool,
}

/// The decoded segments of a path; `None` when they are not clean.
pub fn segments(path: &str) -> Result<Option<Vec<String>>, Status> {
    let Some(path) = path.strip_prefix('/') else { return Ok(None) };
    let trimmed = path.strip_suffix('/').unwrap_or(path);
    let mut segments = Vec::new();
    for raw in trimmed.split('/') {
        if matches!(raw, "." | "..") || (raw.is_empty() && !trimmed.is_empty()) {
            return Ok(None);
        }
        let Some(segment) = decode(raw) else {
            return Err(Status::bad_request(format!(
                "the path segment {raw:?} is not percent-encoded UTF-8"
            )));
        };
        if matches!(segment.as_str(), "." | "..") || segment.contains(['/', '\0']) {
            return Err(Status::bad_request(format!("{segment:?} is not a valid path segment")));
        }
        segments.push(segment);
    }
    Ok(Some(segments))
}

/// Takes a path apart; `None` when it is not made of clean segments. `planes` is the kind whose objects have control planes.
pub fn parse(path: &str, planes: Option<&PlaneKind>) -> Result<Option<(Plane, Route)>, Status> {
    let Some(segments) = segments(path)? else { return Ok(None) };
    let path = path.strip_prefix('/').unwrap_or(path);
    let Some((plane, inside)) = planes.and_then(|planes| planes.of_path(&segments)) else {
        return Ok(Some((Plane::root(), route(&segments, path))));
    };
    let slash = if path.ends_with('/') && !inside.is_empty() { "/" } else { "" };
    Ok(Some((plane, route(inside, &(inside.join("/") + slash)))))
}

fn route(segments: &[String], path: &str) -> Route {
    let text = |index: usize| segments.get(index).map_or("", String::as_str);
    let (group, version, rest) = match (text(0), segments.len()) {
        ("api", 1) => return Route::CoreVersions,
        ("apis", 1) => return Route::Groups,
        ("apis", 2) => return Route::Group(text(1).to_owned()),
        ("api", _) => ("", text(1), &segments[2..]),
        ("apis", _) => (text(1), text(2), &segments[3..]),
        // A trailing slash counts here: `/readyz/` is not `/readyz`.
        _ => return Route::Other(path.to_owned()),
    };
    let (group, version) = (group.to_owned(), version.to_owned());
    // The old way to ask for a watch.
    let (is_watch, rest) = match rest {
        [watch, rest @ ..] if watch == "watch" && !rest.is_empty() => (true, rest),
        rest => (false, rest),
    };
    let target = match rest {
        [] => return Route::GroupVersion { group, version },
        // Namespaces are themselves resources without a namespace, with parts of their own.
        [all, name, sub] if all == "namespaces" && is_part_of_namespaces(&group, sub) => Target {
            resource: all.clone(),
            name: name.clone(),
            subresource: sub.clone(),
            ..Target::default()
        },
        [all, namespace, resource, rest @ ..] if all == "namespaces" => {
            Target { namespace: namespace.clone(), ..of(resource, rest) }
        }
        [resource, rest @ ..] => of(resource, rest),
    };
    Route::Resource(Target { group, version, is_watch, ..target })
}

/// Kubernetes has two such parts, whatever the group; ours are none of its resources, and no resource of the core group.
fn is_part_of_namespaces(group: &str, part: &str) -> bool {
    matches!(part, "status" | "finalize")
        || (group.is_empty() && matches!(part, "referrers" | "history" | "undo" | "restore"))
}

fn of(resource: &str, rest: &[String]) -> Target {
    let mut rest = rest.iter().cloned();
    Target {
        resource: resource.to_owned(),
        name: rest.next().unwrap_or_default(),
        subresource: rest.next().unwrap_or_default(),
        rest: rest.collect(),
        ..Target::default()
    }
}

/// Undoes percent-encoding; `None` when the result is not UTF-8 or an escape is cut off.
pub fn decode(text: &str) -> Option<String> {
    if !text.contains('%') {
        return Some(text.to_owned());
    }
    String::from_utf8(decode_bytes(text)?).ok()
}

/// The bytes that percent-encoding stands for; `None` when an escape is none.
pub fn decode_bytes(text: &str) -> Option<Vec<u8>> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            decoded.push(byte);
            continue;
        }
        let digit = |byte: u8| (byte as char).to_digit(16);
        let (high, low) = (digit(bytes.next()?)?, digit(bytes.next()?)?);
        decoded.push((high * 16 + low) as u8);
    }
    Some(decoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TENANTS: PlaneKind = PlaneKind {
        group: "tenants.example.com",
        version: "v1",
        kind: "Tenant",
        plural: "tenants",
        context: ["example.com/group", "example.com/kind", "example.com/name"],
    };

    fn target(path: &str) -> (Plane, Target) {
        match parse(path, Some(&TENANTS)).unwrap().unwrap() {
            (plane, Route::Resource(target)) => (plane, target),
            other => panic!("{path} is {other:?}"),
        }
    }

    #[test]
    fn resources_are_found_in_and_out_of_namespaces() {
        let (plane, one) = target("/apis/g.example.com/v1/namespaces/n/widgets/a/status");
        assert!(plane.is_root());
        assert_eq!(
            (one.group.as_str(), one.namespace.as_str(), one.resource.as_str(), one.name.as_str()),
            ("g.example.com", "n", "widgets", "a")
        );
        assert_eq!(one.subresource, "status");
        let (_, all) = target("/api/v1/configmaps/");
        assert_eq!((all.resource.as_str(), all.name.as_str()), ("configmaps", ""));
    }

    #[test]
    fn a_namespace_is_an_object_itself() {
        let (_, namespace) = target("/api/v1/namespaces/n");
        assert_eq!((namespace.resource.as_str(), namespace.name.as_str()), ("namespaces", "n"));
        let (_, finalize) = target("/api/v1/namespaces/n/finalize");
        assert_eq!((finalize.resource.as_str(), finalize.subresource.as_str()), ("namespaces", "finalize"));
        let (_, ours) = target("/api/v1/namespaces/n/referrers");
        assert_eq!((ours.resource.as_str(), ours.name.as_str()), ("namespaces", "n"));
        assert_eq!(ours.subresource, "referrers");
        let (_, inside) = target("/apis/example.com/v1/namespaces/n/history");
        assert_eq!((inside.resource.as_str(), inside.namespace.as_str()), ("history", "n"));
        let (_, inside) = target("/api/v1/namespaces/n/secrets");
        assert_eq!((inside.resource.as_str(), inside.namespace.as_str()), ("secrets", "n"));
    }

    #[test]
    fn a_project_has_all_paths_again() {
        let path = "/apis/tenants.example.com/v1/tenants/p1/control-plane/api/v1/namespaces/n";
        assert_eq!(path, format!("{}/api/v1/namespaces/n", TENANTS.path(&Plane::project("p1"))));
        let (plane, one) = target(path);
        assert_eq!(plane, Plane::project("p1"));
        assert_eq!(one.name, "n");
        for other in ["openapi/v3/apis/apps/v1", "openapi/v3/", "version"] {
            let path = format!("{}/{other}", TENANTS.path(&Plane::project("p1")));
            let (plane, route) = parse(&path, Some(&TENANTS)).unwrap().unwrap();
            assert_eq!((plane.as_str(), route), ("p1", Route::Other(other.to_owned())));
        }
    }

    #[test]
    fn a_path_is_taken_as_it_is() {
        assert_eq!(parse("//api/v1", None), Ok(None));
        assert_eq!(parse("/api/v1/../v1", None), Ok(None));
        assert!(parse("/api/v1/namespaces/%2e%2e", None).is_err());
        assert!(parse("/api/v1/namespaces/%ff", None).is_err());
        assert_eq!(parse("/readyz/", None).unwrap().unwrap().1, Route::Other("readyz/".into()));
    }
}

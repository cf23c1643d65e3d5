//! Which objects a command is about: types and names as they are typed, files, selectors.

use crate::discovery::{Discovery, ResolvedType, Resource};
use crate::failure::Failure;

/// What is meant: one object, or all of a resource that are selected.
#[derive(Debug, Clone)]
pub struct Target {
    /// The resource.
    pub resource: Resource,
    /// `None` for all of them.
    pub name: Option<String>,
}

/// Reads `TYPE[,TYPE…] [NAME…]` or `TYPE/NAME…`.
pub fn targets(discovery: &Discovery, words: &[String]) -> Result<Vec<Target>, Failure> {
    let mut targets = Vec::new();
    if words.iter().any(|word| word.contains('/')) {
        for word in words {
            let Some((types, name)) = word.split_once('/') else {
                return Err(Failure::usage(
                    "there is no need to specify a resource type as a separate argument when passing arguments in resource/name \
                     form (e.g. 'groundplane get resource/<resource_name>' instead of 'groundplane get resource resource/<resource_name>'",
                ));
            };
            if types.is_empty() || name.is_empty() || name.contains('/') {
                return Err(Failure::usage(
                    "arguments in resource/name form must have a single resource and name",
                ));
            }
            for resource in resources(discovery, types)? {
                targets.push(Target { resource: resource.clone(), name: Some(name.to_owned()) });
            }
        }
        return Ok(targets);
    }
    let Some((types, names)) = words.split_first() else { return Ok(targets) };
    for resource in resources(discovery, types)? {
        match names {
            [] => targets.push(Target { resource: resource.clone(), name: None }),
            names => targets.extend(
                names.iter().map(|name| Target { resource: resource.clone(), name: Some(name.clone()) }),
            ),
        }
    }
    Ok(targets)
}

/// The resources that a list of types names, each once.
pub fn resources<'a>(discovery: &'a Discovery, types: &str) -> Result<Vec<&'a Resource>, Failure> {
    let mut found: Vec<&Resource> = Vec::new();
    for word in types.split(',').filter(|word| !word.is_empty()) {
        let wanted = match discovery.wanted(word)? {
            ResolvedType::One(resource) => vec![resource],
            ResolvedType::Category(members) => members,
        };
        for resource in wanted {
            if !found.contains(&resource) {
                found.push(resource);
            }
        }
    }
    Ok(found)
}

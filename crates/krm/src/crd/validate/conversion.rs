//! Validation of conversion settings.

use crate::crd::go_text;
use crate::crd::spec::{Client, Conversion, Service};
use crate::field::{FieldError, Path};
use crate::names::{dns1035_label, dns1123_subdomain};

/// The forms of ConversionReview that are understood.
const REVIEW_VERSIONS: [&str; 2] = ["v1", "v1beta1"];

/// What was let through before, and so still is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Leniency {
    pub unrecognized_version: bool,
    pub invalid_ca_bundle: bool,
}

pub(super) fn validate(
    conversion: Option<&Conversion<'_>>,
    leniency: Leniency,
    path: &Path<'_>,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let Some(conversion) = conversion else { return errors };
    errors.extend(super::spec::one_of(conversion.strategy, &["None", "Webhook"], &path.field("strategy")));
    let client_path = path.field("webhookClientConfig");
    let versions_path = path.field("conversionReviewVersions");
    if conversion.strategy == "Webhook" {
        match &conversion.client {
            None => {
                errors.push(FieldError::required(&client_path, "required when strategy is set to Webhook"));
            }
            Some(client) => check_client(client, leniency, &client_path, &mut errors),
        }
        let recognized = !leniency.unrecognized_version;
        check_review_versions(&conversion.review_versions, recognized, &versions_path, &mut errors);
        return errors;
    }
    let detail = "should not be set when strategy is not set to Webhook";
    if conversion.client.is_some() {
        errors.push(FieldError::forbidden(&client_path, detail));
    }
    if !conversion.review_versions.is_empty() {
        errors.push(FieldError::forbidden(&versions_path, detail));
    }
    errors
}

/// Whether there is a version that is understood, or none at all.
pub(super) fn has_recognized_version(versions: &[&str]) -> bool {
    versions.is_empty() || versions.iter().any(|version| REVIEW_VERSIONS.contains(version))
}

/// Why certificates cannot be read, in Kubernetes' words.
pub(super) fn ca_bundle_fault(bundle: &str) -> Option<&'static str> {
    let decoded = crate::base64::decode(bundle).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let readable = decoded.is_some_and(|text| {
        text.contains("-----BEGIN CERTIFICATE-----") && text.contains("-----END CERTIFICATE-----")
    });
    let fault = "unable to load root certificates: unable to parse bytes as PEM block";
    (!bundle.is_empty() && !readable).then_some(fault)
}

fn check_client(client: &Client<'_>, leniency: Leniency, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    match (client.url, &client.service) {
        (Some(url), None) => check_url(url, &path.field("url"), errors),
        (None, Some(service)) => check_service(service, &path.field("service"), errors),
        _ => errors.push(FieldError::required(path, "exactly one of url or service is required")),
    }
    if !leniency.invalid_ca_bundle
        && let Some(fault) = ca_bundle_fault(client.ca_bundle)
    {
        let shown = go_text::text(client.ca_bundle);
        errors.push(FieldError::invalid_shown(&path.field("caBundle"), shown, fault));
    }
}

fn check_url(url: &str, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    let form = "; desired format: https://host[/path]";
    let (scheme, rest) = url.split_once(':').unwrap_or(("", url));
    let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let authority = rest.strip_prefix("//").map_or("", |rest| rest.split('/').next().unwrap_or(""));
    let (user, host) =
        authority.rsplit_once('@').map_or((None, authority), |(user, host)| (Some(user), host));
    let scheme = scheme.to_ascii_lowercase();
    if scheme != "https" {
        let detail = format!("'https' is the only allowed URL scheme{form}");
        errors.push(FieldError::invalid_text(path, &scheme, detail));
    }
    if host.is_empty() {
        errors.push(FieldError::invalid_text(path, host, format!("host must be specified{form}")));
    }
    if let Some(user) = user {
        errors.push(FieldError::invalid_text(path, user, "user information is not permitted in the URL"));
    }
    if !fragment.is_empty() {
        errors.push(FieldError::invalid_text(path, fragment, "fragments are not permitted in the URL"));
    }
    if !query.is_empty() {
        errors.push(FieldError::invalid_text(path, query, "query parameters are not permitted in the URL"));
    }
}

fn check_service(service: &Service<'_>, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    // Kubernetes takes one for the other here: an empty namespace is told of as an empty name.
    if service.namespace.is_empty() {
        errors.push(FieldError::required(&path.field("name"), ""));
    }
    if service.name.is_empty() {
        errors.push(FieldError::required(&path.field("namespace"), ""));
    }
    if !(1..=65535).contains(&service.port) {
        let detail = "port is not valid: must be between 1 and 65535, inclusive";
        errors.push(FieldError::invalid(&path.field("port"), &service.port.into(), detail));
    }
    check_service_path(service.path.unwrap_or(""), &path.field("path"), errors);
}

fn check_service_path(text: &str, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    match text {
        "" | "/" => return,
        "//" => {
            errors.push(FieldError::invalid_text(path, text, "segment[0] may not be empty"));
            return;
        }
        _ => {}
    }
    if !text.starts_with('/') {
        errors.push(FieldError::invalid_text(path, text, "must start with a '/'"));
    }
    let mut rest = text.chars();
    rest.next();
    let rest = rest.as_str();
    for (index, segment) in rest.strip_suffix('/').unwrap_or(rest).split('/').enumerate() {
        if segment.is_empty() {
            let detail = format!("segment[{index}] may not be empty");
            errors.push(FieldError::invalid_text(path, text, detail));
            continue;
        }
        for fault in dns1123_subdomain(segment) {
            errors.push(FieldError::invalid_text(path, text, format!("segment[{index}]: {fault}")));
        }
    }
}

fn check_review_versions(versions: &[&str], recognized: bool, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    if versions.is_empty() {
        errors.push(FieldError::required(path, ""));
        return;
    }
    let mut seen = std::collections::BTreeSet::new();
    for (index, version) in versions.iter().enumerate() {
        if !seen.insert(version) {
            errors.push(FieldError::invalid_text(&path.index(index), version, "duplicate version"));
            continue;
        }
        for fault in dns1035_label(version) {
            errors.push(FieldError::invalid_text(&path.index(index), version, fault));
        }
    }
    if recognized && !has_recognized_version(versions) {
        let detail = format!("must include at least one of {}", REVIEW_VERSIONS.join(", "));
        errors.push(FieldError::invalid_shown(path, go_text::texts(versions), detail));
    }
}

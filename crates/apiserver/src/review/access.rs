//! SubjectAccessReview, SelfSubjectAccessReview and SelfSubjectRulesReview.

use std::collections::BTreeMap;

use krm::field::{FieldError, Path};
use krm::status::Subject;
use krm::{Object, Status};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::attributes::{NonResourceAttributes, ResourceAttributes};
use super::{read, write};
use crate::authz::{Attributes, Authorizer, Decision, Rule};
use crate::identity::Identity;
use crate::pipeline::InPlane;

const GROUP: &str = "authorization.k8s.io";

#[derive(Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
struct Spec {
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_attributes: Option<ResourceAttributes>,
    #[serde(skip_serializing_if = "Option::is_none")]
    non_resource_attributes: Option<NonResourceAttributes>,
    #[serde(skip_serializing_if = "String::is_empty")]
    user: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    groups: Vec<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    extra: BTreeMap<String, Vec<String>>,
    #[serde(skip_serializing_if = "String::is_empty")]
    uid: String,
}

/// A `SelfSubjectAccessReview`: may `who` do this?
pub fn self_subject_access(
    authorizer: &dyn Authorizer,
    who: &Identity,
    mut review: Object,
) -> Result<Object, Status> {
    // Whoever asks about himself does not say who that is.
    let asked: Spec = read(&review, "spec")?;
    let spec = Spec {
        resource_attributes: asked.resource_attributes,
        non_resource_attributes: asked.non_resource_attributes,
        ..Spec::default()
    };
    let mut faults = spec.attribute_faults();
    faults.extend(metadata_faults(&review, &[], "must be empty"));
    refuse(&faults)?;
    answer(authorizer, who, &spec, &mut review)?;
    Ok(review)
}

/// A `SubjectAccessReview`: may somebody do this?
pub fn subject_access(authorizer: &dyn Authorizer, mut review: Object) -> Result<Object, Status> {
    let spec: Spec = read(&review, "spec")?;
    let mut faults = spec.subject_faults();
    faults.extend(metadata_faults(&review, &[], "must be empty"));
    refuse(&faults)?;
    answer(authorizer, &spec.subject(), &spec, &mut review)?;
    Ok(review)
}

/// A `LocalSubjectAccessReview`: may somebody do this in the namespace?
pub fn local_subject_access(
    authorizer: &dyn Authorizer,
    namespace: &str,
    mut review: Object,
) -> Result<Object, Status> {
    if review.namespace().is_empty() {
        review.set_meta("namespace", Some(namespace.into()));
    }
    let spec: Spec = read(&review, "spec")?;
    let mut faults = spec.subject_faults();
    faults.extend(metadata_faults(&review, &["namespace"], "must be empty except for namespace"));
    let at = Path::of("spec");
    if let Some(asked) =
        spec.resource_attributes.as_ref().filter(|asked| asked.namespace != review.namespace())
    {
        let at = at.field("resourceAttributes");
        let detail = "must match metadata.namespace";
        faults.push(FieldError::invalid_text(&at.field("namespace"), &asked.namespace, detail));
    }
    if let Some(asked) = &spec.non_resource_attributes {
        let detail = "disallowed on this kind of request";
        faults.push(FieldError::invalid(&at.field("nonResourceAttributes"), &asked.shown(), detail));
    }
    refuse(&faults)?;
    if review.namespace() != namespace {
        let message = format!("spec.resourceAttributes.namespace must match namespace: {namespace}");
        return Err(Status::bad_request(message));
    }
    answer(authorizer, &spec.subject(), &spec, &mut review)?;
    Ok(review)
}

/// An `AccessExplanation`: which grants allow something, or what would? About others it is asked by those who may ask whether
/// others may.
pub fn explanation(rights: &InPlane<'_>, who: &Identity, mut review: Object) -> Result<Object, Status> {
    let spec: Spec = read(&review, "spec")?;
    refuse(&spec.attribute_faults())?;
    let about_others = !spec.user.is_empty() || !spec.groups.is_empty();
    if about_others {
        let ask = Attributes::resource("create", GROUP, "subjectaccessreviews");
        let decision = rights.decide(who, &ask);
        if !decision.allowed {
            return Err(ask.forbidden(who, &decision.reason));
        }
    }
    let subject = if about_others { spec.subject() } else { who.clone() };
    let resource = spec.resource_attributes.as_ref().map(ResourceAttributes::attributes);
    let path = spec.non_resource_attributes.as_ref().map(NonResourceAttributes::attributes);
    let what = resource.or(path).unwrap_or_default();
    let decision = rights.decide(&subject, &what);
    let explained = rights.api.followers().rights.explain(rights.plane, &subject, &what);
    let mut status = json!({ "allowed": decision.allowed, "user": &*subject.user });
    if !decision.reason.is_empty() {
        status["reason"] = decision.reason.into();
    }
    if !explained.allowed_by.is_empty() {
        status["allowedBy"] = explained.allowed_by.into();
    }
    if !decision.allowed && !explained.would_allow.is_empty() {
        status["wouldAllow"] = explained.would_allow.into();
    }
    write(&mut review, "spec", &spec)?;
    review.set("status", Some(status));
    Ok(review)
}

/// A `SelfSubjectRulesReview`: what all may `who` do in a namespace?
pub fn self_subject_rules(
    authorizer: &dyn Authorizer,
    who: &Identity,
    review: &Object,
) -> Result<Object, Status> {
    let namespace = review.at("spec.namespace").and_then(Value::as_str).unwrap_or("");
    if namespace.is_empty() {
        return Err(Status::bad_request("no namespace on request"));
    }
    let found = authorizer.rules_for(who, namespace);
    let on_resources = found.rules.iter().filter(|rule| !rule.resources.is_empty());
    let on_paths = found.rules.iter().filter(|rule| !rule.non_resource_urls.is_empty());
    let mut status = json!({
        "resourceRules": on_resources.map(resource_rule).collect::<Vec<_>>(),
        "nonResourceRules": on_paths.map(path_rule).collect::<Vec<_>>(),
        "incomplete": false,
    });
    if !found.error.is_empty() {
        status["evaluationError"] = found.error.into();
    }
    let mut answer = Object::new(review.api_version(), review.kind());
    answer.set("spec", Some(json!({})));
    answer.set("status", Some(status));
    Ok(answer)
}

fn resource_rule(rule: &Rule) -> Value {
    Rule { non_resource_urls: Vec::new(), ..rule.clone() }.to_json()
}

fn path_rule(rule: &Rule) -> Value {
    let (verbs, non_resource_urls) = (rule.verbs.clone(), rule.non_resource_urls.clone());
    Rule { verbs, non_resource_urls, ..Rule::default() }.to_json()
}

impl Spec {
    fn subject(&self) -> Identity {
        Identity {
            user: self.user.as_str().into(),
            uid: self.uid.as_str().into(),
            groups: self.groups.iter().map(|group| group.as_str().into()).collect(),
            extra: self.extra.clone(),
            ..Identity::default()
        }
    }

    fn attribute_faults(&self) -> Vec<FieldError> {
        let spec = Path::of("spec");
        let mut faults = match (&self.resource_attributes, &self.non_resource_attributes) {
            (Some(_), Some(other)) => vec![FieldError::invalid(
                &spec.field("nonResourceAttributes"),
                &other.shown(),
                "cannot be specified in combination with resourceAttributes",
            )],
            (None, None) => vec![FieldError::invalid(
                &spec.field("resourceAttributes"),
                &Value::Null,
                "exactly one of nonResourceAttributes or resourceAttributes must be specified",
            )],
            _ => Vec::new(),
        };
        faults.extend(self.resource_attributes.iter().flat_map(ResourceAttributes::faults));
        faults
    }

    fn subject_faults(&self) -> Vec<FieldError> {
        let mut faults = self.attribute_faults();
        if self.user.is_empty() && self.groups.is_empty() {
            let spec = Path::of("spec");
            let detail = "at least one of user or group must be specified";
            // It comes before what is wrong with selectors.
            let at =
                usize::from(self.resource_attributes.is_some() == self.non_resource_attributes.is_some());
            faults.insert(at.min(faults.len()), FieldError::invalid_text(&spec.field("user"), "", detail));
        }
        faults
    }
}

/// A question has no metadata: nothing of it is kept.
fn metadata_faults(review: &Object, but: &[&str], detail: &'static str) -> Option<FieldError> {
    let given: Map<String, Value> = review.metadata().cloned().unwrap_or_default();
    let is_empty = |value: &Value| match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    };
    let counts = |(field, value): (&String, &Value)| {
        field != "managedFields" && !but.contains(&field.as_str()) && !is_empty(value)
    };
    let wrong = given.iter().any(counts);
    wrong.then(|| FieldError::invalid(&Path::of("metadata"), &Value::Object(given), detail))
}

fn refuse(faults: &[FieldError]) -> Result<(), Status> {
    match faults {
        [] => Ok(()),
        // Kubernetes has forgotten the kind by then, and says so.
        faults => Err(Status::invalid(&Subject::new(GROUP, ""), "", faults)),
    }
}

fn answer(
    authorizer: &dyn Authorizer,
    who: &Identity,
    spec: &Spec,
    review: &mut Object,
) -> Result<(), Status> {
    let (decision, ignored) = match (&spec.resource_attributes, &spec.non_resource_attributes) {
        (Some(asked), _) => (authorizer.decide(who, &asked.attributes()), asked.ignored()),
        (None, Some(asked)) => (authorizer.decide(who, &asked.attributes()), Vec::new()),
        (None, None) => (Decision::default(), Vec::new()),
    };
    let mut status = json!({"allowed": decision.allowed});
    if !decision.reason.is_empty() {
        status["reason"] = decision.reason.into();
    }
    if !ignored.is_empty() {
        status["evaluationError"] = ignored.join("; ").into();
    }
    write(review, "spec", spec)?;
    review.set("status", Some(status));
    Ok(())
}

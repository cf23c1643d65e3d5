//! Validates the attributes of an access review and passes them to an authorizer.

use krm::field::{FieldError, Path};
use krm::names::{label_value, qualified_name};
use krm::selector::{FieldSelector, LabelSelector};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::authz::Attributes;

/// An action on a resource.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ResourceAttributes {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub verb: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub group: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub version: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub resource: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub subresource: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field_selector: Option<Selector>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label_selector: Option<Selector>,
}

/// A selector as a text, or taken apart.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Selector {
    #[serde(skip_serializing_if = "String::is_empty")]
    raw_selector: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    requirements: Vec<Requirement>,
}

#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(default)]
struct Requirement {
    key: String,
    operator: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    values: Vec<String>,
}

/// An action on a path.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct NonResourceAttributes {
    #[serde(skip_serializing_if = "String::is_empty")]
    path: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    verb: String,
}

impl NonResourceAttributes {
    pub fn attributes(&self) -> Attributes<'_> {
        Attributes::path(&self.verb, &self.path)
    }

    /// As messages show it: the names are those that Kubernetes has for itself.
    pub fn shown(&self) -> Value {
        json!({"Path": self.path, "Verb": self.verb})
    }
}

impl ResourceAttributes {
    pub fn attributes(&self) -> Attributes<'_> {
        Attributes {
            verb: &self.verb,
            group: &self.group,
            version: if self.version.is_empty() { "*" } else { &self.version },
            resource: &self.resource,
            subresource: &self.subresource,
            name: &self.name,
            namespace: &self.namespace,
            path: None,
        }
    }

    pub fn faults(&self) -> Vec<FieldError> {
        let spec = Path::of("spec");
        let here = spec.field("resourceAttributes");
        let mut faults = Vec::new();
        if let Some(selector) = &self.field_selector {
            selector.faults(&here.field("fieldSelector"), field_faults, &mut faults);
        }
        if let Some(selector) = &self.label_selector {
            selector.faults(&here.field("labelSelector"), label_faults, &mut faults);
        }
        faults
    }

    /// What of the selectors could not be understood, and so counted for nothing.
    pub fn ignored(&self) -> Vec<String> {
        let told = |name: &str, understood: Understood| match understood {
            Understood::All => None,
            Understood::Some => {
                Some(format!("spec.resourceAttributes.{name} partially ignored due to parse error"))
            }
            Understood::Nothing => Some(format!("spec.resourceAttributes.{name} ignored due to parse error")),
        };
        let fields = self.field_selector.as_ref().map(Selector::fields_understood);
        let labels = self.label_selector.as_ref().map(Selector::labels_understood);
        let fields = fields.and_then(|understood| told("fieldSelector", understood));
        fields.into_iter().chain(labels.and_then(|understood| told("labelSelector", understood))).collect()
    }
}

enum Understood {
    All,
    Some,
    Nothing,
}

impl Selector {
    fn faults(
        &self,
        here: &Path<'_>,
        of_requirement: fn(&Requirement, &Path<'_>, &mut Vec<FieldError>),
        faults: &mut Vec<FieldError>,
    ) {
        let both = "may not specified at the same time as requirements";
        match (self.raw_selector.is_empty(), self.requirements.is_empty()) {
            (false, false) => {
                faults.push(FieldError::invalid_text(&here.field("rawSelector"), &self.raw_selector, both));
            }
            (true, true) => {
                let detail = format!("when {here} is specified, requirements or rawSelector is required");
                faults.push(FieldError::required(&here.field("requirements"), detail));
            }
            _ => {}
        }
        let requirements = here.field("requirements");
        for (index, requirement) in self.requirements.iter().enumerate() {
            of_requirement(requirement, &requirements.index(index), faults);
        }
    }

    fn fields_understood(&self) -> Understood {
        if self.requirements.is_empty() {
            return understood(FieldSelector::parse(&self.raw_selector).is_ok().into(), 1);
        }
        let is_understood =
            |one: &&Requirement| matches!(one.operator.as_str(), "In" | "NotIn") && one.values.len() == 1;
        understood(self.requirements.iter().filter(is_understood).count(), self.requirements.len())
    }

    fn labels_understood(&self) -> Understood {
        if self.requirements.is_empty() {
            return understood(LabelSelector::parse(&self.raw_selector).is_ok().into(), 1);
        }
        let is_understood = |one: &&Requirement| {
            let expression = json!({"matchExpressions": [{"key": one.key, "operator": one.operator, "values": one.values}]});
            LabelSelector::from_json(Some(&expression)).is_ok()
        };
        understood(self.requirements.iter().filter(is_understood).count(), self.requirements.len())
    }
}

fn understood(good: usize, all: usize) -> Understood {
    match good {
        _ if good == all => Understood::All,
        0 => Understood::Nothing,
        _ => Understood::Some,
    }
}

fn field_faults(requirement: &Requirement, here: &Path<'_>, faults: &mut Vec<FieldError>) {
    if requirement.key.is_empty() {
        faults.push(FieldError::required(&here.field("key"), "must be specified"));
    }
    operator_faults(requirement, here, faults);
}

fn label_faults(requirement: &Requirement, here: &Path<'_>, faults: &mut Vec<FieldError>) {
    operator_faults(requirement, here, faults);
    let key = here.field("key");
    let of_key = qualified_name(&requirement.key).into_iter();
    faults.extend(of_key.map(|fault| FieldError::invalid_text(&key, &requirement.key, fault)));
    let values = here.field("values");
    for (index, value) in requirement.values.iter().enumerate() {
        let of_value = label_value(value).into_iter();
        faults.extend(of_value.map(|fault| FieldError::invalid_text(&values.index(index), value, fault)));
    }
}

/// An operator that is not known is none of ours: a newer client may know more than we do.
fn operator_faults(requirement: &Requirement, here: &Path<'_>, faults: &mut Vec<FieldError>) {
    let values = here.field("values");
    match (requirement.operator.as_str(), requirement.values.is_empty()) {
        ("In" | "NotIn", true) => {
            let detail = "must be specified when `operator` is 'In' or 'NotIn'";
            faults.push(FieldError::required(&values, detail));
        }
        ("Exists" | "DoesNotExist", false) => {
            let detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
            faults.push(FieldError::forbidden(&values, detail));
        }
        _ => {}
    }
}

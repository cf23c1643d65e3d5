//! Node filters: select nodes by name, tag, label or rack.

use super::{
    Field, Set, Texts,
    section::{Reading, Section},
};

/// Several criteria and how their answers are joined.
#[derive(Clone, Debug)]
pub struct NodeFilter {
    /// `intersection` or `union`.
    pub join: Field<String>,
    /// The criteria.
    pub criteria: Vec<Criteria>,
}

/// Criteria for nodes. Empty ones are ignored.
#[derive(Clone, Debug)]
pub struct Criteria {
    /// `intersection` or `union`; without it no node answers.
    pub join: Field<String>,
    /// It has one of these names.
    pub node_names: Option<Vec<Set<String>>>,
    /// It has one of these tags.
    pub node_tags: Option<Vec<Set<String>>>,
    /// It has one of these labels.
    pub node_labels: Option<Texts>,
    /// Matches nodes in one of these racks.
    pub rack_names: Option<Vec<Set<String>>>,
    /// Its rack has these labels; never asked, as racks have none.
    pub rack_labels: Option<Texts>,
}

const JOINS: [&str; 2] = ["intersection", "union"];
const CRITERIA_FIELDS: [&str; 6] =
    ["filter_type", "node_names", "node_tags", "node_labels", "rack_names", "rack_labels"];

impl NodeFilter {
    pub(super) fn read(reading: &mut Reading, filter: &Section) -> Self {
        filter.only(reading, &["filter_set_type", "filter_set"]);
        let criteria = filter.sections(reading, "filter_set").unwrap_or_default();
        Self {
            join: filter.one_of(reading, "filter_set_type", &JOINS),
            criteria: criteria.iter().map(|one| Criteria::read(reading, one)).collect(),
        }
    }
}

impl Criteria {
    fn read(reading: &mut Reading, criteria: &Section) -> Self {
        criteria.only(reading, &CRITERIA_FIELDS);
        Self {
            join: criteria.one_of(reading, "filter_type", &JOINS),
            node_names: criteria.texts(reading, "node_names"),
            node_tags: criteria.texts(reading, "node_tags"),
            node_labels: criteria.text_map(reading, "node_labels", Reading::coerced),
            rack_names: criteria.texts(reading, "rack_names"),
            rack_labels: criteria.text_map(reading, "rack_labels", Reading::coerced),
        }
    }
}

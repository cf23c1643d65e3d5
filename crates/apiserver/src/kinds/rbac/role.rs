//! Role: policy rules for one namespace.

use std::sync::Arc;

use krm::kind::{Kind, Scope};
use krm::meta::OBJECT_META;
use krm::names;
use krm::shape::{Field, Outline, STRING, Shape, Struct};
use krm::table::{Column, Columns};

use super::GROUP;
use super::policy_rule::{POLICY_RULES, described, tidy, validate};
use crate::kinds::{columns, declare};

static SHAPE: Shape = Shape::Struct(&Struct {
    name: "Role",
    type_name: "v1.Role",
    fields: &[
        Field::if_empty("apiVersion", STRING),
        Field::if_empty("kind", STRING),
        Field::always("metadata", OBJECT_META),
        Field::always("rules", POLICY_RULES),
    ],
});

pub fn kind() -> Kind {
    let outline = Outline::of(&SHAPE)
        .says("", "Role is a namespaced set of policy rules. A RoleBinding grants it to subjects in the same namespace.");
    let mut kind = declare::core(GROUP, "Role", "roles", Scope::Namespaced, &SHAPE, &described(outline));
    kind.create_on_update = true;
    kind.name_rule = names::name_is_path_segment;
    kind.versions[0].columns = Columns::new(vec![Column::name(), columns::created()]);
    kind.prepare.push(Arc::new(|new, _, _| tidy(new)));
    kind.validations.push(Arc::new(|change| change.new.map(|new| validate(new, true)).unwrap_or_default()));
    kind
}

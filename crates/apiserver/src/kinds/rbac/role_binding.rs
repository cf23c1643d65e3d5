//! RoleBinding: grants a role in one namespace.

use std::sync::Arc;

use krm::kind::{Kind, Scope, Sentence};
use krm::meta::OBJECT_META;
use krm::names;
use krm::shape::{Field, Outline, STRING, Shape, Struct};

use super::GROUP;
use super::binding::{self, ROLE_REF, SUBJECTS, described};
use crate::kinds::declare;

static SHAPE: Shape = Shape::Struct(&Struct {
    name: "RoleBinding",
    type_name: "v1.RoleBinding",
    fields: &[
        Field::if_empty("apiVersion", STRING),
        Field::if_empty("kind", STRING),
        Field::always("metadata", OBJECT_META),
        Field::if_empty("subjects", SUBJECTS),
        Field::always("roleRef", Shape::Struct(&ROLE_REF)),
    ],
});

pub fn kind() -> Kind {
    let outline = Outline::of(&SHAPE)
        .says("", "RoleBinding grants a Role or ClusterRole to subjects in its namespace.");
    let outline = described(outline);
    let mut kind = declare::core(GROUP, "RoleBinding", "rolebindings", Scope::Namespaced, &SHAPE, &outline);
    kind.create_on_update = true;
    kind.name_rule = names::name_is_path_segment;
    kind.activity.created = &[Sentence {
        when: "true",
        says: "granted {{ audit.responseObject.roleRef.name }} in namespace {{ audit.objectRef.namespace }} with @",
    }];
    kind.versions[0].columns = binding::table("roleBinding");
    kind.complete.push(Arc::new(binding::complete));
    kind.validations.push(Arc::new(|change| binding::validate(change, &["Role", "ClusterRole"], true)));
    kind
}

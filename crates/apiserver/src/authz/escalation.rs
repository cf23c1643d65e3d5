//! Privilege escalation check: a user cannot grant permissions that it does not hold.

use krm::field::quote;
use krm::status::Subject;
use krm::{Object, Status};
use serde_json::Value;

use super::coverage;
use super::rule::quoted;
use super::{Attributes, Authorizer, RBAC_GROUP, Rbac, RbacKind, Rule};
use crate::identity::{Identity, MASTERS};

const AGGREGATION_IS_FOR_ADMINS: &str = "must have cluster-admin privileges to use the aggregationRule";

/// Whether `who` may write `new` in the place of `old`: a role only if he holds all of its rules or may `escalate`,
/// a binding only if he holds all rules of its role or may `bind` it.
///
/// `request` is the request that writes; `rbac` are the plane's roles and `authorizer` whatever decides there.
pub fn check_escalation(
    rbac: &Rbac,
    authorizer: &dyn Authorizer,
    who: &Identity,
    request: &Attributes<'_>,
    old: Option<&Object>,
    new: &Object,
) -> Result<(), Status> {
    let Some(kind) = RbacKind::of_resource(request.resource).filter(|_| request.group == RBAC_GROUP) else {
        return Ok(());
    };
    if who.is_in(MASTERS) || old.is_some_and(|old| differs_in_ownership_only(old, new)) {
        return Ok(());
    }
    let writer = Writer { authorizer, who, namespace: request.namespace };
    let subject = Subject::new(RBAC_GROUP, request.resource);
    let forbidden = |why: String| Status::forbidden(&subject, new.name(), why);
    match kind {
        RbacKind::Role | RbacKind::ClusterRole => {
            let escalate = Attributes { verb: "escalate", version: "*", subresource: "", ..*request };
            if authorizer.decide(who, &escalate).allowed {
                return Ok(());
            }
            writer.holds(&Rule::list_from_json(new.get("rules"))).map_err(&forbidden)?;
            if kind == RbacKind::ClusterRole && (is_sum(new) || old.is_some_and(is_sum)) {
                let everything = [Rule::on(&["*"], &["*"], &["*"]), Rule::on_paths(&["*"], &["*"])];
                writer.holds(&everything).map_err(|_| forbidden(AGGREGATION_IS_FOR_ADMINS.to_owned()))?;
            }
            Ok(())
        }
        RbacKind::RoleBinding | RbacKind::ClusterRoleBinding => {
            let role =
                |field: &str| new.at("roleRef").and_then(|role| role.get(field)?.as_str()).unwrap_or("");
            let (resource, role_namespace) = match role("kind") {
                "ClusterRole" => ("clusterroles", ""),
                "Role" => ("roles", request.namespace),
                other => {
                    let why = format!("unsupported role reference kind: {}", quote(other));
                    return Err(Status::internal(why));
                }
            };
            let bind = Attributes::resource("bind", role("apiGroup"), resource);
            if authorizer.decide(who, &bind.in_namespace(request.namespace).named(role("name"))).allowed {
                return Ok(());
            }
            let rules = rbac.rules_of(role_namespace, role("name")).filter(|_| {
                // A binding for all namespaces has no namespace to take a role from.
                resource == "clusterroles" || !role_namespace.is_empty()
            });
            let no_such_role = || Status::not_found(&Subject::new(RBAC_GROUP, resource), role("name"));
            writer.holds(&rules.ok_or_else(no_such_role)?).map_err(forbidden)
        }
    }
}

struct Writer<'a> {
    authorizer: &'a dyn Authorizer,
    who: &'a Identity,
    namespace: &'a str,
}

impl Writer<'_> {
    /// Whether the writer holds all of `rules`; otherwise what he lacks.
    fn holds(&self, rules: &[Rule]) -> Result<(), String> {
        let held = self.authorizer.grantable(self.who, self.namespace);
        let user = quote(&self.who.user);
        let groups = quoted(self.who.groups.iter().map(|group| &**group));
        let Ok(missing) = coverage::missing(&held.rules, rules) else {
            return Err(format!(
                "user {user} (groups={groups}) is attempting to grant more single permissions than can be \
                 compared with those currently held; write several roles, or use the verb \"escalate\""
            ));
        };
        if missing.is_empty() {
            return Ok(());
        }
        let lines = coverage::told(&missing).join("\n");
        let errors = match held.error.as_str() {
            "" => String::new(),
            error => format!("; resolution errors: [{error}]"),
        };
        Err(format!(
            "user {user} (groups={groups}) is attempting to grant RBAC permissions not currently held:\n{lines}{errors}"
        ))
    }
}

fn is_sum(role: &Object) -> bool {
    let selectors = role.at("aggregationRule.clusterRoleSelectors").and_then(Value::as_array);
    selectors.is_some_and(|selectors| !selectors.is_empty())
}

/// What garbage collection changes gives nobody anything.
fn differs_in_ownership_only(old: &Object, new: &Object) -> bool {
    let bare = |object: &Object| {
        let mut object = object.clone();
        for field in ["ownerReferences", "finalizers", "selfLink", "managedFields"] {
            object.set_meta(field, None);
        }
        object
    };
    bare(old) == bare(new)
}

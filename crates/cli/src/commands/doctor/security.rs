//! `groundplane doctor --security`: a running server beside the threat model.

use http::Method;
use serde_json::{Value, json};

use super::Finding;
use crate::client::{Ask, Client};
use crate::failure::Failure;
use crate::session::Session;

const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";
/// Groups that everybody is in, or everybody with some account.
const EVERYBODY: [&str; 4] =
    ["system:unauthenticated", "system:authenticated", "system:serviceaccounts", "system:machineaccounts"];
/// How many names a finding tells.
const MOST_TOLD: usize = 5;

/// Runs the checks. What can't be read is a failed check, and says so.
pub async fn examine(session: &mut Session) -> Result<Vec<Finding>, Failure> {
    let client = session.client().await?;
    Ok(vec![
        finding("anonymous", anonymous(&client).await),
        finding("everybody", everybody(&client).await),
        finding("masters", masters(&client).await),
        finding("keys", keys(&client).await),
        finding("history", history(&client).await),
    ])
}

/// What was found: well, or not.
type Checked = Result<Result<String, String>, Failure>;

fn finding(what: &'static str, checked: Checked) -> Finding {
    let (is_well, told) = match checked {
        Ok(Ok(told)) => (true, told),
        Ok(Err(told)) => (false, told),
        Err(failure) => {
            (false, format!("can't be checked: {}", failure.text().trim_end().replace('\n', "; ")))
        }
    };
    Finding { what, is_well, told }
}

/// Requests without credentials may read health and version, and nothing else.
async fn anonymous(client: &Client) -> Checked {
    let mut allowed = Vec::new();
    for (verb, group, resource) in
        [("get", "", "secrets"), ("list", "", "configmaps"), ("list", "*", "*"), ("create", "*", "*")]
    {
        let review = json!({
            "apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
            "spec": {
                "user": "system:anonymous", "groups": ["system:unauthenticated"],
                "resourceAttributes": {"verb": verb, "group": group, "resource": resource},
            },
        });
        let path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
        let answer = client.value(&Ask::new(Method::POST, path).json(&review)).await?;
        if answer["status"]["allowed"] == true {
            allowed.push(format!("{verb} {resource}"));
        }
    }
    Ok(match allowed.is_empty() {
        true => Ok("requests without credentials may read health and version only".to_owned()),
        false => Err(format!(
            "requests without credentials may {}: remove the bindings of system:unauthenticated",
            allowed.join(", ")
        )),
    })
}

/// No binding gives a role of administrators to everybody.
async fn everybody(client: &Client) -> Checked {
    let bindings = client.value(&Ask::get(format!("{RBAC}/clusterrolebindings"))).await?;
    let mut wide = Vec::new();
    for binding in items(&bindings) {
        let role = binding["roleRef"]["name"].as_str().unwrap_or_default();
        let is_strong = matches!(role, "cluster-admin" | "admin" | "edit");
        let subjects = binding["subjects"].as_array().map(Vec::as_slice).unwrap_or_default();
        let to_all = subjects.iter().any(|subject| {
            let name = subject["name"].as_str().unwrap_or_default();
            subject["kind"] == "Group" && EVERYBODY.contains(&name)
        });
        if is_strong && to_all {
            wide.push(name(binding));
        }
    }
    Ok(match wide.is_empty() {
        true => Ok("no ClusterRoleBinding gives everybody cluster-admin, admin or edit".to_owned()),
        false => Err(format!("everybody is given a strong role by ClusterRoleBinding {}", told(&wide))),
    })
}

/// Daily work is done by accounts that can be taken away.
async fn masters(client: &Client) -> Checked {
    let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"});
    let path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    let me = client.value(&Ask::new(Method::POST, path).json(&review)).await?;
    let groups = me["status"]["userInfo"]["groups"].as_array().map(Vec::as_slice).unwrap_or_default();
    Ok(Ok(match groups.iter().any(|group| group == "system:masters") {
        true => "you are in system:masters, which no role can limit; keep this kubeconfig for emergencies"
            .to_owned(),
        false => "you are not in system:masters".to_owned(),
    }))
}

/// Keys of machine accounts end.
async fn keys(client: &Client) -> Checked {
    let keys = client.value(&Ask::get("/apis/iam.miloapis.com/v1alpha1/machineaccountkeys")).await?;
    let endless: Vec<String> =
        items(&keys).filter(|key| key["spec"]["expirationDate"].is_null()).map(name).collect();
    Ok(match endless.is_empty() {
        true => Ok(format!("{} keys of machine accounts, all with an expirationDate", items(&keys).count())),
        false => Err(format!("keys of machine accounts without spec.expirationDate: {}", told(&endless))),
    })
}

/// History is as it was written, as far as it can be proved.
async fn history(client: &Client) -> Checked {
    let path = "/apis/groundplane.dev/v1alpha1/verifications";
    let answer = client.value(&Ask::new(Method::POST, path).json(&json!({}))).await?;
    let status = &answer["status"];
    let records = status["records"].as_u64().unwrap_or(0);
    let text = |field: &str| -> Vec<String> {
        let list = status[field].as_array().into_iter().flatten();
        list.filter_map(|what| what["what"].as_str().or(what.as_str())).map(str::to_owned).collect()
    };
    Ok(match status["verified"] == true {
        true => Ok(match text("unproven").as_slice() {
            [] => format!("{records} records verified"),
            unproven => format!("{records} records verified; not proven: {}", unproven.join("; ")),
        }),
        false => {
            Err(format!("the history is damaged: {}; run groundplane audit verify", told(&text("problems"))))
        }
    })
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list["items"].as_array().into_iter().flatten()
}

fn name(object: &Value) -> String {
    let metadata = &object["metadata"];
    let name = metadata["name"].as_str().unwrap_or_default();
    match metadata["namespace"].as_str() {
        Some(namespace) => format!("{namespace}/{name}"),
        None => name.to_owned(),
    }
}

fn told(names: &[String]) -> String {
    let more = names.len().saturating_sub(MOST_TOLD);
    let mut told = names.iter().take(MOST_TOLD).cloned().collect::<Vec<_>>().join(", ");
    if more > 0 {
        told.push_str(&format!(" and {more} more"));
    }
    told
}

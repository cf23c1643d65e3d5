//! The quota of an organization, read from its buckets in the root.

use cli::{Ask, Failure, Session};
use serde_json::{Value, json};

use super::API;
use crate::output::text;

/// What an organization uses of each resource, as a project's usage is told.
pub async fn rows(organization: &str, session: &mut Session) -> Result<Vec<Value>, Failure> {
    let client = session.client().await?.inner().in_root();
    let namespace = cli::segment(&format!("organization-{organization}"));
    let buckets = client.value(&Ask::get(format!("{API}/namespaces/{namespace}/allowancebuckets"))).await?;
    let registrations = client.value(&Ask::get(format!("{API}/resourceregistrations"))).await?;
    let registered = |resource: &str| {
        let all = registrations["items"].as_array().into_iter().flatten();
        all.map(|found| &found["spec"]).find(|spec| text(spec, "/resourceType") == resource)
    };
    let row = |bucket: &Value| {
        let (resource, status) = (text(bucket, "/spec/resourceType"), &bucket["status"]);
        let mut row = json!({
            "resourceType": resource,
            "used": status["allocated"], "limit": status["limit"], "available": status["available"],
            "claims": status["claimCount"], "waiting": status["waitingCount"],
            "overcommitted": status["allocated"].as_i64() > status["limit"].as_i64(),
        });
        for field in ["displayUnit", "unitConversionFactor"] {
            if let Some(value) = registered(resource).and_then(|spec| spec.get(field)) {
                row[field] = value.clone();
            }
        }
        row
    };
    Ok(buckets["items"].as_array().into_iter().flatten().map(row).collect())
}

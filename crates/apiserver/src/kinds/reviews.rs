//! Access and authentication reviews: answered in the response and never stored.

mod attributes;
mod local_subject_access_review;
mod self_subject_access_review;
mod self_subject_review;
mod self_subject_rules_review;
mod subject_access_review;
mod token_review;
mod user_info;

use krm::kind::Kind;

const AUTHENTICATION: &str = "authentication.k8s.io";
const AUTHORIZATION: &str = "authorization.k8s.io";

pub fn kinds() -> [Kind; 6] {
    [
        self_subject_review::kind(),
        token_review::kind(),
        self_subject_access_review::kind(),
        subject_access_review::kind(),
        local_subject_access_review::kind(),
        self_subject_rules_review::kind(),
    ]
}

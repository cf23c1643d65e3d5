//! User: a person, who authenticates by user name or email address.

use krm::condition::Condition;
use krm::field::{FieldError, Path};
use krm::kind::{Bucket, Change, Declaration, Metadata, Planes, Refusal, Resource, Verdict, View, allow};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{State, pending, prints_ready};

/// Bucket of users by email address.
const BY_EMAIL: Bucket = Bucket::new("iam.miloapis.com/users-by-email").stored_as("users-by-email");

/// User is a person who can authenticate. Roles are granted to the user directly or through groups and
/// organizations.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct User {
    /// Standard object metadata. The name is the user name.
    pub metadata: Metadata,
    /// Name and email address of the user.
    pub spec: UserSpec,
    /// Observed state of the user, written by the IAM controller and administrators.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<UserStatus>,
}

/// Identity of a user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserSpec {
    /// Email address. A client whose authenticated user name is this address is this user. Must be unique,
    /// ignoring case. 3 to 320 characters.
    #[schemars(length(min = 3, max = 320))]
    pub email: String,
    /// Given name of the user. At most 256 characters.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 256))]
    pub given_name: String,
    /// Family name of the user. At most 256 characters.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 256))]
    pub family_name: String,
}

/// Observed state of a user.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserStatus {
    /// Latest observations. `Ready` is `True` once the user is registered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// Whether the user is active: `Active` or `Inactive`. Grants to an inactive user have no effect.
    /// Defaults to `Active`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<State>,
    /// Approval of the user's access: `Pending`, `Approved`, `Rejected` or `Suspended`. Informational.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["Pending", "Approved", "Rejected", "Suspended"]))]
    pub platform_access: Option<String>,
    /// Identity provider of the last login: `github`, `google`, `passkey` or `email`. Informational.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["github", "google", "passkey", "email"]))]
    pub last_login_provider: Option<String>,
    /// URL of the user's profile picture. At most 2048 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 2048))]
    pub avatar_url: Option<String>,
}

impl Resource for User {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = "User";
    const PLURAL: &'static str = "users";

    fn declare() -> Declaration<User> {
        let declaration = Declaration::cluster()
            .planes(Planes::Root)
            .status()
            .selects(&["spec.email", "status.platformAccess"])
            .searches(&["spec.email", "spec.givenName", "spec.familyName"])
            .prepare(|user, old| {
                pending(user, old);
                if user.at("status.state").is_none() {
                    let mut status = user.get("status").cloned().unwrap_or_default();
                    status["state"] = json!("Active");
                    user.set("status", Some(status));
                }
            })
            .prints("Email", "string", ".spec.email")
            .prints("Given Name", "string", ".spec.givenName")
            .prints("Family Name", "string", ".spec.familyName");
        prints_ready(declaration)
            .prints_age()
            .prints("State", "string", ".status.state")
            .prints("Platform Access", "string", ".status.platformAccess")
            .bucket(BY_EMAIL, |user: &User| vec![user.spec.email.to_lowercase()])
            .validate(has_an_address)
            .rule(is_the_only_one_of_its_address)
    }
}

/// User names contain no `@`, so an email address is never the name of another user.
fn has_an_address(change: &Change<User>) -> Vec<FieldError> {
    let Some(user) = change.after() else { return Vec::new() };
    let parts = user.spec.email.split_once('@');
    let is_one = parts
        .is_some_and(|(name, host)| !name.is_empty() && !host.is_empty() && !host.contains('@'))
        && !user.spec.email.contains(char::is_whitespace);
    match is_one {
        true => Vec::new(),
        false => {
            vec![FieldError::invalid_text(
                &Path::of("spec").field("email"),
                &user.spec.email,
                "must be an email address",
            )]
        }
    }
}

/// An email address identifies one user.
fn is_the_only_one_of_its_address(change: &Change<User>, view: &mut View<'_>) -> Verdict {
    let Some(user) = change.after() else { return allow() };
    let others = view.bucket_of::<User>(BY_EMAIL, &user.spec.email.to_lowercase());
    match others.iter().any(|other| other.metadata.name != user.metadata.name) {
        // The other user is not named: the caller may be allowed to create users, but not to list them.
        true => Err(Refusal::Conflict("another User has this email address".to_owned())),
        false => allow(),
    }
}

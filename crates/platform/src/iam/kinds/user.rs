//! User: a person who signs in, under its name or its email address.

use krm::condition::Condition;
use krm::field::{FieldError, Path};
use krm::kind::{Change, Declaration, Metadata, Planes, Refusal, Resource, Verdict, View, allow};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{State, pending, prints_ready};

/// The users of an email address.
const BY_EMAIL: &str = "users-by-email";

/// A person who signs in.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct User {
    /// What every object has.
    pub metadata: Metadata,
    /// Who it is.
    pub spec: UserSpec,
    /// What is observed of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<UserStatus>,
}

/// Who a user is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserSpec {
    /// The email address: whoever proves to be called so is this user.
    #[schemars(length(min = 3, max = 320))]
    pub email: String,
    /// The first name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 256))]
    pub given_name: String,
    /// The last name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 256))]
    pub family_name: String,
}

/// What is observed of a user.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserStatus {
    /// Everything that was found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// Whether grants to the user count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<State>,
    /// How far the user was let in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["Pending", "Approved", "Rejected", "Suspended"]))]
    pub platform_access: Option<String>,
    /// Where the user signed in last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["github", "google", "passkey", "email"]))]
    pub last_login_provider: Option<String>,
    /// A picture.
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

/// Names of users have no `@`, so an address is never another user's name.
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

/// Whoever signs in under an address is one user.
fn is_the_only_one_of_its_address(change: &Change<User>, view: &mut View<'_>) -> Verdict {
    let Some(user) = change.after() else { return allow() };
    let others = view.bucket_of::<User>(BY_EMAIL, &user.spec.email.to_lowercase());
    match others.iter().any(|other| other.metadata.name != user.metadata.name) {
        // Who it is stays unsaid: whoever may make users need not be allowed to see all of them.
        true => Err(Refusal::Conflict("another User has this email address".to_owned())),
        false => allow(),
    }
}

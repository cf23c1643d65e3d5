//! Labels and annotations of what a source owns.

/// Label of a Host or HostClass with the name of the Source that owns it.
pub const SOURCE: &str = "sources.groundplane.dev/source";
pub use fulfillment::kinds::host::{
    HELD_BACK_LABEL as HELD_BACK, INVENTORY_LABEL as INVENTORY, MISSING_LABEL as MISSING,
};
/// Annotation of a Host with the time since when its source has not listed it.
pub const MISSING_SINCE: &str = "sources.groundplane.dev/missing-since";
/// Annotation of a Host whose identifier is not that of its source, with the identifier at the source.
pub const NATIVE_ID: &str = "sources.groundplane.dev/native-id";

/// What the names of the users of Sources begin with: service accounts of their namespace.
const USER: &str = "system:serviceaccount:groundplane-sources:";

/// The user that a source writes as.
pub fn user_of(source: &str) -> String {
    format!("{USER}{source}")
}

/// The source that writes as a user, if it is one.
pub fn source_of_user(user: &str) -> Option<&str> {
    user.strip_prefix(USER)
}

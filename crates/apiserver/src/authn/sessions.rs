//! Sessions of browsers: a cookie that a module has given out, accepted on the paths of that module alone.

use http::HeaderMap;

use crate::api::Api;
use crate::identity::Identity;

/// Knows the sessions of browsers. Their cookies count for no other path: no web page can use the API with them.
pub trait Sessions: Send + Sync {
    /// The path at and below which its cookies count, such as `/ui`.
    fn path(&self) -> &str;

    /// Who signed in, if the request has the cookie of a session that goes on.
    fn identity(&self, api: &Api, headers: &HeaderMap) -> Option<Identity>;
}

impl dyn Sessions {
    /// Who signed in, if the cookies count at this path and there is one.
    pub(crate) fn at(&self, api: &Api, path: &str, headers: &HeaderMap) -> Option<Identity> {
        let below = path.strip_prefix(self.path())?;
        let counts = below.is_empty() || below.starts_with('/');
        if counts { self.identity(api, headers) } else { None }
    }
}

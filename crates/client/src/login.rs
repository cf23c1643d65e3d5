//! Logins at OpenID Connect issuers: what an issuer can do, and the tokens that it gave.

mod issuer;
mod stored;

pub use issuer::{Issuer, Tokens, encoded};
pub use stored::StoredLogin;

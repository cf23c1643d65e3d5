//! Request handlers.

pub mod backup;
pub mod beyond;
pub mod body;
pub(crate) mod controller_lease;
pub mod controllers;
mod credentials;
pub mod feature_gates;
pub(crate) mod health;
pub mod key_rotation;
pub mod other;
pub mod past;
pub mod question;
pub mod resource;
pub mod reviews;
pub mod subresource;
pub mod verb;
pub mod verification;
pub mod virtual_resource;
pub mod websocket;

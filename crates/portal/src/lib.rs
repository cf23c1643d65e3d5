//! The portal: web pages on the API, for people.
//!
//! Pages are rendered here and read everything through the public API in the viewer's name. The portal has no rights of its own
//! over what it shows; the only thing that it keeps are sessions of browsers, as Secrets.

mod address;
mod answers;
mod assets;
mod attention;
mod draw;
mod kinds;
mod layout;
mod live;
mod module;
mod pages;
mod plans;
mod refusal;
mod route;
mod session;
mod sign_in;
mod table;
mod text;
mod viewer;

pub use module::Module;

/// The path that everything of the portal is below.
pub const PATH: &str = "/ui";

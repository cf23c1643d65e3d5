//! The pages, one file each.

pub mod access;
pub mod activity;
mod answers;
pub mod edit;
pub mod export;
mod fields;
mod history;
pub mod home;
pub mod impact;
pub mod import;
pub mod kinds;
pub mod list;
pub mod map;
pub mod object;
pub mod plan;
pub mod project;
pub mod rack;
mod relations;
pub use relations::Related;
pub mod search;
pub mod sessions;
pub mod site;
pub mod sites;
pub mod space;
pub mod trace;

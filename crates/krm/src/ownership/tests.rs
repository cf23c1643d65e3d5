//! Stories of owners, and the answers of a real server replayed.

mod apply;
mod golden;
mod laws;
mod server;
mod update;

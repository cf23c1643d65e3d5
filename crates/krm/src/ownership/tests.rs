//! Stories of owners, and the answers of a real server replayed.

mod apply;
mod command_line;
mod golden;
mod kinds;
mod laws;
mod leaving;
mod server;
mod story;
mod update;

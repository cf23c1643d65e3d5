//! The controllers of fulfillment.

pub mod claims;
mod hosts;
mod matching;
mod placement;

pub use claims::ClaimController;
pub use hosts::HostController;

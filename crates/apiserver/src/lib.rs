//! The resource model over HTTP, on a store: discovery, verbs, watch, who may do what. It knows no kind.

pub mod accounts;
pub mod answer;
pub mod api;
pub mod audit;
pub mod authn;
pub mod authz;
pub mod call;
pub mod catalog;
pub mod client;
pub mod controllers;
pub mod definitions;
pub mod discovery;
pub mod encode;
pub mod first_start;
pub mod followers;
pub mod handle;
pub mod identity;
pub mod index;
pub mod keys;
pub mod kinds;
pub mod limits;
pub mod metrics;
pub mod openapi;
pub mod pipeline;
pub mod plane;
pub mod present;
pub mod read;
pub mod request;
pub mod review;
pub mod rights;
pub mod select;
pub mod server;
pub mod tls;
pub mod write;

pub use identity::Identity;

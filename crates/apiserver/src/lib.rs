//! The API server: the resource model over HTTP, on a store. Discovery, verbs, watch, authentication and
//! authorization, for any kind.

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
pub mod conversion;
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
mod later;
pub mod limits;
pub mod metrics;
pub mod openapi;
pub mod parts;
pub mod past;
pub mod pipeline;
pub mod plane;
pub mod planes;
pub mod population;
pub mod present;
pub mod read;
pub mod request;
pub mod retention;
pub mod review;
pub mod rights;
pub mod search;
pub mod secrets;
pub mod select;
pub mod server;
pub mod tls;
pub mod transaction;
pub mod write;

pub use identity::Identity;

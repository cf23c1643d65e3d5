//! What a site talks to, simulated: each part speaks the real protocol on a port of its own.

pub mod bcm;
pub mod hub;
pub mod ipmi;
pub mod oidc;
pub mod redfish;

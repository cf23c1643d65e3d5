//! The module: routes, and nothing else.

use std::sync::Arc;

use apiserver::api::Api;
use apiserver::server_module::{Bootstrapping, Environment, Parts, ServerModule};

use crate::grpc::Grpc;
use crate::rest::Rest;

/// gRPC and REST of the fulfillment API.
pub struct Module;

impl reconcile::module::Module for Module {
    fn name(&self) -> &'static str {
        "gateway"
    }
}

impl ServerModule for Module {
    fn parts(&self, _: &Environment) -> Parts {
        Parts { routes: vec![Arc::new(Grpc), Arc::new(Rest)], ..Parts::default() }
    }

    fn bootstrap<'a>(&'a self, _: &'a Api) -> Bootstrapping<'a> {
        Box::pin(async { Ok(()) })
    }
}

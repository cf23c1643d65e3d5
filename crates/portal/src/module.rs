//! The module: a route, and the sessions of browsers.

use std::sync::Arc;

use apiserver::api::Api;
use apiserver::server_module::{Bootstrapping, Environment, Parts, ServerModule};

use crate::route::Pages;
use crate::session::Browsers;

/// Web pages on the API.
pub struct Module;

impl reconcile::module::Module for Module {
    fn name(&self) -> &'static str {
        "portal"
    }
}

impl ServerModule for Module {
    fn parts(&self, _: &Environment) -> Parts {
        Parts {
            routes: vec![Arc::<Pages>::default()],
            sessions: Some(Arc::new(Browsers)),
            ..Parts::default()
        }
    }

    fn bootstrap<'a>(&'a self, _: &'a Api) -> Bootstrapping<'a> {
        Box::pin(async { Ok(()) })
    }
}

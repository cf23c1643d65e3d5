//! Modules with a part in the server itself: authorization, authentication, virtual resources, routes.

use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use krm::kind::EffectPlugin;
use krm::status::Status;
use reconcile::feature::FeatureGates;
use reconcile::module::Module;
use reconcile::reconciler::Reconciler;

use crate::api::Api;
use crate::authn::{Sessions, Signers};
use crate::authz::AuthorizerPlugin;
use crate::catalog::Kinds;
use crate::handle::virtual_resource::VirtualResource;
use crate::node::{NodeAuthenticator, NodeRoute};
use crate::plane::PlaneKind;
use crate::route::Route;

/// A module that decides or answers requests beside the server. Most modules have no need of it.
pub trait ServerModule: Module {
    /// The kind of it whose objects have control planes. One module of a server has such a kind.
    fn planes(&self) -> Option<PlaneKind> {
        None
    }

    /// Its parts of a server. Nothing is read or written before the server runs.
    fn parts(&self, environment: &Environment) -> Parts;

    /// Creates and corrects the objects that it ships, once the server knows what is stored.
    fn bootstrap<'a>(&'a self, api: &'a Api) -> Bootstrapping<'a>;
}

/// A bootstrap that is done later.
pub type Bootstrapping<'a> = Pin<Box<dyn Future<Output = Result<(), Status>> + Send + 'a>>;

/// The server that parts are made for.
pub struct Environment {
    /// All its kinds.
    pub kinds: Arc<Kinds>,
    /// What it is called in tokens.
    pub audience: String,
    /// Its feature gates: what is behind a closed one brings nothing.
    pub gates: FeatureGates,
    /// Its audit log, if it has one.
    pub audit_log: Option<PathBuf>,
    /// Whether other servers may use the same store.
    pub is_one_of_several: bool,
}

/// What takes part in deciding requests.
#[derive(Default, Clone)]
pub struct Plugins {
    /// Authorizers beside RBAC.
    pub authorizers: Vec<Arc<dyn AuthorizerPlugin>>,
    /// Effects on changes of any kind.
    pub effects: Vec<Arc<dyn EffectPlugin>>,
}

/// What a module adds to a server.
#[derive(Default)]
pub struct Parts {
    /// What decides and writes along with requests.
    pub plugins: Plugins,
    /// Knows the public keys of accounts that sign their own tokens.
    pub signers: Option<Arc<dyn Signers>>,
    /// Knows the sessions of browsers. One module of a server may bring them.
    pub sessions: Option<Arc<dyn Sessions>>,
    /// Resources that are computed on request.
    pub virtual_resources: Vec<Arc<dyn VirtualResource>>,
    /// Paths, gRPC services and subresources that it answers for itself.
    pub routes: Vec<Arc<dyn Route>>,
    /// What it answers to booting nodes, on the node listener.
    pub node_routes: Vec<Arc<dyn NodeRoute>>,
    /// Tells nodes apart on the node listener. One module of a server may bring one.
    pub node_authenticators: Vec<Arc<dyn NodeAuthenticator>>,
    /// Controllers that share state with these parts.
    pub controllers: Vec<Arc<dyn Reconciler>>,
}

//! Which server, and who asks: what kubeconfig files and flags say together.

use client::kubeconfig::Overrides;
pub use client::kubeconfig::{Access, Entry, Kubeconfig};
use zeroize::Zeroizing;

use crate::failure::Failure;
use crate::global::Global;

/// The files that flags and environment name.
pub fn load(global: &Global) -> Result<Kubeconfig, Failure> {
    Ok(Kubeconfig::load(global.kubeconfig.as_deref())?)
}

/// What the files and the flags say together.
pub async fn access(kubeconfig: &Kubeconfig, global: &Global) -> Result<Access, Failure> {
    Ok(Access::of(kubeconfig, &overrides(global)).await?)
}

/// What the flags say.
fn overrides(global: &Global) -> Overrides {
    Overrides {
        kubeconfig: global.kubeconfig.clone(),
        context: global.context.clone(),
        cluster: global.cluster.clone(),
        server: global.server.clone(),
        certificate_authority: global.certificate_authority.clone(),
        client_certificate: global.client_certificate.clone(),
        client_key: global.client_key.clone(),
        insecure_skip_tls_verify: global.insecure_skip_tls_verify,
        tls_server_name: global.tls_server_name.clone(),
        token: global.token.clone().map(Zeroizing::new),
        as_user: global.as_user.clone(),
        as_uid: global.as_uid.clone(),
        as_groups: global.as_groups.clone(),
        namespace: global.namespace.clone(),
    }
}

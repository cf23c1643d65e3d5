use super::{Cluster, Error};

/// What a cluster is started with.
pub struct Options {
    pub(super) members: usize,
    pub(super) flags: Vec<String>,
    pub(super) tls: bool,
    pub(super) root_password: Option<String>,
}

impl Options {
    pub(super) fn new(members: usize) -> Self {
        Self { members, flags: Vec::new(), tls: false, root_password: None }
    }

    /// A flag for every member, such as `--max-txn-ops=10`.
    pub fn flag(mut self, flag: impl Into<String>) -> Self {
        self.flags.push(flag.into());
        self
    }

    /// Clients have to speak TLS and show a certificate: [`Cluster::certificates`].
    pub fn tls(mut self) -> Self {
        self.tls = true;
        self
    }

    /// Clients have to log in; `root` may do everything with this password.
    pub fn root_password(mut self, password: impl Into<String>) -> Self {
        self.root_password = Some(password.into());
        self
    }

    /// Starts the members and returns when all are healthy.
    pub fn start(&self) -> Result<Cluster, Error> {
        Cluster::start_with(self)
    }
}

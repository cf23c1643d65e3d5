//! The program runc.

use std::path::PathBuf;

use super::command;
use crate::error::Result;

pub(super) struct Runc {
    pub(super) program: PathBuf,
    pub(super) root: PathBuf,
}

impl Runc {
    pub(super) fn new(program: PathBuf, root: PathBuf) -> Self {
        Self { program, root }
    }

    /// Sends a signal to the first process of a container.
    pub(super) async fn kill(&self, container: &str, signal: &str) -> Result<()> {
        self.run(&["kill", container, signal]).await
    }

    /// Kills what is left of a container and forgets it. One that is not there is forgotten already.
    pub(super) async fn delete(&self, container: &str) -> Result<()> {
        self.run(&["delete", "--force", container]).await
    }

    async fn run(&self, arguments: &[&str]) -> Result<()> {
        let root = self.root.to_string_lossy();
        let arguments = [&["--root", &root][..], arguments].concat();
        command::run(&self.program, &arguments, "").await.map(|_| ())
    }
}

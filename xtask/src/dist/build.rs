//! Building a static binary.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::root;
use crate::step::{self, Failure};

/// What is built for.
pub struct Target {
    pub triple: String,
}

impl Target {
    /// The one that is asked for, otherwise musl where it is installed, otherwise the host's with a static glibc.
    pub fn choose(asked: Option<&str>) -> Result<Self, Failure> {
        let machine = std::env::consts::ARCH;
        let (musl, gnu) = (format!("{machine}-unknown-linux-musl"), format!("{machine}-unknown-linux-gnu"));
        let triple = match asked {
            Some(triple) => triple.to_owned(),
            None if has_standard_library(&musl) && is_on_path("musl-gcc") => musl,
            None => {
                let lacks = match has_standard_library(&musl) {
                    true => "musl-gcc (Debian's musl-tools) is not installed".to_owned(),
                    false => format!("the toolchain has no {musl} (`rustup target add {musl}`)"),
                };
                println!(
                    "building a static binary with glibc, not musl: {lacks}. \
                     Host names resolve from /etc/hosts and DNS, which glibc 2.34 and later has built in; \
                     other NSS modules, such as mdns, may not load."
                );
                gnu
            }
        };
        if !has_standard_library(&triple) {
            return Err(Failure(format!(
                "the toolchain has no standard library for {triple}; install it with `rustup target add {triple}`"
            )));
        }
        Ok(Self { triple })
    }

    /// Builds the binary with the profile `dist`, and says where it is.
    pub fn build(&self) -> Result<PathBuf, Failure> {
        let words =
            ["build", "--locked", "--profile", "dist", "--package", "groundplane", "--bin", "groundplane"];
        let flags: Vec<_> = flags().iter().map(|flag| format!("'{flag}'")).collect();
        step::run(
            step::cargo(words)
                // Always named: flags for the target must not reach build scripts and macros, which run here.
                .args(["--target", &self.triple])
                .args(["--config", &format!("target.{}.rustflags=[{}]", self.triple, flags.join(", "))])
                // They would replace those of the configuration.
                .env_remove("RUSTFLAGS")
                .env_remove("CARGO_ENCODED_RUSTFLAGS"),
        )?;
        Ok(step::target_folder()?.join(&self.triple).join("dist").join("groundplane"))
    }
}

/// A static C library, and paths in messages that say nothing about the machine that built it.
fn flags() -> Vec<String> {
    let remap = |from: &Path, to: &str| format!("--remap-path-prefix={}={to}", from.display());
    let mut flags = vec!["-Ctarget-feature=+crt-static".to_owned()];
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let cargo = std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| Some(home?.join(".cargo")));
    flags.extend(cargo.map(|cargo| remap(&cargo, "/cargo")));
    flags.push(remap(root(), "/groundplane"));
    // Code that build scripts write may lie outside the tree.
    let outside = ["CARGO_TARGET_DIR", "CARGO_BUILD_BUILD_DIR"].into_iter().filter_map(std::env::var_os);
    flags.extend(outside.map(|folder| remap(Path::new(&folder), "/groundplane/target")));
    flags
}

fn has_standard_library(triple: &str) -> bool {
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    rustc.args(["--print", "target-libdir", "--target", triple]).current_dir(root()).stdin(Stdio::null());
    let folder = rustc.output().ok().filter(|output| output.status.success());
    folder.is_some_and(|output| Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_dir())
}

fn is_on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_without_a_standard_library_is_refused_with_the_way_to_get_it() {
        let failure = Target::choose(Some("riscv64gc-unknown-none-elf-of-nobody")).err().unwrap();
        assert!(failure.to_string().contains("rustup target add"), "{failure}");
    }

    #[test]
    fn paths_of_this_machine_are_not_in_messages() {
        let own = format!("--remap-path-prefix={}=/groundplane", root().display());
        assert!(
            flags().contains(&own) && flags().iter().any(|flag| flag.ends_with("=/cargo")),
            "{:?}",
            flags()
        );
    }

    #[test]
    fn a_target_is_chosen_on_any_machine() {
        let chosen = Target::choose(None).unwrap();
        assert!(chosen.triple.contains("-unknown-linux-"), "{}", chosen.triple);
    }
}

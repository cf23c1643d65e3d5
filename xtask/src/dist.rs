//! `cargo xtask dist`: build the packages that people install.

mod build;
mod check;
mod contents;
mod deb;
mod digest;
mod elf;
mod files;
mod licences;
mod oci;
mod release;
mod sbom;

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::step::{self, Failure};
use contents::Contents;
use release::Release;

/// What to package, and where the packages go.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Target triple to build for. Defaults to the musl target of this machine if its standard library and musl-gcc
    /// are installed, otherwise to the GNU target with a static C library.
    #[arg(long, value_name = "TRIPLE", conflicts_with = "binary")]
    target: Option<String>,

    /// Package this binary instead of building one.
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,

    /// Accept a dynamically linked binary. The image made from it does not start without a C library: for tests.
    #[arg(long, requires = "binary")]
    allow_dynamic: bool,

    /// Folder for the packages. Defaults to target/dist/packages; what an earlier run left there is replaced.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Bundle of CA certificates for the image, in PEM.
    #[arg(long, value_name = "FILE", default_value = "/etc/ssl/certs/ca-certificates.crt")]
    ca_certificates: PathBuf,

    /// Install each package into an empty root, start the server from it and query it. Needs root and dpkg.
    #[arg(long)]
    check: bool,
}

const EXAMPLES: &str = "\
Examples:
  cargo xtask dist                                      build, then package into target/dist/packages
  cargo xtask dist --check                              and install each package into an empty root
  cargo xtask dist --target aarch64-unknown-linux-musl  for another machine that can run here (binfmt)
  cargo xtask dist --binary ./groundplane               package a binary that is already built

Timestamps are those of the commit, or of SOURCE_DATE_EPOCH: the same commit and toolchain give the same packages.";

/// The finished packages.
struct Packages {
    deb: PathBuf,
    image: PathBuf,
    archive: PathBuf,
}

/// Builds the binary unless one is given, packages it, and checks the packages if asked to.
pub fn run(options: &Options) -> Result<(), Failure> {
    let out = match &options.out {
        Some(out) => out.clone(),
        None => step::target_folder()?.join("dist").join("packages"),
    };
    let (binary, target) = match &options.binary {
        Some(binary) => (binary.clone(), None),
        None => {
            let target = build::Target::choose(options.target.as_deref())?;
            (target.build()?, Some(target))
        }
    };
    let linked = elf::read(&binary)?;
    if let Some(interpreter) = &linked.interpreter {
        if !options.allow_dynamic {
            return Err(Failure(format!(
                "{} is dynamically linked (its interpreter is {interpreter}); packages need a static binary",
                binary.display()
            )));
        }
        println!("{} is dynamically linked: the image needs a C library added to start", binary.display());
    }
    let triple = target.map_or_else(|| format!("{}-unknown-linux-gnu", linked.machine.rust()), |t| t.triple);
    let release = Release::read(linked.machine)?;
    replace(&out)?;
    let packages = package(&binary, &triple, &release, &out, options)?;
    if options.check {
        check::all(&packages, &linked, &release)?;
    }
    Ok(())
}

fn package(
    binary: &Path,
    triple: &str,
    release: &Release,
    out: &Path,
    options: &Options,
) -> Result<Packages, Failure> {
    let components = sbom::components(triple)?;
    let bill = sbom::document(&components, triple, release)?;
    let contents = Contents::gather(binary, release, &bill, licences::text(&components))?;

    let named = |ending: &str| out.join(format!("groundplane-{}-{ending}", release.version()));
    let packages = Packages {
        deb: out.join(format!("groundplane_{}_{}.deb", release.debian_version(), release.machine.debian())),
        image: named(&format!("linux-{}.oci.tar", release.machine.oci())),
        archive: named(&format!("{}-linux.tar.gz", release.machine.rust())),
    };
    write(&named(&format!("{}-linux", release.machine.rust())), &contents.binary, 0o755)?;
    write(&out.join(format!("groundplane-{}.cdx.json", release.version())), bill.as_bytes(), 0o644)?;
    for file in contents.pages_and_completions() {
        write(&out.join(&file.path), &file.bytes, 0o644)?;
    }
    write(&packages.archive, &contents.archive(release)?, 0o644)?;
    write(&packages.deb, &deb::package(&contents, release)?, 0o644)?;
    let certificates = read(&options.ca_certificates).map_err(|failure| {
        Failure(format!("{failure}; install ca-certificates, or name a bundle with --ca-certificates"))
    })?;
    write(&packages.image, &oci::image(&contents, &certificates, release)?, 0o644)?;
    digest::write_sums(out)?;

    println!("packages of {} in {}:", release.version(), out.display());
    for (path, size) in digest::sizes(out)?.iter().filter(|(path, _)| !path.contains('/')) {
        println!("{size:>12}  {path}");
    }
    Ok(packages)
}

/// Starts with an empty folder, and deletes nothing but what an earlier run made.
fn replace(out: &Path) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure(format!("{} can't be replaced: {error}", out.display()));
    let is_used = out.exists() && fs::read_dir(out).map_err(failed)?.next().is_some();
    if is_used && !out.join(digest::SUMS).exists() {
        return Err(Failure(format!(
            "{} holds files and no {}: it was not made by this command; empty it, or choose another --out",
            out.display(),
            digest::SUMS
        )));
    }
    if is_used {
        fs::remove_dir_all(out).map_err(failed)?;
    }
    fs::create_dir_all(out).map_err(failed)
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|error| Failure(format!("reading {}: {error}", path.display())))
}

fn write(path: &Path, bytes: &[u8], mode: u32) -> Result<(), Failure> {
    use std::os::unix::fs::PermissionsExt;
    let failed = |error: std::io::Error| Failure(format!("writing {}: {error}", path.display()));
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    fs::write(path, bytes).map_err(failed)?;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).map_err(failed)
}

/// The root of the workspace.
fn root() -> &'static Path {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own)
}

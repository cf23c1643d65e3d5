//! The Debian package: an ar archive of its version, the control files and the data.

use super::contents::{Contents, Layout};
use super::files::{Files, gzip};
use super::release::Release;
use super::{read, root};
use crate::step::Failure;

const SETTINGS: &str = "etc/default/groundplane";

/// The whole package.
pub fn package(contents: &Contents, release: &Release) -> Result<Vec<u8>, Failure> {
    let data = contents.installed(&Layout { zsh: "usr/share/zsh/vendor-completions", settings: SETTINGS })?;
    let mut control = Files::default();
    control.file("control", fields(release, data.size())?.into_bytes(), 0o644);
    control.file("conffiles", format!("/{SETTINGS}\n").into_bytes(), 0o644);
    for script in ["postinst", "prerm", "postrm"] {
        control.file(script, read(&root().join("packaging/debian").join(script))?, 0o755);
    }
    let members = [
        ("debian-binary", b"2.0\n".to_vec()),
        ("control.tar.gz", gzip(&control.tar(release.time)?)?),
        ("data.tar.gz", gzip(&data.with_folders().tar(release.time)?)?),
    ];
    Ok(ar(&members, release.time))
}

/// packaging/debian/control with what only this build knows.
fn fields(release: &Release, size: usize) -> Result<String, Failure> {
    let template = read(&root().join("packaging/debian/control"))?;
    let text = String::from_utf8_lossy(&template)
        .replace("${VERSION}", &release.debian_version())
        .replace("${ARCHITECTURE}", release.machine.debian())
        .replace("${INSTALLED_SIZE}", &size.div_ceil(1024).to_string())
        .replace("${COMMIT}", &release.commit());
    match text.contains("${") {
        true => Err(Failure(format!("packaging/debian/control has a value that is not known:\n{text}"))),
        false => Ok(text),
    }
}

/// The common format of ar, of which dpkg reads names, sizes and contents.
fn ar(members: &[(&str, Vec<u8>)], time: u64) -> Vec<u8> {
    let mut archive = b"!<arch>\n".to_vec();
    for (name, bytes) in members {
        let header = format!("{name:<16}{time:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, "100644", bytes.len());
        archive.extend_from_slice(header.as_bytes());
        archive.extend_from_slice(bytes);
        if bytes.len() % 2 == 1 {
            archive.push(b'\n');
        }
    }
    archive
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_begin_at_even_offsets() {
        let archive = ar(&[("one", b"1".to_vec()), ("two", b"22".to_vec())], 7);
        assert_eq!(&archive[8..24], b"one             ");
        assert_eq!(&archive[66..70], b"`\n1\n");
        assert_eq!(&archive[70..86], b"two             ");
        assert_eq!(archive.len(), 8 + 60 + 2 + 60 + 2);
    }
}

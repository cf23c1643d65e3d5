//! The archive, installed as docs/install.md tells.

use std::path::Path;
use std::process::Command;

use super::root::Root;
use super::{Subject, run, unit};
use crate::step::Failure;

pub fn check(archive: &Path, subject: &Subject, folder: &Path) -> Result<(), Failure> {
    let root = Root::new(&folder.join("root"))?;
    run(Command::new("tar").arg("xzf").arg(archive).arg("--strip-components=1").arg("-C").arg(&root.path))?;
    root.expect("usr/bin/groundplane", 0o755, (0, 0))?;
    // The user, the folder that the unit's StateDirectory makes, and the settings.
    let user = (998, 998);
    root.write("etc/passwd", "groundplane:x:998:998::/var/lib/groundplane:/usr/sbin/nologin\n")?;
    root.write("etc/default/groundplane", &root.read("usr/share/doc/groundplane/groundplane.default")?)?;
    let data = root.path.join("var/lib/groundplane");
    run(Command::new("install").args(["-d", "-m", "0700", "-o", "998", "-g", "998"]).arg(&data))?;
    root.complete(subject)?;
    let start = unit::start(&root)?;
    super::ensure(start.user == user, || "the unit runs as another user".to_owned())?;
    start.check(&root, subject)?;
    println!("ok: the archive serves once it is unpacked into /");
    Ok(())
}

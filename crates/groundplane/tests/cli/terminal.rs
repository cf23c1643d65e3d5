//! A terminal that tests hold the other end of.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// Starts a command on a terminal of so many columns, and gives our end of it.
pub fn run(mut command: Command, columns: u16) -> (Child, File) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap();
    let path = Path::new(name.to_str().unwrap());
    let theirs: OwnedFd = File::options().read(true).write(true).open(path).unwrap().into();
    let size = Winsize { ws_row: 40, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&theirs, size).unwrap();
    let side = || Stdio::from(theirs.try_clone().unwrap());
    command.stdin(side()).stdout(side()).stderr(side());
    let child = command.spawn().unwrap();
    (child, File::from(ours))
}

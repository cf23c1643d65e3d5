//! Hostile layers are refused with their reason, and nothing outside of their folder is touched.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

mod support;

use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use containers::image::unpack::{IdShift, UnpackLimits, unpack};
use support::image::{Layer, gzip};

fn unpack_into(
    folder: &Path,
    bytes: &[u8],
    limits: UnpackLimits,
    ids: Option<IdShift>,
) -> Result<u64, String> {
    std::fs::create_dir_all(folder).unwrap();
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    std::io::Seek::rewind(&mut file).unwrap();
    unpack(file, folder, limits, ids).map(|unpacked| unpacked.entries).map_err(|error| error.to_string())
}

/// Unpacks below a folder with a file that must stay as it is, and gives the reason of the refusal.
fn refusal(layer: Layer) -> String {
    let outside = tempfile::tempdir().unwrap();
    let canary = outside.path().join("canary");
    std::fs::write(&canary, "alive").unwrap();
    let reason = unpack_into(&outside.path().join("layer"), &layer.tar(), UnpackLimits::default(), None);
    let left: Vec<_> =
        std::fs::read_dir(outside.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "only the layer and the canary are there: {left:?}");
    assert_eq!(std::fs::read_to_string(&canary).unwrap(), "alive");
    assert!(!Path::new("/tmp/owned-by-a-layer").exists());
    reason.unwrap_err()
}

#[test]
fn paths_that_leave_the_folder_are_refused() {
    if !support::is_root() {
        return;
    }
    let escapes = [
        (Layer::new().file("../canary", 0o644, b"dead"), r#"entry "../canary" leaves its folder by '..'"#),
        (
            Layer::new().file("a/../../canary", 0o644, b"dead"),
            r#"entry "a/../../canary" leaves its folder by '..'"#,
        ),
        (
            Layer::new().file("/tmp/owned-by-a-layer", 0o644, b"dead"),
            r#"entry "/tmp/owned-by-a-layer" is absolute"#,
        ),
        (
            Layer::new().symlink("way", "..").file("way/canary", 0o644, b"dead"),
            r#"an entry goes through "way", which is a link or a file of the same layer"#,
        ),
        (
            Layer::new().symlink("way", "/tmp").file("way/owned-by-a-layer", 0o644, b"dead"),
            r#"an entry goes through "way", which is a link or a file of the same layer"#,
        ),
        (
            Layer::new().hard_link("link", "../canary"),
            r#"target of hard link "link" "../canary" leaves its folder by '..'"#,
        ),
        (
            Layer::new().hard_link("link", "/etc/passwd"),
            r#"target of hard link "link" "/etc/passwd" is absolute"#,
        ),
        (
            Layer::new().symlink("way", "..").hard_link("link", "way/canary"),
            r#"an entry goes through "way", which is a link or a file of the same layer"#,
        ),
        (
            Layer::new().symlink("way", "../canary").hard_link("link", "way"),
            r#"entry "link" is a hard link to something that is not a file"#,
        ),
        (
            Layer::new().hard_link("link", "nothing"),
            r#"entry "link" is a hard link to a file that is not in its layer"#,
        ),
        (
            Layer::new().symlink("way", "..").file("way/.wh.canary", 0o644, b""),
            r#"an entry goes through "way", which is a link or a file of the same layer"#,
        ),
    ];
    for (layer, reason) in escapes {
        assert_eq!(refusal(layer), reason);
    }
}

#[test]
fn a_link_that_is_replaced_by_a_file_is_not_written_through() {
    if !support::is_root() {
        return;
    }
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("canary"), "alive").unwrap();
    let layer = Layer::new().symlink("way", "../canary").file("way", 0o644, b"dead");
    unpack_into(&outside.path().join("layer"), &layer.tar(), UnpackLimits::default(), None).unwrap();
    assert_eq!(std::fs::read_to_string(outside.path().join("canary")).unwrap(), "alive");
    assert_eq!(std::fs::read_to_string(outside.path().join("layer/way")).unwrap(), "dead");
}

#[test]
fn device_nodes_pipes_and_unknown_entries_are_refused() {
    if !support::is_root() {
        return;
    }
    let device = |path: &str, kind| Layer::new().entry(path, kind, 0o666, None, b"");
    assert_eq!(refusal(device("etc/disk", tar::EntryType::Block)), r#"entry "etc/disk" is a device node"#);
    assert_eq!(refusal(device("null", tar::EntryType::Char)), r#"entry "null" is a device node"#);
    assert_eq!(refusal(device("pipe", tar::EntryType::Fifo)), r#"entry "pipe" is a named pipe"#);
    let sparse = r#"entry "holes" is a sparse file, which is not supported"#;
    assert_eq!(refusal(device("holes", tar::EntryType::GNUSparse)), sparse);
    // Every container gets a /dev of its own: what the image has there is left out.
    let folder = tempfile::tempdir().unwrap();
    let layer = device("dev/console", tar::EntryType::Char).file("here", 0o644, b"");
    unpack_into(folder.path(), &layer.tar(), UnpackLimits::default(), None).unwrap();
    assert!(folder.path().join("here").exists() && !folder.path().join("dev/console").exists());
}

#[test]
fn bombs_are_refused_before_they_fill_the_disk() {
    if !support::is_root() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let limits = UnpackLimits { bytes: 4 << 20, entries: 10, ratio: 100, ratio_from: 1 << 20 };
    // 2 MiB of zeros are a few kilobytes: under the size limit, over the ratio.
    let zeros = Layer::new().file("zeros", 0o644, &vec![0; 2 << 20]).tar();
    let reason = unpack_into(&folder.path().join("a"), &gzip(&zeros), limits, None).unwrap_err();
    assert_eq!(reason, "a layer grows more than 100 times when it is unpacked");
    let large = Layer::new().file("large", 0o644, &vec![7; 5 << 20]).tar();
    let reason = unpack_into(&folder.path().join("b"), &large, limits, None).unwrap_err();
    assert_eq!(reason, format!("a layer is larger than {} bytes when it is unpacked", 4 << 20));
    let many = (0..11).fold(Layer::new(), |layer, number| layer.file(&format!("{number}"), 0o644, b""));
    let reason = unpack_into(&folder.path().join("c"), &many.tar(), limits, None).unwrap_err();
    assert_eq!(reason, "a layer has more than 10 entries");
    // A long name of two megabytes would be held in memory.
    let name = Layer::new().entry("x", tar::EntryType::GNULongName, 0o644, None, &vec![b'a'; 2 << 20]);
    let reason =
        unpack_into(&folder.path().join("d"), &name.tar(), UnpackLimits::default(), None).unwrap_err();
    assert_eq!(reason, format!("a tar header of {} bytes is larger than {}", 2 << 20, 1 << 20));
}

#[test]
fn privileges_are_not_unpacked() {
    if !support::is_root() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let pax = pax(&[("SCHILY.xattr.user.note", "kept"), ("SCHILY.xattr.trusted.overlay.redirect", "/etc")]);
    let layer = Layer::new()
        .entry("pax", tar::EntryType::XHeader, 0o644, None, &pax)
        .file("su", 0o4755, b"")
        .file("group", 0o2755, b"");
    let ids = IdShift { base: 100_000, size: 65_536 };
    unpack_into(folder.path(), &layer.tar(), UnpackLimits::default(), Some(ids)).unwrap();
    for name in ["su", "group"] {
        let metadata = std::fs::metadata(folder.path().join(name)).unwrap();
        assert_eq!(metadata.permissions().mode() & 0o7777, 0o755);
        assert_eq!((metadata.uid(), metadata.gid()), (100_000, 100_000));
    }
    let attribute = |name: &str| {
        let mut value = [0; 16];
        let length = rustix::fs::lgetxattr(folder.path().join("su"), name, &mut value[..]).ok()?;
        Some(String::from_utf8_lossy(&value[..length]).into_owned())
    };
    assert_eq!(attribute("user.note").as_deref(), Some("kept"));
    assert_eq!(attribute("trusted.overlay.redirect"), None);
    let mut foreign = Layer::new();
    let mut header = tar::Header::new_ustar();
    header.set_path("foreign").unwrap();
    header.set_size(0);
    header.set_mode(0o644);
    header.set_uid(70_000);
    header.set_gid(0);
    header.set_cksum();
    foreign.0.append(&header, &b""[..]).unwrap();
    let reason = unpack_into(&folder.path().join("f"), &foreign.tar(), UnpackLimits::default(), Some(ids));
    assert_eq!(reason.unwrap_err(), r#"entry "foreign" is owned by 70000, beyond 65536"#);
}

#[test]
fn deletions_become_marks_of_overlayfs() {
    if !support::is_root() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let layer = Layer::new()
        .file("a/.wh.gone", 0o644, b"")
        .file("b/.wh..wh..opq", 0o644, b"")
        .file("b/new", 0o644, b"");
    unpack_into(folder.path(), &layer.tar(), UnpackLimits::default(), None).unwrap();
    let mark = std::fs::symlink_metadata(folder.path().join("a/gone")).unwrap();
    assert_eq!((mark.mode() & 0o170_000, mark.rdev()), (0o020_000, 0));
    let mut value = [0];
    rustix::fs::lgetxattr(folder.path().join("b"), "trusted.overlay.opaque", &mut value[..]).unwrap();
    assert_eq!(value, *b"y");
    assert!(folder.path().join("b/new").is_file());
}

#[test]
fn what_is_not_an_archive_is_refused() {
    if !support::is_root() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let broken = gzip(&Layer::new().file("a", 0o644, &[7; 4096]).tar());
    let reason =
        unpack_into(&folder.path().join("a"), &broken[..broken.len() / 2], UnpackLimits::default(), None);
    assert!(reason.unwrap_err().starts_with("a layer can't be decompressed"));
    let reason = unpack_into(&folder.path().join("b"), &[0x55; 2048], UnpackLimits::default(), None);
    assert!(reason.unwrap_err().starts_with("a layer is not a readable tar file"));
}

fn pax(records: &[(&str, &str)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (key, value) in records {
        let rest = format!(" {key}={value}\n");
        let digits = (rest.len() + 2).to_string().len();
        bytes.extend(format!("{}{rest}", rest.len() + digits).into_bytes());
    }
    bytes
}

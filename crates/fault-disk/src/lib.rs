//! Preloaded into a program (`LD_PRELOAD`), this makes one sync of one file fail with EIO, and keeps an image of what
//! the disk would hold: every page that a successful sync found changed, and none that the failed one lost.
//!
//! * `FAULT_DISK_FILE`: the file whose syncs are meant.
//! * `FAULT_DISK_IMAGE`: where the image is kept. Copied over the file, it is what a power failure leaves.
//! * `FAULT_DISK_ARMED`: syncs are counted while this file exists.
//! * `FAULT_DISK_CALL`: which of them fails, counted from 1.
//! * `FAULT_DISK_LOSS`: `hidden`, when the file goes on showing the lost pages (ext4 does), or `shown`, when it shows what
//!   the disk holds (XFS and btrfs do).

mod image;

use std::ffi::CStr;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use libc::{c_char, c_int, c_void};

use image::Image;

/// Replaces the C library's.
#[unsafe(no_mangle)]
pub extern "C" fn fdatasync(descriptor: c_int) -> c_int {
    sync(descriptor, c"fdatasync")
}

/// Replaces the C library's.
#[unsafe(no_mangle)]
pub extern "C" fn fsync(descriptor: c_int) -> c_int {
    sync(descriptor, c"fsync")
}

static DISK: Mutex<Option<Disk>> = Mutex::new(None);

struct Disk {
    file: PathBuf,
    armed: PathBuf,
    call: u64,
    hidden: bool,
    calls: u64,
    image: Image,
}

fn sync(descriptor: c_int, name: &CStr) -> c_int {
    let mut disk = DISK.lock().unwrap_or_else(PoisonError::into_inner);
    if disk.is_none() {
        *disk = Disk::of_environment();
    }
    let Some(disk) = disk.as_mut().filter(|disk| disk.is_meant(descriptor)) else {
        return the_real_one(name, descriptor);
    };
    match disk.fails() {
        true => {
            disk.image.lose(&disk.file, disk.hidden);
            // SAFETY: the pointer to this thread's errno is valid for as long as the thread lives.
            unsafe { *libc::__errno_location() = libc::EIO };
            -1
        }
        false => {
            let synced = the_real_one(name, descriptor);
            if synced == 0 {
                disk.image.synced(&disk.file);
            }
            synced
        }
    }
}

impl Disk {
    /// `None` where nothing is to fail.
    fn of_environment() -> Option<Disk> {
        let path = |name| std::env::var_os(name).map(PathBuf::from);
        Some(Disk {
            file: path("FAULT_DISK_FILE")?,
            armed: path("FAULT_DISK_ARMED")?,
            call: std::env::var("FAULT_DISK_CALL").ok()?.parse().ok()?,
            hidden: std::env::var("FAULT_DISK_LOSS").ok()? == "hidden",
            calls: 0,
            image: Image::at(path("FAULT_DISK_IMAGE")?),
        })
    }

    fn is_meant(&self, descriptor: c_int) -> bool {
        let open = Path::new("/proc/self/fd").join(descriptor.to_string());
        std::fs::read_link(open).is_ok_and(|open| open == self.file)
    }

    fn fails(&mut self) -> bool {
        self.calls += u64::from(self.armed.exists());
        let due = self.calls == self.call;
        // Once.
        self.calls += u64::from(due);
        due
    }
}

fn the_real_one(name: &CStr, descriptor: c_int) -> c_int {
    // SAFETY: the name is a C string, and RTLD_NEXT asks for the symbol behind this library's.
    let found: *mut c_void = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr().cast::<c_char>()) };
    assert!(!found.is_null(), "the C library has {name:?}");
    // SAFETY: this is the C library's function of that name, which takes a descriptor and gives a status.
    let real = unsafe { std::mem::transmute::<*mut c_void, extern "C" fn(c_int) -> c_int>(found) };
    real(descriptor)
}

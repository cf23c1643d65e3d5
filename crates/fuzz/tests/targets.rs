//! Every target for a moment, or for `GROUNDPLANE_FUZZ_SECONDS`; and all input that once did harm.

use std::path::Path;
use std::time::Duration;

use fuzz::{TARGETS, unguided};

/// How long each target goes on when nothing else is said.
const MOMENT: Duration = Duration::from_millis(500);

#[test]
fn what_holds_for_all_input_holds() {
    let given = std::env::var("GROUNDPLANE_FUZZ_SECONDS").ok().and_then(|seconds| seconds.parse().ok());
    let long = given.map_or(MOMENT, Duration::from_secs);
    let failed = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        // Two at a time, the even ones and the odd ones.
        for half in 0..2 {
            let failed = &failed;
            scope.spawn(move || {
                for target in TARGETS.iter().skip(half).step_by(2) {
                    match std::panic::catch_unwind(|| unguided::run(target, long)) {
                        Ok(count) => eprintln!("{}: {count} inputs", target.name),
                        Err(_) => {
                            failed.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(target.name)
                        }
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap_or_default();
    assert!(failed.is_empty(), "the inputs for which {failed:?} fail are told above");
}

#[test]
fn what_once_did_harm_no_longer_does() {
    let found = Path::new(env!("CARGO_MANIFEST_DIR")).join("found");
    let mut count = 0;
    for target in &TARGETS {
        for entry in std::fs::read_dir(found.join(target.name)).into_iter().flatten().flatten() {
            eprintln!("{}", entry.path().display());
            unguided::try_one(target, &std::fs::read(entry.path()).unwrap_or_default());
            count += 1;
        }
    }
    eprintln!("{count} inputs");
}

//! Parts that a machine may lack.

/// Says plainly that a test is passed over because something is missing. Where everything is meant to be there
/// (`GROUNDPLANE_REQUIRE=1`, as `cargo xtask test` sets it) that is a failure.
///
/// # Panics
///
/// When nothing may be missing.
pub fn passed_over(missing: &str) {
    assert!(!everything(), "{missing}, and with GROUNDPLANE_REQUIRE=1 nothing may be missing");
    eprintln!("skipped: {missing}");
}

/// Whether nothing may be missing.
pub fn everything() -> bool {
    std::env::var("GROUNDPLANE_REQUIRE").is_ok_and(|required| required == "1")
}

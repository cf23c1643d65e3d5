//! Real bundles, and what the original made of them: every one compiles to what is recorded, or the difference has a reason.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bundles;

use bundles::{Bundle, Difference, Folder};

/// Bundles whose recording a correct implementation cannot give, with what differs and the reason.
const KNOWN: [Difference; 10] = [
    Difference::refused("baremetalNode", PROFILE),
    Difference::refused("baremetalNode2", PROFILE),
    Difference::in_messages("ip_locality_no_networks", NATIVE_NETWORK),
    Difference::in_messages("multidoc", NATIVE_NETWORK),
    Difference::in_messages("networkLink", NATIVE_NETWORK),
    Difference::in_messages("networkLink3", NATIVE_NETWORK),
    SRIOV,
    Difference::corrected("deckhand_fullsite_bad_hugepages", BOND, FUNCTIONS, LOST_FUNCTIONS),
    Difference::corrected("deckhand_fullsite_nic_autodetect", BOND, FUNCTIONS, LOST_FUNCTIONS),
    Difference::corrected(
        "invalid_kernel",
        "/nodes/controller01/interfaces/0",
        r#"{"networks": []}"#,
        "a node without a profile keeps its markers in the original (as corner s10)",
    ),
];
const SRIOV: Difference = Difference::corrected("deckhand_fullsite", BOND, FUNCTIONS, LOST_FUNCTIONS);

const PROFILE: &str = "its host profile is not in the bundle; the original printed a half-compiled node";
const NATIVE_NETWORK: &str = "the native network of a link is not in the bundle; the original crashed there and ran no further validator";
const BOND: &str = "/nodes/controller01/interfaces/1";
const FUNCTIONS: &str = r#"{"sriov": true, "vf_count": 2, "trustedmode": false}"#;
const LOST_FUNCTIONS: &str =
    "an interface that a node touches loses its virtual functions in the original (as corner i02)";

#[test]
fn corner_cases_compile_to_what_is_intended() {
    Folder::corner().compare(&[], |bundle| bundle.name.starts_with('v'));
}

#[test]
fn drydocks_own_bundles_compile_to_what_it_printed() {
    let Some(folder) = Folder::shared("design") else { return };
    folder.compare(&KNOWN, |_| true);
}

#[test]
fn the_sites_of_treasuremap_compile_to_what_drydock_made_of_them() {
    let Some(folder) = Folder::treasuremap() else { return };
    folder.compare(&[], |_| true);
}

#[test]
fn hardware_seen_by_lshw_gives_aliases_their_names() {
    let Some(folder) = Folder::shared("design") else { return };
    let bundle = Bundle::of(&folder, "deckhand_fullsite").with_lshw("lshw_pci_scsi.xml");
    assert_eq!(bundle.expecting("deckhand_fullsite.lshw").judge(true, Some(&SRIOV)), Ok(()));

    let detected = Bundle::of(&folder, "deckhand_fullsite_nic_autodetect").with_lshw("lshw_regexp.xml");
    let printed = detected.compile(false).to_drydock_json();
    let names = &printed["nodes"]["controller01"]["_logicalnames"];
    let expected = serde_json::json!({
        "prim_nic01": "eno3", "prim_nic02": "eno4", "prim_nic03": "prim_nic03", "primary_boot": "sda",
    });
    assert_eq!(names, &expected);
}

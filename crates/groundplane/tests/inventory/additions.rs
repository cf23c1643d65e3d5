//! What the field expects beyond the original: numbers, reservations, slots, panels, breakouts, power.

use serde_json::json;

use crate::gaps::{cable, ground, node, object, port, refused};
use crate::program::with_each;

#[test]
fn serial_numbers_and_asset_tags_are_given_once() {
    with_each(|kubectl| {
        ground(kubectl);
        kubectl.run_with(
            "apply -f -",
            &node("n1", "here", json!({"serial": "CZ123", "assetTag": "0001", "lifecycle": "Active"})),
        );
        refused(
            kubectl,
            &node("n2", "here", json!({"serial": "cz123"})),
            "serial cz123 is already used by Node n1",
        );
        let pdu = |tag: &str| {
            object(
                "NetworkDevice",
                "pdu-a",
                json!({"siteRef": {"name": "here"}, "role": "PDU", "assetTag": tag}),
            )
        };
        refused(kubectl, &pdu("0001"), "assetTag 0001 is already used by Node n1");
        kubectl.run_with("apply -f -", &pdu("0002"));
        let leaf = object("NetworkDevice", "leaf2", json!({"siteRef": {"name": "here"}, "role": "Leaf"}));
        refused(kubectl, &leaf, "spec.clusterRef: Required value");
        let retired =
            json!({"lifecycle": "Retired", "assignment": {"clusterRef": {"name": "c"}, "role": "Worker"}});
        refused(kubectl, &node("n3", "here", retired), "a Retired node must not have an assignment");
    });
}

#[test]
fn reserved_units_are_for_whoever_names_the_reservation() {
    with_each(|kubectl| {
        ground(kubectl);
        let reserve = |start: u32| {
            format!(
                "patch rack a1 --type=merge -p {{\"spec\":{{\"reservations\":[{{\"name\":\"db\",\"startUnit\":{start},\"unitHeight\":4}}]}}}}"
            )
        };
        kubectl.run(&reserve(10));
        let at = |start: u32, more: serde_json::Value| {
            let mut placement = json!({"rackRef": {"name": "a1"}, "startUnit": start, "unitHeight": 2});
            for (key, value) in more.as_object().unwrap() {
                placement[key] = value.clone();
            }
            json!({"placement": placement})
        };
        refused(
            kubectl,
            &node("n1", "here", at(13, json!({}))),
            "placement U13-U14 (Front) of Node n1 overlaps reservation db at U10-U13 in Rack a1",
        );
        refused(
            kubectl,
            &node("n1", "here", at(13, json!({"reservation": "db"}))),
            "is not within reservation db at U10-U13",
        );
        kubectl.run_with("apply -f -", &node("n1", "here", at(10, json!({"reservation": "db"}))));
        kubectl.run_with("apply -f -", &node("n2", "here", at(20, json!({"fullDepth": true}))));
        refused(
            kubectl,
            &node("n3", "here", at(21, json!({"face": "Rear"}))),
            "overlaps Node n2 at U20-U21 in Rack a1",
        );
        let said = kubectl.refused(&reserve(19));
        assert!(
            said.contains("of Node n1 is not within reservation db")
                || said.contains("of Node n2 overlaps reservation db"),
            "the refusal names the device: {said}"
        );
    });
}

#[test]
fn a_blade_is_in_a_slot_of_its_chassis() {
    with_each(|kubectl| {
        ground(kubectl);
        let slots = json!({"slots": [{"name": "1"}, {"name": "2"}], "placement": {"rackRef": {"name": "a1"}, "startUnit": 1, "unitHeight": 10}});
        kubectl.run_with("apply -f -", &node("chassis", "here", slots));
        let blade =
            |slot: &str| json!({"inSlot": {"deviceRef": {"kind": "Node", "name": "chassis"}, "slot": slot}});
        kubectl.run_with("apply -f -", &node("blade1", "here", blade("1")));
        refused(
            kubectl,
            &node("blade2", "here", blade("1")),
            "slot 1 of Node chassis already holds Node blade1",
        );
        refused(kubectl, &node("blade2", "here", blade("3")), "Node chassis has no slot 3; it has [1 2]");
        refused(
            kubectl,
            &node("blade2", "there", blade("2")),
            "Node chassis is at Site here, not at Site there",
        );
        let said = kubectl.refused("delete nodes.v1alpha1.inventory.miloapis.com chassis");
        assert!(said.contains("1 Node(s) still slotted in it: [blade1]"), "{said}");
        let said = kubectl.refused("patch nodes.v1alpha1.inventory.miloapis.com chassis --type=merge -p {\"spec\":{\"slots\":[{\"name\":\"2\"}]}}");
        assert!(said.contains("slot 1 still holds Node blade1"), "{said}");
        kubectl.until(
            "get nodes.v1alpha1.inventory.miloapis.com -l topology.inventory.miloapis.com/rack=a1 -o name",
            |names| names.contains("blade1"),
        );
    });
}

#[test]
fn a_panel_leads_through_at_each_position_once() {
    with_each(|kubectl| {
        ground(kubectl);
        kubectl.run_with(
            "apply -f -",
            &object("NetworkDevice", "pp1", json!({"siteRef": {"name": "here"}, "role": "PatchPanel"})),
        );
        let on = ("NetworkDevice", "pp1");
        kubectl.run_with("apply -f -", &port("rear", on, "PatchPanel", json!({"positions": 2})));
        let through =
            |position: u32| json!({"passThrough": {"portRef": {"name": "rear"}, "position": position}});
        kubectl.run_with("apply -f -", &port("front1", on, "PatchPanel", through(1)));
        refused(
            kubectl,
            &port("front2", on, "PatchPanel", through(1)),
            "position 1 of Port rear is already used by Port front1",
        );
        refused(
            kubectl,
            &port("front2", on, "PatchPanel", through(3)),
            "Port rear has no position 3; its highest position is 2",
        );
        refused(
            kubectl,
            &port("other", ("NetworkDevice", "leaf"), "PatchPanel", through(2)),
            "Port rear is not another port of NetworkDevice leaf",
        );
        kubectl.run_with("apply -f -", &port("front2", on, "PatchPanel", through(2)));
        let said = kubectl.refused("delete port rear");
        assert!(said.contains("2 Port(s) still lead through it: [front1 front2]"), "{said}");
        for name in ["q", "s1", "s2", "s3", "s4"] {
            kubectl.run_with("apply -f -", &port(name, ("NetworkDevice", "leaf"), "Optical", json!({})));
        }
        kubectl.run_with("apply -f -", &cable("breakout", &["q", "s1", "s2", "s3", "s4"], "DAC"));
        refused(kubectl, &cable("twice", &["q", "s1", "q"], "DAC"), "cable endpoints must be distinct");
    });
}

#[test]
fn a_feed_that_gives_more_than_it_may_says_so() {
    with_each(|kubectl| {
        ground(kubectl);
        let feed = json!({"power": {"feed": "A"}});
        kubectl.run_with("apply -f -", &port("a1-a", ("Rack", "a1"), "Power", feed));
        refused(
            kubectl,
            &port("a1-c", ("Rack", "a1"), "Power", json!({"power": {"feed": "C"}})),
            "Rack a1 has no power feed C",
        );
        kubectl.run_with(
            "apply -f -",
            &object("NetworkDevice", "pdu-a", json!({"siteRef": {"name": "here"}, "role": "PDU"})),
        );
        let pdu = ("NetworkDevice", "pdu-a");
        kubectl.run_with("apply -f -", &port("pdu-a-in", pdu, "Power", json!({})));
        let outlet = json!({"power": {"inletRef": {"name": "pdu-a-in"}, "ratedWatts": 2300}});
        kubectl.run_with("apply -f -", &port("pdu-a-1", pdu, "Power", outlet));
        kubectl.run_with("apply -f -", &node("n1", "here", json!({"drawnWatts": 1000})));
        kubectl.run_with("apply -f -", &port("n1-psu1", ("Node", "n1"), "Power", json!({})));
        refused(
            kubectl,
            &cable("light", &["a1-a", "pdu-a-in"], "FiberSMF"),
            "a FiberSMF cable does not fit Port a1-a of type Power",
        );
        let port_end = |name: &str| json!({"kind": "Port", "name": name});
        let circuit = |port: &str| {
            let spec = json!({"type": "Transit", "providerRef": {"name": "p"}, "aEnd": port_end(port), "zEnd": {"kind": "Site", "name": "here"}});
            object("Circuit", "transit", spec)
        };
        refused(kubectl, &circuit("n1-psu1"), "a circuit does not fit Port n1-psu1 of type Power");
        kubectl.run_with("apply -f -", &port("n1-up", ("Node", "n1"), "Optical", json!({})));
        kubectl.run_with("apply -f -", &circuit("n1-up"));
        let said = kubectl.refused("patch port n1-up --type=merge -p {\"spec\":{\"type\":\"Power\"}}");
        assert!(said.contains("carries Circuit transit, which does not fit type Power"), "{said}");
        let said = kubectl.refused("patch port pdu-a-in --type=merge -p {\"spec\":{\"type\":\"Serial\"}}");
        assert!(said.contains("feeds Port pdu-a-1, so its type must remain Power"), "{said}");
        kubectl.run_with("apply -f -", &cable("feed-a", &["a1-a", "pdu-a-in"], "Power"));
        kubectl.run_with("apply -f -", &cable("psu1", &["pdu-a-1", "n1-psu1"], "Power"));
        kubectl.until("get rack a1 -o yaml", |yaml| yaml.contains("reason: WithinRating"));
        kubectl.run(
            "patch nodes.v1alpha1.inventory.miloapis.com n1 --type=merge -p {\"spec\":{\"drawnWatts\":2000}}",
        );
        kubectl.until("get rack a1 -o yaml", |yaml| yaml.contains("feed A carries 2000 W of 1840 W usable"));
        let said =
            kubectl.refused("patch rack a1 --type=merge -p {\"spec\":{\"powerFeeds\":[{\"name\":\"B\"}]}}");
        assert!(said.contains("power feed A is still used by Port a1-a"), "{said}");
    });
}

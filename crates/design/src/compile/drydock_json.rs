//! A compiled design in Drydock's JSON format.

mod boot_actions;
mod fields;
mod hosts;
mod messages;
mod networks;
mod places;

use serde_json::{Value, json};

use super::{Compiled, Outcome, Site};
use crate::{inherit::Refusal, model::Design};

pub(super) fn render(compiled: &Compiled) -> Value {
    let design = &compiled.design;
    let mut printed = match &compiled.outcome {
        Outcome::Unreadable => designed(design),
        Outcome::Refused(refusals) => refused(refusals),
        Outcome::Site(site) => effective(design, site),
    };
    let messages = messages::of(compiled);
    printed["format"] = json!(messages::format(design.envelope()));
    printed["ingest_status"] = json!(messages::ingest_status(compiled));
    printed["status"] = json!(messages::status(compiled));
    printed["error_count"] = json!(messages::error_count(compiled, &messages));
    printed["messages"] = Value::Array(messages);
    printed
}

/// A design whose bytes are not YAML: it has nothing but that message.
pub(super) fn unparsable(why: &str) -> Value {
    let mut printed = designed(&Design::default());
    printed["format"] = json!("deckhand");
    printed["ingest_status"] = json!("failure");
    printed["status"] = json!("failure");
    printed["error_count"] = json!(1);
    printed["messages"] = json!([messages::unparsable(why)]);
    printed
}

/// Documents as they were written, for a design of which nothing could be compiled.
fn designed(design: &Design) -> Value {
    let mut printed = never_inherited(design);
    printed["networks"] = by_name(&design.networks, |one| (one.name(), networks::network(one)));
    printed["host_profiles"] = by_name(&design.host_profiles, |one| {
        (one.name(), hosts::profile(one.name(), &one.parent, &one.settings))
    });
    printed["nodes"] = by_name(&design.nodes, |node| (node.name(), hosts::designed_node(node)));
    printed["bootactions"] =
        by_name(&design.boot_actions, |one| (one.name(), boot_actions::action(one, &[])));
    printed
}

/// A refused design has nothing but its mistakes; `error` is the first of them.
fn refused(refusals: &[Refusal]) -> Value {
    let error =
        |one: &Refusal| json!({ "kind": one.kind(), "about": one.about(), "message": one.to_string() });
    let mut printed = designed(&Design::default());
    printed["error"] = json!(refusals.first().map(error));
    printed["errors"] = refusals.iter().map(error).collect();
    printed
}

fn effective(design: &Design, site: &Site) -> Value {
    let mut printed = never_inherited(design);
    printed["networks"] = by_name(&site.networks, |one| (one.name(), networks::network(one)));
    // The original made a profile effective only on the way to a node; the others it printed as they were written.
    let profiles = design.host_profiles.iter().zip(&site.profiles).map(|(written, profile)| {
        let settings = if profile.is_used { &profile.effective.settings } else { &written.settings };
        (written.name().to_owned(), hosts::profile(written.name(), &written.parent, settings))
    });
    printed["host_profiles"] = profiles.collect();
    printed["nodes"] = by_name(&site.nodes, |node| (node.name(), hosts::node(node)));
    printed["bootactions"] =
        by_name(&site.boot_actions, |one| (one.action.name(), boot_actions::action(&one.action, &one.nodes)));
    printed
}

/// The kinds that compiling leaves alone.
fn never_inherited(design: &Design) -> Value {
    json!({
        "region": design.region.as_deref().map(places::region),
        "racks": by_name(&design.racks, |rack| (&rack.document.name, places::rack(rack))),
        "network_links": by_name(&design.network_links, |link| (&link.document.name, networks::link(link))),
        "hardware_profiles": by_name(&design.hardware_profiles, |one| (one.name(), places::hardware(one))),
    })
}

fn by_name<'d, T>(things: &'d [T], print: impl Fn(&'d T) -> (&'d str, Value)) -> Value {
    things.iter().map(print).map(|(name, value)| (name.to_owned(), value)).collect()
}

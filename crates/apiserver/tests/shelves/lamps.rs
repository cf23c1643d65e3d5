//! Lamps: a kind with two versions. It is stored as `v1beta1`; earlier servers stored `v1alpha1`, which had other fields.

use krm::kind::{
    Bucket, Change, Declaration, Metadata, OtherVersion, Reference, Refusal, Resource, Verdict, View, allow,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::kinds::GROUP;
use super::kinds::shelf::Shelf;
use super::reading_room::NameRef;

/// The bucket of the lamps over a shelf.
pub const OVER_SHELF: Bucket = Bucket::new("example.groundplane.dev/lamps-over-shelf");
/// What `v1alpha1` has no field for.
const KELVIN: &str = "example.groundplane.dev/kelvin";
/// How bright the lamps over a shelf may be in all.
const BRIGHTEST: u32 = 150;

/// A lamp over a shelf.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Lamp {
    pub metadata: Metadata,
    pub spec: LampSpec,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<LampStatus>,
}

/// Which shelf a lamp lights, and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LampSpec {
    /// The shelf.
    pub shelf_ref: NameRef,
    /// Its light.
    pub light: Light,
}

/// The light of a lamp.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Light {
    /// How bright it is, in percent.
    #[schemars(range(max = 100))]
    pub percent: u32,
    /// Its color temperature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kelvin: Option<u32>,
}

/// What was found of a lamp.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LampStatus {
    /// How long it has been on, in hours.
    #[serde(default)]
    pub hours: u32,
    /// What was found out about it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<krm::condition::Condition>,
}

impl Resource for Lamp {
    const GROUP: &'static str = GROUP;
    const VERSION: &'static str = "v1beta1";
    const KIND: &'static str = "Lamp";
    const PLURAL: &'static str = "lamps";

    fn declare() -> Declaration<Lamp> {
        Declaration::cluster()
            .status()
            .version::<LampV1alpha1>()
            .refers(Reference::to::<Shelf>("spec.shelfRef.name"))
            .selects(&["spec.shelfRef.name"])
            .prints("Percent", "integer", ".spec.light.percent")
            .prints("Hours", "integer", ".status.hours")
            .bucket(OVER_SHELF, |lamp: &Lamp| vec![lamp.spec.shelf_ref.name.clone()])
            .rule(is_not_too_bright)
    }
}

/// The lamps over a shelf are not too bright in all.
fn is_not_too_bright(change: &Change<Lamp>, view: &mut View<'_>) -> Verdict {
    let Some(lamp) = change.after() else { return allow() };
    let others = view.bucket_of::<Lamp>(OVER_SHELF, &lamp.spec.shelf_ref.name);
    let others = others.iter().filter(|other| other.metadata.name != lamp.metadata.name);
    let all = others.map(|other| other.spec.light.percent).sum::<u32>() + lamp.spec.light.percent;
    match all <= BRIGHTEST {
        true => allow(),
        false => Err(Refusal::Conflict(format!("the lamps over the shelf would have {all} percent"))),
    }
}

/// A lamp as it was at first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LampV1alpha1 {
    pub metadata: Metadata,
    pub spec: LampV1alpha1Spec,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<LampStatus>,
}

/// Which shelf a lamp lights, and how bright it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LampV1alpha1Spec {
    /// The shelf.
    pub shelf: String,
    /// How bright it is, in percent.
    #[schemars(range(max = 100))]
    pub brightness: u32,
}

impl OtherVersion for LampV1alpha1 {
    type Stored = Lamp;
    const VERSION: &'static str = "v1alpha1";
    const DEPRECATED: Option<&'static str> = Some("use v1beta1, which knows colors");

    fn into_stored(mut self) -> Lamp {
        let kept = self.metadata.annotations.get(KELVIN);
        let kelvin = kept.and_then(|text| text.parse::<u32>().ok().filter(|it| it.to_string() == *text));
        if kelvin.is_some() {
            self.metadata.annotations.remove(KELVIN);
        }
        let light = Light { percent: self.spec.brightness, kelvin };
        let spec = LampSpec { shelf_ref: NameRef { name: self.spec.shelf }, light };
        Lamp { metadata: self.metadata, spec, status: self.status }
    }

    fn from_stored(mut stored: Lamp) -> LampV1alpha1 {
        if let Some(kelvin) = stored.spec.light.kelvin {
            stored.metadata.annotations.insert(KELVIN.to_owned(), kelvin.to_string());
        }
        let spec =
            LampV1alpha1Spec { shelf: stored.spec.shelf_ref.name, brightness: stored.spec.light.percent };
        LampV1alpha1 { metadata: stored.metadata, spec, status: stored.status }
    }

    fn selectable() -> Vec<&'static str> {
        vec!["spec.shelf"]
    }
}

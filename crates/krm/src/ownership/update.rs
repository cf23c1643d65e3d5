//! Ownership after a create, an update or a patch: who changed a field owns it.

use super::apply::ApplyError;
use super::endpoint::{Changes, Endpoint, Origin, describe};
use super::managers::{self, Identity, Manager, Managers, Operation, declared_entries, is_blank};
use super::reconcile::reconcile;
use super::set::FieldSet;
use super::validate::{Duplicates, validate};
use crate::object::Object;
use crate::time::Moment;

/// Why nobody owns the fields of an object any more: it could not be said who does.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("failed to update managedFields: {0}")]
pub struct Untracked(String);

impl Untracked {
    pub(super) fn new(why: &ApplyError) -> Untracked {
        Untracked(why.to_string())
    }
}

impl Endpoint<'_> {
    /// Writes into `new` who owns its fields, now that `manager` has made it out of `live`, which is `None` when the
    /// object is created.
    ///
    /// `new` has its defaults, and is without what a client may not create; what the endpoint does not reach has not been
    /// put back yet. An error is no reason to refuse the write: the object is then without owners.
    pub fn update(
        &self,
        live: Option<&Object>,
        new: &mut Object,
        manager: &str,
        now: Moment,
    ) -> Result<(), Untracked> {
        let managers = self.managers_before(live, new);
        managers::forget(new);
        let is_create = live.is_none_or(|live| live.uid().is_empty());
        if managers.is_empty() && !is_create {
            // Somebody asked to forget who owns what; until the next apply it stays forgotten.
            return Ok(());
        }
        let tracked = match live {
            Some(live) => self.track(managers, live, new, manager, now),
            None => self.track(managers, &self.blank(), new, manager, now),
        };
        tracked.map_err(|why| Untracked::new(&why))?.write_into(new);
        Ok(())
    }

    /// What there is before an object is created.
    pub(super) fn blank(&self) -> Object {
        let mut blank = self.versions.blank_object().clone();
        blank.set_type(self.api_version, self.versions.kind());
        blank
    }

    /// Who owned what before this write: a client may say so itself, or ask to forget it.
    fn managers_before(&self, live: Option<&Object>, new: &Object) -> Managers {
        let before = || live.map(Managers::of).unwrap_or_default();
        if !self.subresource.is_empty() {
            return before();
        }
        match declared_entries(new) {
            Some([]) if self.versions.origin() == Origin::BuiltIn => Managers::default(),
            Some([only]) if is_blank(only) => Managers::default(),
            Some(entries) => match Managers::decode(entries) {
                Ok(managers) if !managers.is_empty() => managers,
                _ => before(),
            },
            None => before(),
        }
    }

    /// Who owns what after `manager` made `new` out of `live`.
    pub(super) fn track(
        &self,
        mut managers: Managers,
        live: &Object,
        new: &Object,
        manager: &str,
        now: Moment,
    ) -> Result<Managers, ApplyError> {
        let ty = self.ty()?;
        for (object, which) in [(new, "new"), (live, "live")] {
            validate(ty, object, Duplicates::Allowed).map_err(|errors| {
                let named = describe(object);
                ApplyError::Failed(format!(
                    "failed to convert {which} object ({named}) to smd typed: {errors}"
                ))
            })?;
        }
        self.reconcile_all(&mut managers, live)?;
        let mut changes = Changes::new(*self, ty, live, new);
        let losses = self.losses(&managers, &mut changes)?;
        losses.take_from(&mut managers);
        let own = changes.own();
        let mut fields = own.modified.union(own.added);
        fields.subtract(never_owned());
        if !fields.is_empty() {
            let identity = Identity::new(manager, Operation::Update, self.api_version, self.subresource);
            if let Some(previous) = managers.get(&identity) {
                fields.extend(previous.fields.clone());
            }
            let version = self.api_version.to_owned();
            managers.set(Manager { identity, version, fields, time: Some(now) });
        }
        managers.cap_updaters();
        Ok(managers)
    }

    /// Brings what everybody owns in line with the present types, and forgets versions that are no more.
    pub(super) fn reconcile_all(&self, managers: &mut Managers, live: &Object) -> Result<(), ApplyError> {
        let mut checked: Vec<String> = vec![self.api_version.to_owned()];
        let mut failure = None;
        managers.0.retain_mut(|manager| {
            match self.versions.find(self.api_version, &manager.version) {
                Ok(None) => return false,
                Err(error) => failure = Some(error),
                Ok(Some(ty)) => {
                    if !checked.contains(&manager.version) {
                        let live = self.versions.convert(live, &manager.version);
                        let faults = live.map_err(|why| why.to_string()).and_then(|live| {
                            validate(ty, &live, Duplicates::Refused).map_err(|errors| errors.to_string())
                        });
                        if let Err(why) = faults {
                            failure = Some(ApplyError::Failed(why));
                        }
                        checked.push(manager.version.clone());
                    }
                    if let Some(fields) = reconcile(ty, &manager.fields) {
                        manager.fields = fields;
                    }
                }
            }
            true
        });
        failure.map_or(Ok(()), Err)
    }

    /// What managers lose by a change.
    pub(super) fn losses(
        &self,
        managers: &Managers,
        changes: &mut Changes<'_, '_>,
    ) -> Result<Losses, ApplyError> {
        let mut losses = Vec::with_capacity(managers.0.len());
        for manager in &managers.0 {
            losses.push(changes.at(&manager.version)?.map(|change| {
                let mut taken = manager.fields.intersection(&change.modified);
                taken.extend(manager.fields.intersection(&change.added));
                let removed = manager.fields.intersection(&change.removed);
                Loss { taken, removed }
            }));
        }
        Ok(Losses(losses))
    }
}

/// What each manager loses; `None` for one whose version is no more.
pub(super) struct Losses(Vec<Option<Loss>>);

/// What a manager loses.
pub(super) struct Loss {
    /// Fields that have another value now.
    pub taken: FieldSet,
    /// Fields that are no more.
    removed: FieldSet,
}

impl Losses {
    /// The fields that each manager has at another value.
    pub(super) fn taken<'m>(
        &self,
        managers: &'m Managers,
    ) -> impl Iterator<Item = (&'m Identity, &FieldSet)> {
        let losses = managers.0.iter().zip(&self.0);
        losses.filter_map(|(manager, loss)| Some((&manager.identity, &loss.as_ref()?.taken)))
    }

    /// Takes the losses from the managers; who owns nothing any more is none.
    pub(super) fn take_from(self, managers: &mut Managers) {
        let mut losses = self.0.into_iter();
        managers.0.retain_mut(|manager| match losses.next().flatten() {
            Some(loss) => {
                manager.fields.subtract(&loss.taken);
                manager.fields.subtract(&loss.removed);
                !manager.fields.is_empty()
            }
            None => false,
        });
    }
}

/// Fields that the server alone sets, and that nobody owns.
pub(super) fn never_owned() -> &'static FieldSet {
    static NEVER_OWNED: std::sync::OnceLock<FieldSet> = std::sync::OnceLock::new();
    NEVER_OWNED.get_or_init(|| {
        let mut set = FieldSet::of(&[&["apiVersion"], &["kind"], &["metadata"]]);
        for field in [
            "name",
            "namespace",
            "creationTimestamp",
            "selfLink",
            "uid",
            "clusterName",
            "generation",
            "managedFields",
            "resourceVersion",
        ] {
            set.extend(FieldSet::of(&[&["metadata", field]]));
        }
        set
    })
}

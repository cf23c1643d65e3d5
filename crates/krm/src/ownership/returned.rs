//! Ownership after an undo: fields that get an earlier value back get the owners back that they had with it.

use super::apply::ApplyError;
use super::endpoint::{Changes, Endpoint};
use super::managers::{self, Identity, Manager, Managers, Operation};
use super::set::FieldSet;
use super::update::{Untracked, never_owned};
use crate::object::Object;
use crate::time::Moment;

impl Endpoint<'_> {
    /// Writes into `new` who owns its fields, now that `manager` has made it out of `live` by bringing back values of
    /// `past`.
    ///
    /// A field that changes belongs to who owned it in `past`, so that whoever applied it can apply again. `manager`
    /// gets only what nobody owned then.
    pub fn bring_back(
        &self,
        live: &Object,
        new: &mut Object,
        past: &Object,
        manager: &str,
        now: Moment,
    ) -> Result<(), Untracked> {
        let before = Managers::of(live);
        managers::forget(new);
        if before.is_empty() {
            return Ok(());
        }
        let after = self.track(before, live, new, manager, now);
        let mut after = after.map_err(|why| Untracked::new(&why))?;
        let undoer = Identity::new(manager, Operation::Update, self.api_version, self.subresource);
        self.give_back(&mut after, &undoer, live, new, Managers::of(past))
            .map_err(|why| Untracked::new(&why))?;
        after.write_into(new);
        Ok(())
    }

    fn give_back(
        &self,
        managers: &mut Managers,
        undoer: &Identity,
        live: &Object,
        new: &Object,
        past: Managers,
    ) -> Result<(), ApplyError> {
        let mut changes = Changes::new(*self, self.ty()?, live, new);
        let mut returned = FieldSet::new();
        let mut kept = FieldSet::new();
        for mut owner in past.0 {
            // A version that is not served any more has no owners.
            let Ok(Some(change)) = changes.at(&owner.version) else { continue };
            let changed = change.modified.clone().union(change.added.clone());
            owner.fields = owner.fields.intersection(&changed).difference(never_owned());
            if owner.identity == *undoer {
                kept = owner.fields;
                continue;
            }
            let fields = owner.fields.clone();
            match managers.position(&owner.identity) {
                Some(at) if managers.0[at].version == owner.version => {
                    managers.0[at].fields.extend(owner.fields);
                }
                Some(_) => continue,
                None => managers.set(owner),
            }
            returned.extend(fields.with_ancestors());
        }
        if let Some(at) = managers.position(undoer) {
            let Manager { mut fields, .. } = managers.0[at].clone();
            fields.subtract(&returned);
            fields.extend(kept);
            managers.set(Manager { fields, ..managers.0[at].clone() });
        }
        Ok(())
    }
}

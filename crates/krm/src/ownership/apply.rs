//! Server-side apply: a configuration merged into the object, and who owns its fields afterwards.

use std::borrow::Cow;

use super::command_line;
use super::conflict::{Conflict, Conflicts};
use super::endpoint::{Changes, Endpoint, describe, describe_type};
use super::fields::fields_of;
use super::last_applied;
use super::managers::{self, Identity, Manager, Managers, Operation, declared_entries};
use super::merge::merge;
use super::prune::{Owned, prune};
use super::set::FieldSet;
use super::times::same_but_managed_fields;
use super::types::Type;
use super::update::never_owned;
use super::validate::{Duplicates, validate};
use crate::object::Object;
use crate::status::Status;
use crate::time::Moment;

/// The manager that owns what was there before anybody owned anything.
pub(super) const BEFORE_FIRST_APPLY: &str = "before-first-apply";

/// Who applies, and how.
#[derive(Debug, Clone, Copy)]
pub struct Applier<'a> {
    /// The name of the field manager.
    pub manager: &'a str,
    /// Whether to take fields that others own at another value.
    pub force: bool,
}

/// Why a configuration could not be applied.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ApplyError {
    /// The configuration is not one of this kind.
    #[error("{0}")]
    BadRequest(String),
    /// The configuration, the object or who owns it does not fit the type.
    #[error("{0}")]
    Failed(String),
    /// Others own fields at another value.
    #[error("{0}")]
    Conflicts(Conflicts),
}

impl ApplyError {
    /// As the answer to the request.
    pub fn status(&self) -> Status {
        match self {
            ApplyError::BadRequest(message) => Status::bad_request(message),
            ApplyError::Failed(message) => Status::failure(500, "", message),
            ApplyError::Conflicts(conflicts) => conflicts.status(),
        }
    }
}

impl Endpoint<'_> {
    /// The object that comes out when `applied` is applied to `live`, which is `None` when there is no object yet.
    ///
    /// Defaults have not been filled in, and what the endpoint does not reach is as `applied` has it.
    pub fn apply(
        &self,
        live: Option<&Object>,
        applied: &Object,
        applier: Applier<'_>,
        now: Moment,
    ) -> Result<Object, ApplyError> {
        let mut managers = Managers::decode(live.and_then(declared_entries).unwrap_or(&[]))
            .map_err(|why| ApplyError::Failed(format!("failed to decode managed fields: {why}")))?;
        if (applied.api_version(), applied.kind()) != (self.api_version, self.versions.kind()) {
            let what = describe_type(applied.api_version(), applied.kind());
            return Err(ApplyError::BadRequest(format!("invalid object type: {what}")));
        }
        if let (true, Some(live)) = (managers.is_empty(), live) {
            let tracked = self.track(managers, &self.blank(), live, BEFORE_FIRST_APPLY, now);
            managers = tracked.map_err(|why| {
                ApplyError::Failed(format!("failed to create manager for existing fields: {why}"))
            })?;
        }
        if declared_entries(applied).is_some() {
            return Err(ApplyError::BadRequest("metadata.managedFields must be nil".to_owned()));
        }
        let nothing = || {
            let mut nothing = Object::default();
            nothing.set_type(self.api_version, self.versions.kind());
            nothing
        };
        let live = live.map_or_else(|| Cow::Owned(nothing()), Cow::Borrowed);
        let application = Application { endpoint: *self, ty: self.ty()?, live: &live, applied };
        let (mut object, managers) = match applier.manager {
            last_applied::MANAGER => application.run_for_kubectl(managers, applier, now)?,
            command_line::MANAGER => application.run_for_groundplane(managers, applier, now)?,
            _ => application.run(managers, applier, now)?,
        };
        managers.write_into(&mut object);
        Ok(object)
    }
}

/// A configuration that is being applied.
struct Application<'a> {
    endpoint: Endpoint<'a>,
    ty: &'a Type,
    live: &'a Object,
    applied: &'a Object,
}

impl Application<'_> {
    /// kubectl's applies on the server's side carry on those it made on its own.
    fn run_for_kubectl(
        &self,
        managers: Managers,
        applier: Applier<'_>,
        now: Moment,
    ) -> Result<(Object, Managers), ApplyError> {
        let (mut object, managers) = match self.run(managers.clone(), applier, now) {
            Err(ApplyError::Conflicts(conflicts)) => {
                self.allow_last_applied(conflicts)?;
                self.run(managers, Applier { force: true, ..applier }, now)?
            }
            outcome => outcome?,
        };
        last_applied::refresh(&mut object, self.applied);
        Ok((object, managers))
    }

    /// `groundplane apply` takes over the fields that other commands of ours and of kubectl wrote. Field managers name
    /// tools, not users, as in Kubernetes.
    fn run_for_groundplane(
        &self,
        mut managers: Managers,
        applier: Applier<'_>,
        now: Moment,
    ) -> Result<(Object, Managers), ApplyError> {
        let endpoint = self.endpoint;
        let identity =
            Identity::new(applier.manager, Operation::Apply, endpoint.api_version, endpoint.subresource);
        // `run` reports what does not match the type.
        if validate(self.ty, self.applied, Duplicates::Refused).is_ok() {
            let fields = fields_of(self.ty, self.applied);
            command_line::take_over(&mut managers, &identity, &fields, self.live);
        }
        self.run(managers, applier, now)
    }

    fn run(
        &self,
        mut managers: Managers,
        applier: Applier<'_>,
        now: Moment,
    ) -> Result<(Object, Managers), ApplyError> {
        let endpoint = self.endpoint;
        let typed = |object: &Object, which: &str, duplicates: Duplicates| {
            validate(self.ty, object, duplicates).map_err(|errors| {
                let named = describe(object);
                ApplyError::Failed(format!("failed to create typed {which} object ({named}): {errors}"))
            })
        };
        typed(self.applied, "patch", Duplicates::Refused)?;
        typed(self.live, "live", Duplicates::Allowed)?;
        endpoint.reconcile_all(&mut managers, self.live)?;

        let identity =
            Identity::new(applier.manager, Operation::Apply, endpoint.api_version, endpoint.subresource);
        let mut fields = fields_of(self.ty, self.applied);
        if let Some(ignored) = endpoint.reset(endpoint.api_version) {
            fields.subtract_recursively(ignored);
        }
        let last = managers.position(&identity).map(|at| managers.0.swap_remove(at));
        let last_time = last.as_ref().and_then(|last| last.time);
        let mut object = self.live.clone();
        managers::forget(&mut object);
        merge(self.ty, &mut object, self.applied);
        if let Some(last) = last {
            self.prune(&mut object, last, &managers, &fields)?;
        }

        let mut changes = Changes::new(endpoint, self.ty, self.live, &object);
        let losses = endpoint.losses(&managers, &mut changes)?;
        if !applier.force {
            let conflicts = Conflicts::new(losses.taken(&managers));
            if !conflicts.is_empty() {
                return Err(ApplyError::Conflicts(conflicts));
            }
        }
        losses.take_from(&mut managers);
        let unchanged = same_but_managed_fields(self.live, &object);
        let time = if unchanged { last_time } else { Some(now) };
        fields.subtract(never_owned());
        let version = endpoint.api_version.to_owned();
        managers.set(Manager { identity, version, fields, time });
        Ok((object, managers))
    }

    /// Takes out what the manager applied last time and nobody owns any more.
    fn prune(
        &self,
        object: &mut Object,
        last: Manager,
        others: &Managers,
        fields: &FieldSet,
    ) -> Result<(), ApplyError> {
        let own_version = self.endpoint.api_version;
        // Then everything that was applied is owned again; that is so most of the time.
        if last.fields.is_empty() || (last.version == own_version && last.fields.is_subset_of(fields)) {
            return Ok(());
        }
        let failed = |why: String| ApplyError::Failed(format!("failed to prune fields: {why}"));
        let Some(ty) = self.type_for(object, &last.version).map_err(|why| {
            failed(format!("failed to convert merged object to last applied version: {why}"))
        })?
        else {
            return Ok(());
        };
        let mut versions = vec![last.version.as_str(), own_version];
        versions.extend(others.0.iter().map(|manager| manager.version.as_str()));
        let mut owned: Vec<(&str, Owned<'_>)> = Vec::new();
        for version in versions {
            if owned.iter().any(|(known, _)| *known == version) {
                continue;
            }
            let at_version = others.0.iter().filter(|manager| manager.version == version);
            let mut all = FieldSet::new();
            at_version.for_each(|manager| all.extend(manager.fields.clone()));
            if version == own_version {
                all.extend(fields.clone());
            }
            let found = self.type_for(object, version).map_err(|why| {
                failed(format!(
                    "failed add back owned items: failed to convert merged object at version {version}: {why}"
                ))
            })?;
            if let Some(ty) = found {
                owned.push((version, Owned { version, ty, fields: all }));
            }
        }
        let owned: Vec<Owned<'_>> = owned.into_iter().map(|(_, owned)| owned).collect();
        let last = Owned { version: &last.version, ty, fields: last.fields };
        prune(self.endpoint.versions, &last, &owned, object).map_err(|why| failed(why.to_string()))
    }

    /// The type of a version, of which the object has been checked to be.
    fn type_for(&self, object: &Object, version: &str) -> Result<Option<&Type>, String> {
        let own_version = self.endpoint.api_version;
        let found = self.endpoint.versions.find(own_version, version).map_err(|why| why.to_string())?;
        match found {
            Some(ty) if version != own_version => {
                let object =
                    self.endpoint.versions.convert(object, version).map_err(|why| why.to_string())?;
                validate(ty, &object, Duplicates::Refused).map_err(|errors| errors.to_string())?;
                Ok(Some(ty))
            }
            found => Ok(found),
        }
    }

    /// Leaves only conflicts over fields that were not applied by the client before; without any, all is well.
    fn allow_last_applied(&self, conflicts: Conflicts) -> Result<(), ApplyError> {
        let allowed = last_applied::unchanged_since(self.ty, self.live, self.endpoint.api_version);
        let rest = match allowed {
            Some(allowed) => conflicts.filter(|conflict: &Conflict| !allowed.contains(&conflict.field)),
            None => conflicts,
        };
        if rest.is_empty() { Ok(()) } else { Err(ApplyError::Conflicts(rest)) }
    }
}

//! Impersonation: `kubectl --as`.

use std::collections::BTreeMap;
use std::sync::Arc;

use http::HeaderMap;
use http::header::HeaderName;
use krm::Status;
use krm::field::quote;

use super::service_account::{service_account_groups, service_account_of};
use crate::authz::{Attributes, Authorizer};
use crate::identity::{AUTHENTICATED, Identity, UNAUTHENTICATED};

const USER: &str = "impersonate-user";
const GROUP: &str = "impersonate-group";
const UID: &str = "impersonate-uid";
const EXTRA_PREFIX: &str = "impersonate-extra-";

const CORE: &str = "";
const AUTHENTICATION: &str = "authentication.k8s.io";

/// Whom a request wants to act as, as its headers say it.
#[derive(Debug, Clone, PartialEq)]
pub struct Impersonation {
    wanted: Identity,
}

/// Who a request acts as.
#[derive(Debug, Clone, PartialEq)]
pub struct Impersonated {
    /// Who.
    pub identity: Identity,
    /// The verb of constrained impersonation that allowed it; empty for the plain one.
    pub constraint: &'static str,
}

impl Impersonation {
    /// Whom the headers ask to act as, if anybody.
    pub fn requested(headers: &HeaderMap) -> Result<Option<Impersonation>, Status> {
        let wanted = Identity {
            user: first(headers, USER)?.into(),
            uid: first(headers, UID)?.into(),
            groups: all(headers, GROUP)?.into_iter().map(Arc::from).collect(),
            extra: extra(headers)?,
            ..Identity::default()
        };
        if !wanted.user.is_empty() {
            return Ok(Some(Impersonation { wanted }));
        }
        if wanted.uid.is_empty() && wanted.groups.is_empty() && wanted.extra.is_empty() {
            return Ok(None);
        }
        let message = format!("requested {} without impersonating a user name", shown(&wanted));
        Err(Status::bad_request(message))
    }

    /// Takes the headers away, so that nothing behind this acts on them.
    pub fn strip(headers: &mut HeaderMap) {
        let is_ours = |name: &str| [USER, GROUP, UID].contains(&name) || name.starts_with(EXTRA_PREFIX);
        let ours: Vec<HeaderName> = headers.keys().filter(|name| is_ours(name.as_str())).cloned().collect();
        for name in ours {
            headers.remove(name);
        }
    }

    /// Everything that `verb` must be allowed on.
    fn checks<'a>(&'a self, verb: &'a str, group: &'a str) -> Vec<Attributes<'a>> {
        let wanted = &self.wanted;
        let versioned =
            |group, resource| Attributes { version: "v1", ..Attributes::resource(verb, group, resource) };
        let mut checks = vec![match service_account_of(&wanted.user) {
            Some((namespace, name)) => {
                versioned(group, "serviceaccounts").in_namespace(namespace).named(name)
            }
            None => versioned(group, "users").named(&wanted.user),
        }];
        if !wanted.uid.is_empty() {
            checks.push(versioned(AUTHENTICATION, "uids").named(&wanted.uid));
        }
        checks.extend(wanted.groups.iter().map(|name| versioned(group, "groups").named(name)));
        for (key, values) in &wanted.extra {
            let extras = versioned(AUTHENTICATION, "userextras").on_subresource(key);
            checks.extend(values.iter().map(|value| extras.named(value)));
        }
        checks
    }

    /// Who the request acts as, if `requestor` may do that; `request` is what it wants to do then.
    pub fn decide(
        &self,
        authorizer: &dyn Authorizer,
        requestor: &Identity,
        request: &Attributes<'_>,
    ) -> Result<Impersonated, Status> {
        let all_allowed = |checks: &[Attributes<'_>]| {
            checks.iter().try_for_each(|check| {
                let decision = authorizer.decide(requestor, check);
                if decision.allowed { Ok(()) } else { Err(check.forbidden(requestor, &decision.reason)) }
            })
        };
        let refused = match all_allowed(&self.checks("impersonate", CORE)) {
            Ok(()) => return Ok(Impersonated { identity: self.identity(), constraint: "" }),
            Err(refused) => refused,
        };
        // Those who may not act as somebody in everything may still be allowed to for this one thing.
        let Some((constraint, prefix)) = self.constrained() else { return Err(refused) };
        let on_request = format!("{prefix}{}", request.verb);
        let for_this = Attributes { verb: &on_request, ..*request };
        match authorizer.decide(requestor, &for_this).allowed
            && all_allowed(&self.checks(constraint, AUTHENTICATION)).is_ok()
        {
            true => Ok(Impersonated { identity: self.identity(), constraint }),
            false => Err(refused),
        }
    }

    /// The verb on whom to act as, and the start of the verb on what to do so, where constraints apply.
    fn constrained(&self) -> Option<(&'static str, &'static str)> {
        let wanted = &self.wanted;
        if service_account_of(&wanted.user).is_some() {
            let only_named = wanted.uid.is_empty() && wanted.groups.is_empty() && wanted.extra.is_empty();
            return only_named.then_some(("impersonate:serviceaccount", "impersonate-on:serviceaccount:"));
        }
        let is_node = wanted.user.starts_with("system:node:");
        let sound = !wanted.is_in(crate::identity::MASTERS)
            && !wanted.is_in("")
            && wanted.extra.iter().all(|(key, values)| !key.is_empty() && !values.contains(&String::new()));
        (!is_node && sound).then_some(("impersonate:user-info", "impersonate-on:user-info:"))
    }

    /// The user with the groups that come by themselves.
    fn identity(&self) -> Identity {
        let mut identity = self.wanted.clone();
        if identity.groups.is_empty()
            && let Some((namespace, _)) = service_account_of(&self.wanted.user)
        {
            identity.groups = service_account_groups(namespace).into_iter().map(Arc::from).collect();
        }
        let group = match (identity.is_anonymous(), identity.is_in(UNAUTHENTICATED)) {
            (true, _) => UNAUTHENTICATED,
            (false, true) => return identity,
            (false, false) => AUTHENTICATED,
        };
        if !identity.is_in(group) {
            identity.groups.push(group.into());
        }
        identity
    }
}

fn first(headers: &HeaderMap, name: &str) -> Result<String, Status> {
    Ok(all(headers, name)?.into_iter().next().unwrap_or_default())
}

fn all(headers: &HeaderMap, name: &str) -> Result<Vec<String>, Status> {
    let text = |value: &http::HeaderValue| String::from_utf8(value.as_bytes().to_vec()).ok();
    let texts: Option<Vec<String>> = headers.get_all(name).iter().map(text).collect();
    texts.ok_or_else(|| Status::bad_request(format!("the header {name} is not UTF-8")))
}

fn extra(headers: &HeaderMap) -> Result<BTreeMap<String, Vec<String>>, Status> {
    let mut extra: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for name in headers.keys() {
        let Some(encoded) = name.as_str().strip_prefix(EXTRA_PREFIX) else { continue };
        extra.entry(unescaped(encoded)).or_default().extend(all(headers, name.as_str())?);
    }
    Ok(extra)
}

/// The key with its %-escapes undone; one that is malformed is taken as it is.
fn unescaped(key: &str) -> String {
    let decode = || {
        let mut bytes = Vec::with_capacity(key.len());
        let mut rest = key.as_bytes();
        while let Some((byte, after)) = rest.split_first() {
            rest = after;
            if *byte != b'%' {
                bytes.push(*byte);
                continue;
            }
            let (digits, after) = rest.split_at_checked(2)?;
            if !digits.iter().all(u8::is_ascii_hexdigit) {
                return None;
            }
            bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
            rest = after;
        }
        String::from_utf8(bytes).ok()
    };
    decode().unwrap_or_else(|| key.to_owned())
}

/// The user as Go's `%#v` shows it, which is what Kubernetes answers with.
fn shown(user: &Identity) -> String {
    let list = |texts: &mut dyn Iterator<Item = &str>| {
        format!("[]string{{{}}}", texts.map(quote).collect::<Vec<_>>().join(", "))
    };
    let groups = match user.groups.is_empty() {
        true => "[]string(nil)".to_owned(),
        false => list(&mut user.groups.iter().map(|group| &**group)),
    };
    let entries: Vec<String> = user
        .extra
        .iter()
        .map(|(key, values)| format!("{}:{}", quote(key), list(&mut values.iter().map(String::as_str))))
        .collect();
    let extra = match entries.is_empty() {
        true => "map[string][]string(nil)".to_owned(),
        false => format!("map[string][]string{{{}}}", entries.join(", ")),
    };
    let (name, uid) = (quote(&user.user), quote(&user.uid));
    format!("&user.DefaultInfo{{Name:{name}, UID:{uid}, Groups:{groups}, Extra:{extra}}}")
}

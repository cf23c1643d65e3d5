//! Whole objects: what `get -o yaml` and the like print.

use serde_json::Value;

use super::Query;
use crate::commands::selection;
use crate::failure::Failure;
use crate::locate::Target;
use crate::manifests::Manifest;
use crate::print;
use crate::session::Session;

/// Prints what was found as one document; what can't be had is told at the end.
pub async fn run(query: &Query, targets: &[Target], session: &mut Session) -> Result<(), Failure> {
    let client = session.client().await?;
    let mut objects: Vec<Value> = Vec::new();
    let mut failures = Vec::new();
    for target in targets {
        let ask = query.ask(target);
        let fetched = match target.name {
            Some(_) => client.value(&ask).await.map(|object| vec![object]),
            None => {
                let mut found = Vec::new();
                let listed = selection::pages(&client, &ask, query.arguments.chunk_size, |mut page| {
                    found.extend(selection::items(&mut page));
                    Ok(())
                });
                let listed = listed.await.map_err(|failure| {
                    selection::told(failure, &target.resource, &query.arguments.selection)
                });
                listed.map(|_| found)
            }
        };
        match fetched {
            Ok(found) => objects.extend(found),
            Err(failure) if query.arguments.ignore_not_found && failure.is_not_found() => {}
            Err(failure) => failures.push(failure),
        }
    }
    if !query.arguments.show_managed_fields {
        objects.iter_mut().for_each(print::without_managed_fields);
    }
    if let Some(sort) = &query.sort {
        sort.sort(&mut objects, |object| object)?;
    }
    let is_single = targets.len() == 1 && targets[0].name.is_some();
    match is_single {
        true => {
            if let Some(object) = objects.first() {
                query.output.print(&mut session.console.out, object)?;
            }
        }
        false if objects.is_empty() && !failures.is_empty() => {}
        false => query.output.print(&mut session.console.out, &print::as_list(objects))?,
    }
    Failure::all(failures)
}

/// The object that a manifest names, as it is on the server.
pub async fn target_of(manifest: &Manifest, session: &mut Session) -> Result<Target, Failure> {
    let discovery = session.discovery().await?;
    let text = |field: &str| manifest.object[field].as_str().unwrap_or("").to_owned();
    let resource = discovery
        .of_kind(&text("apiVersion"), &text("kind"))
        .ok_or_else(|| crate::commands::apply::unknown_kind(manifest))?;
    let name = manifest.object["metadata"]["name"].as_str().unwrap_or("").to_owned();
    Ok(Target { resource: resource.clone(), name: Some(name) })
}

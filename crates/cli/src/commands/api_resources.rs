//! `groundplane api-resources`: what types there are.

use std::io::Write;

use crate::discovery::Resource;
use crate::failure::Failure;
use crate::print;
use crate::session::Session;

/// List the resource types of the server.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Output format: wide or name.
    #[arg(long, short, value_name = "FORMAT", value_parser = ["wide", "name"])]
    output: Option<String>,

    /// Types of this API group.
    #[arg(long, value_name = "GROUP")]
    api_group: Option<String>,

    /// Namespaced types (true), or cluster-scoped ones (false).
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    namespaced: Option<bool>,

    /// Types that support all of these verbs.
    #[arg(long, value_name = "VERB,…", value_delimiter = ',')]
    verbs: Vec<String>,

    /// Types in all of these categories.
    #[arg(long, value_name = "CATEGORY,…", value_delimiter = ',')]
    categories: Vec<String>,

    /// Sort by name or kind.
    #[arg(long, value_name = "COLUMN", value_parser = ["name", "kind"])]
    sort_by: Option<String>,

    /// Print no headers.
    #[arg(long)]
    no_headers: bool,

    /// For compatibility: nothing is kept between two runs.
    #[arg(long, hide = true)]
    cached: bool,
}

const EXAMPLES: &str = "\
Examples:
  groundplane api-resources
  groundplane api-resources -o wide
  groundplane api-resources --namespaced=false
  groundplane api-resources --api-group=rbac.authorization.k8s.io -o name";

/// Prints a line for each type, in its preferred version.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let discovery = session.discovery().await?;
    let has = |all: &[String], wanted: &[String]| wanted.iter().all(|word| all.contains(word));
    let mut found: Vec<&Resource> = discovery
        .resources
        .iter()
        .filter(|resource| discovery.is_preferred(resource) && !resource.verbs.is_empty())
        .filter(|resource| arguments.api_group.as_ref().is_none_or(|group| *group == resource.group))
        .filter(|resource| arguments.namespaced.is_none_or(|wanted| wanted == resource.is_namespaced))
        .filter(|resource| has(&resource.verbs, &arguments.verbs))
        .filter(|resource| has(&resource.categories, &arguments.categories))
        .collect();
    found.sort_by(|a, b| match arguments.sort_by.as_deref() {
        Some("name") => a.plural.cmp(&b.plural),
        Some("kind") => a.kind.cmp(&b.kind),
        _ => (&a.group, &a.plural).cmp(&(&b.group, &b.plural)),
    });
    let form = arguments.output.as_deref();
    if form == Some("name") {
        for resource in found {
            writeln!(session.console.out, "{}", resource.full_name())?;
        }
        return Ok(());
    }
    let is_wide = form == Some("wide");
    let mut text = String::new();
    if !arguments.no_headers {
        text += "NAME\tSHORTNAMES\tAPIVERSION\tNAMESPACED\tKIND";
        text += if is_wide { "\tVERBS\tCATEGORIES\n" } else { "\n" };
    }
    for resource in found {
        text += &format!(
            "{}\t{}\t{}\t{}\t{}",
            resource.plural,
            resource.short_names.join(","),
            resource.api_version(),
            resource.is_namespaced,
            resource.kind
        );
        if is_wide {
            text += &format!("\t{}\t{}", resource.verbs.join(","), resource.categories.join(","));
        }
        text.push('\n');
    }
    let width = session.console.table_width().filter(|_| !is_wide);
    session.console.out.write_all(print::fitted(&text, width).as_bytes())?;
    Ok(())
}

//! Questions about tasks that do not exist yet.

use krm::kind::{Answered, Form, QueryContext, Questioned};
use krm::status::Status;
use serde::Deserialize;
use serde_json::json;

use crate::action::Action;
use crate::controllers::{Inputs, inputs};
use crate::filter;
use crate::hardware;
use crate::kinds::{NodeFilter, TaskSpecView};
use crate::planned::TaskPlan;
use crate::work::NodeWork;

/// The task that is asked about.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Asked {
    namespace: String,
    action: Action,
    design: String,
    revision: Option<i64>,
    node_filter: Option<NodeFilter>,
    provisioner: Option<String>,
}

/// Answers `…/provisioners/-/task-plan`: what a task would do, and what would be lost.
pub fn task_plan(asked: &Questioned<'_>, look: &dyn QueryContext) -> Result<Answered, Status> {
    let wrong = |error: serde_json::Error| {
        Status::bad_request(format!("send the task as JSON with namespace, action and design: {error}"))
    };
    let task: Asked = serde_json::from_slice(asked.body).map_err(wrong)?;
    let named = Some(asked.name).filter(|name| *name != "-");
    let view = TaskSpecView {
        namespace: &task.namespace,
        design: &task.design,
        revision: task.revision,
        provisioner: task.provisioner.as_deref().or(named),
    };
    let found = inputs(&view, look).map_err(Status::bad_request)?;
    let plan =
        plan(&found, task.action, &task.design, task.node_filter.as_ref()).map_err(Status::bad_request)?;
    match asked.form {
        Form::Json => Ok(Answered::Json(json!(plan))),
        _ => Err(Status::bad_request("the plan of a task is answered as JSON")),
    }
}

/// The plan of a task.
pub fn plan(
    found: &Inputs,
    action: Action,
    design: &str,
    filter: Option<&NodeFilter>,
) -> Result<TaskPlan, String> {
    let (site, model) = (found.site()?, &found.compiled.compiled.design);
    let nodes: Vec<NodeWork> =
        filter::select(site, filter).into_iter().map(|node| NodeWork::of(node, site, model, None)).collect();
    let mut problems = match action {
        Action::PrepareNodes | Action::DeployNodes | Action::ValidateDesign => found.inabilities(&nodes),
        _ => Vec::new(),
    };
    let errors = found.errors();
    if errors > 0 {
        problems.insert(0, format!("revision {} has {errors} errors", found.revision));
    }
    Ok(TaskPlan::of(action, (design, found.revision), found.provisioner_name(), &nodes, problems))
}

/// Answers `…/tasks/<name>/ports`: the intended state of the switch ports of its node, beside what LLDP saw.
pub fn ports(asked: &Questioned<'_>, look: &dyn QueryContext) -> Result<Answered, Status> {
    use krm::kind::Resource;
    let at = crate::kinds::Task::address(asked.namespace, asked.name);
    let task = look.get(&at).ok_or_else(|| Status::bad_request(format!("task {} not found", asked.name)))?;
    let node = task.at("spec.node").and_then(serde_json::Value::as_str);
    let node = node.ok_or_else(|| Status::bad_request("ask about the task of a node"))?;
    let intended = hardware::newest(look, asked.namespace, node, crate::drivers::network::GENERATOR);
    let intended =
        intended.and_then(|record| serde_json::from_str::<serde_json::Value>(&record.spec.data).ok());
    let seen = hardware::newest(look, asked.namespace, node, "lldp").map(|record| record.spec.data);
    Ok(Answered::Json(json!({"node": node, "intended": intended, "lldp": seen})))
}

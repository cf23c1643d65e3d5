//! The settings of a deploy, and how they change a workload: what is not named stays.

use cli::Failure;
use serde_json::{Value, json};

use crate::text::at;

/// The instance type of a workload that names none.
pub const DEFAULT_TYPE: &str = "d1-standard-2";

/// Settings of a workload.
#[derive(clap::Args, Debug, Clone, Default)]
#[group(id = "settings", multiple = true)]
pub struct Settings {
    /// Container image, such as ghcr.io/acme/web:1.4.2, or the folder or tar file of an OCI image on the disk of the server.
    #[arg(long, value_name = "IMAGE")]
    pub image: Option<String>,

    /// Size of the instances. Defaults to d1-standard-2 for a new workload.
    #[arg(long, value_name = "TYPE")]
    pub instance_type: Option<String>,

    /// Cities by code, separated by commas or repeated.
    #[arg(long, value_name = "CODE", value_delimiter = ',')]
    pub city: Vec<String>,

    /// Instances in each city; with --max, the least number. Defaults to 1 for a new workload.
    #[arg(long, value_name = "NUMBER")]
    pub min: Option<i32>,

    /// Most instances that autoscaling starts in each city; 0 ends autoscaling.
    #[arg(long, value_name = "NUMBER")]
    pub max: Option<i32>,

    /// CPU usage that autoscaling keeps, in percent of what an instance has.
    #[arg(long, value_name = "PERCENT")]
    pub cpu_percent: Option<i32>,

    /// Port that the container listens on; 0 for none.
    #[arg(long, value_name = "PORT")]
    pub port: Option<u16>,

    /// Network that the instances are attached to. Defaults to "default" for a new workload.
    #[arg(long, value_name = "NAME")]
    pub network: Option<String>,

    /// Environment variable; KEY- removes it. Can be repeated.
    #[arg(long, value_name = "KEY=VALUE|KEY-")]
    pub env: Vec<String>,

    /// Environment variables from all keys of a ConfigMap; NAME- removes them. Can be repeated.
    #[arg(long, value_name = "NAME[:PREFIX]|NAME-")]
    pub env_from_configmap: Vec<String>,

    /// Environment variables from all keys of a Secret; NAME- removes them. Can be repeated.
    #[arg(long, value_name = "NAME[:PREFIX]|NAME-")]
    pub env_from_secret: Vec<String>,

    /// Mount a ConfigMap as files; NAME- removes it. Can be repeated.
    #[arg(long, value_name = "NAME:PATH|NAME-")]
    pub configmap: Vec<String>,

    /// Mount a Secret as files; NAME- removes it. Can be repeated.
    #[arg(long, value_name = "NAME:PATH|NAME-")]
    pub secret: Vec<String>,

    /// Label of the workload; KEY- removes it. Can be repeated.
    #[arg(long, value_name = "KEY=VALUE|KEY-")]
    pub label: Vec<String>,

    /// Container that image, port, environment and mounts are about. Defaults to the only one, or "app".
    #[arg(long, value_name = "NAME")]
    pub container: Option<String>,

    /// Placement that cities and numbers are about. Defaults to the only one; numbers without it are about all.
    #[arg(long, value_name = "NAME")]
    pub placement: Option<String>,

    /// Try a new version on one instance first; "compute rollout resume" lets the others follow.
    #[arg(long, value_name = "BOOLEAN", num_args = 0..=1, default_missing_value = "true")]
    pub canary: Option<bool>,

    /// Bring the last good version back when a new one fails.
    #[arg(long, value_name = "BOOLEAN", num_args = 0..=1, default_missing_value = "true")]
    pub auto_rollback: Option<bool>,
}

impl Settings {
    /// A new workload with these settings.
    pub fn new_workload(&self, name: &str) -> Result<Value, Failure> {
        if self.image.is_none() {
            return Err(Failure::usage(format!(
                "workload {name:?} does not exist, and a new one needs --image"
            )));
        }
        if self.city.is_empty() {
            return Err(Failure::usage("--city is required (e.g. --city=DFW,IAD)"));
        }
        let workload = json!({
            "apiVersion": format!("{}/{}", compute::GROUP, compute::VERSION),
            "kind": "Workload",
            "metadata": {"name": name, "namespace": "default"},
            "spec": {
                "template": {"spec": {
                    "runtime": {
                        "resources": {"instanceType": DEFAULT_TYPE},
                        "sandbox": {"containers": [{"name": self.container.as_deref().unwrap_or("app"), "image": ""}]},
                    },
                    "networkInterfaces": [{"network": {"name": "default"}}],
                }},
                "placements": [{
                    "name": self.placement.as_deref().unwrap_or("default"),
                    "scaleSettings": {"minReplicas": 1, "instanceManagementPolicy": "OrderedReady"},
                }],
            },
        });
        self.changed(&workload)
    }

    /// A workload with these settings, and all others as they are.
    pub fn changed(&self, workload: &Value) -> Result<Value, Failure> {
        let mut workload = workload.clone();
        if let Some(metadata) = workload["metadata"].as_object_mut() {
            metadata.remove("managedFields");
        }
        if let Some(object) = workload.as_object_mut() {
            object.remove("status");
        }
        for change in &self.label {
            let (key, value) = assignment(change, "--label", "KEY=VALUE")?;
            set(&mut workload["metadata"]["labels"], key, value.map(Value::from));
        }
        self.change_container(&mut workload)?;
        let spec = &mut workload["spec"]["template"]["spec"];
        if let Some(size) = &self.instance_type {
            spec["runtime"]["resources"]["instanceType"] = size.as_str().into();
        }
        if let Some(network) = &self.network {
            match spec["networkInterfaces"].as_array_mut().and_then(|all| all.first_mut()) {
                Some(first) => first["network"] = json!({"name": network}),
                None => spec["networkInterfaces"] = json!([{"network": {"name": network}}]),
            }
        }
        self.change_placements(&mut workload)?;
        for (field, value) in [("canary", self.canary), ("autoRollback", self.auto_rollback)] {
            if let Some(value) = value {
                workload["spec"]["rollout"][field] = value.into();
            }
        }
        Ok(workload)
    }

    fn is_about_container(&self) -> bool {
        let lists =
            [&self.env, &self.env_from_configmap, &self.env_from_secret, &self.configmap, &self.secret];
        self.image.is_some() || self.port.is_some() || lists.iter().any(|list| !list.is_empty())
    }

    fn change_container(&self, workload: &mut Value) -> Result<(), Failure> {
        if !self.is_about_container() {
            return Ok(());
        }
        let spec = &mut workload["spec"]["template"]["spec"];
        for (changes, kind) in [(&self.configmap, Mount::CONFIG_MAP), (&self.secret, Mount::SECRET)] {
            for change in changes {
                kind.change_volumes(change, spec)?;
            }
        }
        let Some(containers) = spec["runtime"]["sandbox"]["containers"].as_array_mut() else {
            return Err(Failure::other("the workload runs a virtual machine, which has no containers")
                .hint("change it with a manifest: compute deploy -f FILE"));
        };
        let container = chosen(containers, self.container.as_deref(), "app", "container", "--container")?;
        if let Some(image) = &self.image {
            container["image"] = on_disk(image).unwrap_or_else(|| image.clone()).into();
        }
        match self.port {
            Some(0) => set(container, "ports", None),
            Some(port) => container["ports"] = json!([{"name": "http", "port": port, "protocol": "TCP"}]),
            None => {}
        }
        for change in &self.env {
            let (key, value) = assignment(change, "--env", "KEY=VALUE")?;
            change_list(
                container,
                "env",
                |one| at(one, "/name") == key,
                value.map(|value| json!({"name": key, "value": value})),
            );
        }
        for (changes, field, flag) in [
            (&self.env_from_configmap, "configMapRef", "--env-from-configmap"),
            (&self.env_from_secret, "secretRef", "--env-from-secret"),
        ] {
            for change in changes {
                change_env_from(container, field, change, flag)?;
            }
        }
        for (changes, kind) in [(&self.configmap, Mount::CONFIG_MAP), (&self.secret, Mount::SECRET)] {
            for change in changes {
                kind.change_attachments(change, container)?;
            }
        }
        Ok(())
    }

    fn change_placements(&self, workload: &mut Value) -> Result<(), Failure> {
        let Some(placements) = workload["spec"]["placements"].as_array_mut() else { return Ok(()) };
        if !self.city.is_empty() {
            let one = chosen(placements, self.placement.as_deref(), "default", "placement", "--placement")?;
            for other in ["locations", "locationSelector"] {
                set(one, other, None);
            }
            let cities: Vec<String> = self.city.iter().map(|city| city.trim().to_uppercase()).collect();
            one["cityCodes"] = json!(cities);
        }
        let is_meant =
            |placement: &Value| self.placement.as_deref().is_none_or(|name| at(placement, "/name") == name);
        for placement in placements.iter_mut().filter(|placement| is_meant(placement)) {
            let scale = Scale { min: self.min, max: self.max, cpu_percent: self.cpu_percent };
            scale.change(&mut placement["scaleSettings"])?;
        }
        Ok(())
    }
}

/// Numbers of instances, as `deploy` and `scale` set them.
#[derive(Debug, Clone, Copy)]
pub struct Scale {
    /// Least number.
    pub min: Option<i32>,
    /// Most; 0 ends autoscaling.
    pub max: Option<i32>,
    /// CPU usage to keep; 0 removes it.
    pub cpu_percent: Option<i32>,
}

impl Scale {
    /// Changes the numbers of a placement.
    pub fn change(self, settings: &mut Value) -> Result<(), Failure> {
        if self.min.is_some_and(|min| min < 1) {
            return Err(Failure::usage("min replicas must be at least 1"));
        }
        if let Some(min) = self.min {
            settings["minReplicas"] = min.into();
        }
        match self.cpu_percent {
            Some(0) => set(settings, "metrics", None),
            Some(percent) => {
                settings["metrics"] =
                    json!([{"resource": {"name": "cpu", "target": {"averageUtilization": percent}}}]);
            }
            None => {}
        }
        match self.max {
            Some(0) => ["maxReplicas", "metrics"].iter().for_each(|field| set(settings, field, None)),
            Some(max) => settings["maxReplicas"] = max.into(),
            None => {}
        }
        let Some(max) = settings["maxReplicas"].as_i64() else { return Ok(()) };
        let min = settings["minReplicas"].as_i64().unwrap_or(1);
        if max < min {
            return Err(Failure::usage(format!("--max ({max}) must be >= --min ({min})")));
        }
        if settings["metrics"].as_array().is_none_or(Vec::is_empty) {
            return Err(Failure::usage("--max requires --cpu-percent to enable autoscaling"));
        }
        Ok(())
    }
}

/// How a ConfigMap or a Secret becomes files.
#[derive(Clone, Copy)]
struct Mount {
    flag: &'static str,
    source: &'static str,
    name: &'static str,
    prefix: &'static str,
}

impl Mount {
    const CONFIG_MAP: Mount =
        Mount { flag: "--configmap", source: "configMap", name: "name", prefix: "configmap-" };
    const SECRET: Mount = Mount { flag: "--secret", source: "secret", name: "secretName", prefix: "secret-" };

    fn parse(self, change: &str) -> Result<(&str, Option<&str>), Failure> {
        if let Some(name) = change.strip_suffix('-').filter(|name| !name.contains(':')) {
            return Ok((name, None));
        }
        match change.split_once(':') {
            Some((name, path)) if !name.is_empty() && path.starts_with('/') => Ok((name, Some(path))),
            _ => {
                Err(Failure::usage(format!("{} {change}: use NAME:/PATH, or NAME- to remove it", self.flag)))
            }
        }
    }

    fn volume(self, name: &str) -> String {
        format!("{}{}", self.prefix, name.replace('.', "-"))
    }

    fn change_volumes(self, change: &str, spec: &mut Value) -> Result<(), Failure> {
        let (name, path) = self.parse(change)?;
        let volume = path.map(|_| json!({"name": self.volume(name), self.source: {self.name: name}}));
        change_list(spec, "volumes", |one| one[self.source][self.name] == name, volume);
        Ok(())
    }

    fn change_attachments(self, change: &str, container: &mut Value) -> Result<(), Failure> {
        let (name, path) = self.parse(change)?;
        let volume = self.volume(name);
        let attachment = path.map(|path| json!({"name": volume, "mountPath": path}));
        change_list(container, "volumeAttachments", |one| at(one, "/name") == volume, attachment);
        Ok(())
    }
}

fn change_env_from(container: &mut Value, field: &str, change: &str, flag: &str) -> Result<(), Failure> {
    let (name, prefix) = match (change.strip_suffix('-'), change.split_once(':')) {
        (Some(name), None) => (name, None),
        (_, Some((name, prefix))) => (name, Some(prefix)),
        (None, None) => (change, Some("")),
    };
    if name.is_empty() {
        return Err(Failure::usage(format!("{flag} {change}: use NAME, NAME:PREFIX, or NAME- to remove it")));
    }
    let source = prefix.map(|prefix| match prefix {
        "" => json!({field: {"name": name}}),
        prefix => json!({"prefix": prefix, field: {"name": name}}),
    });
    change_list(container, "envFrom", |one| one[field]["name"] == name, source);
    Ok(())
}

/// The reference of an image on disk, if the text is the path of one: an OCI layout, or a tar file with one.
fn on_disk(image: &str) -> Option<String> {
    let path = std::path::Path::new(image);
    let is_path = image.starts_with(['/', '.']) || image.ends_with(".tar");
    let whole = std::fs::canonicalize(path).ok().filter(|_| is_path)?;
    match whole.is_dir() {
        true => whole.join("oci-layout").exists().then(|| format!("oci:{}", whole.display())),
        false => Some(format!("oci-archive:{}", whole.display())),
    }
}

/// `KEY=VALUE`, or `KEY-` for its removal.
fn assignment<'c>(change: &'c str, flag: &str, form: &str) -> Result<(&'c str, Option<&'c str>), Failure> {
    let wrong = || Failure::usage(format!("{flag} {change}: use {form}, or KEY- to remove it"));
    match (change.split_once('='), change.strip_suffix('-')) {
        (Some((key, value)), _) if !key.is_empty() => Ok((key, Some(value))),
        (None, Some(key)) if !key.is_empty() => Ok((key, None)),
        _ => Err(wrong()),
    }
}

/// Replaces the elements of a list that are meant by one, in their place, or removes them. An empty list goes.
fn change_list(object: &mut Value, field: &str, is_meant: impl Fn(&Value) -> bool, new: Option<Value>) {
    let mut list = object[field].as_array().cloned().unwrap_or_default();
    let place = list.iter().position(&is_meant).unwrap_or(list.len());
    list.retain(|one| !is_meant(one));
    if let Some(new) = new {
        list.insert(place.min(list.len()), new);
    }
    set(object, field, (!list.is_empty()).then_some(Value::Array(list)));
}

fn set(object: &mut Value, field: &str, value: Option<Value>) {
    match value {
        Some(value) => object[field] = value,
        None => {
            object.as_object_mut().map(|object| object.remove(field));
        }
    }
}

/// The element that is named, the only one, or the one with the usual name.
fn chosen<'a>(
    all: &'a mut [Value],
    named: Option<&str>,
    usual: &str,
    what: &str,
    flag: &str,
) -> Result<&'a mut Value, Failure> {
    let names: Vec<String> = all.iter().map(|one| at(one, "/name").to_owned()).collect();
    let place = match named {
        Some(name) => names.iter().position(|one| one == name),
        None if names.len() == 1 => Some(0),
        None => names.iter().position(|one| one == usual),
    };
    let unknown = || match named {
        Some(name) => Failure::usage(format!("there is no {what} {name:?}; there are {}", names.join(", "))),
        None => Failure::usage(format!(
            "the workload has several {what}s: name one of {} with {flag}",
            names.join(", ")
        )),
    };
    place.and_then(|place| all.get_mut(place)).ok_or_else(unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(change: impl FnOnce(&mut Settings)) -> Settings {
        let mut settings = Settings::default();
        change(&mut settings);
        settings
    }

    fn web() -> Value {
        let first = settings(|settings| {
            settings.image = Some("acme/web:1".to_owned());
            settings.city = vec!["dfw".to_owned(), "IAD".to_owned()];
            settings.env = vec!["A=1".to_owned(), "B=2".to_owned()];
            settings.secret = vec!["api.db:/etc/db".to_owned()];
            settings.port = Some(8080);
        });
        first.new_workload("web").unwrap()
    }

    #[test]
    fn a_deploy_keeps_what_it_does_not_name() {
        let before = web();
        assert_eq!(before["spec"]["placements"][0]["cityCodes"], json!(["DFW", "IAD"]));
        let after =
            settings(|settings| settings.image = Some("acme/web:2".to_owned())).changed(&before).unwrap();
        let mut expected = before.clone();
        expected["spec"]["template"]["spec"]["runtime"]["sandbox"]["containers"][0]["image"] =
            "acme/web:2".into();
        assert_eq!(after, expected);
        assert_eq!(Settings::default().changed(&before).unwrap(), before);
    }

    #[test]
    fn a_dash_removes_and_leaves_the_others() {
        let change = settings(|settings| {
            settings.env = vec!["A-".to_owned(), "B=3=x".to_owned()];
            settings.secret = vec!["api.db-".to_owned()];
        });
        let after = change.changed(&web()).unwrap();
        let spec = &after["spec"]["template"]["spec"];
        let container = &spec["runtime"]["sandbox"]["containers"][0];
        assert_eq!(container["env"], json!([{"name": "B", "value": "3=x"}]));
        assert!(spec.get("volumes").is_none() && container.get("volumeAttachments").is_none(), "{spec}");
    }

    #[test]
    fn a_mount_is_a_volume_and_where_it_is_attached() {
        let spec = &web()["spec"]["template"]["spec"];
        assert_eq!(spec["volumes"], json!([{"name": "secret-api-db", "secret": {"secretName": "api.db"}}]));
        let container = &spec["runtime"]["sandbox"]["containers"][0];
        assert_eq!(
            container["volumeAttachments"],
            json!([{"name": "secret-api-db", "mountPath": "/etc/db"}])
        );
    }

    #[test]
    fn what_can_not_be_meant_is_refused_with_the_form_that_can() {
        let refused = |change: fn(&mut Settings)| settings(change).changed(&web()).unwrap_err().text();
        assert!(refused(|settings| settings.env = vec!["A".to_owned()]).contains("--env A: use KEY=VALUE"));
        assert!(refused(|settings| settings.secret = vec!["db".to_owned()]).contains("use NAME:/PATH"));
        assert!(refused(|settings| settings.max = Some(3)).contains("--max requires --cpu-percent"));
        assert!(refused(|settings| settings.min = Some(0)).contains("at least 1"));
        let two = |settings: &mut Settings| {
            settings.container = Some("cache".to_owned());
            settings.image = Some("x".to_owned());
        };
        assert!(refused(two).contains("there is no container \"cache\"; there are app"));
        let error = Settings::default().new_workload("web").unwrap_err().text();
        assert!(error.contains("a new one needs --image"), "{error}");
    }

    #[test]
    fn autoscaling_begins_and_ends() {
        let begin = settings(|settings| (settings.max, settings.cpu_percent) = (Some(5), Some(70)));
        let on = begin.changed(&web()).unwrap();
        assert_eq!(on["spec"]["placements"][0]["scaleSettings"]["maxReplicas"], 5);
        let off = settings(|settings| settings.max = Some(0)).changed(&on).unwrap();
        assert_eq!(off, web());
    }
}

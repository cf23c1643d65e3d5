//! The manifests and the chart for several servers in a Kubernetes cluster.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::Value;
use testbed::server::Server;
use testbed::{need, parts};

use super::{GROUNDPLANE, command_lines, packaging};

const ETCD: &str = "https://etcd-0.etcd:2379,https://etcd-1.etcd:2379";

/// The objects that a program prints as YAML.
fn printed(command: &mut Command) -> Vec<Value> {
    let built = command.output().unwrap();
    assert!(built.status.success(), "{command:?}: {}", String::from_utf8_lossy(&built.stderr));
    let text = String::from_utf8(built.stdout).unwrap();
    let documents =
        text.split("\n---\n").filter(|document| document.lines().any(|line| line.starts_with("kind:")));
    documents.map(|document| krm::decode::read_yaml(document.as_bytes()).unwrap().value).collect()
}

fn kustomized() -> Option<Vec<Value>> {
    let Some(kubectl) = parts::find("kubectl-1.35/kubectl") else {
        need::passed_over("there is no kubectl 1.35");
        return None;
    };
    Some(printed(Command::new(kubectl).arg("kustomize").arg(packaging("kubernetes"))))
}

fn helm(words: &[&str]) -> Option<Command> {
    let Some(helm) = parts::find("helm/helm") else {
        need::passed_over("helm was not fetched; `cargo xtask test` does that");
        return None;
    };
    let mut command = Command::new(helm);
    command.args(["template", "site", "--namespace", "infra"]).arg(packaging("helm/groundplane")).args(words);
    Some(command)
}

fn of_kind<'a>(objects: &'a [Value], kind: &str) -> &'a Value {
    let found: Vec<_> = objects.iter().filter(|object| object["kind"] == kind).collect();
    assert_eq!(found.len(), 1, "one {kind}");
    found[0]
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn texts(value: &Value) -> Vec<String> {
    items(value)
        .iter()
        .map(|word| word.as_str().unwrap_or_else(|| panic!("{word} is no string")).to_owned())
        .collect()
}

/// Whether labels have all that a selector asks for.
fn selects(selector: &Value, labels: &Value) -> bool {
    let asked = selector.as_object().unwrap();
    !asked.is_empty() && asked.iter().all(|(name, value)| labels[name] == *value)
}

/// What has to hold for any way to deploy several servers.
fn is_whole(objects: &[Value]) {
    for object in objects {
        let place = &object["metadata"]["name"];
        for field in [&object["apiVersion"], &object["kind"], place] {
            assert!(field.as_str().is_some_and(|text| !text.is_empty()), "{object}");
        }
        if object["kind"] != "Namespace" {
            assert!(object["metadata"]["namespace"].is_string(), "{place} has no namespace");
        }
    }
    let servers = of_kind(objects, "Deployment");
    let (pod, labels) =
        (&servers["spec"]["template"]["spec"], &servers["spec"]["template"]["metadata"]["labels"]);
    assert!(
        selects(&servers["spec"]["selector"]["matchLabels"], labels),
        "the Deployment does not select its pods"
    );
    assert!(selects(&of_kind(objects, "Service")["spec"]["selector"], labels), "the Service has no pods");
    let budget = of_kind(objects, "PodDisruptionBudget");
    assert!(selects(&budget["spec"]["selector"]["matchLabels"], labels), "the budget has no pods");
    for spread in items(&pod["topologySpreadConstraints"]) {
        assert!(selects(&spread["labelSelector"]["matchLabels"], labels), "{spread}");
    }

    let volumes: BTreeSet<_> =
        items(&pod["volumes"]).iter().map(|volume| volume["name"].as_str().unwrap()).collect();
    let mut mounted = BTreeSet::new();
    let containers: Vec<_> = items(&pod["initContainers"]).iter().chain(items(&pod["containers"])).collect();
    assert_eq!(containers.len(), 2);
    for container in containers {
        let name = container["name"].as_str().unwrap();
        // The image holds one program and no shell.
        assert!(container["command"].is_null(), "{name} starts another program than the image's");
        let arguments = texts(&container["args"]);
        assert!(arguments.len() > 1, "{name}: {arguments:?}");
        command_lines::is_known(&arguments, name);
        for mount in items(&container["volumeMounts"]) {
            let volume = mount["name"].as_str().unwrap();
            assert!(volumes.contains(volume), "{name} mounts {volume}, which is no volume");
            mounted.insert(volume);
        }
        // Files and folders that flags name are on a volume.
        let paths = arguments.iter().filter_map(|word| word.split_once("=/"));
        for (flag, path) in paths.filter(|(flag, _)| *flag != "--etcd-prefix") {
            let is_mounted = items(&container["volumeMounts"]).iter().any(|mount| {
                format!("/{path}/").starts_with(&format!("{}/", mount["mountPath"].as_str().unwrap()))
            });
            assert!(is_mounted, "{name}: {flag}=/{path} is not on a volume");
        }
        let confined = &container["securityContext"];
        assert_eq!(confined["allowPrivilegeEscalation"], false, "{name}");
        assert_eq!(confined["readOnlyRootFilesystem"], true, "{name}");
        let variables = items(&container["env"]);
        for word in arguments.iter().filter_map(|word| word.split_once("$(")) {
            let variable = word.1.trim_end_matches(')');
            assert!(variables.iter().any(|set| set["name"] == variable), "{name}: {variable} is not set");
        }
        let ports: Vec<_> = items(&container["ports"]).iter().map(|port| &port["name"]).collect();
        for probe in ["startupProbe", "readinessProbe", "livenessProbe"] {
            let port = &container[probe]["httpGet"]["port"];
            assert!(port.is_null() || ports.contains(&port), "{name}: {probe} asks {port}");
        }
    }
    assert_eq!(mounted, volumes, "volumes and what is mounted");
    let server = &items(&pod["containers"])[0];
    for port in items(&of_kind(objects, "Service")["spec"]["ports"]) {
        assert!(items(&server["ports"]).iter().any(|open| open["name"] == port["targetPort"]), "{port}");
    }
    let listens =
        texts(&server["args"]).iter().find_map(|word| Some(word.strip_prefix("--listen=")?.to_owned()));
    let port = listens.unwrap().rsplit(':').next().unwrap().parse::<u64>().unwrap();
    assert_eq!(server["ports"][0]["containerPort"], port);
    assert_eq!(
        (&pod["securityContext"]["runAsUser"], &pod["securityContext"]["runAsNonRoot"]),
        (&6443.into(), &true.into())
    );
}

#[test]
fn the_manifests_are_whole() {
    let Some(objects) = kustomized() else { return };
    is_whole(&objects);
    // What the pods refer to is there: the name of the generated map has its hash in both places.
    let map = of_kind(&objects, "ConfigMap");
    let server = &of_kind(&objects, "Deployment")["spec"]["template"]["spec"]["containers"][0];
    for variable in items(&server["env"]) {
        let reference = &variable["valueFrom"]["configMapKeyRef"];
        assert_eq!(reference["name"], map["metadata"]["name"]);
        assert!(map["data"][reference["key"].as_str().unwrap()].is_string(), "{reference}");
    }
}

#[test]
fn the_chart_is_whole_with_any_values() {
    let etcd = format!("etcd.endpoints={{{ETCD}}}");
    for words in [
        vec!["--set", &etcd],
        vec!["--set", &etcd, "--set", "names={gp.example.com}", "--set", "flags={--max-requests=2000}"],
        vec!["--set", &etcd, "--set", "etcd.secret=", "--set", "etcd.prefix=/site/", "--set", "replicas=5"],
        vec!["--set", &etcd, "--set", "nodeSelector.role=control", "--set", "podAnnotations.team=infra"],
    ] {
        let Some(mut command) = helm(&words) else { return };
        let objects = printed(&mut command);
        is_whole(&objects);
        let arguments =
            texts(&of_kind(&objects, "Deployment")["spec"]["template"]["spec"]["containers"][0]["args"]);
        assert!(arguments.contains(&format!("--etcd={ETCD}")), "{arguments:?}");
        assert!(arguments.contains(&"--name=site-groundplane.infra.svc".to_owned()), "{arguments:?}");
    }
}

#[test]
fn the_chart_refuses_values_that_can_not_work() {
    let etcd = format!("etcd.endpoints={{{ETCD}}}");
    for (words, names) in [
        (vec![], "endpoints"),
        (vec!["--set", "etcd.endpoints={etcd:2379}"], "endpoints"),
        (vec!["--set", &etcd, "--set", "replicas=0"], "replicas"),
        (vec!["--set", &etcd, "--set", "replica=3"], "replica"),
    ] {
        let Some(mut command) = helm(&words) else { return };
        let refused = command.output().unwrap();
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(!refused.status.success() && said.contains(names), "{words:?}: {said}");
    }
}

/// The chart, the manifests and the packages are of one version.
#[test]
fn versions_are_those_of_the_workspace() {
    let read = |file: &str| std::fs::read_to_string(packaging(file)).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    let chart = read("helm/groundplane/Chart.yaml");
    assert!(chart.contains(&format!("\nversion: {version}\n")), "{chart}");
    assert!(chart.contains(&format!("\nappVersion: {version}\n")), "{chart}");
    let manifests = read("kubernetes/kustomization.yaml");
    assert!(manifests.contains(&format!("newTag: \"{version}\"")), "{manifests}");
}

/// Kinds that the server has itself are judged by it, unknown fields refused.
#[tokio::test]
async fn our_own_server_takes_the_objects_that_it_knows() {
    let Some(objects) = kustomized() else { return };
    let server = Server::fresh(GROUNDPLANE, &[]).unwrap();
    let client = server.client();
    let namespace = of_kind(&objects, "Namespace");
    let map = of_kind(&objects, "ConfigMap");
    let inside = format!("/api/v1/namespaces/{}/configmaps", namespace["metadata"]["name"].as_str().unwrap());
    for (path, object) in [("/api/v1/namespaces", namespace), (inside.as_str(), map)] {
        let answer = client.post(&format!("{path}?fieldValidation=Strict"), object).await.unwrap();
        assert_eq!(answer.code, 201, "{}", answer.text());
    }
}

fn synchronizer(words: &[&str]) -> Option<Command> {
    let mut command = Command::new(parts::find("helm/helm")?);
    command.args(["template", "site", "--namespace", "infra"]).arg(packaging("helm/bcm-sync")).args(words);
    Some(command)
}

/// The keys are those of the chart that synchronizers of BCM have had before.
#[test]
fn the_chart_of_a_synchronizer_takes_the_keys_that_are_known() {
    let keys = [
        "bcm.url=https://head.internal:8081",
        "bcm.credentialsSecret=bcm-credentials",
        "bcm.syncInterval=1m",
        "certs.caBundle.configMap=ca-bundle",
        "log.level=debug",
        "log.headers=false",
        "log.bodies=false",
        "images.service=registry.example.com/groundplane:1",
        "grpc.server.address=groundplane.infra.svc:443",
    ];
    let words: Vec<&str> = keys.iter().flat_map(|key| ["--set", key]).collect();
    let Some(mut command) = synchronizer(&words) else {
        return need::passed_over("helm was not fetched; `cargo xtask test` does that");
    };
    let objects = printed(&mut command);
    let pod = &of_kind(&objects, "Deployment")["spec"]["template"]["spec"];
    assert_eq!(pod["containers"][0]["image"], "registry.example.com/groundplane:1");
    assert!(texts(&pod["containers"][0]["args"]).starts_with(&["sync".to_owned(), "bcm".to_owned()]));
    let volumes: Vec<_> = items(&pod["volumes"]).iter().map(|volume| volume.to_string()).collect();
    assert!(volumes.iter().any(|volume| volume.contains("bcm-credentials")), "{volumes:?}");
    let maps =
        objects.iter().filter(|object| object["kind"] == "ConfigMap").map(|map| map["data"].to_string());
    let maps: String = maps.collect();
    for expected in ["https://head.internal:8081", "1m", "debug", "https://groundplane.infra.svc:443"] {
        assert!(maps.contains(expected), "{expected}: {maps}");
    }
    let refused = synchronizer(&[]).unwrap().output().unwrap();
    assert!(String::from_utf8_lossy(&refused.stderr).contains("bcm.url is required"));
}

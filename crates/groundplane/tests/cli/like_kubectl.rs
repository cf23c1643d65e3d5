//! What kubectl prints, we print: byte by byte, on both streams, with the same exit code.

use std::path::Path;

use crate::program::{Ground, KETTLES, KITCHEN, kubectl};

/// A ground with kinds and objects on it.
fn kitchen() -> Ground {
    let ground = Ground::fresh();
    ground.run_with("apply -f -", KETTLES);
    ground.run_with("apply -f -", KITCHEN);
    ground
}

/// Both are told the same; what differs is shown.
fn same(ground: &Ground, kubectl: &Path, line: &str) {
    let theirs = ground.kubectl(kubectl, line);
    let ours = ground.told(line);
    assert_eq!(ageless(&ours.out), ageless(&theirs.out), "stdout of: {line}\n{}", theirs.err);
    // What we add to it is a hint or an excerpt below.
    let is_theirs = |line: &&str| !line.starts_with("hint: ") && !line.starts_with("  ");
    let err: String = ours.err.lines().filter(is_theirs).map(|line| format!("{line}\n")).collect();
    assert_eq!(err, theirs.err.replace("kubectl", "groundplane"), "stderr of: {line}");
    let code = if ours.code == 2 { 1 } else { ours.code };
    assert_eq!(code, theirs.code, "exit code of: {line}");
}

/// Both are asked one after the other, and a second may pass between.
fn ageless(text: &str) -> String {
    regex::Regex::new(r"\b(?:\d+h)?(?:\d+m)?\d+s\b *").unwrap().replace_all(text, "AGE ").into_owned()
}

fn all_same(lines: &str) {
    let Some(kubectl) = kubectl() else { return };
    let ground = kitchen();
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        same(&ground, &kubectl, line);
    }
}

#[test]
fn get_in_every_form() {
    all_same(
        r#"
        get namespaces
        get ns kitchen
        get kettles -n kitchen
        get kettle whistler -n kitchen
        get ket/whistler ket/brass -n kitchen
        get kettles.example.com -n kitchen -o wide
        get kettles.v1.example.com -n kitchen --no-headers
        get Kettle -n kitchen --show-labels
        get kettles -n kitchen -L app,tier
        get kettles -n kitchen -L app --show-labels -o wide --no-headers
        get kettles -A
        get kettles,cm -n kitchen
        get cm,kettles,secrets -n kitchen --no-headers
        get kettles whistler brass -n kitchen
        get kitchen -n kitchen
        get kettles -n kitchen -l app=tea
        get kettles -n kitchen -l 'app in (tea, coffee),tier'
        get kettles -n kitchen --field-selector metadata.name=brass
        get kettles -n kitchen --sort-by .spec.litres
        get kettles -n kitchen --sort-by='{.metadata.name}'
        get kettle whistler -n kitchen -o yaml
        get kettle whistler -n kitchen -o json
        get kettles -n kitchen -o yaml
        get kettles -n kitchen -o json
        get kettles whistler brass -n kitchen -o json
        get cm settings -n kitchen -o yaml
        get cm settings -n kitchen -o json
        get cm settings -n kitchen -o yaml --show-managed-fields
        get crd kettles.example.com -o yaml
        get secrets,cm -n kitchen -o name
        get kettles -n kitchen -o name
        get kettle/whistler -n kitchen -o name
        get roles -A
        get rolebindings -A -o wide
        get sa -n kitchen
        get clusterroles system:discovery -o yaml
        get kettle whistler -n kitchen -o jsonpath='{.spec.litres}'
        get kettles -n kitchen -o jsonpath='{.items[*].metadata.name}'
        get kettles -n kitchen -o jsonpath='{range .items[*]}{.metadata.name}{"\t"}{.spec.litres}{"\n"}{end}'
        get kettles -n kitchen -o 'jsonpath={.items[?(@.spec.litres>3)].metadata.name}'
        get kettle whistler -n kitchen -o jsonpath='{.spec}'
        get kettle whistler -n kitchen -o jsonpath='{.spec.tags}'
        get kettle whistler -n kitchen -o jsonpath='{.missing}'
        get kettle whistler -n kitchen -o jsonpath=.metadata.name
        get kettle whistler -n kitchen -o jsonpath-as-json='{.spec.parts[*].name}'
        get kettles -n kitchen -o custom-columns=NAME:.metadata.name,LITRES:.spec.litres
        get kettles -n kitchen -o custom-columns=NAME:metadata.name,TAGS:.spec.tags,ALL:.spec.parts[*].name,NO:.spec.no
        get kettles -n kitchen --no-headers -o custom-columns=N:{.metadata.labels}
        get kettles
        get kettles -A -l app=nothing
        get ns -l app=nothing
        get kettle missing -n kitchen
        get kettle missing whistler -n kitchen
        get kettle missing -n kitchen --ignore-not-found
        get kettles -n nowhere
        get nonsense
        get kettle/whistler brass -n kitchen
        get kettle whistler -A
        get kettle whistler -l a=b
        get kettles -n kitchen -o custom-columns=NAME
        get kettles --as eve -n kitchen
        get kettles -n kitchen -l 'a in'
        get kettles -n kitchen --field-selector spec.litres=2
        get --raw /version
        get --raw /nonsense
        "#,
    );
}

#[test]
fn go_templates() {
    all_same(
        r#"
        get kettle whistler -n kitchen -o go-template='{{.metadata.name}} {{.spec.litres}} {{.kind}}'
        get kettle whistler -n kitchen -o template='{{.spec}}'
        get kettle whistler -n kitchen --template='{{.spec.tags}}{{"\n"}}'
        get kettle whistler -n kitchen -o go-template --template={{.metadata.labels.app}}
        get kettle whistler -n kitchen -o jsonpath --template={.metadata.name}
        get kettles -n kitchen -o go-template='{{range .items}}{{.metadata.name}}{{"\t"}}{{.spec.litres}}{{"\n"}}{{end}}'
        get kettles -n kitchen -o go-template='{{range $i, $k := .items}}{{if $i}},{{end}}{{$k.metadata.name}}{{end}}'
        get kettles -n kitchen -o go-template='{{range .items}}{{if gt .spec.litres 2}}{{.metadata.name}} {{else}}- {{end}}{{end}}'
        get kettles -n kitchen -o go-template='{{len .items}} {{.kind}} {{.apiVersion}} {{.metadata}}'
        get kettle whistler -n kitchen -o go-template='{{with .metadata}}{{.name}}{{end}}{{with .nothing}}a{{else}}b{{end}}'
        get kettle whistler -n kitchen -o go-template='{{range $k, $v := .metadata.labels}}{{printf "%s=%q " $k $v}}{{end}}'
        get kettle whistler -n kitchen -o go-template='{{index .metadata.labels "app"}} {{(index .spec.parts 0).name}} {{.missing}} {{.missing.more}}'
        get kettle whistler -n kitchen -o go-template='{{print 1 2 "a" .spec.litres nil}} {{println .kind true}}'
        get kettle whistler -n kitchen -o go-template='{{printf "%v|%s|%-9s|%5d|%05.1f|%x|%T|%d" .spec.tags .kind .kind .spec.litres 2.5 .kind .spec .kind}}'
        get kettle whistler -n kitchen -o go-template='{{and .kind .metadata.name}} {{or .nothing .kind}} {{not .kind}} {{eq .kind "Pot" "Kettle"}} {{ne 1 2}}'
        get secrets -n kitchen -o go-template='{{range .items}}{{range $k, $v := .data}}{{$k}}={{$v | base64decode}};{{end}}{{end}}'
        get kettle whistler -n kitchen -o go-template='{{define "n"}}[{{.}}]{{end}}{{template "n" .metadata.name}}'
        get kettle whistler -n kitchen -o go-template='{{- /* nothing */ -}}  {{.kind -}}  !'
        get kettle whistler -n kitchen -o go-template=
        get kettle whistler -n kitchen -o go-template='{{.kind'
        get kettle whistler -n kitchen -o go-template='{{nothing .kind}}'
        get kettle whistler -n kitchen -o go-template='{{if .kind}}'
        get kettle whistler -n kitchen -o go-template='{{$x}}'
        get kettle whistler -n kitchen -o go-template-file=missing.tmpl
        get kettle whistler -n kitchen -o jsonpath-file=missing.path
        get kettle whistler -n kitchen -o custom-columns-file=missing.txt
        "#,
    );
}

/// kubectl writes all of the object to stdout then; the sentence is the same.
#[test]
fn go_templates_that_fail() {
    let Some(kubectl) = kubectl() else { return };
    let ground = kitchen();
    for template in [
        "{{.kind.more}}",
        "{{len .spec.litres}}",
        "{{index .spec.parts 9}}",
        "{{index .nothing \"a\"}}",
        "{{eq .kind 1}}",
        "{{range .kind}}{{end}}",
        "{{.kind | base64decode}}",
        "{{.spec.litres | base64decode}}",
        "{{len}}",
        "{{len .nothing}}",
        "{{lt .kind .spec}}",
    ] {
        let line = format!("get kettle whistler -n kitchen -o go-template='{template}'");
        let (ours, theirs) = (ground.told(&line), ground.kubectl(&kubectl, &line));
        assert_eq!((ours.err, ours.code), (theirs.err, theirs.code), "{template}");
        assert_eq!(ours.out, "", "{template}");
    }
    let line =
        "get kettle whistler -n kitchen -o go-template={{.nothing}} --allow-missing-template-keys=false";
    assert_eq!(ground.told(line).err, ground.kubectl(&kubectl, line).err);
}

fn with_events() -> Ground {
    let ground = kitchen();
    let event = |name: &str, namespace: &str, kind: &str, rest: &str| {
        let version = if kind == "Kettle" { "example.com/v1" } else { "v1" };
        format!(
            "{{apiVersion: v1, kind: Event, metadata: {{name: {name}, namespace: {namespace}}}, involvedObject: {{kind: {kind}, \
             apiVersion: {version}, name: whistler, namespace: {namespace}}}, {rest}}}\n---\n"
        )
    };
    let of = |day: u8| format!("2020-01-{day:02}T00:00:00Z");
    let mut all = event(
        "a",
        "kitchen",
        "Kettle",
        &format!(
            "type: Normal, reason: Boiled, message: 'it whistles ', firstTimestamp: '{0}', lastTimestamp: '{0}'",
            of(9)
        ),
    );
    all += &event(
        "b",
        "kitchen",
        "Kettle",
        &format!(
            "type: Warning, reason: Dry, message: no water, firstTimestamp: '{}', lastTimestamp: '{}', count: 3",
            of(1),
            of(5)
        ),
    );
    all += &event("c", "kitchen", "ConfigMap", "type: Normal, reason: Read, message: \"a\\e[31mred\"");
    all += &event(
        "d",
        "default",
        "Kettle",
        &format!(
            "type: Normal, reason: Cold, message: x, firstTimestamp: '{0}', lastTimestamp: '{0}'",
            of(2)
        ),
    );
    ground.run_with("apply -f -", &all);
    ground
}

#[test]
fn events() {
    let Some(kubectl) = kubectl() else { return };
    let ground = with_events();
    for line in [
        "events -n kitchen",
        "events -A",
        "events -A --no-headers",
        "events -n kitchen --types=Warning",
        "events -n kitchen --types=normal,warning",
        "events -n kitchen --types=Odd",
        "events -n kitchen --for kettle/whistler",
        "events -n kitchen --for ket/whistler --types Warning",
        "events -n kitchen --for whistler",
        "events -n kitchen --for kettle/brass",
        "events -n nowhere",
        "events -n nowhere -o json",
        "events -n kitchen -o jsonpath='{.kind} {.items[*].reason}'",
        "events -n kitchen -o go-template='{{range .items}}{{.reason}} {{end}}'",
    ] {
        same(&ground, &kubectl, line);
    }
    // kubectl prints nothing here.
    assert_eq!(ground.run("events -n kitchen -o name"), "event/c\nevent/b\nevent/a\n");
}

#[test]
fn events_as_they_come() {
    use std::io::{BufRead, BufReader};
    let ground = with_events();
    let words = crate::program::words("events -n kitchen --for kettle/whistler -w");
    let mut child = ground
        .command(Path::new(crate::program::GROUNDPLANE), &words)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.next().unwrap().starts_with("LAST SEEN"));
    assert!(lines.next().unwrap().ends_with("Normal   Boiled   Kettle/whistler   it whistles"));
    assert!(lines.next().unwrap().ends_with("Dry      Kettle/whistler   no water"));
    ground.run("delete event a -n kitchen");
    ground.run_with(
        "create -f -",
        "{apiVersion: v1, kind: Event, metadata: {name: e, namespace: kitchen}, type: Normal, reason: Refilled, message: new, \
         involvedObject: {kind: Kettle, apiVersion: example.com/v1, name: whistler, namespace: kitchen}}",
    );
    assert!(lines.next().unwrap().ends_with("Refilled   Kettle/whistler   new"), "what is gone is no news");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn describe_and_explain() {
    all_same(
        r"
        describe kettle whistler -n kitchen
        describe kettles -n kitchen
        describe cm settings -n kitchen
        describe secret keys -n kitchen
        describe ns kitchen
        describe sa cook -n kitchen
        describe role stove -n kitchen
        describe rolebinding cook-stove -n kitchen
        describe clusterrole view
        describe clusterrole system:discovery
        describe clusterrolebinding cluster-admin
        describe crd kettles.example.com
        describe kettle whis -n kitchen
        describe kettle missing -n kitchen
        describe kettles
        describe kettle/whistler cm/settings -n kitchen
        describe kettle whistler -n kitchen --show-events=false
        explain kettle
        explain kettle.spec
        explain kettle.spec.litres
        explain kettle.spec.colour
        explain kettle.spec.parts.name
        explain kettles.spec --recursive
        explain configmap
        explain cm.data
        explain secret --recursive
        explain role.rules.verbs
        explain kettle.spec.nothing
        explain nonsense
        explain kettle --api-version=example.com/v1
        ",
    );
}

#[test]
fn what_there_is_and_who_may() {
    all_same(
        r"
        api-resources
        api-resources -o wide
        api-resources -o name
        api-resources --namespaced=false
        api-resources --api-group=example.com
        api-resources --verbs=list,get --sort-by=kind
        api-resources --no-headers --sort-by=name
        api-resources --categories=kitchen
        api-versions
        auth can-i create kettles
        auth can-i '*' '*'
        auth can-i get kettles -n kitchen --as eve
        auth can-i get kettles/whistler -n kitchen --as system:serviceaccount:kitchen:cook
        auth can-i get kettles --subresource=status -n kitchen --as system:serviceaccount:kitchen:cook
        auth can-i delete kettles -n kitchen --as system:serviceaccount:kitchen:cook
        auth can-i get nonsense
        auth can-i get namespaces
        auth can-i fly kettles
        auth can-i get /metrics --as eve
        auth can-i get kettles -q --as eve
        auth can-i --list -n kitchen --as system:serviceaccount:kitchen:cook
        auth can-i --list --no-headers
        auth whoami
        auth whoami --as eve --as-group cooks
        auth whoami -o jsonpath='{.status.userInfo.username}'
        config current-context
        config get-contexts
        config get-contexts -o name
        config get-contexts nothing
        config view
        config view --minify
        config view -o jsonpath='{.clusters[0].name}'
        config use-context nothing
        ",
    );
}

/// Each line is told to both, on grounds of their own, one after the other: so that both find what the lines before have left.
fn same_steps(lines: &str) {
    let Some(kubectl) = kubectl() else { return };
    let (ours, theirs) = (kitchen(), kitchen());
    for ground in [&ours, &theirs] {
        ground.file(
            "pot.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: pot, namespace: kitchen}\ndata: {a: b}\n",
        );
        ground.file("pan.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: pan}\ndata: {a: b}\n");
        ground.file("bad.yaml", "apiVersion: example.com/v1\nkind: Kettle\nmetadata: {name: bad}\nspec: {litres: 12, colour: pink}\n");
        ground.file("unknown.yaml", "apiVersion: example.com/v1\nkind: Teapot\nmetadata: {name: x}\n");
        ground.file("broken.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a: b\n");
        ground.file("both/1.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\n");
        ground.file(
            "both/2.json",
            "{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"two\"}}",
        );
        ground.file("entries.env", "# note\nA=1\nB=two words\n");
    }
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let told = ours.told(line);
        let expected = theirs.kubectl(&kubectl, line);
        assert_eq!(told.out, expected.out, "stdout of: {line}\n{}\n{}", told.err, expected.err);
        let is_ours = |line: &&str| !line.starts_with("hint: ") && !line.starts_with("  ");
        let err: String = told.err.lines().filter(is_ours).map(|line| format!("{line}\n")).collect();
        assert_eq!(err, expected.err.replace("kubectl", "groundplane"), "stderr of: {line}");
        let code = if told.code == 2 { 1 } else { told.code };
        assert_eq!(code, expected.code, "exit code of: {line}");
    }
}

#[test]
fn labels_annotations_and_patches() {
    same_steps(
        r#"
        label kettle whistler a=b -n kitchen
        label kettle whistler a=b -n kitchen
        label kettle whistler a=c -n kitchen
        label kettle whistler a=c d=e -n kitchen --overwrite
        label kettle whistler a- -n kitchen
        label kettle whistler a- -n kitchen
        label kettle whistler d- f=g -n kitchen
        label kettles --all x=y -n kitchen
        label kettles -l app=tea z=1 -n kitchen --dry-run=server
        label ket/whistler bad=a/b -n kitchen
        label kettle missing a=b -n kitchen
        label kettle whistler -n kitchen
        label kettle whistler a=1 a- -n kitchen
        annotate kettle whistler who=me -n kitchen
        annotate kettle whistler who=you -n kitchen
        annotate kettle whistler who=you -n kitchen --overwrite=true
        annotate kettle whistler who- -n kitchen
        annotate kettle whistler who=you -n kitchen -o name
        patch kettle whistler --type merge -p '{"spec":{"litres":3}}' -n kitchen
        patch kettle whistler --type merge -p '{"spec":{"litres":3}}' -n kitchen
        patch kettle whistler --type=json -p '[{"op":"replace","path":"/spec/colour","value":"blue"}]' -n kitchen
        patch kettle whistler --type merge -p '{"spec":{"litres":99,"colour":"pink"}}' -n kitchen
        patch kettle whistler --type merge -p '{"spec":{"litres":4}}' -n kitchen --dry-run=server
        patch kettle whistler --type merge -p 'spec: {litres: 5}' -n kitchen -o jsonpath={.spec.litres}
        patch kettle whistler --subresource status --type merge -p '{"status":{"boiling":true}}' -n kitchen
        patch cm settings -p '{"data":{"new":"x"}}' -n kitchen
        patch kettle missing --type merge -p '{}' -n kitchen
        wait --for=jsonpath='{.status.boiling}'=true kettle/whistler -n kitchen
        wait --for=jsonpath='{.status.boiling}' kettle/whistler -n kitchen
        wait --for=condition=Ready kettle/whistler -n kitchen --timeout=0
        wait --for=condition=Established crd/kettles.example.com
        wait --for=create kettle/whistler -n kitchen
        wait --for=delete kettle/missing -n kitchen
        wait --for=condition=Ready kettle/missing -n kitchen
        wait --for=nonsense kettle/whistler -n kitchen
        "#,
    );
}

#[test]
fn creating_applying_and_deleting() {
    same_steps(
        r#"
        create -f pot.yaml
        create -f pot.yaml
        replace -f pot.yaml
        replace -f pot.yaml --dry-run=server
        replace -f pot.yaml --dry-run=client
        replace -f pot.yaml -o name
        replace -f pan.yaml
        replace --force -f pot.yaml
        replace --force -f pan.yaml
        replace --force -f pan.yaml -o name
        replace -f both
        replace -f bad.yaml -n kitchen
        replace -f missing.yaml
        replace -f pot.yaml --grace-period=1
        replace -f pot.yaml --timeout=1s
        replace --force -f pot.yaml --dry-run=server
        replace
        delete -f pan.yaml
        create namespace pantry
        create namespace pantry
        create namespace Bad_Name
        create configmap jam --from-literal=a=1 --from-literal=b=two
        create configmap jam --from-literal=a=1
        create cm env --from-env-file=entries.env -o jsonpath={.data}
        create secret generic hush --from-literal=a=1 --dry-run=client -o name
        create secret generic hush --from-literal=a=1
        create serviceaccount baker
        create sa baker
        create role reader --verb=get,list --resource=kettles.example.com,configmaps
        get role reader -o jsonpath={.rules}
        create rolebinding readers --role=reader --serviceaccount=default:baker --user=eve
        get rolebinding readers -o jsonpath={.subjects}{.roleRef}
        create clusterrolebinding all --clusterrole=view --group=cooks
        create -f bad.yaml -n kitchen
        create -f missing.yaml
        apply -f pan.yaml --dry-run=server
        apply -f missing.yaml
        apply -f broken.yaml
        apply
        delete cm jam
        delete cm jam
        delete cm jam --ignore-not-found
        delete cm/env cm/missing
        delete -f pot.yaml --dry-run=server
        delete -f pot.yaml
        delete -f pot.yaml
        delete secret hush -o name
        delete kettle whistler -n kitchen --dry-run=client
        delete kettles -n kitchen
        delete kettles --all -n kitchen
        delete kettles --all -n kitchen
        delete kettles -l a=b -n kitchen
        delete clusterrolebinding all
        delete clusterrolebinding all -n kitchen
        delete ns pantry
        delete sa baker --wait=false
        delete role reader --as eve
        "#,
    );
}

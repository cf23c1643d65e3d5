//! What is typed wrong, or meant for another tool: each is told with the next step.

use std::path::Path;

use crate::program::{GROUNDPLANE, Ground, KETTLES, ended, words};

#[test]
fn a_mistyped_word_is_corrected() {
    let ground = Ground::fresh();
    for (line, hint) in [
        ("gte racks", "did you mean \"get\"?"),
        ("aply -f x", "did you mean \"apply\"?"),
        ("auth whoaim", "did you mean \"whoami\"?"),
        ("get namespacse", "did you mean \"namespaces\"?"),
    ] {
        let told = ground.told(line);
        assert!(told.code != 0 && told.err.contains(hint), "{line}: {told:?}");
    }
    let told = ground.told("get ns --selectr app=x");
    assert!(told.code == 2 && told.err.contains("'--selector'"), "{told:?}");
}

#[test]
fn commands_for_workloads_are_not_sent_to_kubectl() {
    let ground = Ground::fresh();
    let told = ground.told("logs web");
    assert!(
        told.code == 2 && told.err.contains("runs none") && !told.err.contains("kubectl logs"),
        "{told:?}"
    );
    assert!(ground.told("proxy").err.contains("kubectl proxy --help"));
}

#[test]
fn plain_http_is_told_of_https() {
    let ground = Ground::fresh();
    let address = ground.run("config view --minify -o jsonpath={.clusters[0].cluster.server}");
    let plain = address.replace("https://", "http://");
    let told = ground.told(&format!("get ns -s {plain}"));
    assert!(told.code == 1 && told.err.contains(&format!("use {address}")), "{told:?}");
}

#[test]
fn an_undo_that_finds_no_change_says_so() {
    let ground = Ground::fresh();
    let told = ground.told("undo configmaps --after 1h --by-user nobody");
    assert_eq!(told.code, 1, "{told:?}");
    assert!(told.err.contains("no change matches") && !told.err.contains("BadRequest"), "{told:?}");
}

#[test]
fn times_are_durations_dates_or_rfc_3339() {
    let ground = Ground::fresh();
    ground.run("create cm seen --from-literal=a=1 -n default");
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let then = krm::time::Moment::of_seconds(i64::try_from(now).unwrap() - 2 * 86_400).to_string();
    let day = &then[..10];
    for since in [day, &then, &format!("'{day} 09:30'"), "2h", "1w", "now-2h"] {
        let shown = ground.run(&format!("activity configmaps --since {since}"));
        assert!(shown.contains("seen"), "--since {since}: {shown}");
    }
    let told = ground.told("activity --since 2020-01-01");
    assert!(told.code == 2 && told.err.contains("--since: ") && told.err.contains("30 days"), "{told:?}");
    for line in ["activity --since tuesday", "get cm --as-of tuesday", "diff --since tuesday cm"] {
        let told = ground.told(line);
        assert!(told.code == 2 && told.err.contains("hint: write a "), "{line}: {told:?}");
    }
}

#[test]
fn kustomizations_are_rendered_by_who_can() {
    let ground = Ground::fresh();
    ground.file("site/kustomization.yaml", "resources: [row.yaml]\nnamePrefix: lab-\n");
    ground.file("site/row.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: row}\ndata: {a: b}\n");
    let nowhere = |line: &str, path: &Path| {
        let mut command = ground.command(Path::new(GROUNDPLANE), &words(line));
        ended(command.env("PATH", path).output().unwrap())
    };
    let told = nowhere("apply -k site", ground.files.path());
    assert_eq!(told.code, 1, "{told:?}");
    assert!(told.err.contains("needs kustomize or kubectl, and neither is on PATH\nhint: "), "{told:?}");
    assert!(ground.told("apply -k site -f site/row.yaml").code == 2);
    let Some(kubectl) = crate::program::kubectl() else { return };
    for (line, printed) in [
        ("plan -k site", "+ configmap/lab-row in default created\n"),
        ("apply -k site", "configmap/lab-row created\n"),
        ("get -k site -o name", "configmap/lab-row\n"),
        ("diff -k site", ""),
        ("delete -k site", "configmap \"lab-row\" deleted from default namespace\n"),
    ] {
        let told = nowhere(line, kubectl.parent().unwrap());
        assert_eq!((told.code, told.out.as_str()), (0, printed), "{line}: {told:?}");
    }
    let told = nowhere("apply -k missing", kubectl.parent().unwrap());
    assert!(told.code == 1 && told.err.contains("kubectl kustomize missing: "), "{told:?}");
}

#[test]
fn a_definition_is_planned_together_with_its_objects() {
    let ground = Ground::fresh();
    let kettle = |name: &str, spec: &str| {
        format!("---\napiVersion: example.com/v1\nkind: Kettle\nmetadata:\n  name: {name}\nspec:\n  {spec}\n")
    };
    ground.file("site/1-definition.yaml", KETTLES);
    ground.file("site/2-kettles.yaml", &kettle("brass", "litres: 3"));
    ground.file("site/3-settings.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n");
    let told = ground.told("plan -f site");
    assert_eq!(told.code, 0, "{told:?}");
    assert_eq!(
        told.out,
        "+ customresourcedefinition.apiextensions.k8s.io/kettles.example.com created\n\
         + configmap/settings in default created\n+ kettle.example.com/brass in default created\n"
    );
    assert!(told.err.contains("1 object is of a kind that is defined in the same files"), "{}", told.err);
    let told = ground.told("apply -f site --dry-run=server");
    assert!(
        told.code == 0 && told.out.contains("kettle.example.com/brass created (server dry run)\n"),
        "{told:?}"
    );
    let told = ground.told("plan -f site --save");
    assert!(
        told.code == 1 && told.err.contains("hint: apply the CustomResourceDefinitions first"),
        "{told:?}"
    );
    ground.file(
        "site/2-kettles.yaml",
        &(kettle("big", "litres: 12") + &kettle("odd", "{litres: 2, lid: yes}")),
    );
    for line in ["plan -f site", "apply -f site --dry-run=server"] {
        let told = ground.told(line);
        assert_eq!(told.code, 1, "{line}: {told:?}");
        assert!(told.err.contains("--> site/2-kettles.yaml:7:3\n"), "{line}: {}", told.err);
        assert!(told.err.contains("should be less than or equal to 9"), "{line}: {}", told.err);
        assert!(told.err.contains("unknown field \"spec.lid\""), "{line}: {}", told.err);
    }
    assert!(ground.told("get crd kettles.example.com").code == 1, "nothing was made");
}

#[test]
fn the_doctor_is_content_in_a_project() {
    let ground = Ground::fresh();
    ground.run_with(
        "apply -f -",
        "apiVersion: resourcemanager.miloapis.com/v1alpha1\nkind: Organization\nmetadata: {name: acme}\nspec: {}\n",
    );
    ground.run_with(
        "apply -f -",
        "apiVersion: resourcemanager.miloapis.com/v1alpha1\nkind: Project\nmetadata: {name: web}\nspec: {ownerRef: {kind: Organization, name: acme}}\n",
    );
    let told = ground.told("doctor --project web");
    assert!(told.code == 0 && !told.out.contains("FAIL"), "{told:?}");
    assert!(told.out.contains("ok    readiness    "), "{told:?}");
    let told = ground.told("doctor --project missing");
    assert!(told.code == 1 && told.out.contains("FAIL"), "{told:?}");
    assert!(ground.run("version --project web").contains("Server Version: "));
}

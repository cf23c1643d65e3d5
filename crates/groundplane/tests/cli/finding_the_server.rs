//! How the program finds its server, and what it says when it does not.

use std::path::Path;

use crate::program::{GROUNDPLANE, Ground, words};

#[test]
fn our_own_variable_counts_before_kubectls() {
    let ground = Ground::fresh();
    let nowhere = ground.file("nowhere.kubeconfig", "apiVersion: v1\nkind: Config\n");
    let mut command = ground.command(Path::new(GROUNDPLANE), &words("auth whoami"));
    command.env("KUBECONFIG", &nowhere).env("GROUNDPLANE_KUBECONFIG", ground.server.kubeconfig());
    assert!(command.output().unwrap().status.success());
}

#[test]
fn several_files_are_read_as_one_and_a_context_is_chosen() {
    let ground = Ground::fresh();
    let first = ground.file(
        "first.kubeconfig",
        "apiVersion: v1\nkind: Config\ncurrent-context: lab\ncontexts:\n- name: lab\n  context: {cluster: groundplane, user: admin, namespace: kube-system}\n",
    );
    let both = format!("{}:{}", first.display(), ground.server.kubeconfig().display());
    let run = |line: &str| {
        let output =
            ground.command(Path::new(GROUNDPLANE), &words(line)).env("KUBECONFIG", &both).output().unwrap();
        assert!(output.status.success(), "{line}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(run("config current-context"), "lab\n");
    run("create configmap here");
    assert_eq!(
        run(
            "get cm -A --field-selector metadata.name=here -o custom-columns=NS:.metadata.namespace --no-headers"
        ),
        "kube-system\n"
    );
    assert_eq!(run("config use-context groundplane"), "Switched to context \"groundplane\".\n");
    assert_eq!(run("config current-context"), "groundplane\n");
    assert_eq!(run("get cm here --context lab -o name"), "configmap/here\n");
    assert!(std::fs::read_to_string(&first).unwrap().contains("namespace: kube-system"));
}

#[test]
fn the_default_data_folder_is_looked_into_last() {
    let ground = Ground::fresh();
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".local/share/groundplane");
    std::fs::create_dir_all(&folder).unwrap();
    let run = || {
        let mut command = ground.command(Path::new(GROUNDPLANE), &words("get namespaces -o name"));
        command.env_remove("KUBECONFIG").env_remove("XDG_DATA_HOME").env("HOME", home.path());
        command.output().unwrap()
    };
    let missing = run();
    let said = String::from_utf8(missing.stderr).unwrap();
    assert!(!missing.status.success());
    assert!(said.starts_with("error: no server configured: no usable context in "), "{said}");
    assert!(said.contains("hint: start a server with \"groundplane serve\""), "{said}");
    std::fs::copy(ground.server.kubeconfig(), folder.join("admin.kubeconfig")).unwrap();
    assert!(String::from_utf8(run().stdout).unwrap().contains("namespace/default\n"));
}

#[test]
fn who_asks_is_a_certificate_a_token_or_a_program() {
    let ground = Ground::fresh();
    ground.run("create serviceaccount cook");
    ground.run("create clusterrolebinding cooks --clusterrole=view --serviceaccount=default:cook");
    let token = ground.run("create token cook");
    let token = token.trim();
    let who = "auth whoami -o jsonpath={.status.userInfo.username}";
    assert_eq!(ground.run(who), "system:admin");
    assert_eq!(ground.run(&format!("{who} --token {token}")), "system:serviceaccount:default:cook");
    let text = std::fs::read_to_string(ground.server.kubeconfig()).unwrap();
    let (head, _) = text.split_once("users:").unwrap();
    let with_user = |user: &str| {
        ground.file("other.kubeconfig", &format!("{head}users:\n- name: admin\n  user: {user}\n"))
    };
    let exec = format!(
        "{{exec: {{apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: sh, args: [-c, \"echo '{{\\\"status\\\": {{\\\"token\\\": \\\"{token}\\\"}}}}'\"]}}}}"
    );
    for user in [format!("{{token: {token}}}"), exec] {
        let file = with_user(&user);
        let line = format!("{who} --kubeconfig {}", file.display());
        assert_eq!(ground.run(&line), "system:serviceaccount:default:cook", "{user}");
    }
    let file = with_user("{exec: {apiVersion: client.authentication.k8s.io/v1, command: 'false'}}");
    let told = ground.told(&format!("get ns --kubeconfig {}", file.display()));
    assert!(told.err.starts_with("error: getting credentials: exec: false: "), "{told:?}");
}

#[test]
fn a_server_that_is_not_there_is_told_with_a_next_step() {
    let ground = Ground::fresh();
    let told = ground.told("get ns --server https://127.0.0.1:1");
    assert_eq!(
        told.err.lines().next().unwrap(),
        "The connection to the server 127.0.0.1:1 was refused - did you specify the right host or port?"
    );
    assert!(told.err.contains("hint: ") && told.code == 1, "{told:?}");
    let told = ground.told("serve --server https://127.0.0.1:1");
    assert!(told.code == 2 && told.err.contains("--server is for client commands"), "{told:?}");
}

#[test]
fn the_doctor_finds_what_is_wrong() {
    let ground = Ground::fresh();
    let told = ground.told("doctor");
    assert_eq!(told.code, 0, "{told:?}");
    for check in [
        "kubeconfig",
        "certificate",
        "connection",
        "clocks",
        "identity",
        "readiness",
        "discovery",
        "features",
        "namespace",
    ] {
        assert!(told.out.contains(&format!("ok    {check}")), "{check}: {}", told.out);
    }
    let told = ground.told("doctor -n nowhere");
    assert!(told.code == 1 && told.out.contains("FAIL  namespace"), "{told:?}");
    let told = ground.told("doctor --server https://127.0.0.1:1");
    assert!(told.code == 1 && told.out.contains("FAIL  connection"), "{told:?}");
}

#[test]
fn a_support_bundle_holds_no_secret() {
    let ground = Ground::fresh();
    ground.run("create secret generic hush --from-literal=password=do-not-tell");
    ground.run("create configmap open --from-literal=a=do-not-tell-either");
    ground.run("support-bundle bundle.tar.gz");
    let listed = std::process::Command::new("tar")
        .arg("xzf")
        .arg(ground.files.path().join("bundle.tar.gz"))
        .current_dir(ground.files.path())
        .status();
    if !listed.is_ok_and(|status| status.success()) {
        testbed::need::passed_over("there is no tar");
        return;
    }
    let folder = ground.files.path().join("groundplane-support");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        assert!(!text.contains("do-not-tell") && !text.contains("hush"), "{text}");
        count += 1;
    }
    assert!(count >= 9, "{count} files");
}

#[test]
fn the_doctor_compares_a_server_with_the_threat_model() {
    let ground = Ground::fresh();
    let told = ground.told("doctor --security");
    assert_eq!(told.code, 0, "{told:?}");
    for check in ["anonymous", "everybody", "masters", "keys", "history"] {
        assert!(told.out.contains(&format!("ok    {check}")), "{check}: {}", told.out);
    }
    ground.run("create clusterrolebinding open --clusterrole=edit --group=system:authenticated");
    let told = ground.told("doctor --security");
    assert!(told.code == 1 && told.out.contains("FAIL  everybody"), "{told:?}");
    assert!(told.out.contains("ClusterRoleBinding open"), "{told:?}");
}

//! Programs with accounts of their own: keys that they are given or bring, tokens that they sign, and how both end.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};
use testbed::server::Client;
use testbed::{need, parts};

use super::GROUNDPLANE;
use super::iam::{IAM, TENANCY, Town, binding, made, on_kind, on_object, sent};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const ACCOUNTS: &str = "/apis/iam.miloapis.com/v1alpha1/namespaces/default/machineaccounts";
const KEYS: &str = "/apis/iam.miloapis.com/v1alpha1/namespaces/default/machineaccountkeys";
const SUFFIX: &str = "machineaccounts.groundplane.dev";

fn run(program: &Path, config: &Path, line: &str) -> Output {
    let mut command = Command::new(program);
    command.args(line.split(' ')).env("KUBECONFIG", config).env_remove("GROUNDPLANE_KUBECONFIG");
    command.env("HOME", config.parent().unwrap());
    command.output().unwrap()
}

fn worked(program: &Path, config: &Path, line: &str) -> String {
    let output = run(program, config, line);
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A new account with a key, by the command that is there for it; the kubeconfig that it wrote.
fn account(town: &Town, folder: &Path, name: &str, more: &str) -> PathBuf {
    let file = folder.join(format!("{name}{}.kubeconfig", more.replace(' ', "")));
    let line = format!("auth machine-account {name} --to {}{more}", file.display());
    worked(Path::new(GROUNDPLANE), Path::new(&town.server.kubeconfig()), &line);
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "only its owner reads it");
    file
}

/// Gives a machine account a role of the system.
fn to_machine(name: &str, role: &str, subject: &str, selector: Value) -> Value {
    let mut made = binding(name, role, subject, selector);
    made["spec"]["subjects"][0]["kind"] = "MachineAccount".into();
    made
}

/// A token that the secret of a key signs.
fn token(secret: &Value, folder: &Path) -> Output {
    let text = secret["data"]["credentials.json"].as_str().unwrap();
    let file = folder.join("credentials.json");
    std::fs::write(&file, krm::base64::decode(text).unwrap()).unwrap();
    let mut command = Command::new(GROUNDPLANE);
    command.args(["auth", "machine-token", "--credentials"]).arg(&file).env("HOME", folder);
    command.output().unwrap()
}

fn signed(secret: &Value, folder: &Path) -> String {
    let output = token(secret, folder);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[tokio::test]
async fn a_program_is_given_an_account_and_kubectl_works_with_it() {
    let town = Town::of(&[], &[]).await;
    let folder = tempfile::TempDir::new().unwrap();
    let config = account(&town, folder.path(), "ci", "");
    let ours = Path::new(GROUNDPLANE);
    let who: Value = serde_json::from_str(&worked(ours, &config, "auth whoami -o json")).unwrap();
    let user = &who["status"]["userInfo"];
    let kept = town.admin.get(&format!("{ACCOUNTS}/ci")).await.unwrap().json();
    assert_eq!(user["username"], format!("ci@default.{SUFFIX}"));
    assert_eq!(user["uid"], kept["metadata"]["uid"]);
    assert_eq!(user["groups"], json!(["system:machineaccounts", "system:authenticated"]));
    let proof = user["extra"]["authentication.kubernetes.io/credential-id"][0].as_str().unwrap();
    let keys = town.admin.get(KEYS).await.unwrap().json();
    assert!(proof.starts_with("KID="), "{proof}");
    let refused = run(ours, &config, "get configmaps");
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("cannot list resource"), "{said}");
    // The file is written once, and nothing is made where it can't be.
    let again = format!("auth machine-account ci --to {}", config.display());
    let again = run(ours, Path::new(&town.server.kubeconfig()), &again);
    assert!(!again.status.success());
    assert_eq!(town.admin.get(KEYS).await.unwrap().json()["items"].as_array().unwrap().len(), 1);

    let bindings = format!("{IAM}/namespaces/default/policybindings");
    let role = "core.miloapis.com-editor";
    made(&town.admin, &bindings, &to_machine("ci", role, "ci", on_kind("", "ConfigMap"))).await;
    worked(ours, &config, "create configmap menu --from-literal=soup=leek");
    let history = town.admin.get(&format!("{MAPS}/menu/history")).await.unwrap().text();
    assert!(history.contains(&format!("ci@default.{SUFFIX}")), "{history}");
    let why = worked(ours, &config, "auth why create configmaps");
    assert!(why.contains("MachineAccount"), "{why}");
    let key = keys["items"][0]["metadata"]["name"].as_str().unwrap();
    if let Some(kubectl) = parts::find("kubectl-1.35/kubectl").or_else(|| parts::find("kubectl-1.32/kubectl"))
    {
        assert_eq!(worked(&kubectl, &config, "get configmap menu -o jsonpath={.data.soup}"), "leek");
        assert!(worked(&kubectl, &config, "auth whoami").contains("ci@default"));
        assert_eq!(worked(&kubectl, &config, "auth can-i delete configmaps"), "yes\n");
    } else {
        need::passed_over("kubectl was not fetched; `cargo xtask test` does that");
    }
    // The key is deleted, and the next request is nobody's.
    assert_eq!(town.admin.delete(&format!("{KEYS}/{key}")).await.unwrap().code, 200);
    let refused = run(ours, &config, "get configmaps");
    assert!(!refused.status.success() && String::from_utf8_lossy(&refused.stderr).contains("logged in"));
}

#[tokio::test]
async fn a_key_that_the_server_makes_is_in_a_secret_and_ends_with_its_account_its_state_and_its_time() {
    let town = Town::of(&[], &[]).await;
    let folder = tempfile::TempDir::new().unwrap();
    let admin = &town.admin;
    let robot = json!({"metadata": {"name": "robot"}});
    made(admin, ACCOUNTS, &robot).await;
    let key = json!({"metadata": {"name": "robot-1"}, "spec": {"machineAccountName": "robot"}});
    let kept = made(admin, KEYS, &key).await;
    assert!(kept["spec"]["publicKey"].as_str().unwrap().contains("BEGIN PUBLIC KEY"), "{kept}");
    assert!(!kept.to_string().contains("PRIVATE"), "{kept}");
    let secrets = "/api/v1/namespaces/default/secrets";
    let secret = admin.get(&format!("{secrets}/robot-1")).await.unwrap().json();
    let token = signed(&secret, folder.path());
    let machine = town.server.stranger().with_token(&token);
    let code = async |client: &Client| client.get("/api").await.unwrap().code;
    assert_eq!(code(&machine).await, 200);
    // A token with a letter changed is nobody's, and says so to nobody.
    let (head, tail) = token.rsplit_once('.').unwrap();
    let first = if tail.starts_with('A') { 'B' } else { 'A' };
    let liar = town.server.stranger().with_token(&format!("{head}.{first}{}", &tail[1..]));
    assert_eq!(code(&liar).await, 401);
    // Dry runs and refusals leave nothing.
    let wrong =
        json!({"metadata": {"name": "robot-2"}, "spec": {"machineAccountName": "robot", "publicKey": "no"}});
    let refused = sent(admin, KEYS, &wrong).await.unwrap();
    assert_eq!(refused.code, 422, "{}", refused.text());
    let tried = json!({"apiVersion": "iam.miloapis.com/v1alpha1", "kind": "MachineAccountKey", "metadata": {"name": "robot-3"}, "spec": {"machineAccountName": "robot"}});
    assert_eq!(sent(admin, &format!("{KEYS}?dryRun=All"), &tried).await.unwrap().code, 201);
    assert_eq!(admin.get(&format!("{secrets}/robot-3")).await.unwrap().code, 404);
    made(admin, secrets, &json!({"metadata": {"name": "robot-3"}})).await;
    let taken = sent(admin, KEYS, &tried).await.unwrap();
    assert_eq!(taken.code, 422, "the secret would be somebody else's: {}", taken.text());

    let state = async |state: &str| {
        let patch = json!({"spec": {"state": state}});
        let answer = admin.merge(&format!("{ACCOUNTS}/robot"), &patch).await.unwrap();
        assert_eq!(answer.code, 200, "{}", answer.text());
    };
    state("Inactive").await;
    assert_eq!(code(&machine).await, 401);
    state("Active").await;
    assert_eq!(code(&machine).await, 200);
    // Another account of the same name has other keys.
    assert_eq!(admin.delete(&format!("{ACCOUNTS}/robot")).await.unwrap().code, 200);
    assert_eq!(code(&machine).await, 401);
    made(admin, ACCOUNTS, &robot).await;
    assert_eq!(code(&machine).await, 401);
    let old = json!({"metadata": {"name": "robot-4"}, "spec": {"machineAccountName": "robot", "expirationDate": "2020-01-01T00:00:00Z"}});
    made(admin, KEYS, &old).await;
    let secret = admin.get(&format!("{secrets}/robot-4")).await.unwrap().json();
    let late = town.server.stranger().with_token(&signed(&secret, folder.path()));
    assert_eq!(code(&late).await, 401);
    let mut tries = 0;
    loop {
        let told = admin.get(&format!("{KEYS}/robot-4")).await.unwrap().text();
        if told.contains("\"Expired\"") {
            break;
        }
        super::iam::again(&mut tries).await;
    }
}

#[tokio::test]
async fn an_account_of_the_same_name_inherits_nothing_that_was_given_by_name() {
    let town = Town::of(&[], &[]).await;
    let folder = tempfile::TempDir::new().unwrap();
    let admin = &town.admin;
    let rbac = "/apis/rbac.authorization.k8s.io/v1";
    let rules = json!([{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list", "watch"]}]);
    let role = json!({"metadata": {"name": "reader"}, "rules": rules});
    assert_eq!(admin.post(&format!("{rbac}/clusterroles"), &role).await.unwrap().code, 201);
    let bound = json!({
        "metadata": {"name": "reader"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "reader"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": format!("robot@default.{SUFFIX}")}],
    });
    assert_eq!(admin.post(&format!("{rbac}/clusterrolebindings"), &bound).await.unwrap().code, 201);
    let sign_in = async |key: &str| {
        made(admin, ACCOUNTS, &json!({"metadata": {"name": "robot"}})).await;
        let key = json!({"metadata": {"name": key}, "spec": {"machineAccountName": "robot"}});
        let name = made(admin, KEYS, &key).await["metadata"]["name"].as_str().unwrap().to_owned();
        let secret = admin.get(&format!("/api/v1/namespaces/default/secrets/{name}")).await.unwrap().json();
        town.server.stranger().with_token(&signed(&secret, folder.path()))
    };
    let first = sign_in("first").await;
    assert_eq!(first.get(MAPS).await.unwrap().code, 200);
    let mut watch = first
        .watch(&format!("{MAPS}?watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan"))
        .await
        .unwrap();
    assert_eq!(watch.code, 200);
    assert_eq!(admin.delete(&format!("{ACCOUNTS}/robot")).await.unwrap().code, 200);
    assert_eq!(first.get(MAPS).await.unwrap().code, 401);
    let ended = watch.next().await.unwrap();
    assert!(ended.to_string().contains("was deleted at"), "{ended}");
    let second = sign_in("second").await;
    assert_eq!(second.get("/api").await.unwrap().code, 200);
    assert_eq!(second.get(MAPS).await.unwrap().code, 403, "the binding was made for the first one");
}

#[tokio::test]
async fn a_deleted_project_leaves_the_names_of_its_accounts_to_nobody() {
    let town = Town::of(&[], &[]).await;
    let admin = &town.admin;
    let rbac = "/apis/rbac.authorization.k8s.io/v1";
    let rules = json!([{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list"]}]);
    let role = json!({"metadata": {"name": "reader"}, "rules": rules});
    assert_eq!(admin.post(&format!("{rbac}/clusterroles"), &role).await.unwrap().code, 201);
    let address = format!("robot@default.web.{SUFFIX}");
    let (projects, project) = (format!("{TENANCY}/projects"), json!({"metadata": {"name": "web"}}));
    let plane = format!("{projects}/web/control-plane");
    made(admin, &projects, &project).await;
    made(admin, &format!("{plane}{ACCOUNTS}"), &json!({"metadata": {"name": "robot"}})).await;
    let bound = json!({
        "metadata": {"name": "reader"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "reader"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": address}],
    });
    assert_eq!(admin.post(&format!("{rbac}/clusterrolebindings"), &bound).await.unwrap().code, 201);
    let robot = admin.clone().with("impersonate-user", &address);
    assert_eq!(robot.get(MAPS).await.unwrap().code, 200);
    // Everything in the control plane goes at once, without requests of anybody; what has to be known of it stays.
    assert_eq!(admin.delete(&format!("{projects}/web")).await.unwrap().code, 200);
    let mut tries = 0;
    while admin.get(&format!("{projects}/web")).await.unwrap().code != 404 {
        super::iam::again(&mut tries).await;
    }
    let refused = robot.get(MAPS).await.unwrap();
    assert!(refused.code == 403 && refused.text().contains("was deleted at"), "{}", refused.text());
    made(admin, &projects, &project).await;
    made(admin, &format!("{plane}{ACCOUNTS}"), &json!({"metadata": {"name": "robot"}})).await;
    let refused = robot.get(MAPS).await.unwrap();
    assert_eq!(refused.code, 403, "the binding was made for the first one: {}", refused.text());
}

#[tokio::test]
async fn an_account_of_a_project_is_somebody_there_and_nobody_elsewhere() {
    let town = Town::of(&["ann"], &[]).await;
    let folder = tempfile::TempDir::new().unwrap();
    let admin = &town.admin;
    for project in ["web", "shop"] {
        made(admin, &format!("{TENANCY}/projects"), &json!({"metadata": {"name": project}})).await;
    }
    let config = account(&town, folder.path(), "ci", " --project web");
    let address = format!("ci@default.web.{SUFFIX}");
    let on_web = on_object("resourcemanager.miloapis.com", "Project", "web");
    let bindings = format!("{IAM}/namespaces/milo-system/policybindings");
    made(admin, &bindings, &to_machine("ci", "project-editor", &address, on_web.clone())).await;
    let ours = Path::new(GROUNDPLANE);
    assert!(worked(ours, &config, "auth whoami").contains(&address));
    worked(ours, &config, "create configmap menu --from-literal=soup=leek");
    let server = format!("https://{}", admin.address());
    for elsewhere in [server.clone(), format!("{server}{TENANCY}/projects/shop/control-plane")] {
        let refused = run(ours, &config, &format!("get configmaps --server {elsewhere}"));
        assert!(!refused.status.success(), "{refused:?}");
        assert!(String::from_utf8_lossy(&refused.stderr).contains("logged in"), "{refused:?}");
    }
    // Who makes a key can be that account: he holds what it holds, or makes none.
    made(admin, &bindings, &binding("ann", "iam.miloapis.com-editor", "ann", on_web)).await;
    let plane = format!("{TENANCY}/projects/web/control-plane");
    let key = json!({"metadata": {"name": "mine"}, "spec": {"machineAccountName": "ci"}});
    let refused = sent(&town.person("ann"), &format!("{plane}{KEYS}"), &key).await.unwrap();
    assert_eq!(refused.code, 403, "{}", refused.text());
    assert!(refused.text().contains("permissions not currently held"), "{}", refused.text());
}

//! Two people in two projects, each with kubectl: neither learns from anything that it says what the other has.

use std::path::{Path, PathBuf};
use std::process::Command;

use testbed::{need, parts};

use super::*;

const IAM: &str = "iam.miloapis.com/v1alpha1";
/// The metered resource: ConfigMaps, which every project has.
const MAPS: &str = "shop.example.com/maps";
/// A project that does not exist, which another's has to look like.
const NOWHERE: &str = "nowhere";

/// kubectl with a context for everybody in every project and in the root.
struct Desk {
    program: PathBuf,
    config: PathBuf,
}

impl Desk {
    /// What a command says, and whether it worked.
    fn says(&self, who: &str, project: &str, line: &str) -> (bool, String) {
        let output = Command::new(&self.program)
            .args(["--context", &format!("{who}@{project}")])
            .args(line.split(' '))
            .env("KUBECONFIG", &self.config)
            // What kubectl has learnt of a server it keeps below the home of the user: each has one.
            .env("HOME", self.config.with_file_name(who))
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.success(), text(&output.stdout) + &text(&output.stderr))
    }

    fn works(&self, who: &str, project: &str, line: &str) -> String {
        let (worked, said) = self.says(who, project, line);
        assert!(worked, "{who}@{project}: {line}: {said}");
        said
    }
}

fn kubeconfig(server: &Server, client: &Client, people: &[&str], projects: &[&str]) -> String {
    let admin = std::fs::read_to_string(server.kubeconfig()).unwrap();
    let ca = admin.lines().find_map(|line| line.trim().strip_prefix("certificate-authority-data: ")).unwrap();
    let cluster = |project: &str| {
        let path = if project == "root" { String::new() } else { inside(project, "") };
        json!({"name": project, "cluster":
            {"server": format!("https://{}{path}", client.address()), "certificate-authority-data": ca}})
    };
    let context = |person: &str, project: &str| {
        json!({"name": format!("{person}@{project}"), "context":
            {"cluster": project, "user": person, "namespace": "default"}})
    };
    let contexts = people.iter().flat_map(|person| projects.iter().map(|project| context(person, project)));
    let user = |person: &&str| json!({"name": person, "user": {"token": format!("{person}-token")}});
    json!({
        "apiVersion": "v1", "kind": "Config", "contexts": contexts.collect::<Vec<_>>(),
        "clusters": projects.iter().map(|project| cluster(project)).collect::<Vec<_>>(),
        "users": people.iter().map(user).collect::<Vec<_>>(),
    })
    .to_string()
}

/// Two people, each an admin of a project, and ConfigMaps that are metered. The provider of a service has a third project.
async fn prepare(client: &Client) {
    make_project(client, "provider").await;
    for (who, project, limit) in [("ann", "acme", 7), ("ben", "beta", 50)] {
        let user = object(IAM, "User", who, json!({"email": format!("{who}@example.com")}));
        make(client, &cluster(IAM, "users"), &user).await;
        make_project(client, project).await;
        let spec = json!({
            "roleRef": {"name": "project-admin", "namespace": "milo-system"},
            "subjects": [{"kind": "User", "name": who}],
            "resourceSelector": {"resourceRef":
                {"apiGroup": "resourcemanager.miloapis.com", "kind": "Project", "name": project}},
        });
        let bindings = namespaced(IAM, "milo-system", "policybindings");
        make(client, &bindings, &object(IAM, "PolicyBinding", who, spec)).await;
        if who == "ann" {
            register(client).await;
        }
        let mut granted = grant(project, project, limit);
        granted["spec"]["allowances"][0]["resourceType"] = MAPS.into();
        make(client, &grants(), &granted).await;
    }
    let spec = json!({"serviceName": "shop.example.com", "phase": "Published", "displayName": "Shop",
        "owner": {"producerProjectRef": {"name": "provider"}}, "enablementPolicy": {"mode": "GatedByProvider"}});
    make(client, &cluster(SERVICES, "services"), &object(SERVICES, "Service", "shop", spec)).await;
}

async fn register(client: &Client) {
    let registration = json!({
        "consumerType": {"apiGroup": "resourcemanager.miloapis.com", "kind": "Project"}, "type": "Entity",
        "resourceType": MAPS, "baseUnit": "map", "displayUnit": "map", "unitConversionFactor": 1,
        "claimingResources": [{"apiGroup": "", "kind": "ConfigMap"}],
    });
    let registration = object(QUOTA, "ResourceRegistration", "maps", registration);
    make(client, &cluster(QUOTA, "resourceregistrations"), &registration).await;
    let policy = json!({
        "trigger": {"resource": {"apiVersion": "v1", "kind": "ConfigMap"},
            // What the server makes in every namespace is not metered.
            "constraints": [{"expression": "trigger.metadata.name != 'kube-root-ca.crt'"}]},
        "target": {"resourceClaimTemplate": {"spec": {"requests": [{"resourceType": MAPS, "amount": 1}]}}},
    });
    let policy = object(QUOTA, "ClaimCreationPolicy", "map", policy);
    make(client, &cluster(QUOTA, "claimcreationpolicies"), &policy).await;
}

/// Everything that somebody may try to learn something about another's project by.
const IN_A_PROJECT: [&str; 12] = [
    "get configmaps",
    "get configmap plan",
    "get resourceclaims -A",
    "get resourceclaim map-plan",
    "get serviceentitlements",
    "get locationbindings",
    "get networks -A",
    "get namespaces",
    "create configmap mine --from-literal=a=b",
    "delete configmap plan",
    "auth can-i --list",
    "api-resources",
];

/// The same in the root, of names that are there and of names that are not.
const IN_THE_ROOT: [(&str, &str); 8] = [
    ("get resourcegrant THEIRS -n milo-system", "resourcegrants"),
    ("get project THEIRS", "projects"),
    ("delete resourcegrant THEIRS -n milo-system", "resourcegrants"),
    ("get allowancebucket BUCKET -n milo-system", "allowancebuckets"),
    ("get allowancebuckets -A", "allowancebuckets"),
    ("get resourceclaims -A", "resourceclaims"),
    ("get resourceregistrations", "resourceregistrations"),
    ("get claimcreationpolicies", "claimcreationpolicies"),
];

#[tokio::test]
async fn neither_of_two_people_learns_what_the_other_has() {
    let Some(program) = kubectl_program() else {
        return need::passed_over("kubectl was not fetched; `cargo xtask test` does that");
    };
    let folder = tempfile::TempDir::new().unwrap();
    let tokens = folder.path().join("tokens.csv");
    std::fs::write(&tokens, "ann-token,ann,,\nben-token,ben,,\n").unwrap();
    let server = Server::fresh(GROUNDPLANE, &["--token-auth-file", tokens.to_str().unwrap()]).unwrap();
    let client = server.client();
    prepare(&client).await;
    let config = folder.path().join("config");
    let contexts = ["acme", "beta", NOWHERE, "root"];
    std::fs::write(&config, kubeconfig(&server, &client, &["ann", "ben"], &contexts)).unwrap();
    let desk = Desk { program, config };

    // Each has something of the same names, and fills its quota to another degree.
    for number in 0..5 {
        desk.works("ann", "acme", &format!("create configmap acme-{number} --from-literal=a=b"));
    }
    for number in 0..9 {
        desk.works("ben", "beta", &format!("create configmap beta-{number} --from-literal=a=b"));
    }
    for (who, project) in [("ann", "acme"), ("ben", "beta")] {
        desk.works(who, project, "create configmap plan --from-literal=secret=yes");
    }
    ask_for_shop(&desk, "ben", "beta", folder.path());
    desk.works("ann", "acme", "create configmap last --from-literal=a=b");
    let full = |desk: &Desk| desk.says("ann", "acme", "create configmap more --from-literal=a=b");
    let refused = full(&desk);
    assert_eq!(
        refused,
        (
            false,
            "error: failed to create configmap: configmaps \"more\" is forbidden: exceeded quota: shop.example.com/maps, \
             requested: maps=1, used: maps=7, limited: maps=7; an administrator can grant more with: groundplane quota \
             grant shop.example.com/maps 1 --project acme\n"
                .to_owned()
        )
    );
    let numbers = format!("get --raw {}", usage());
    let used = desk.works("ann", "acme", &numbers);
    assert!(used.contains("\"used\":7") && used.contains("\"limit\":7"), "{used}");

    for (me, mine, theirs) in [("ann", "acme", "beta"), ("ben", "beta", "acme")] {
        learns_nothing(&desk, &client, me, mine, theirs).await;
    }

    // What one does changes nothing of what the other is told.
    desk.works("ben", "beta", "create configmap another --from-literal=a=b");
    desk.works("ben", "beta", "delete configmap beta-0");
    assert_eq!(full(&desk), refused);
    assert_eq!(desk.works("ann", "acme", &numbers), used);
    desk.works("ann", "acme", "delete configmap last");
    desk.works("ann", "acme", "create configmap more --from-literal=a=b");
}

fn kubectl_program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path =
        || std::env::split_paths(&path).map(|folder| folder.join("kubectl")).find(|it| it.is_file());
    let fetched = ["kubectl-1.35/kubectl", "kubectl-1.32/kubectl"].into_iter().find_map(parts::find);
    fetched.or_else(on_path)
}

fn usage() -> String {
    format!("{}/-/usage", namespaced(QUOTA, "default", "resourceclaims"))
}

fn ask_for_shop(desk: &Desk, who: &str, project: &str, folder: &Path) {
    let file = folder.join("request.json");
    let request = object(SERVICES, "ServiceEntitlement", "shop", json!({"serviceRef": {"name": "shop"}}));
    std::fs::write(&file, request.to_string()).unwrap();
    desk.works(who, project, &format!("create -f {}", file.display()));
}

async fn learns_nothing(desk: &Desk, client: &Client, me: &str, mine: &str, theirs: &str) {
    let shown = desk.works(me, mine, "get configmaps,resourceclaims,serviceentitlements -A -o json");
    assert!(shown.contains(&format!("{mine}-1")), "{shown}");
    assert!(!shown.contains(theirs), "{me} is shown something of {theirs}: {shown}");
    // Another's project is answered like one that does not exist, whatever is asked of it.
    for line in IN_A_PROJECT {
        let (worked, said) = desk.says(me, theirs, line);
        let (_, of_nowhere) = desk.says(me, NOWHERE, line);
        assert!(!worked, "{me}@{theirs}: {line}: {said}");
        assert_eq!(timeless(&said, theirs), timeless(&of_nowhere, NOWHERE), "{me}@{theirs}: {line}");
    }
    let usage_of = |project: &str| format!("get --raw {}", inside(project, &usage()));
    let (worked, said) = desk.says(me, "root", &usage_of(theirs));
    assert!(!worked, "{said}");
    assert_eq!(said.replace(theirs, NOWHERE), desk.says(me, "root", &usage_of(NOWHERE)).1);
    // Nothing of the root half: what is there is refused as what is not.
    let bucket = bucket_of(client, theirs).await;
    for (line, resource) in IN_THE_ROOT {
        let there = line.replace("THEIRS", theirs).replace("BUCKET", &bucket);
        let missing = line.replace("THEIRS", NOWHERE).replace("BUCKET", "bucket-none");
        let (worked, said) = desk.says(me, "root", &there);
        let is_refused = said.contains("(Forbidden)") || said.contains("(NotFound)");
        assert!(!worked && is_refused && said.contains(resource), "{me}: {there}: {said}");
        let (_, of_missing) = desk.says(me, "root", &missing);
        assert_eq!(
            said.replace(theirs, NOWHERE).replace(&bucket, "bucket-none"),
            of_missing,
            "{me}: {there}"
        );
    }
    // Nor is another's quota claimed from one's own project.
    let consumer = json!({"apiGroup": "resourcemanager.miloapis.com", "kind": "Project", "name": theirs});
    let spec = json!({"consumerRef": consumer, "requests": [{"resourceType": MAPS, "amount": 1}],
        "resourceRef": {"apiGroup": "", "kind": "B", "name": "b"}});
    let file = desk.config.with_file_name(format!("claim-{me}.json"));
    std::fs::write(&file, object(QUOTA, "ResourceClaim", "theirs", spec).to_string()).unwrap();
    let (worked, said) = desk.says(me, mine, &format!("create -f {}", file.display()));
    assert!(!worked && said.contains("in whose control plane the claim is"), "{said}");
}

/// What kubectl says of a project, without its name, the time, and how often it tried.
fn timeless(said: &str, project: &str) -> Vec<String> {
    let said = said.replace(project, "PROJECT");
    let mut lines: Vec<String> = said
        .lines()
        .map(|line| match line.split_once("] ") {
            Some((stamp, rest)) if stamp.contains(".go:") => rest.to_owned(),
            _ => line.to_owned(),
        })
        .collect();
    lines.dedup();
    lines
}

async fn bucket_of(client: &Client, project: &str) -> String {
    let all = items(client, &namespaced(QUOTA, "milo-system", "allowancebuckets")).await;
    let found = all.iter().find(|bucket| bucket["spec"]["consumerRef"]["name"] == project);
    found.unwrap()["metadata"]["name"].as_str().unwrap().to_owned()
}

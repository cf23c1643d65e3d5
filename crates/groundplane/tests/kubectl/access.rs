//! Who am I, what may I do, and as whom.

use crate::program::with_each;

#[test]
fn roles_are_made_bound_and_asked_about() {
    with_each(|kubectl| {
        assert!(kubectl.run("auth whoami").contains("system:masters"));
        assert_eq!(kubectl.run("auth can-i '*' '*'"), "yes\n");
        kubectl.run("create namespace shop");
        kubectl.run("-n shop create serviceaccount waiter");
        assert_eq!(
            kubectl.run("-n shop create role reader --verb=get,list,watch --resource=configmaps --resource=leases.coordination.k8s.io"),
            "role.rbac.authorization.k8s.io/reader created\n"
        );
        let waiter = "--as=system:serviceaccount:shop:waiter";
        assert!(kubectl.refused(&format!("-n shop auth can-i list configmaps {waiter}")).starts_with("no"));
        let said = kubectl.refused(&format!("-n shop get configmaps {waiter}"));
        assert!(
            said.contains("Error from server (Forbidden): configmaps is forbidden: User \"system:serviceaccount:shop:waiter\" cannot list resource \"configmaps\" in API group \"\" in the namespace \"shop\""),
            "{said}"
        );
        kubectl.run("-n shop create rolebinding readers --role=reader --serviceaccount=shop:waiter");
        assert_eq!(kubectl.run(&format!("-n shop auth can-i list configmaps {waiter}")), "yes\n");
        assert_eq!(
            kubectl.run(&format!("-n shop auth can-i watch leases.coordination.k8s.io {waiter}")),
            "yes\n"
        );
        assert!(kubectl.refused(&format!("-n shop auth can-i delete configmaps {waiter}")).starts_with("no"));
        assert!(kubectl.refused(&format!("auth can-i list configmaps {waiter}")).starts_with("no"));
        kubectl.run(&format!("-n shop get configmaps {waiter}"));
        let rules = kubectl.run(&format!("-n shop auth can-i --list {waiter}"));
        assert!(rules.contains("configmaps") && rules.contains("[get list watch]"), "{rules}");

        kubectl.run("create clusterrole namer --verb=get,list --resource=namespaces");
        kubectl.run("create clusterrolebinding namers --clusterrole=namer --group=guests");
        let guest = "--as=ann --as-group=guests";
        assert_eq!(kubectl.run(&format!("get namespace shop -o name {guest}")), "namespace/shop\n");
        assert!(kubectl.refused("get namespaces --as=ann").contains("Forbidden"));
        let whoami = kubectl.json(&format!("auth whoami {guest}"));
        assert_eq!(whoami["status"]["userInfo"]["username"], "ann");

        assert!(kubectl.run("describe clusterrole namer").contains("namespaces"));
        assert!(kubectl.run("-n shop get rolebindings -o wide").contains("shop/waiter"));
        assert!(kubectl.run("get clusterroles").contains("cluster-admin"));
        let reconciled = kubectl.run("-n shop get role reader -o yaml");
        assert!(kubectl.run_with("auth reconcile -f -", &reconciled).contains("reader reconciled"));
    });
}

#[test]
fn tokens_are_made_and_work_until_their_account_goes() {
    with_each(|kubectl| {
        kubectl.run("create serviceaccount robot");
        let token = kubectl.run("create token robot --duration=1h");
        assert_eq!(token.trim().split('.').count(), 3, "{token}");
        let config = std::fs::read_to_string(kubectl.server.kubeconfig()).unwrap();
        let users = config.find("users:").unwrap();
        let path = kubectl.server.data().with_file_name("robot.kubeconfig");
        let robot = format!("users:\n- name: admin\n  user:\n    token: {}\n", token.trim());
        std::fs::write(&path, format!("{}{robot}", &config[..users])).unwrap();
        let as_robot = format!("--kubeconfig {}", path.display());
        let me = kubectl.json(&format!("auth whoami {as_robot}"));
        assert_eq!(me["status"]["userInfo"]["username"], "system:serviceaccount:default:robot");
        assert!(kubectl.refused(&format!("get configmaps {as_robot}")).contains("Forbidden"));
        kubectl.run("delete serviceaccount robot");
        let said = kubectl.refused(&format!("get configmaps {as_robot}"));
        assert!(said.contains("Unauthorized") || said.contains("must be logged in"), "{said}");
    });
}

//! `groundplane host` and `groundplane hub`: tables, forms, names that are not unique, editing.

use crate::program::Ground;

#[test]
fn hosts_and_hubs_are_listed_described_and_edited() {
    let ground = Ground::fresh();
    ground.run("host class create gpu --title GPU --name gpu-node");
    ground.run("host class create ocp_4_17_small");
    let derived = fulfillment::identity::name_of("ocp_4_17_small");
    assert_eq!(
        columns(&ground.run("host class list")),
        [["ID", "NAME", "TITLE"], ["gpu", "gpu-node", "GPU"], ["ocp_4_17_small", "-", "-"]]
    );
    assert_eq!(
        ground.run("host class list -o name"),
        format!(
            "hostclass.fulfillment.groundplane.dev/gpu\nhostclass.fulfillment.groundplane.dev/{derived}\n"
        )
    );
    assert!(ground.run("host class describe ocp_4_17_small").starts_with("ID:       ocp_4_17_small\n"));

    let password = ground.file("password", "planted-password\n");
    let password = password.to_str().unwrap();
    let bmc = format!("--bmc-url redfish://192.0.2.1/s --bmc-user root --bmc-password-file {password}");
    ground
        .run(&format!("host create h1 --name web --class gpu --rack r1 --power on {bmc} --label site=fra1"));
    ground.run("host create h2 --name web --class gpu");
    ground.run("host create h3 --name db");
    assert_eq!(
        columns(&ground.run("host list")),
        [
            vec!["ID", "NAME", "POWER", "STATE", "RACK"],
            vec!["h1", "web", "-", "r1"],
            vec!["h2", "web", "-", "-"],
            vec!["h3", "db", "-", "-"]
        ]
    );
    assert_eq!(ground.run("host list -l site=fra1 -o name"), "host.fulfillment.groundplane.dev/h1\n");
    assert_eq!(ground.run("host list --class gpu -o json").matches("\"kind\": \"Host\"").count(), 2);
    let described = ground.run("host describe h1");
    assert!(
        described.contains("BMC password:  sealed\n") && described.contains("desired: ON"),
        "{described}"
    );
    assert!(
        !described.contains("planted-password")
            && !ground.run("host describe h1 -o yaml").contains("planted")
    );
    assert!(ground.run("host describe db").starts_with("ID:  "), "by its name in the fulfillment API");
    let several = ground.told("host describe web");
    assert!(several.err.contains("2 hosts are called \"web\": h1, h2"), "{}", several.err);
    let none = ground.told("host describe nobody");
    assert!(none.err.contains("there is no host \"nobody\""), "{}", none.err);

    ground.run("host claim h1 --reason repair");
    let held = ground.told("host delete h1 h3");
    assert!(held.err.contains("User/system:admin holds the host"), "{}", held.err);
    assert!(
        held.out.contains("host.fulfillment.groundplane.dev/h3 deleted"),
        "the other one goes: {}",
        held.out
    );
    ground.run("host release h1");
    assert!(ground.run("host release h1").ends_with("is free\n"));

    let kubeconfig = ground.file("hub.kubeconfig", "planted-kubeconfig");
    let kubeconfig = kubeconfig.to_str().unwrap();
    ground.run(&format!("hub add hub1 --kubeconfig {kubeconfig} --namespace ful --ip 192.0.2.9"));
    assert_eq!(
        columns(&ground.run("hub list")),
        [vec!["ID", "NAME", "NAMESPACE", "KUBECONFIG"], vec!["hub1", "-", "ful", "sealed"]]
    );
    assert!(
        ground.run("hub describe hub1").contains("Kubeconfig:   sealed"),
        "{}",
        ground.run("hub describe hub1")
    );
}

fn columns(table: &str) -> Vec<Vec<&str>> {
    table.lines().map(|line| line.split_whitespace().collect()).collect()
}

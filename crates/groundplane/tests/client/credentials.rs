//! Credentials of a program that runs for long: they are renewed when they expire or are refused.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use client::{Access, Client, Overrides, Request};
use http::Method;
use serde_json::{Value, json};
use testbed::server::Server;

use crate::{GROUNDPLANE, client_of, object};

/// A token of the service account `robot`, which is made for it.
async fn token(server: &Server) -> String {
    let client = client_of(server).await;
    let robot = object(json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "robot"}}));
    client.resource("v1", "serviceaccounts").in_namespace("default").create(&robot).await.unwrap();
    let path = "/api/v1/namespaces/default/serviceaccounts/robot/token";
    let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
    let given = client.value(&Request::new(Method::POST, path).json(&request)).await.unwrap();
    given["status"]["token"].as_str().unwrap().to_owned()
}

/// A client with the server of the administrator's kubeconfig, and a user of its own.
async fn client_with(server: &Server, folder: &Path, user: Value) -> Client {
    let admin = krm::decode::read_yaml(&std::fs::read(server.kubeconfig()).unwrap()).unwrap().value;
    let config = json!({"apiVersion": "v1", "kind": "Config", "clusters": admin["clusters"], "current-context": "a",
        "contexts": [{"name": "a", "context": {"cluster": admin["clusters"][0]["name"], "user": "a"}}],
        "users": [{"name": "a", "user": user}]});
    let file = folder.join("config");
    std::fs::write(&file, config.to_string()).unwrap();
    let overrides = Overrides { kubeconfig: Some(file), ..Overrides::default() };
    Client::new(Access::load(&overrides).await.unwrap()).unwrap()
}

/// Who the server takes a client for, or why it does not.
async fn who(client: &Client) -> Result<String, u16> {
    let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"});
    let request =
        Request::new(Method::POST, "/apis/authentication.k8s.io/v1/selfsubjectreviews").json(&review);
    let answer = client.value(&request).await.map_err(|error| error.code())?;
    Ok(answer["status"]["userInfo"]["username"].as_str().unwrap_or("").to_owned())
}

const ROBOT: &str = "system:serviceaccount:default:robot";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_file_is_read_again_after_its_token_was_refused() {
    let server = Server::fresh(GROUNDPLANE, &[]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    std::fs::write(&file, "stale").unwrap();
    let client = client_with(&server, folder.path(), json!({"tokenFile": "token"})).await;
    assert_eq!(who(&client).await, Err(401));
    std::fs::write(&file, token(&server).await).unwrap();
    assert_eq!(who(&client).await.as_deref(), Ok(ROBOT));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plugin_is_run_again_when_what_it_gave_has_expired() {
    let server = Server::fresh(GROUNDPLANE, &[]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("token"), token(&server).await).unwrap();
    let runs = |expiry: &str| {
        let at = folder.path().display();
        format!(
            "#!/bin/sh\necho run >> {at}/runs\nprintf '{{\"apiVersion\": \"client.authentication.k8s.io/v1\", \
             \"kind\": \"ExecCredential\", \"status\": {{\"token\": \"%s\", \"expirationTimestamp\": \"{expiry}\"}}}}' \
             \"$(cat {at}/token)\"\n"
        )
    };
    let plugin = folder.path().join("plugin");
    let write = |expiry: &str| {
        std::fs::write(&plugin, runs(expiry)).unwrap();
        std::fs::set_permissions(&plugin, PermissionsExt::from_mode(0o700)).unwrap();
    };
    let count = || std::fs::read_to_string(folder.path().join("runs")).unwrap().lines().count();
    let exec = json!({"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": plugin.display().to_string(),
        "interactiveMode": "Never"}});
    write("2020-01-01T00:00:00Z");
    let client = client_with(&server, folder.path(), exec).await;
    assert_eq!(who(&client).await.as_deref(), Ok(ROBOT));
    assert_eq!(count(), 2, "once for the client, and once because that had expired");
    write("2120-01-01T00:00:00Z");
    for _ in 0..3 {
        assert_eq!(who(&client).await.as_deref(), Ok(ROBOT));
    }
    assert_eq!(count(), 3, "what has not expired is used");
}

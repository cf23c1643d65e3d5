//! Asking a server what it serves: in one document where it has one, else group by group.

use serde_json::Value;

use super::{Discovery, Group, Resource};
use crate::client::{Ask, Client};
use crate::failure::Failure;

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
    application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

impl Discovery {
    /// Asks a server.
    pub async fn ask(client: &Client) -> Result<Discovery, Failure> {
        let (core, others) = (Ask::get("/api").accept(AGGREGATED), Ask::get("/apis").accept(AGGREGATED));
        let (core, others) = tokio::try_join!(client.value(&core), client.value(&others))?;
        let mut found = Discovery::default();
        for document in [core, others] {
            match document["kind"].as_str() {
                Some("APIGroupDiscoveryList") => found.read_aggregated(&document),
                Some("APIVersions") => found.read_core(client, &document).await?,
                _ => found.read_groups(client, &document).await?,
            }
        }
        Ok(found)
    }

    fn read_aggregated(&mut self, document: &Value) {
        for group in list(&document["items"]) {
            let name = text(&group["metadata"]["name"]);
            let mut versions = Vec::new();
            for version in list(&group["versions"]) {
                versions.push(text(&version["version"]));
                for resource in list(&version["resources"]) {
                    self.resources.push(aggregated(&name, &text(&version["version"]), resource));
                }
            }
            self.groups.push(Group { name, versions });
        }
    }

    async fn read_core(&mut self, client: &Client, document: &Value) -> Result<(), Failure> {
        let versions = texts(&document["versions"]);
        for version in &versions {
            self.read_version(client, "", version).await?;
        }
        self.groups.push(Group { name: String::new(), versions });
        Ok(())
    }

    async fn read_groups(&mut self, client: &Client, document: &Value) -> Result<(), Failure> {
        for group in list(&document["groups"]) {
            let name = text(&group["name"]);
            let versions: Vec<String> =
                list(&group["versions"]).map(|version| text(&version["version"])).collect();
            for version in &versions {
                self.read_version(client, &name, version).await?;
            }
            self.groups.push(Group { name, versions });
        }
        Ok(())
    }

    async fn read_version(&mut self, client: &Client, group: &str, version: &str) -> Result<(), Failure> {
        let path = match group {
            "" => format!("/api/{version}"),
            group => format!("/apis/{group}/{version}"),
        };
        let document = client.value(&Ask::get(path)).await?;
        let first = self.resources.len();
        for resource in list(&document["resources"]) {
            let name = text(&resource["name"]);
            match name.split_once('/') {
                None => self.resources.push(plain(group, version, resource)),
                Some((plural, subresource)) => {
                    let parent = self.resources[first..].iter_mut().find(|parent| parent.plural == plural);
                    if let Some(parent) = parent {
                        parent.subresources.push(subresource.to_owned());
                    }
                }
            }
        }
        Ok(())
    }
}

fn aggregated(group: &str, version: &str, resource: &Value) -> Resource {
    Resource {
        group: group.to_owned(),
        version: version.to_owned(),
        kind: text(&resource["responseKind"]["kind"]),
        plural: text(&resource["resource"]),
        singular: text(&resource["singularResource"]),
        short_names: texts(&resource["shortNames"]),
        categories: texts(&resource["categories"]),
        is_namespaced: resource["scope"] == "Namespaced",
        verbs: texts(&resource["verbs"]),
        subresources: list(&resource["subresources"]).map(|sub| text(&sub["subresource"])).collect(),
    }
}

fn plain(group: &str, version: &str, resource: &Value) -> Resource {
    Resource {
        group: group.to_owned(),
        version: version.to_owned(),
        kind: text(&resource["kind"]),
        plural: text(&resource["name"]),
        singular: text(&resource["singularName"]),
        short_names: texts(&resource["shortNames"]),
        categories: texts(&resource["categories"]),
        is_namespaced: resource["namespaced"] == true,
        verbs: texts(&resource["verbs"]),
        subresources: Vec::new(),
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or("").to_owned()
}

fn texts(value: &Value) -> Vec<String> {
    list(value).map(text).collect()
}

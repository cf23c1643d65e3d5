//! The kinds of a control plane as the portal shows them: their pages, their paths in the API, and their sections.

use std::sync::Arc;

use apiserver::plane::Plane;
use krm::kind::{Kind, Version};

use crate::address::{encoded, from_dash, or_dash};
use crate::refusal::Refusal;
use crate::viewer::Viewer;

/// The group without a name, in addresses of pages.
const CORE: &str = "core";

/// Sections of the menu: the API group, its title, and the kinds that come first.
const SECTIONS: [(&str, &str, &[&str]); 15] = [
    (
        "inventory.miloapis.com",
        "Inventory",
        &[
            "regions",
            "sites",
            "racks",
            "nodes",
            "networkdevices",
            "clusters",
            "virtualmachines",
            "ports",
            "cables",
            "links",
            "circuits",
            "providers",
        ],
    ),
    ("fulfillment.groundplane.dev", "Hosts and clusters", &["hosts", "hostclasses", "clusters", "hubs"]),
    ("sources.groundplane.dev", "Sources", &["sources"]),
    ("design.groundplane.dev", "Design", &["designs", "designrevisions"]),
    ("orchestration.groundplane.dev", "Tasks", &["tasks"]),
    (
        "compute.datumapis.com",
        "Workloads",
        &["workloads", "workloaddeployments", "instances", "instancetypes"],
    ),
    ("cells.groundplane.dev", "Cells", &["cells"]),
    ("networking.datumapis.com", "Networking", &["networks", "subnets", "locations"]),
    ("quota.miloapis.com", "Quota", &["allowancebuckets", "resourcegrants", "resourceclaims"]),
    ("services.miloapis.com", "Services", &[]),
    ("resourcemanager.miloapis.com", "Organizations", &["organizations", "projects"]),
    ("iam.miloapis.com", "Users and roles", &["users", "groups", "roles", "policybindings"]),
    ("graph.inventory.miloapis.com", "Graph", &[]),
    ("", "Core", &["namespaces", "configmaps", "secrets", "events"]),
    ("groundplane.dev", "Plans and retention", &["plans", "retentionpolicies"]),
];

/// A section of the menu.
pub struct Section {
    /// API group of its kinds.
    pub group: String,
    /// What it is called.
    pub title: String,
    /// Its kinds.
    pub collections: Vec<Collection>,
}

/// The objects of a kind in a control plane.
#[derive(Clone)]
pub struct Collection {
    /// The control plane.
    pub plane: Plane,
    /// The kind.
    pub kind: Arc<Kind>,
}

impl Collection {
    /// What the segments of an address name. A control plane that the viewer does not belong to does not exist.
    pub fn find(viewer: &Viewer, plane: &str, group: &str, plural: &str) -> Result<Collection, Refusal> {
        let plane = plane_of(viewer, plane)?;
        let group = if group == CORE { "" } else { group };
        Collection::of(viewer, &plane, group, plural)
    }

    /// The collection of a kind.
    pub fn of(viewer: &Viewer, plane: &Plane, group: &str, plural: &str) -> Result<Collection, Refusal> {
        let kind = viewer.api.kinds().of(plane).resource(group, plural).cloned();
        let kind = kind.filter(|kind| kind.takes("get") || kind.takes("list"));
        let kind = kind.ok_or_else(|| {
            let place = if plane.is_root() { "This server".to_owned() } else { format!("Project {plane}") };
            Refusal::new(404, format!("{place} has no kind {plural}.{group}."))
        })?;
        Ok(Collection { plane: plane.clone(), kind })
    }

    /// The collection of a kind by its name.
    pub fn of_kind(viewer: &Viewer, plane: &Plane, group: &str, kind: &str) -> Option<Collection> {
        let kind = viewer.api.kinds().of(plane).kind(group, kind).cloned()?;
        Some(Collection { plane: plane.clone(), kind })
    }

    /// The version in which its objects are read and written.
    pub fn version(&self) -> &Version {
        let stored = self.kind.stored();
        if stored.served {
            stored
        } else {
            self.kind.versions.iter().find(|one| one.served).unwrap_or(stored)
        }
    }

    /// `group/version` of its objects.
    pub fn api_version(&self) -> String {
        self.kind.api_version(&self.version().name)
    }

    /// Path in the API of all of it, of a namespace, or of an object.
    pub fn path(&self, viewer: &Viewer, namespace: &str, name: &str) -> String {
        let mut path = viewer.api.kinds().path_of(&self.plane);
        path += match self.kind.group.is_empty() {
            true => "/api/",
            false => "/apis/",
        };
        path += &self.api_version();
        if !namespace.is_empty() {
            path += &format!("/namespaces/{}", encoded(namespace));
        }
        path += &format!("/{}", self.kind.names.plural);
        if !name.is_empty() {
            path += &format!("/{}", encoded(name));
        }
        path
    }

    fn segments(&self) -> [&str; 4] {
        let group = if self.kind.group.is_empty() { CORE } else { &self.kind.group };
        ["o", or_dash(self.plane.as_str()), group, &self.kind.names.plural]
    }

    /// The address of its list.
    pub fn page(&self, viewer: &Viewer, parameters: &[(&str, &str)]) -> String {
        viewer.page(&self.segments(), parameters)
    }

    /// The address of an object of it.
    pub fn object_page(
        &self,
        viewer: &Viewer,
        namespace: &str,
        name: &str,
        parameters: &[(&str, &str)],
    ) -> String {
        let mut segments = self.segments().to_vec();
        segments.extend([or_dash(namespace), name]);
        viewer.page(&segments, parameters)
    }

    /// The plural in words: `NetworkDevice` becomes `Network devices`.
    pub fn title(&self) -> String {
        words(&self.kind.names.kind, &self.kind.names.plural)
    }

    /// Whether a question can be asked about its objects.
    pub fn answers(&self, question: &str) -> bool {
        self.kind.questions.iter().any(|found| found.name == question)
    }
}

/// The control plane that a segment of an address names.
pub fn plane_of(viewer: &Viewer, segment: &str) -> Result<Plane, Refusal> {
    let plane = match from_dash(segment) {
        "" => Plane::root(),
        project => Plane::project(project),
    };
    match viewer.belongs_to(&plane) {
        true => Ok(plane),
        false => Err(Refusal::new(404, format!("There is no project {segment} that you belong to."))),
    }
}

/// The sections of the menu, with the kinds that the viewer may list.
pub fn sections(viewer: &Viewer, plane: &Plane) -> Vec<Section> {
    let catalog = viewer.api.kinds().of(plane);
    let mut sections: Vec<Section> = Vec::new();
    for kind in catalog.all().filter(|kind| kind.takes("list")) {
        if !viewer.may(plane, "list", kind, "", "") {
            continue;
        }
        let collection = Collection { plane: plane.clone(), kind: kind.clone() };
        match sections.iter_mut().find(|section| section.group == kind.group) {
            Some(section) => section.collections.push(collection),
            None => sections.push(Section {
                group: kind.group.clone(),
                title: title_of(&kind.group).to_owned(),
                collections: vec![collection],
            }),
        }
    }
    let rank = |group: &str| SECTIONS.iter().position(|(known, ..)| *known == group);
    sections.sort_by_key(|section| (rank(&section.group).unwrap_or(usize::MAX), section.title.clone()));
    for section in &mut sections {
        let first = SECTIONS.iter().find(|(group, ..)| *group == section.group).map_or(&[][..], |it| it.2);
        section.collections.sort_by_key(|collection| {
            let plural = collection.kind.names.plural.as_str();
            (first.iter().position(|known| *known == plural).unwrap_or(usize::MAX), plural.to_owned())
        });
    }
    sections
}

/// What a group is called.
pub fn title_of(group: &str) -> &str {
    SECTIONS.iter().find(|(known, ..)| *known == group).map_or(group, |(_, title, _)| title)
}

/// Whether a group has a section of its own in the menu; others are on the page with all kinds.
pub fn is_in_menu(group: &str) -> bool {
    SECTIONS.iter().any(|(known, ..)| *known == group)
}

/// The plural of a kind in words.
fn words(kind: &str, plural: &str) -> String {
    let mut text = String::new();
    let mut before_is_lower = false;
    for letter in kind.chars() {
        if letter.is_uppercase() && before_is_lower {
            text.push(' ');
        }
        before_is_lower = letter.is_lowercase();
        text.push(letter);
    }
    // The plural is written in lower case: what it has more than the kind is its ending.
    let lower = kind.to_lowercase();
    let common = lower.chars().zip(plural.chars()).take_while(|(one, other)| one == other).count();
    let cut = lower.chars().count() - common;
    let kept = text.chars().count().saturating_sub(cut);
    let base: String = text.chars().take(kept).collect();
    let ending: String = plural.chars().skip(common).collect();
    let text = base + &ending;
    let mut words = text.split(' ');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |all, word| {
        let is_acronym = word.chars().nth(1).is_some_and(char::is_uppercase);
        all + " " + &if is_acronym { word.to_owned() } else { word.to_lowercase() }
    })
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn kinds_are_titled_in_words() {
        assert_eq!(words("NetworkDevice", "networkdevices"), "Network devices");
        assert_eq!(words("Policy", "policies"), "Policies");
        assert_eq!(words("HostClass", "hostclasses"), "Host classes");
        assert_eq!(words("Rack", "racks"), "Racks");
        assert_eq!(words("Search", "search"), "Search");
    }
}

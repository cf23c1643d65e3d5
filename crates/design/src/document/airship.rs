//! A repository of Airship sites: global, type and site documents.

use std::path::{Path, PathBuf};

use super::{LoadError, load};

/// A repository with the folders `global`, `type` and `site`.
#[derive(Clone, Debug)]
pub struct Repository {
    root: PathBuf,
    /// The site, where a path led to one.
    site: Option<String>,
}

impl Repository {
    /// The repository that a path is the root of.
    pub fn at(path: &Path) -> Option<Self> {
        let is_root = path.join("site").is_dir() && path.join("global").is_dir();
        is_root.then(|| Self { root: path.to_owned(), site: None })
    }

    /// The repository that a path leads into, to one of its sites.
    pub fn of_site(path: &Path) -> Option<Self> {
        let path = path.canonicalize().ok()?;
        let site = path.file_name()?.to_str()?.to_owned();
        let root = path.parent().filter(|parent| parent.ends_with("site"))?.parent()?;
        let is_site = path.join("site-definition.yaml").is_file() && root.join("global").is_dir();
        is_site.then(|| Self { root: root.to_owned(), site: Some(site) })
    }

    /// The folders that make a site, the most general first. Without a name the only site is meant.
    pub fn folders_of(&self, site: Option<&str>) -> Result<Vec<PathBuf>, LoadError> {
        let sites = self.sites();
        let site = match (site.or(self.site.as_deref()), &sites[..]) {
            (Some(named), all) if all.iter().any(|one| one == named) => named,
            (None, [only]) => only.as_str(),
            (named, _) => {
                return Err(LoadError::NoSite {
                    root: self.root.clone(),
                    asked: named.map(str::to_owned),
                    sites,
                });
            }
        };
        let own = self.root.join("site").join(site);
        let definition = Definition::read(&own)?;
        let revised = |folder: PathBuf| match &definition.revision {
            Some(revision) if folder.join(revision).is_dir() => folder.join(revision),
            _ => folder,
        };
        let mut folders = vec![revised(self.root.join("global"))];
        if let Some(kind) = &definition.site_type {
            folders.push(revised(self.root.join("type").join(kind)));
        }
        folders.push(own);
        Ok(folders.into_iter().filter(|folder| folder.is_dir()).collect())
    }

    fn sites(&self) -> Vec<String> {
        let Ok(entries) = self.root.join("site").read_dir() else { return Vec::new() };
        let folders = entries.flatten().filter(|entry| entry.path().is_dir());
        let mut sites: Vec<String> =
            folders.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        sites.sort();
        sites
    }
}

/// What `site-definition.yaml` says.
#[derive(Default)]
struct Definition {
    site_type: Option<String>,
    /// Older repositories keep several states of the shared folders beside one another.
    revision: Option<String>,
}

impl Definition {
    fn read(site: &Path) -> Result<Self, LoadError> {
        let file = site.join("site-definition.yaml");
        if !file.is_file() {
            return Ok(Self::default());
        }
        let documents = load([file])?.documents;
        let definition = documents.iter().find(|document| document.schema() == "pegleg/SiteDefinition/v1");
        let text = |key: &str| definition?.data.get(key)?.value.as_str().map(str::to_owned);
        Ok(Self { site_type: text("site_type"), revision: text("revision") })
    }
}

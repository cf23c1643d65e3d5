//! Topology labels: the location of an object, so that one label selector finds everything at a site or in a rack.

/// Name of the region.
pub const REGION: &str = "topology.inventory.miloapis.com/region";
/// Name of the site.
pub const SITE: &str = "topology.inventory.miloapis.com/site";
/// Type of the site.
pub const SITE_TYPE: &str = "topology.inventory.miloapis.com/site-type";
/// Name of the cluster.
pub const CLUSTER: &str = "topology.inventory.miloapis.com/cluster";
/// Name of the rack.
pub const RACK: &str = "topology.inventory.miloapis.com/rack";

/// All topology labels. The controller changes no other labels.
pub const ALL: [&str; 5] = [REGION, SITE, SITE_TYPE, CLUSTER, RACK];

//! Topology labels: where an object is, on the object itself, so that one selector finds everything of a place.

/// The name of the region.
pub const REGION: &str = "topology.inventory.miloapis.com/region";
/// The name of the site.
pub const SITE: &str = "topology.inventory.miloapis.com/site";
/// The type of the site.
pub const SITE_TYPE: &str = "topology.inventory.miloapis.com/site-type";
/// The name of the cluster.
pub const CLUSTER: &str = "topology.inventory.miloapis.com/cluster";
/// The name of the rack.
pub const RACK: &str = "topology.inventory.miloapis.com/rack";

/// All of them. No other label is touched.
pub const ALL: [&str; 5] = [REGION, SITE, SITE_TYPE, CLUSTER, RACK];

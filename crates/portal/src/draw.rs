//! Drawings as SVG, coloured by the stylesheet: racks, paths, relations, the map.

pub mod bar;
pub mod map;
pub mod rack;
pub mod relations;
pub mod way;

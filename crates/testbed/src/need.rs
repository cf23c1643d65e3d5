//! Parts that a machine may lack.

pub use require::{everything, missing as passed_over};

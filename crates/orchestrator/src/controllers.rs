//! The controllers: tasks over many nodes, and tasks about one node.

mod execute;
mod inputs;
mod node;
mod run;
mod task;

pub use inputs::{Inputs, inputs};
pub use node::NodeTaskController;
pub use task::TaskController;

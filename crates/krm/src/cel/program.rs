//! A checked expression, ready to run.

mod build;
mod charge;
mod members;
mod run;

use super::library::time::Stamp;
use super::library::{DeepRun, Run};
use crate::schema::Pattern;

use self::members::Members;

pub(super) use build::build;
pub(super) use run::{Inputs, run};

/// Stands for one step of a program.
type NodeId = usize;

/// An expression that can be run any number of times, by anybody.
#[derive(Debug)]
pub(super) struct Program {
    nodes: Vec<Node>,
    /// For each step, whether it is an attribute.
    attributes: Vec<Attribute>,
    root: NodeId,
}

/// Whether a step is a name with what is selected from it, which is charged for as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Attribute {
    No,
    /// It begins with a name, or with a value that was worked out.
    OfName,
    /// It begins with a conditional.
    OfConditional,
}

/// One step.
#[derive(Debug)]
enum Node {
    Constant(Constant),
    Itself,
    OldItself,
    /// A name that a macro gave: how far down the stack of such names.
    Local(usize),
    Field {
        operand: NodeId,
        name: Box<str>,
    },
    Has {
        operand: NodeId,
        name: Box<str>,
    },
    OptionalField {
        operand: NodeId,
        name: Box<str>,
    },
    /// What stands at an index or a key; with `optional`, if something does.
    Index {
        operand: NodeId,
        index: NodeId,
        optional: bool,
    },
    Call(Call),
    /// Whether a value is one of some constants.
    Member {
        item: NodeId,
        of: Members,
    },
    And(Vec<NodeId>),
    Or(Vec<NodeId>),
    Conditional {
        condition: NodeId,
        yes: NodeId,
        no: NodeId,
    },
    /// The first that has a value; with `unwrap`, that value or the second.
    Otherwise {
        first: NodeId,
        second: NodeId,
        unwrap: bool,
    },
    List(Vec<(NodeId, bool)>),
    Map(Vec<MapEntry>),
    Fold(Fold),
    /// A name for a value, in the body alone. The value is worked out when the name is used.
    Bind {
        value: NodeId,
        body: NodeId,
    },
    /// What cannot be: it was refused when the expression was checked.
    Nothing,
}

#[derive(Debug)]
struct MapEntry {
    key: NodeId,
    value: NodeId,
    optional: bool,
}

/// A call whose arguments are all worked out first.
#[derive(Debug)]
struct Call {
    function: &'static str,
    overload: &'static str,
    way: Way,
    args: Vec<NodeId>,
}

/// How a call is made.
#[derive(Debug)]
enum Way {
    Plain(Run),
    Deep(DeepRun),
    /// With a pattern, which is here where it stands in the expression.
    Pattern(Option<Pattern>),
}

/// Goes over a list or a map.
#[derive(Debug)]
struct Fold {
    kind: super::ast::FoldKind,
    range: NodeId,
    two_names: bool,
    filter: Option<NodeId>,
    body: NodeId,
}

/// A value that stands in the expression.
#[derive(Debug, Clone, PartialEq)]
enum Constant {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(Box<str>),
    Bytes(Box<[u8]>),
    Duration(i64),
    Timestamp(Stamp),
    Type(&'static str),
    List(Vec<Constant>),
    Map(Vec<(Constant, Constant)>),
}

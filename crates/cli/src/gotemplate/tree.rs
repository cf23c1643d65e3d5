//! A template as a tree.

/// Where something stands: what it spans, and the place that messages name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    pub start: usize,
    pub end: usize,
    /// For `.a.b` that is where `.b` stands, as with Go.
    pub at: usize,
}

/// A piece of a template.
#[derive(Debug)]
pub enum Node {
    Text(String),
    Action(Pipeline),
    If(Block),
    With(Block),
    Range(Block),
    Template { name: String, argument: Option<Pipeline>, span: Span },
    Break,
    Continue,
}

/// `{{if …}}…{{else}}…{{end}}` and the like.
#[derive(Debug)]
pub struct Block {
    pub pipeline: Pipeline,
    pub body: Vec<Node>,
    pub otherwise: Vec<Node>,
}

/// `$x := command | command`.
#[derive(Debug)]
pub struct Pipeline {
    pub variables: Vec<String>,
    /// Whether the variables are there already.
    pub assigns: bool,
    pub commands: Vec<Command>,
    pub span: Span,
}

/// `function argument argument`, or a single operand.
#[derive(Debug)]
pub struct Command {
    pub words: Vec<Operand>,
    pub span: Span,
}

/// A value, or where one comes from.
#[derive(Debug)]
pub struct Operand {
    pub term: Term,
    pub span: Span,
}

#[derive(Debug)]
pub enum Term {
    Dot,
    Nil,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(Vec<u8>),
    /// `.a.b`
    Field(Vec<String>),
    /// `$x.a.b`
    Variable(String, Vec<String>),
    Function(String),
    Pipeline(Box<Pipeline>),
    /// `(pipeline).a.b`
    Chain(Box<Operand>, Vec<String>),
}

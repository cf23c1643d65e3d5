//! An expression as a tree.

/// Where an expression stands among its siblings in an [`Ast`].
pub(super) type ExprId = usize;

/// An expression and all its parts.
#[derive(Debug, Default)]
pub(super) struct Ast {
    pub exprs: Vec<Expr>,
    /// For each part, how many characters of the source come before what stands for it.
    pub offsets: Vec<usize>,
    pub root: ExprId,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Expr {
    Literal(Literal),
    Ident(String),
    Select {
        operand: ExprId,
        field: String,
        test_only: bool,
    },
    Call {
        function: String,
        target: Option<ExprId>,
        args: Vec<ExprId>,
    },
    List {
        items: Vec<ExprId>,
        optional: Vec<bool>,
    },
    Map {
        entries: Vec<Entry>,
    },
    Message {
        type_name: String,
        fields: Vec<(String, ExprId)>,
    },
    Fold(Box<Fold>),
    /// An expression that stands here once more; a macro wrote it twice.
    Again(ExprId),
    /// What stands where something could not be read.
    Broken,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Literal {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(String),
    Bytes(Vec<u8>),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub key: ExprId,
    pub value: ExprId,
    pub optional: bool,
}

/// A macro that goes over a list or a map.
///
/// The general form is what types and costs are worked out by; what the macro is, and what it was given, is what runs.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fold {
    pub kind: FoldKind,
    pub range: ExprId,
    pub var: String,
    pub var2: Option<String>,
    pub accu: String,
    pub init: ExprId,
    pub condition: ExprId,
    pub step: ExprId,
    pub result: ExprId,
    /// What has to hold for an item to be taken.
    pub filter: Option<ExprId>,
    /// What is worked out for each item, or, for a bound name, with it.
    pub body: ExprId,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FoldKind {
    All,
    Exists,
    ExistsOne,
    /// A list of what `body` gives.
    Collect,
    /// A map from the first variable to what `body` gives.
    CollectMap,
    /// A map of the entries that `body` gives.
    CollectEntries,
    /// Names a value: `accu` is the name, `init` the value.
    Bind,
}

impl Ast {
    pub fn add(&mut self, expr: Expr, offset: usize) -> ExprId {
        self.exprs.push(expr);
        self.offsets.push(offset);
        self.exprs.len() - 1
    }

    pub fn get(&self, id: ExprId) -> &Expr {
        &self.exprs[id]
    }

    /// Everything right below an expression.
    pub fn children(&self, id: ExprId) -> Vec<ExprId> {
        match self.get(id) {
            Expr::Literal(_) | Expr::Ident(_) | Expr::Again(_) | Expr::Broken => Vec::new(),
            Expr::Select { operand, .. } => vec![*operand],
            Expr::Call { target, args, .. } => target.iter().chain(args).copied().collect(),
            Expr::List { items, .. } => items.clone(),
            Expr::Map { entries } => entries.iter().flat_map(|entry| [entry.key, entry.value]).collect(),
            Expr::Message { fields, .. } => fields.iter().map(|(_, value)| *value).collect(),
            Expr::Fold(fold) => vec![fold.range, fold.init, fold.condition, fold.step, fold.result],
        }
    }
}

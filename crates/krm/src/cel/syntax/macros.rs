//! Calls that stand for more than a call.

use super::parse::Parser;
use crate::cel::ast::{Entry, Expr, ExprId, Fold, FoldKind, Literal};

/// The name under which a macro keeps what it has so far; nobody can write it.
const ACCU: &str = "@result";
/// The name it once had, which is kept free.
const OLD_ACCU: &str = "__result__";
const UNUSED: &str = "#unused";
const SORT_INPUT: &str = "@__sortBy_input__";

impl Parser<'_, '_> {
    pub(super) fn global_call(&mut self, function: &str, args: Vec<ExprId>, offset: usize) -> ExprId {
        if function != "has" || args.len() != 1 {
            return self.call(function, args, offset);
        }
        match self.ast.get(args[0]) {
            Expr::Select { operand, field, .. } => {
                let (operand, field) = (*operand, field.clone());
                self.ast.add(Expr::Select { operand, field, test_only: true }, offset)
            }
            _ => self.misused(args[0], "invalid argument to has() macro"),
        }
    }

    pub(super) fn member_call(
        &mut self,
        function: &str,
        target: ExprId,
        args: Vec<ExprId>,
        offset: usize,
    ) -> ExprId {
        let mut maker = Maker { parser: self, target, args: &args, offset };
        match (function, args.len()) {
            ("all", 2) => maker.quantifier(FoldKind::All),
            ("exists", 2) => maker.quantifier(FoldKind::Exists),
            ("exists_one" | "existsOne", 2) => maker.quantifier(FoldKind::ExistsOne),
            ("map", 2) => maker.map(None, args[1]),
            ("map", 3) => maker.map(Some(args[1]), args[2]),
            ("filter", 2) => maker.map(Some(args[1]), args[0]),
            ("all", 3) => maker.quantifier_of_two(FoldKind::All),
            ("exists", 3) => maker.quantifier_of_two(FoldKind::Exists),
            ("exists_one" | "existsOne", 3) => maker.quantifier_of_two(FoldKind::ExistsOne),
            ("transformList", 3 | 4) => maker.transform(FoldKind::Collect),
            ("transformMap", 3 | 4) => maker.transform(FoldKind::CollectMap),
            ("transformMapEntry", 3 | 4) => maker.transform(FoldKind::CollectEntries),
            ("optMap", 2) => maker.opt_map(true),
            ("optFlatMap", 2) => maker.opt_map(false),
            ("sortBy", 2) => maker.sort_by(),
            _ => maker.plain(function),
        }
    }

    fn misused(&mut self, arg: ExprId, why: &str) -> ExprId {
        let offset = self.ast.offsets[arg];
        self.issues.report(offset, why);
        self.ast.add(Expr::Broken, offset)
    }
}

/// Makes what a macro stands for, all of it at the place of the macro's call.
struct Maker<'p, 's, 'i, 'a> {
    parser: &'p mut Parser<'s, 'i>,
    target: ExprId,
    args: &'a [ExprId],
    offset: usize,
}

/// What a fold goes over, and with which names.
struct Over {
    range: ExprId,
    var: String,
    var2: Option<String>,
}

impl Maker<'_, '_, '_, '_> {
    fn add(&mut self, expr: Expr) -> ExprId {
        self.parser.ast.add(expr, self.offset)
    }

    fn call(&mut self, function: &str, args: Vec<ExprId>) -> ExprId {
        self.add(Expr::Call { function: function.to_owned(), target: None, args })
    }

    fn member(&mut self, function: &str, target: ExprId, args: Vec<ExprId>) -> ExprId {
        self.add(Expr::Call { function: function.to_owned(), target: Some(target), args })
    }

    fn ident(&mut self, name: &str) -> ExprId {
        self.add(Expr::Ident(name.to_owned()))
    }

    fn literal(&mut self, literal: Literal) -> ExprId {
        self.add(Expr::Literal(literal))
    }

    fn list(&mut self, items: Vec<ExprId>) -> ExprId {
        let optional = vec![false; items.len()];
        self.add(Expr::List { items, optional })
    }

    fn plain(&mut self, function: &str) -> ExprId {
        let args = self.args.to_vec();
        self.member(function, self.target, args)
    }

    /// The name that an argument gives; `None`, and told, when it is none that may be given.
    fn variable(&mut self, arg: ExprId, otherwise: &str) -> Result<String, ExprId> {
        match self.parser.ast.get(arg) {
            Expr::Ident(name) if name == ACCU || name == OLD_ACCU => {
                Err(self.parser.misused(arg, "iteration variable overwrites accumulator variable"))
            }
            Expr::Ident(name) => Ok(name.clone()),
            _ => Err(self.parser.misused(arg, otherwise)),
        }
    }

    fn two_variables(&mut self) -> Result<(String, String), ExprId> {
        let first = self.variable(self.args[0], "argument must be a simple name")?;
        let second = self.variable(self.args[1], "argument must be a simple name")?;
        if first == second {
            let why = format!("duplicate variable name: {first}");
            return Err(self.parser.misused(self.args[1], &why));
        }
        Ok((first, second))
    }

    fn quantifier(&mut self, kind: FoldKind) -> ExprId {
        match self.variable(self.args[0], "argument must be a simple name") {
            Ok(var) => {
                let over = Over { range: self.target, var, var2: None };
                self.quantify(kind, over, self.args[1])
            }
            Err(broken) => broken,
        }
    }

    fn quantifier_of_two(&mut self, kind: FoldKind) -> ExprId {
        match self.two_variables() {
            Ok((var, var2)) => {
                let over = Over { range: self.target, var, var2: Some(var2) };
                self.quantify(kind, over, self.args[2])
            }
            Err(broken) => broken,
        }
    }

    fn quantify(&mut self, kind: FoldKind, over: Over, body: ExprId) -> ExprId {
        let accu = self.ident(ACCU);
        let in_condition = self.ident(ACCU);
        let result = self.ident(ACCU);
        let (init, condition, step, result) = match kind {
            FoldKind::All => {
                let condition = self.call("@not_strictly_false", vec![in_condition]);
                let step = self.call("_&&_", vec![accu, body]);
                (self.literal(Literal::Bool(true)), condition, step, result)
            }
            FoldKind::Exists => {
                let not = self.call("!_", vec![in_condition]);
                let condition = self.call("@not_strictly_false", vec![not]);
                let step = self.call("_||_", vec![accu, body]);
                (self.literal(Literal::Bool(false)), condition, step, result)
            }
            _ => {
                let one = self.literal(Literal::Int(1));
                let more = self.call("_+_", vec![accu, one]);
                let step = self.call("_?_:_", vec![body, more, in_condition]);
                let one = self.literal(Literal::Int(1));
                let result = self.call("_==_", vec![result, one]);
                (self.literal(Literal::Int(0)), self.literal(Literal::Bool(true)), step, result)
            }
        };
        self.fold(kind, over, init, condition, step, result, None, body)
    }

    fn map(&mut self, filter: Option<ExprId>, body: ExprId) -> ExprId {
        match self.variable(self.args[0], "argument is not an identifier") {
            Ok(var) => {
                let over = Over { range: self.target, var, var2: None };
                self.collect(FoldKind::Collect, over, filter, body)
            }
            Err(broken) => broken,
        }
    }

    fn transform(&mut self, kind: FoldKind) -> ExprId {
        match self.two_variables() {
            Ok((var, var2)) => {
                let filter = (self.args.len() == 4).then(|| self.args[2]);
                let over = Over { range: self.target, var, var2: Some(var2) };
                self.collect(kind, over, filter, self.args[self.args.len() - 1])
            }
            Err(broken) => broken,
        }
    }

    fn collect(&mut self, kind: FoldKind, over: Over, filter: Option<ExprId>, body: ExprId) -> ExprId {
        let accu = self.ident(ACCU);
        let (init, mut step) = match kind {
            FoldKind::CollectMap => {
                let key = self.ident(&over.var);
                let step = self.call("cel.@mapInsert", vec![accu, key, body]);
                (self.add(Expr::Map { entries: Vec::<Entry>::new() }), step)
            }
            FoldKind::CollectEntries => {
                let step = self.call("cel.@mapInsert", vec![accu, body]);
                (self.add(Expr::Map { entries: Vec::<Entry>::new() }), step)
            }
            _ => {
                let item = self.list(vec![body]);
                (self.list(Vec::new()), self.call("_+_", vec![accu, item]))
            }
        };
        if let Some(filter) = filter {
            let unchanged = self.ident(ACCU);
            step = self.call("_?_:_", vec![filter, step, unchanged]);
        }
        let condition = self.literal(Literal::Bool(true));
        let result = self.ident(ACCU);
        self.fold(kind, over, init, condition, step, result, filter, body)
    }

    /// A name for a value, in `body` alone.
    fn bind(&mut self, name: &str, value: ExprId, body: ExprId) -> ExprId {
        let over = Over { range: self.list(Vec::new()), var: UNUSED.to_owned(), var2: None };
        let condition = self.literal(Literal::Bool(false));
        let step = self.ident(name);
        let fold = Fold {
            kind: FoldKind::Bind,
            range: over.range,
            var: over.var,
            var2: None,
            accu: name.to_owned(),
            init: value,
            condition,
            step,
            result: body,
            filter: None,
            body,
        };
        self.add(Expr::Fold(Box::new(fold)))
    }

    fn opt_map(&mut self, wrapped: bool) -> ExprId {
        let Expr::Ident(name) = self.parser.ast.get(self.args[0]).clone() else {
            let macro_name = if wrapped { "optMap" } else { "optFlatMap" };
            let why = format!("{macro_name}() variable name must be a simple identifier");
            return self.parser.misused(self.args[0], &why);
        };
        let has_value = self.member("hasValue", self.target, Vec::new());
        let again = self.add(Expr::Again(self.target));
        let value = self.member("value", again, Vec::new());
        let bound = self.bind(&name, value, self.args[1]);
        let some = if wrapped { self.call("optional.of", vec![bound]) } else { bound };
        let none = self.call("optional.none", Vec::new());
        self.call("_?_:_", vec![has_value, some, none])
    }

    fn sort_by(&mut self) -> ExprId {
        let over = match self.variable(self.args[0], "argument is not an identifier") {
            Ok(var) => Over { range: self.ident(SORT_INPUT), var, var2: None },
            Err(broken) => return broken,
        };
        let keys = self.collect(FoldKind::Collect, over, None, self.args[1]);
        let input = self.ident(SORT_INPUT);
        let sorted = self.member("@sortByAssociatedKeys", input, vec![keys]);
        self.bind(SORT_INPUT, self.target, sorted)
    }

    #[expect(clippy::too_many_arguments, reason = "they are the parts of a fold, and it is made once")]
    fn fold(
        &mut self,
        kind: FoldKind,
        over: Over,
        init: ExprId,
        condition: ExprId,
        step: ExprId,
        result: ExprId,
        filter: Option<ExprId>,
        body: ExprId,
    ) -> ExprId {
        let Over { range, var, var2 } = over;
        let accu = ACCU.to_owned();
        self.add(Expr::Fold(Box::new(Fold {
            kind,
            range,
            var,
            var2,
            accu,
            init,
            condition,
            step,
            result,
            filter,
            body,
        })))
    }
}

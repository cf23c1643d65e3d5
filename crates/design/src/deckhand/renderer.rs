//! The whole of rendering: parse, choose parents, order, layer, substitute, emit.

use super::{
    DocumentRef, MissingSource, MissingValue, Problem, ProblemKind, Rendering, actions,
    definition::Definition, dependencies, layers::LayerOrder, limits::Room, names::Names, parents,
    substitute, substitute::Failure,
};
use crate::{
    document::Document,
    yaml::{Node, Warning},
};

/// Problems of one stage end the work, lest the next stage tell their consequences.
pub(super) fn render(documents: Vec<Document>, missing: MissingSource) -> Result<Rendering, Vec<Problem>> {
    let mut warnings = Vec::new();
    let definitions = definitions(&documents)?;
    let ranks = ranks(&documents, &definitions, &mut warnings)?;
    let mut problems = Vec::new();
    let names = Names::of(&documents, &definitions, &ranks, &mut problems, &mut warnings);
    stop_at(&mut problems)?;
    let parents = parents::choose(&documents, &definitions, &ranks, &mut problems);
    stop_at(&mut problems)?;

    let renderer =
        Renderer { documents: &documents, definitions: &definitions, names: &names, parents: &parents };
    let needs: Vec<Vec<usize>> = (0..documents.len()).map(|document| renderer.needs(document)).collect();
    let order = dependencies::order(&documents, &needs)?;
    let mut work = Work {
        rendered: vec![None; documents.len()],
        room: Room::default(),
        missing,
        warnings,
        left_out: Vec::new(),
        problems,
    };
    for document in order {
        renderer.render(document, &mut work);
    }
    stop_at(&mut work.problems)?;

    let emitted: Vec<bool> = (0..documents.len()).map(|document| renderer.is_emitted(document)).collect();
    let rendered = documents.into_iter().zip(work.rendered).zip(emitted);
    let documents = rendered
        .filter(|(_, emitted)| *emitted)
        .map(|((document, data), _)| Document { data: data.unwrap_or(document.data), ..document })
        .collect();
    Ok(Rendering { documents, warnings: work.warnings, missing: work.left_out })
}

fn stop_at(problems: &mut Vec<Problem>) -> Result<(), Vec<Problem>> {
    if problems.is_empty() { Ok(()) } else { Err(std::mem::take(problems)) }
}

fn definitions(documents: &[Document]) -> Result<Vec<Definition>, Vec<Problem>> {
    collect(documents.iter().map(Definition::of))
}

/// The rank of every document's layer. Without a policy nothing has a rank, which is fine as long as nothing
/// has a parent.
fn ranks(
    documents: &[Document],
    definitions: &[Definition],
    warnings: &mut Vec<Warning>,
) -> Result<Vec<Option<usize>>, Vec<Problem>> {
    let pairs = documents.iter().zip(definitions);
    match LayerOrder::of(documents, warnings).map_err(|problem| vec![problem])? {
        Some(order) => collect(pairs.map(|(document, definition)| order.rank(document, definition))),
        None => collect(pairs.map(|(document, definition)| match &definition.selector_at {
            Some(at) if !definition.parent_selector.is_empty() => Err(Problem {
                kind: ProblemKind::NoLayeringPolicy,
                at: at.clone(),
                message: format!(
                    "{} has a parent selector, but no deckhand/LayeringPolicy/v1 says how layers are ordered",
                    document.id
                ),
                documents: vec![DocumentRef::of(document)],
            }),
            _ => Ok(None),
        })),
    }
}

/// All values, or all problems.
fn collect<T>(results: impl Iterator<Item = Result<T, Problem>>) -> Result<Vec<T>, Vec<Problem>> {
    let (mut values, mut problems) = (Vec::new(), Vec::new());
    for result in results {
        match result {
            Ok(value) => values.push(value),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(values) } else { Err(problems) }
}

struct Renderer<'a> {
    documents: &'a [Document],
    definitions: &'a [Definition],
    names: &'a Names<'a>,
    parents: &'a [Option<usize>],
}

struct Work {
    rendered: Vec<Option<Node>>,
    room: Room,
    missing: MissingSource,
    warnings: Vec<Warning>,
    left_out: Vec<MissingValue>,
    problems: Vec<Problem>,
}

impl Renderer<'_> {
    /// Concrete documents are emitted, unless another replaces them. Of control documents of one name the first is.
    fn is_emitted(&self, document: usize) -> bool {
        let definition = &self.definitions[document];
        !definition.is_abstract
            && self.replacement_of(document).is_none()
            && (!definition.is_control
                || self.names.effective(&self.documents[document].id) == Some(document))
    }

    fn replacement_of(&self, document: usize) -> Option<usize> {
        let replacement = self.names.replacement(&self.documents[document].id);
        replacement.filter(|replacement| *replacement != document)
    }

    /// The document whose data a child starts from: its parent, or what replaces the parent, unless that is
    /// the child itself.
    fn base_of(&self, child: usize) -> Option<usize> {
        let parent = self.parents[child]?;
        let replacement = self.replacement_of(parent).filter(|replacement| *replacement != child);
        (!self.definitions[child].actions.is_empty()).then(|| replacement.unwrap_or(parent))
    }

    fn needs(&self, document: usize) -> Vec<usize> {
        let substitutions = self.definitions[document].substitutions.iter();
        let sources = substitutions.filter_map(|substitution| self.names.effective(&substitution.source.id));
        self.base_of(document).into_iter().chain(sources).collect()
    }

    /// Renders one document. One that needs a document which failed is passed over: the cause is told
    /// already.
    fn render(&self, document: usize, work: &mut Work) {
        if self.needs(document).iter().any(|&needed| work.rendered[needed].is_none()) {
            return;
        }
        match self.data(document, work) {
            Ok(data) => work.rendered[document] = Some(data),
            Err(Failure { kind, at, message }) => work.problems.push(Problem {
                kind,
                at,
                message: format!("{} {message}", self.documents[document].id),
                documents: vec![DocumentRef::of(&self.documents[document])],
            }),
        }
    }

    fn data(&self, document: usize, work: &mut Work) -> Result<Node, Failure> {
        let definition = &self.definitions[document];
        let own = &self.documents[document].data;
        let mut data = match self.base_of(document).and_then(|base| work.rendered[base].as_ref()) {
            Some(base) => actions::apply(&definition.actions, base, own)?,
            None => own.clone(),
        };
        for substitution in &definition.substitutions {
            let source = self.names.effective(&substitution.source.id);
            let concrete = source.filter(|&source| !self.definitions[source].is_abstract);
            let rendered = concrete.and_then(|source| Some((source, work.rendered[source].as_ref()?)));
            if let Some((source, value)) = rendered {
                substitute::apply(
                    substitution,
                    value,
                    &self.documents[source],
                    &mut data,
                    &mut work.warnings,
                )?;
                continue;
            }
            let why = if source.is_some() { "which is abstract" } else { "which does not exist" };
            let message = format!("takes a value from {}, {why}", substitution.source.id);
            let at = substitution.at.clone();
            match work.missing {
                MissingSource::Refuse => {
                    return Err(Failure { kind: ProblemKind::MissingSource, at, message });
                }
                MissingSource::Warn => {
                    let id = &self.documents[document].id;
                    let warning = Warning { at, message: format!("{id} {message}") };
                    work.left_out.push(MissingValue { document: id.clone(), warning });
                }
            }
        }
        work.room.take(&data, &self.documents[document].at)?;
        Ok(data)
    }
}

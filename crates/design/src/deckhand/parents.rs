//! Which document a child inherits from.

use std::collections::HashMap;

use super::{DocumentRef, Problem, ProblemKind, definition::Definition};
use crate::{document::Document, yaml::Position};

/// The parent of every document, by index; replacements checked against theirs.
pub(super) fn choose(
    documents: &[Document],
    definitions: &[Definition],
    ranks: &[Option<usize>],
    problems: &mut Vec<Problem>,
) -> Vec<Option<usize>> {
    let chooser = Chooser { documents, definitions, ranks, by_label: by_label(documents, definitions) };
    let mut parents = vec![None; documents.len()];
    for (child, parent) in parents.iter_mut().enumerate() {
        match chooser.parent_of(child) {
            Ok(chosen) => *parent = chosen,
            Err(problem) => problems.push(problem),
        }
    }
    parents
}

/// How many of the documents that match a selector are named in a problem.
const MAX_NAMED: usize = 8;

/// Documents by the key and the text of one of their labels, in the order of files and lines, so that the same
/// mistake is told whatever order the documents came in.
type Labels<'a> = HashMap<(&'a str, String), Vec<usize>>;

fn by_label<'a>(documents: &[Document], definitions: &'a [Definition]) -> Labels<'a> {
    let mut labels = Labels::new();
    let mut order: Vec<usize> = (0..documents.len()).collect();
    order.sort_by_key(|&index| &documents[index].at);
    for index in order {
        for (key, value) in &definitions[index].labels {
            if let Some(text) = value.value.text() {
                labels.entry((key, text)).or_default().push(index);
            }
        }
    }
    labels
}

struct Chooser<'a> {
    documents: &'a [Document],
    definitions: &'a [Definition],
    ranks: &'a [Option<usize>],
    by_label: Labels<'a>,
}

impl Chooser<'_> {
    fn parent_of(&self, child: usize) -> Result<Option<usize>, Problem> {
        let candidates = self.candidates(child);
        for &candidate in &candidates {
            self.check(child, candidate)?;
        }
        let Some(nearest) = candidates.iter().map(|&candidate| self.ranks[candidate]).max() else {
            return if self.definitions[child].is_replacement {
                Err(self.no_parent(child))
            } else {
                Ok(None)
            };
        };
        let in_nearest = |candidate: &&usize| self.ranks[**candidate] == nearest;
        let nearest: Vec<usize> = candidates.iter().filter(in_nearest).copied().collect();
        match nearest[..] {
            [parent] => self.check_replacement(child, parent).map(|()| Some(parent)),
            _ => Err(self.indeterminate(child, &nearest)),
        }
    }

    /// All other documents whose labels hold every pair of the child's selector.
    fn candidates(&self, child: usize) -> Vec<usize> {
        let selector = &self.definitions[child].parent_selector;
        let Some((key, value)) = selector.first() else { return Vec::new() };
        let first = value.value.text().and_then(|text| self.by_label.get(&(key.as_str(), text)));
        let matches = |candidate: &&usize| {
            **candidate != child
                && selector.iter().all(|pair| self.definitions[**candidate].labels.contains(pair))
        };
        first.into_iter().flatten().filter(matches).copied().collect()
    }

    /// A match that can't be a parent is a mistake in the labels, not a document to pass over.
    fn check(&self, child: usize, candidate: usize) -> Result<(), Problem> {
        let (document, other) = (&self.documents[child], &self.documents[candidate]);
        if document.id.schema != other.id.schema {
            let message = format!(
                "the parent selector of {} matches {}, which has another schema",
                document.id,
                DocumentRef::of(other)
            );
            return Err(self.problem(ProblemKind::ParentOfOtherSchema, child, message, &[candidate]));
        }
        if self.ranks[candidate].is_none() || self.ranks[candidate] >= self.ranks[child] {
            let message = format!(
                "the parent selector of {} matches {}, whose layer is not above its own",
                document.id,
                DocumentRef::of(other)
            );
            return Err(self.problem(ProblemKind::ParentNotAbove, child, message, &[candidate]));
        }
        Ok(())
    }

    fn check_replacement(&self, child: usize, parent: usize) -> Result<(), Problem> {
        if !self.definitions[child].is_replacement {
            return Ok(());
        }
        let (document, other) = (&self.documents[child], &self.documents[parent]);
        if document.id != other.id {
            let message = format!(
                "{} is a replacement, but its parent is {}: a replacement has the schema and name of its parent",
                document.id,
                DocumentRef::of(other)
            );
            return Err(self.problem(ProblemKind::ReplacementWithoutParent, child, message, &[parent]));
        }
        if self.definitions[parent].is_replacement && !self.definitions[parent].is_abstract {
            let message =
                format!("{} replaces {}, which is a replacement itself", document.id, DocumentRef::of(other));
            return Err(self.problem(ProblemKind::ReplacementOfReplacement, child, message, &[parent]));
        }
        Ok(())
    }

    fn no_parent(&self, child: usize) -> Problem {
        let message =
            format!("{} is a replacement, but nothing matches its parent selector", self.documents[child].id);
        self.problem(ProblemKind::ReplacementWithoutParent, child, message, &[])
    }

    fn indeterminate(&self, child: usize, candidates: &[usize]) -> Problem {
        let named = &candidates[..candidates.len().min(MAX_NAMED)];
        let told = |candidate: &usize| DocumentRef::of(&self.documents[*candidate]).to_string();
        let mut parents: Vec<String> = named.iter().map(told).collect();
        if candidates.len() > named.len() {
            parents.push(format!("{} more", candidates.len() - named.len()));
        }
        let message = format!(
            "the parent selector of {} matches several documents of one layer: {}",
            self.documents[child].id,
            parents.join(", ")
        );
        self.problem(ProblemKind::IndeterminateParent, child, message, named)
    }

    fn problem(&self, kind: ProblemKind, child: usize, message: String, others: &[usize]) -> Problem {
        let at: &Position = self.definitions[child].selector_at.as_ref().unwrap_or(&self.documents[child].at);
        let documents =
            [child].iter().chain(others).map(|&index| DocumentRef::of(&self.documents[index])).collect();
        Problem { kind, at: at.clone(), message, documents }
    }
}

//! In which order documents are rendered: parents and sources first.

use super::{DocumentRef, Problem, ProblemKind};
use crate::document::Document;

/// The documents in an order in which each comes after those it needs, or the cycles that leave none.
pub(super) fn order(documents: &[Document], needs: &[Vec<usize>]) -> Result<Vec<usize>, Vec<Problem>> {
    let mut walk =
        Walk { needs, states: vec![State::Unseen; documents.len()], done: Vec::new(), cycles: Vec::new() };
    for start in 0..documents.len() {
        walk.visit(start);
    }
    if walk.cycles.is_empty() {
        return Ok(walk.done);
    }
    Err(walk.cycles.iter().map(|chain| cycle(documents, chain)).collect())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Unseen,
    OnTheWay,
    Done,
}

struct Walk<'a> {
    needs: &'a [Vec<usize>],
    states: Vec<State>,
    done: Vec<usize>,
    cycles: Vec<Vec<usize>>,
}

impl Walk<'_> {
    /// Depth first, with a stack of its own: a chain of substitutions may be as long as the site is large.
    fn visit(&mut self, start: usize) {
        if self.states[start] != State::Unseen {
            return;
        }
        self.states[start] = State::OnTheWay;
        let mut way = vec![(start, 0)];
        while let Some((document, next)) = way.last_mut() {
            let Some(&needed) = self.needs[*document].get(*next) else {
                self.states[*document] = State::Done;
                self.done.push(*document);
                way.pop();
                continue;
            };
            *next += 1;
            match self.states[needed] {
                State::Done => {}
                State::Unseen => {
                    self.states[needed] = State::OnTheWay;
                    way.push((needed, 0));
                }
                State::OnTheWay => {
                    let chain = way.iter().map(|(document, _)| *document);
                    self.cycles.push(chain.skip_while(|document| *document != needed).collect());
                }
            }
        }
    }
}

/// Diagnostic from the member that is written first, whichever was met first.
fn cycle(documents: &[Document], members: &[usize]) -> Problem {
    let mut chain: Vec<DocumentRef> =
        members.iter().map(|&member| DocumentRef::of(&documents[member])).collect();
    let first =
        chain.iter().enumerate().min_by_key(|(_, member)| member.at.clone()).map_or(0, |(index, _)| index);
    chain.rotate_left(first);
    chain.extend(chain.first().cloned());
    let told = chain.iter().map(DocumentRef::to_string).collect::<Vec<_>>().join(" needs ");
    Problem {
        kind: ProblemKind::Cycle,
        at: documents[members[first]].at.clone(),
        message: format!("cyclic dependency between documents: {told}"),
        documents: chain,
    }
}

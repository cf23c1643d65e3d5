use super::wire::{Event, WatchResponse};

/// Puts revisions together again that the server cut between two responses, without piling up more than one
/// of them.
#[derive(Default)]
pub(super) struct WholeRevisions {
    /// The beginning of a revision whose end has not come yet.
    held: Vec<Event>,
}

impl WholeRevisions {
    /// The response with whole revisions only, or none if it ends within the first.
    pub(super) fn take_in(&mut self, mut response: WatchResponse) -> Option<WatchResponse> {
        if !self.held.is_empty() {
            let rest = std::mem::replace(&mut response.events, std::mem::take(&mut self.held));
            response.events.extend(rest);
        }
        if !response.fragment {
            return Some(response);
        }
        let last = response.events.last().map(revision);
        let cut = response.events.iter().position(|event| Some(revision(event)) == last)?;
        self.held = response.events.split_off(cut);
        (!response.events.is_empty()).then_some(response)
    }
}

fn revision(event: &Event) -> i64 {
    event.kv.as_ref().map_or(0, |kv| kv.mod_revision)
}

#[cfg(test)]
mod tests {
    use super::super::wire::KeyValue;
    use super::*;

    fn response(fragment: bool, revisions: &[i64]) -> WatchResponse {
        let event = |&mod_revision| Event {
            kv: Some(KeyValue { mod_revision, ..KeyValue::default() }),
            ..Event::default()
        };
        WatchResponse { fragment, events: revisions.iter().map(event).collect(), ..WatchResponse::default() }
    }

    #[test]
    fn a_revision_that_was_cut_arrives_in_one_piece() {
        let mut revisions = WholeRevisions::default();
        let parts = [
            response(true, &[1, 2, 3]),
            response(true, &[3]),
            response(true, &[3, 4]),
            response(false, &[4, 5]),
        ];
        let seen: Vec<Vec<i64>> = parts
            .into_iter()
            .filter_map(|part| revisions.take_in(part))
            .map(|whole| whole.events.iter().map(revision).collect())
            .collect();
        assert_eq!(seen, [vec![1, 2], vec![3, 3, 3], vec![4, 4, 5]]);
    }

    #[test]
    fn a_report_of_progress_passes() {
        assert!(WholeRevisions::default().take_in(response(false, &[])).is_some());
    }
}

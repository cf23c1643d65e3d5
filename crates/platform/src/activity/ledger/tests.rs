//! Stories of the ledger, on a store of its own.

use std::sync::Arc;

use store::{Author, Body, DeedMark, Embedded, Key, Put, Settings, Store, Transaction, Uid, Version};

use super::*;

const ALWAYS: Window = Window { start: 0, end: u64::MAX };

/// Wants what is called so, or everything.
#[derive(Default)]
struct Wants {
    name: Option<&'static str>,
    user: Option<&'static str>,
    passed: usize,
    most: Option<usize>,
}

impl Seeker for Wants {
    fn wants_shelf(&mut self, _number: u32, shelf: &str) -> bool {
        shelf.starts_with("/g/things/")
    }

    fn wants_user(&mut self, _number: u32, user: &str) -> bool {
        self.user.is_none_or(|wanted| wanted == user)
    }

    fn wants(&mut self, seen: &Seen<'_>) -> bool {
        self.passed += 1;
        self.name.is_none_or(|name| name == seen.name)
    }

    fn is_tired(&mut self, _passed: usize) -> bool {
        self.most.is_some_and(|most| self.passed >= most)
    }
}

struct Ground {
    store: Arc<dyn Store>,
    _folder: tempfile::TempDir,
}

impl Ground {
    async fn new() -> Ground {
        let folder = tempfile::tempdir().unwrap();
        let store = Embedded::open(folder.path(), Settings::default()).await.unwrap();
        Ground { store, _folder: folder }
    }

    /// Writes things number `first` and following in one commit.
    async fn write(&self, user: &str, first: usize, count: usize, text: &str) {
        let mut transaction = Transaction::by(Author::new(user, "test"));
        for number in first..first + count {
            let key = Key::new(format!("/g/things//thing-{number}")).unwrap();
            let mut uid = [0; 16];
            uid[8..].copy_from_slice(&(number as u64).to_be_bytes());
            transaction =
                transaction.put(Put::new(key, Uid(uid), Body::plain(format!("{text} of {number}"))));
        }
        self.store.commit(transaction).await.unwrap();
    }
}

/// Everything that is wanted, page by page, as a question reads it.
async fn all(ledger: &Ledger, ground: &Ground, wants: &mut Wants, enough: usize) -> Vec<Found> {
    ledger.catch_up(&*ground.store).await.unwrap();
    let mut span = Span { window: ALWAYS, below: DeedMark::END, above: Version::ZERO };
    let mut passing = Passing::default();
    let mut all = Vec::new();
    loop {
        let (found, stopped) = ledger.look(wants, span, enough, &passing);
        all.extend(found);
        wants.passed = 0;
        match stopped {
            Stopped::At(mark) => span.below = mark,
            Stopped::Past => return all,
            Stopped::Unread(mark) => {
                span.below = mark;
                if !ledger.deepen(&*ground.store, span.below, &mut passing).await.unwrap() {
                    return all;
                }
            }
        }
    }
}

fn versions(found: &[Found]) -> Vec<Version> {
    found.iter().map(|found| found.at.version).collect()
}

#[tokio::test]
async fn everything_is_found_once_newest_first_however_it_is_paged() {
    let ground = Ground::new().await;
    for round in 0..10 {
        ground.write(if round % 2 == 0 { "alice" } else { "bob" }, 0, 2_500, &round.to_string()).await;
    }
    let ledger = Ledger::default();
    let whole = all(&ledger, &ground, &mut Wants::default(), usize::MAX).await;
    assert_eq!(whole.len(), 25_000);
    assert!(versions(&whole).windows(2).all(|pair| pair[0] > pair[1]));
    for (enough, most) in [(997, None), (1_000_000, Some(1500)), (3000, Some(5000))] {
        let mut wants = Wants { most, ..Wants::default() };
        assert_eq!(versions(&all(&ledger, &ground, &mut wants, enough).await), versions(&whole));
    }
    let mut by_bob = Wants { user: Some("bob"), ..Wants::default() };
    assert_eq!(all(&ledger, &ground, &mut by_bob, 100).await.len(), 12_500);
    let mut one = Wants { name: Some("thing-42"), ..Wants::default() };
    let found = all(&ledger, &ground, &mut one, 100).await;
    assert_eq!(found.len(), 10);
    for (index, change) in changes(&*ground.store, &found).await.unwrap().into_iter().enumerate() {
        let after = change.unwrap().after.unwrap();
        assert_eq!(after.bytes(), format!("{} of 42", 9 - index).as_bytes());
    }
    let mut nobody = Wants { user: Some("carol"), ..Wants::default() };
    assert!(all(&ledger, &ground, &mut nobody, 100).await.is_empty());
    assert_eq!(nobody.passed, 0, "no block has to be unfolded for a user that is in none");
    let bytes = ledger.read().bytes;
    assert!(bytes < 25_000 * 12, "{bytes}");
}

#[tokio::test]
async fn what_happens_later_is_taken_in() {
    let ground = Ground::new().await;
    let ledger = Ledger::default();
    let mut known = 0;
    for round in 0..30 {
        ground.write("alice", round * 100, 100, "first").await;
        known += 100;
        assert_eq!(all(&ledger, &ground, &mut Wants::default(), 700).await.len(), known);
    }
    // Nobody asks for long, and much happens: it begins anew, and finds the same.
    for round in 0..60 {
        ground.write("bob", 0, 2_500, &round.to_string()).await;
    }
    let found = all(&ledger, &ground, &mut Wants::default(), 5_000).await;
    assert_eq!(found.len(), 3_000 + 60 * 2_500);
    assert!(versions(&found).windows(2).all(|pair| pair[0] > pair[1]));
}

#[tokio::test]
async fn what_was_forgotten_is_read_again() {
    let ground = Ground::new().await;
    for round in 0..4 {
        ground.write("alice", 0, 5_000, &round.to_string()).await;
    }
    let ledger = Ledger::default();
    let whole = versions(&all(&ledger, &ground, &mut Wants::default(), 500).await);
    let middle = DeedMark { version: whole[10_000], time: 0 };
    ledger.write().forget_before(middle);
    assert!(!ledger.reaches(whole[19_999]) && ledger.read().bytes < 10_500 * 12);
    assert_eq!(versions(&all(&ledger, &ground, &mut Wants::default(), 500).await), whole);
    // Where memory is full, older ones are looked at and let go of.
    {
        let mut rows = ledger.write();
        rows.forget_before(middle);
        rows.bytes += MOST_BYTES;
    }
    assert_eq!(versions(&all(&ledger, &ground, &mut Wants::default(), 500).await), whole);
    assert!(!ledger.reaches(whole[19_999]));
}

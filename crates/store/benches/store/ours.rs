//! Our store under the load.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use store::{Author, Body, Embedded, Key, Level, Put, Rules, Settings, Store, Transaction, Uid, Window};

use crate::Outcome;
use crate::load::Subject;
use crate::objects::{self, Bodies};

pub struct Ours {
    pub store: Arc<dyn Store>,
    author: Author,
    level: Level,
    stamp: usize,
}

impl Ours {
    pub fn on(store: Arc<dyn Store>, level: Level) -> Ours {
        Ours { store, author: Author::new("ada", "bench"), level, stamp: Bodies::new().stamp }
    }
}

impl Subject for Ours {
    async fn write(&self, number: usize, body: Vec<u8>) -> Outcome {
        let body = Body::stamped(body, self.stamp).ok_or("a body without a place for its version")?;
        let put = Put::new(Key::new(objects::key(number))?, Uid(objects::uid(number)), body);
        let transaction = Transaction::by(self.author.clone()).put(put.level(self.level));
        self.store.commit(transaction).await?;
        Ok(())
    }
}

/// The embedded engine, with a window as long as bare redb's log, and with housekeeping only when we ask for
/// it: else it would fall into somebody else's turn.
pub async fn embedded(folder: &Path, cache: usize) -> Outcome<Arc<dyn Store>> {
    let housekeeping = Rules { every: Duration::from_secs(3_600), ..Rules::default() };
    let window = Window { commits: crate::bare_redb::LOG_LENGTH as usize, ..Window::default() };
    Ok(Embedded::open(folder, Settings { housekeeping, window, cache, ..Settings::default() }).await?)
}

//! A client that sends requests at a steady rate, and remembers which ones failed.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::machine::fetch;

/// Requests in a second.
const RATE: u32 = 200;
/// Clients that take turns, so that one that waits does not hold up the others.
const CLIENTS: u32 = 40;

/// Requests that go on until they are stopped.
pub struct Load {
    is_over: Arc<AtomicBool>,
    answers: Arc<Mutex<BTreeMap<Result<String, String>, u32>>>,
    clients: Vec<JoinHandle<()>>,
}

impl Load {
    pub fn start(url: &str) -> Load {
        let is_over = Arc::<AtomicBool>::default();
        let answers: Arc<Mutex<BTreeMap<Result<String, String>, u32>>> = Arc::default();
        let begun = Instant::now();
        let clients = (0..CLIENTS)
            .map(|client| {
                let (url, is_over, answers) = (url.to_owned(), is_over.clone(), Arc::clone(&answers));
                std::thread::spawn(move || {
                    let mut turn = client;
                    while !is_over.load(Ordering::Relaxed) {
                        let due = begun + Duration::from_secs(1) / RATE * turn;
                        std::thread::sleep(due.saturating_duration_since(Instant::now()));
                        let answer = fetch(&url);
                        *answers.lock().unwrap().entry(answer).or_default() += 1;
                        // A client that was held up does not catch up: the rate is one of beginnings.
                        let passed = begun.elapsed().as_millis() as u32 * RATE / 1000;
                        turn = (turn + CLIENTS).max(passed / CLIENTS * CLIENTS + client);
                    }
                })
            })
            .collect();
        Load { is_over, answers, clients }
    }

    /// How often each answer came.
    pub fn stop(self) -> BTreeMap<Result<String, String>, u32> {
        self.is_over.store(true, Ordering::Relaxed);
        self.clients.into_iter().for_each(|client| client.join().unwrap());
        Arc::try_unwrap(self.answers).unwrap().into_inner().unwrap()
    }
}

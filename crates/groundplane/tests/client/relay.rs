//! A relay in front of a server, whose connections a test cuts.

use std::sync::{Arc, Mutex};

use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// Relays connections until it is cut.
pub struct Relay {
    /// Where it listens.
    pub address: String,
    inner: Arc<Inner>,
    accepting: tokio::task::JoinHandle<()>,
}

struct Inner {
    to: Mutex<Option<String>>,
    open: Mutex<JoinSet<()>>,
    made: std::sync::atomic::AtomicUsize,
}

impl Relay {
    /// To a server at `to`.
    pub async fn start(to: &str) -> Relay {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let to = Mutex::new(Some(to.to_owned()));
        let inner = Arc::new(Inner { to, open: Mutex::default(), made: Default::default() });
        let accepted = inner.clone();
        let accepting = tokio::spawn(async move {
            loop {
                let Ok((mut from, _)) = listener.accept().await else { return };
                // While it is cut, whoever connects is turned away.
                let Some(to) = accepted.to.lock().unwrap().clone() else { continue };
                accepted.made.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                accepted.open.lock().unwrap().spawn(async move {
                    let Ok(mut to) = TcpStream::connect(to).await else { return };
                    let _ = tokio::io::copy_bidirectional(&mut from, &mut to).await;
                });
            }
        });
        Relay { address, inner, accepting }
    }

    /// Cuts every connection, and takes none until it is mended.
    pub fn cut(&self) {
        *self.inner.to.lock().unwrap() = None;
        *self.inner.open.lock().unwrap() = JoinSet::new();
    }

    /// Goes on, to a server at `to`.
    pub fn mend(&self, to: &str) {
        *self.inner.to.lock().unwrap() = Some(to.to_owned());
    }

    /// How many connections there were.
    pub fn connections(&self) -> usize {
        self.inner.made.load(std::sync::atomic::Ordering::SeqCst)
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

//! The proxy in front of instances: a roll fails no request, a drain lets old connections finish.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

mod support;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use containers::proxy::{Dial, Endpoint, Proxy, Readiness};
use containers::{Error, InstanceId, Result};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use support::{get, id};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// Instances as servers on loopback.
#[derive(Default)]
struct Servers(Mutex<BTreeMap<InstanceId, (SocketAddr, JoinHandle<()>)>>);

impl Servers {
    async fn start(&self, name: &str) -> Endpoint {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let text = name.to_owned();
        let server = tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let text = text.clone();
                tokio::spawn(async move {
                    let mut request = [0; 1024];
                    let read = stream.read(&mut request).await.unwrap_or(0);
                    if request[..read].starts_with(b"GET /slow") {
                        tokio::time::sleep(Duration::from_millis(500)).await;
                    }
                    let answer = format!("HTTP/1.0 200 OK\r\n\r\n{text}");
                    let _ = stream.write_all(answer.as_bytes()).await;
                });
            }
        });
        self.0.lock().unwrap().insert(id(name), (address, server));
        Endpoint { id: id(name), port: 80, readiness: Readiness::Ready, ingress: None }
    }

    /// As abruptly as a killed container.
    fn stop(&self, name: &str) {
        let (_, server) = self.0.lock().unwrap().remove(&id(name)).unwrap();
        server.abort();
    }
}

impl Dial for Servers {
    fn dial<'a>(&'a self, id: &'a InstanceId, _: u16) -> BoxFuture<'a, Result<TcpStream>> {
        let address = self.0.lock().unwrap().get(id).map(|(address, _)| *address);
        async move {
            let address = address.ok_or_else(|| Error::NotFound { id: id.clone() })?;
            TcpStream::connect(address).await.map_err(|_| Error::NotFound { id: id.clone() })
        }
        .boxed()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_request_fails_while_every_instance_is_replaced() {
    let servers = Arc::new(Servers::default());
    let proxy = Proxy::open("127.0.0.1:0".parse().unwrap(), servers.clone()).await.unwrap();
    let mut endpoints = vec![servers.start("web-0-old").await, servers.start("web-1-old").await];
    proxy.set(endpoints.clone());
    let address = proxy.address();
    let is_done = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let stop = is_done.clone();
    let client = tokio::spawn(async move {
        let mut answers: BTreeMap<String, u32> = BTreeMap::new();
        while !stop.load(std::sync::atomic::Ordering::SeqCst) {
            *answers.entry(get(address, "/").await.unwrap()).or_default() += 1;
        }
        answers
    });
    tokio::time::sleep(Duration::from_millis(50)).await;
    for old in ["web-1-old", "web-0-old"] {
        // At most one is down, as in a roll of compute.
        proxy.drain(&id(old), Duration::from_secs(5)).await;
        servers.stop(old);
        endpoints.retain(|endpoint| endpoint.id != id(old));
        proxy.set(endpoints.clone());
        tokio::time::sleep(Duration::from_millis(50)).await;
        endpoints.push(servers.start(&old.replace("old", "new")).await);
        proxy.set(endpoints.clone());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    is_done.store(true, std::sync::atomic::Ordering::SeqCst);
    let answers = client.await.unwrap();
    assert_eq!(answers.len(), 4, "every instance has served: {answers:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_draining_instance_finishes_what_it_has_and_gets_nothing_new() {
    let servers = Arc::new(Servers::default());
    let proxy = Proxy::open("127.0.0.1:0".parse().unwrap(), servers.clone()).await.unwrap();
    proxy.set([servers.start("old").await]);
    let address = proxy.address();
    let slow = tokio::spawn(async move { get(address, "/slow").await });
    while proxy.connections(&id("old")) == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let draining = Endpoint { id: id("old"), port: 80, readiness: Readiness::Draining, ingress: None };
    proxy.set([draining, servers.start("new").await]);
    for _ in 0..5 {
        assert_eq!(get(address, "/").await.unwrap(), "new");
    }
    assert_eq!(proxy.drain(&id("old"), Duration::from_secs(5)).await, 0);
    assert_eq!(slow.await.unwrap().unwrap(), "old");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_drain_ends_with_its_grace_and_says_what_is_open() {
    let servers = Arc::new(Servers::default());
    let proxy = Proxy::open("127.0.0.1:0".parse().unwrap(), servers.clone()).await.unwrap();
    proxy.set([servers.start("old").await]);
    let _idle = TcpStream::connect(proxy.address()).await.unwrap();
    while proxy.connections(&id("old")) == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(proxy.drain(&id("old"), Duration::from_millis(100)).await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_endpoint_that_does_not_answer_costs_no_request() {
    let servers = Arc::new(Servers::default());
    let proxy = Proxy::open("127.0.0.1:0".parse().unwrap(), servers.clone()).await.unwrap();
    let dead = Endpoint { id: id("dead"), port: 80, readiness: Readiness::Ready, ingress: None };
    proxy.set([dead, servers.start("alive").await]);
    for _ in 0..10 {
        assert_eq!(get(proxy.address(), "/").await.unwrap(), "alive");
    }
}

//! Fetching from a server on this machine that says what the test tells it to.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use super::*;

/// A server that gives these answers, one to a connection, and tells what it was asked.
fn server(answers: Vec<String>) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (tell, told) = channel();
    std::thread::spawn(move || {
        for answer in answers {
            let Ok((mut stream, _)) = listener.accept() else { return };
            let mut asked = [0; 4096];
            let read = stream.read(&mut asked).unwrap_or(0);
            let _ = tell.send(String::from_utf8_lossy(&asked[..read]).to_lowercase());
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    (address, told)
}

fn ok(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
}

fn status(line: &str) -> String {
    format!("HTTP/1.1 {line}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
}

fn quick() -> Limits {
    Limits { pause: Duration::from_millis(1), bytes: 1024, ..Limits::default() }
}

#[test]
fn a_document_comes_with_proof_of_who_asks() {
    let (address, asked) = server(vec![ok("a: 1\n")]);
    let got = fetch(&format!("http://{address}/x?a=b"), Some(&Proof::keystone("t0ken")), &quick()).unwrap();
    assert_eq!(got, b"a: 1\n");
    let asked = asked.recv().unwrap();
    assert!(asked.starts_with("get /x?a=b http/1.1\r\n") && asked.contains("x-auth-token: t0ken"), "{asked}");
}

#[test]
fn proof_goes_to_nobody_else() {
    let (other, asked_other) = server(vec![ok("there")]);
    let (address, asked) = server(vec![format!(
        "HTTP/1.1 302 Found\r\nlocation: http://{other}/y\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    )]);
    let got = fetch(&format!("http://{address}/x"), Some(&Proof::basic("ann", "pw")), &quick()).unwrap();
    assert_eq!(got, b"there");
    assert!(asked.recv().unwrap().contains("authorization: basic"));
    assert!(!asked_other.recv().unwrap().contains("authorization"));
}

#[test]
fn what_is_too_large_or_goes_round_in_circles_is_refused() {
    let (address, _) = server(vec![ok(&"x".repeat(2000))]);
    let error = fetch(&format!("http://{address}/x"), None, &quick()).unwrap_err().to_string();
    assert!(error.contains("larger than 1024 bytes"), "{error}");
    let round =
        "HTTP/1.1 301 Moved\r\nlocation: /x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_owned();
    let (address, _) = server(vec![round; 10]);
    let error = fetch(&format!("http://{address}/x"), None, &quick()).unwrap_err().to_string();
    assert!(error.contains("more than 5 times"), "{error}");
}

#[test]
fn a_server_in_trouble_is_asked_again_and_one_that_refuses_is_not() {
    let (address, _) = server(vec![status("503 Busy"), status("500 Broken"), ok("fine")]);
    assert_eq!(fetch(&format!("http://{address}/x"), None, &quick()).unwrap(), b"fine");
    let (address, _) = server(vec![status("403 Forbidden"), ok("never")]);
    let error = fetch(&format!("http://{address}/x?token=hush"), None, &quick()).unwrap_err().to_string();
    assert!(
        error.contains("403") && error.contains("other credentials") && !error.contains("hush"),
        "{error}"
    );
}

#[test]
fn nobody_sees_a_proof() {
    assert_eq!(format!("{:?}", Proof::bearer("hush")), "Proof(authorization)");
}

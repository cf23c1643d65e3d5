use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;
use crate::first_start::{Credentials, ServerNames};
use crate::tls::ServerTls;

/// Answers one connection with these bytes, whatever it asks; the request comes back.
async fn answering(
    answer: Vec<u8>,
    tls: Option<Arc<rustls::ServerConfig>>,
) -> (u16, tokio::task::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let serving = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        match tls {
            None => converse(stream, &answer).await,
            Some(config) => match tokio_rustls::TlsAcceptor::from(config).accept(stream).await {
                Ok(stream) => converse(stream, &answer).await,
                Err(error) => error.to_string(),
            },
        }
    });
    (port, serving)
}

async fn converse(mut stream: impl AsyncRead + AsyncWrite + Unpin, answer: &[u8]) -> String {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        let Ok(byte) = stream.read_u8().await else { break };
        request.push(byte);
    }
    // The other end may have heard enough before all of it is out.
    let _ = stream.write_all(answer).await;
    let _ = stream.shutdown().await;
    String::from_utf8(request).unwrap()
}

fn ok(body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

#[tokio::test]
async fn a_document_on_this_machine_may_come_in_the_clear() {
    let (port, serving) = answering(ok("{}"), None).await;
    let fetch = HttpFetch::new(None).unwrap();
    let url = format!("http://127.0.0.1:{port}/keys?a=b");
    assert_eq!(fetch.get(&url).await.unwrap(), "{}");
    let request = serving.await.unwrap();
    assert!(request.starts_with("GET /keys?a=b HTTP/1.1\r\n"), "{request}");
    assert!(request.contains(&format!("host: 127.0.0.1:{port}\r\n")), "{request}");
}

#[tokio::test]
async fn others_must_prove_who_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let credentials =
        Credentials::open_or_create(dir.path(), ServerNames::of_this_host([]).unwrap()).unwrap();
    let tls = ServerTls::new(&credentials, &[]).unwrap();
    let (port, _serving) = answering(ok("secure"), Some(tls.config())).await;
    let trusting = HttpFetch::new(Some(credentials.ca_pem())).unwrap();
    assert_eq!(trusting.get(&format!("https://localhost:{port}/")).await.unwrap(), "secure");

    let (port, _serving) = answering(ok("secure"), Some(tls.config())).await;
    let strict = HttpFetch::new(None).unwrap();
    assert!(strict.get(&format!("https://localhost:{port}/")).await.is_err());
}

#[tokio::test]
async fn what_is_no_good_answer_is_an_error_that_names_the_url() {
    let fetch = HttpFetch::new(None).unwrap();
    let huge = ok(&"x".repeat(MAX_BYTES + 1));
    for answer in [
        b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n".to_vec(),
        b"HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1/\r\ncontent-length: 0\r\n\r\n".to_vec(),
        b"HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\ncut short".to_vec(),
        b"garbage".to_vec(),
        huge,
    ] {
        let (port, _serving) = answering(answer, None).await;
        let url = format!("http://127.0.0.1:{port}/");
        let said = fetch.get(&url).await.unwrap_err().to_string();
        assert!(said.contains(&url), "{said}");
    }
    for url in ["http://idp.example.com/", "ftp://127.0.0.1/", "file:///etc/passwd", "", "no url", "http://"]
    {
        assert!(fetch.get(url).await.is_err(), "{url}");
    }
    assert!(HttpFetch::new(Some("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")).is_err());
}

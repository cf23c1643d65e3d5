//! A registry that answers as a test tells it.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};

use super::image::Image;
use containers::image::Digest;

/// A request: its path, and its headers in lower case.
pub struct Asked {
    pub path: String,
    pub headers: String,
}

/// Serves on loopback until the test ends. The closure writes the whole answer.
pub fn serve(answer: impl Fn(&Asked, &mut TcpStream) + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let answer = std::sync::Arc::new(answer);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            let answer = answer.clone();
            std::thread::spawn(move || {
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
                let first = lines.next().unwrap_or_default();
                let headers = lines.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
                let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
                answer(&Asked { path, headers: headers.to_lowercase() }, &mut stream);
            });
        }
    });
    address
}

/// Writes a whole answer.
pub fn reply(stream: &mut TcpStream, status: &str, headers: &str, body: &[u8]) {
    let head =
        format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n{headers}Connection: close\r\n\r\n", body.len());
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
}

/// Answers as an honest registry with one image would.
pub fn honest(image: &Image, asked: &Asked, stream: &mut TcpStream) {
    if asked.path.contains("/manifests/") {
        return reply(stream, "200 OK", "", &image.manifest);
    }
    let blob = image.blobs.iter().find(|blob| asked.path.ends_with(Digest::of(blob).hex()));
    match blob {
        Some(blob) => reply(stream, "200 OK", "", blob),
        None => reply(stream, "404 Not Found", "", b""),
    }
}

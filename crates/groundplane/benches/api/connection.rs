//! One connection of one client: HTTP/1.1 over TLS, kept open, with as little work for each request as there can be.
//!
//! The generator shares its cores with the server that it measures, so what it spares itself it does not take from there:
//! a thread of its own for each connection, requests as ready bytes, answers that are counted and not looked at.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use rustls::{ClientConnection, StreamOwned};
use testbed::bench::Outcome;

use crate::kubeconfig::Kubeconfig;

/// A connection, and what of its answers was read ahead.
pub struct Connection {
    stream: BufReader<StreamOwned<ClientConnection, TcpStream>>,
    /// The form in which answers are asked for.
    pub accept: &'static str,
    /// The headers that every request has.
    headers: String,
    request: Vec<u8>,
    line: Vec<u8>,
}

/// How the end of a body is known.
enum Framing {
    /// So many bytes are to come.
    Length(usize),
    /// Pieces are to come, of which so many bytes of the present one.
    Chunked(usize),
    Done,
}

/// An answer whose body is yet to come.
pub struct Incoming<'a> {
    connection: &'a mut Connection,
    /// The status.
    pub code: u16,
    framing: Framing,
}

impl Connection {
    pub fn open(to: &Kubeconfig) -> Outcome<Connection> {
        let socket = TcpStream::connect(&to.address)?;
        socket.set_nodelay(true)?;
        let tls = ClientConnection::new(Arc::clone(&to.tls), to.name.clone())?;
        let mut headers = format!("Host: {}\r\nUser-Agent: bench\r\n", to.address);
        if let Some(token) = &to.token {
            headers.push_str(&format!("Authorization: Bearer {token}\r\n"));
        }
        let stream = BufReader::with_capacity(64 << 10, StreamOwned::new(tls, socket));
        Ok(Connection { stream, accept: "application/json", headers, request: Vec::new(), line: Vec::new() })
    }

    /// Sends a request and reads the head of its answer.
    pub fn send(&mut self, method: &str, path: &str, media: &str, body: &[u8]) -> Outcome<Incoming<'_>> {
        self.request.clear();
        write!(self.request, "{method} {path} HTTP/1.1\r\nAccept: {}\r\n{}", self.accept, self.headers)?;
        if !body.is_empty() {
            write!(self.request, "Content-Type: {media}\r\nContent-Length: {}\r\n", body.len())?;
        }
        self.request.extend_from_slice(b"\r\n");
        self.request.extend_from_slice(body);
        let stream = self.stream.get_mut();
        stream.write_all(&self.request)?;
        stream.flush()?;
        self.head()
    }

    /// Sends a request whose answer must be `code`; gives back how many bytes its body had.
    pub fn expect(
        &mut self,
        code: u16,
        (method, path, media): (&str, &str, &str),
        body: &[u8],
    ) -> Outcome<usize> {
        let mut incoming = self.send(method, path, media, body)?;
        if incoming.code != code {
            let (found, said) = (incoming.code, incoming.text()?);
            return Err(format!("{method} {path} was answered with {found}: {said}").into());
        }
        let mut bytes = 0;
        while incoming.piece(|piece| bytes += piece.len())? {}
        Ok(bytes)
    }

    /// GET of something that must be there.
    pub fn get(&mut self, path: &str) -> Outcome<usize> {
        self.expect(200, ("GET", path, ""), b"")
    }

    fn head(&mut self) -> Outcome<Incoming<'_>> {
        self.next_line()?;
        let status = String::from_utf8_lossy(&self.line);
        let code = status.split(' ').nth(1).and_then(|code| code.parse().ok());
        let code = code.ok_or_else(|| format!("this is no answer of HTTP/1.1: {status:?}"))?;
        let mut framing = Framing::Done;
        loop {
            self.next_line()?;
            let line = self.line.trim_ascii_end();
            if line.is_empty() {
                return Ok(Incoming { connection: self, code, framing });
            }
            if let Some(length) = header(line, b"content-length:") {
                framing = Framing::Length(String::from_utf8_lossy(length).trim().parse()?);
            } else if header(line, b"transfer-encoding:").is_some() {
                framing = Framing::Chunked(0);
            }
        }
    }

    fn next_line(&mut self) -> Outcome {
        self.line.clear();
        match self.stream.read_until(b'\n', &mut self.line)? {
            0 => Err("the server has closed the connection".into()),
            _ => Ok(()),
        }
    }
}

impl Incoming<'_> {
    /// Takes what of the body is there, waiting for something if nothing is; `false` when it has ended.
    pub fn piece(&mut self, mut take: impl FnMut(&[u8])) -> Outcome<bool> {
        let wanted = match &mut self.framing {
            Framing::Done | Framing::Length(0) => return Ok(false),
            Framing::Length(wanted) => wanted,
            Framing::Chunked(wanted) => {
                if *wanted == 0 {
                    self.connection.next_line()?;
                    let size = String::from_utf8_lossy(self.connection.line.trim_ascii()).into_owned();
                    *wanted = usize::from_str_radix(&size, 16)?;
                }
                if *wanted == 0 {
                    self.connection.next_line()?;
                    self.framing = Framing::Done;
                    return Ok(false);
                }
                wanted
            }
        };
        let there = self.connection.stream.fill_buf()?;
        let taken = there.len().min(*wanted);
        if taken == 0 {
            return Err("the server has closed the connection in the middle of an answer".into());
        }
        take(&there[..taken]);
        self.connection.stream.consume(taken);
        *wanted -= taken;
        let ends_piece = *wanted == 0 && matches!(self.framing, Framing::Chunked(_));
        if ends_piece {
            self.connection.stream.read_exact(&mut [0; 2])?;
        }
        Ok(true)
    }

    /// All of the body.
    pub fn text(mut self) -> Outcome<String> {
        let mut text = Vec::new();
        while self.piece(|piece| text.extend_from_slice(piece))? {}
        Ok(String::from_utf8(text)?)
    }
}

fn header<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let (found, value) = line.split_at_checked(name.len())?;
    found.eq_ignore_ascii_case(name).then_some(value)
}

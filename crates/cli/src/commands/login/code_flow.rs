//! The code flow with PKCE: a page in the browser, which sends a code back to this program.

use std::time::Duration;

use client::login::{Issuer, encoded};
use ring::digest;
use ring::rand::{SecureRandom, SystemRandom};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::Given;
use crate::failure::Failure;
use crate::session::Session;

/// How long somebody may take at the page.
const PATIENCE: Duration = Duration::from_secs(300);
/// A request for the way back is no longer than this.
const LONGEST: usize = 16 << 10;

/// Logs in through a browser.
pub async fn run(issuer: &Issuer, scope: &str, opens: bool, session: &mut Session) -> Given {
    let failed = |error: std::io::Error| Failure::other(format!("waiting for the browser: {error}"));
    let listener = TcpListener::bind("127.0.0.1:0").await.map_err(failed)?;
    let port = listener.local_addr().map_err(failed)?.port();
    let back = format!("http://127.0.0.1:{port}/callback");
    let (verifier, state, nonce) = (random()?, random()?, random()?);
    let challenge = krm::base64::url(digest::digest(&digest::SHA256, verifier.as_bytes()).as_ref());
    let endpoint = issuer.endpoint("authorization_endpoint")?;
    let page = format!(
        "{endpoint}{}response_type=code&client_id={}&redirect_uri={}&scope={}&state={state}&nonce={nonce}\
         &code_challenge={challenge}&code_challenge_method=S256",
        if endpoint.contains('?') { '&' } else { '?' },
        encoded(&issuer.client),
        encoded(&back),
        encoded(scope),
    );
    session.console.say(&format!("To log in, open this page on this machine:\n\n  {page}\n"));
    if opens {
        open(&page);
    }
    let waiting = tokio::time::timeout(PATIENCE, wait(&listener, &state));
    let code = waiting.await.map_err(|_| Failure::other("timed out: no login within five minutes"))??;
    let form = [
        ("grant_type", "authorization_code"),
        ("code", code.as_str()),
        ("redirect_uri", back.as_str()),
        ("code_verifier", verifier.as_str()),
    ];
    let tokens = issuer.tokens(&form).await?;
    let tokens =
        tokens.map_err(|error| Failure::other(format!("{}: no tokens were issued: {error}", issuer.url)))?;
    match tokens.claim("nonce").as_str() == Some(nonce.as_str()) {
        true => Ok(tokens),
        false => Err(Failure::other(format!(
            "{}: the token was issued for another login (nonce mismatch)",
            issuer.url
        ))),
    }
}

/// Opens a page, where there is something to open it with.
fn open(page: &str) {
    for program in ["xdg-open", "open"] {
        let mut command = std::process::Command::new(program);
        command.arg(page).stdin(std::process::Stdio::null());
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        if command.spawn().is_ok() {
            return;
        }
    }
}

/// Waits until the browser comes back with a code for this login.
async fn wait(listener: &TcpListener, state: &str) -> Result<String, Failure> {
    loop {
        let Ok((mut stream, _)) = listener.accept().await else { continue };
        let Some(query) = asked(&mut stream).await else {
            answer(&mut stream, "404 Not Found", "There is nothing here.").await;
            continue;
        };
        let field = |name: &str| {
            let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            pairs
                .into_iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| decoded(value))
                .unwrap_or_default()
        };
        if field("state") != state {
            answer(&mut stream, "400 Bad Request", "This is not the login that was begun.").await;
            continue;
        }
        let (code, error) = (field("code"), field("error"));
        if code.is_empty() {
            answer(&mut stream, "200 OK", "You were not logged in. You can close this page.").await;
            return Err(Failure::other(format!("the issuer rejected the login: {error}")));
        }
        answer(&mut stream, "200 OK", "You are logged in. You can close this page.").await;
        return Ok(code);
    }
}

/// The query of a request for the way back.
async fn asked(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    let mut chunk = [0; 2048];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") && head.len() < LONGEST {
        match stream.read(&mut chunk).await {
            Ok(0) | Err(_) => break,
            Ok(count) => head.extend_from_slice(chunk.get(..count)?),
        }
    }
    let text = String::from_utf8_lossy(&head);
    let target = text.strip_prefix("GET ")?.split(' ').next()?;
    target.strip_prefix("/callback?").map(str::to_owned)
}

async fn answer(stream: &mut TcpStream, status: &str, says: &str) {
    let page = format!("<!doctype html><title>Groundplane</title><p>{says}</p>\n");
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        page.len()
    );
    // The browser may be gone; the code was read.
    let _ = stream.write_all(format!("{head}{page}").as_bytes()).await;
    let _ = stream.shutdown().await;
}

fn decoded(text: &str) -> String {
    let mut made = Vec::new();
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'%' => {
                let pair: Vec<u8> = bytes.by_ref().take(2).collect();
                let pair = String::from_utf8_lossy(&pair).into_owned();
                made.push(u8::from_str_radix(&pair, 16).unwrap_or(b'?'));
            }
            b'+' => made.push(b' '),
            other => made.push(other),
        }
    }
    String::from_utf8_lossy(&made).into_owned()
}

/// A text that nobody guesses.
fn random() -> Result<String, Failure> {
    let mut bytes = [0; 32];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| Failure::other("the operating system provides no random bytes"))?;
    Ok(krm::base64::url(&bytes))
}

//! The program in the images of tests. It is compiled by itself, linked statically.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        // Serves the text on every request; "/down" makes "/health" fail from then on.
        ["serve", port, text] => serve(port, text),
        ["print", lines @ ..] => {
            for line in lines {
                println!("{line}");
            }
        }
        ["exit", code, words @ ..] => {
            eprintln!("{}", words.join(" "));
            std::process::exit(code.parse().unwrap());
        }
        ["eat"] => {
            println!("eating");
            let mut memory: Vec<Vec<u8>> = Vec::new();
            loop {
                memory.push(vec![1; 1 << 20]);
            }
        }
        ["sleep"] => loop {
            std::thread::sleep(Duration::from_secs(1));
        },
        ["burn"] => loop {
            std::hint::spin_loop();
        },
        ["cat", file] => print!("{}", std::fs::read_to_string(file).unwrap_or_else(|error| error.to_string())),
        ["write", file] => match std::fs::write(file, "x") {
            Ok(()) => println!("written"),
            Err(error) => println!("{error}"),
        },
        ["env", name] => println!("{}", std::env::var(name).unwrap_or_default()),
        ["echo"] => {
            let mut input = String::new();
            std::io::stdin().read_to_string(&mut input).unwrap();
            print!("{input}");
        }
        ["get", address] => println!("{}", get(address)),
        other => {
            eprintln!("unknown: {other:?}");
            std::process::exit(2);
        }
    }
}

fn get(address: &str) -> String {
    let address = address.parse().unwrap();
    let Ok(mut stream) = TcpStream::connect_timeout(&address, Duration::from_secs(1)) else {
        return "unreachable".to_owned();
    };
    stream.write_all(b"GET / HTTP/1.0\r\n\r\n").unwrap();
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    answer.rsplit("\r\n").next().unwrap_or_default().to_owned()
}

fn serve(port: &str, text: &str) {
    let listener = TcpListener::bind(format!("0.0.0.0:{port}")).unwrap();
    println!("serving at {port}");
    let mut is_down = false;
    for stream in listener.incoming() {
        let Ok(mut stream) = stream else { continue };
        let mut request = [0; 4096];
        let Ok(read) = stream.read(&mut request) else { continue };
        let request = String::from_utf8_lossy(&request[..read]);
        let path = request.split(' ').nth(1).unwrap_or("/");
        is_down |= path == "/down";
        let status = if is_down && path == "/health" { "500 Down" } else { "200 OK" };
        let answer = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}", text.len());
        let _ = stream.write_all(answer.as_bytes());
    }
}

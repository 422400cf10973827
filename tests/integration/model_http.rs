//! HTTP to the fake model, by hand: a chunked answer is read write by write.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;

const WAIT: Duration = Duration::from_secs(20);

/// An answer that is being read.
pub(crate) struct Answer {
    pub(crate) status: u16,
    length: Option<usize>,
    stream: BufReader<TcpStream>,
}

/// Sends a request and reads the head of the answer.
pub(crate) async fn ask(addr: SocketAddr, method: &str, path: &str, body: &str) -> Answer {
    let mut stream = TcpStream::connect(addr).await.unwrap();
    let head = format!("{method} {path} HTTP/1.1\r\nHost: {addr}\r\nContent-Length: {}\r\n\r\n", body.len());
    stream.write_all((head + body).as_bytes()).await.unwrap();
    let mut stream = BufReader::new(stream);
    let (mut status, mut length) = (0, None);
    loop {
        let line = line(&mut stream).await;
        if let Some(rest) = line.strip_prefix("HTTP/1.1 ") {
            status = rest[..3].parse().unwrap();
        } else if let Some(n) = line.strip_prefix("content-length: ") {
            length = Some(n.parse().unwrap());
        } else if line.is_empty() {
            return Answer { status, length, stream };
        }
    }
}

async fn line(stream: &mut BufReader<TcpStream>) -> String {
    let mut line = String::new();
    timeout(WAIT, stream.read_line(&mut line)).await.unwrap().unwrap();
    line.trim_end().to_owned()
}

impl Answer {
    /// The next write of a stream; `None` at its end.
    pub(crate) async fn write(&mut self) -> Option<Vec<u8>> {
        let size = usize::from_str_radix(&line(&mut self.stream).await, 16).unwrap();
        let mut bytes = vec![0; size + 2];
        timeout(WAIT, self.stream.read_exact(&mut bytes)).await.unwrap().unwrap();
        bytes.truncate(size);
        (size > 0).then_some(bytes)
    }

    /// The sizes of all writes, and their bytes as one text.
    pub(crate) async fn rest(mut self) -> (Vec<usize>, String) {
        let (mut sizes, mut all) = (Vec::new(), Vec::new());
        while let Some(bytes) = self.write().await {
            sizes.push(bytes.len());
            all.extend(bytes);
        }
        (sizes, String::from_utf8(all).unwrap())
    }

    /// The JSON of an answer that is no stream.
    pub(crate) async fn json(mut self) -> Value {
        let mut bytes = vec![0; self.length.unwrap()];
        timeout(WAIT, self.stream.read_exact(&mut bytes)).await.unwrap().unwrap();
        serde_json::from_slice(&bytes).unwrap()
    }
}

/// A chat request that says `text` and wants a stream.
pub(crate) fn chat(text: &str) -> String {
    json!({"model": "fake", "stream": true, "messages": [{"role": "user", "content": text}]}).to_string()
}

/// The JSON objects of a stream of events.
pub(crate) fn events(text: &str) -> Vec<Value> {
    let data = text.split("\n\n").flat_map(|event| event.lines().filter_map(|l| l.strip_prefix("data: ")));
    data.filter(|d| *d != "[DONE]").map(|d| serde_json::from_str(d).unwrap()).collect()
}

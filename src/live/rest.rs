//! The REST calls that the rig itself makes to a server, real or emulated: one connection a call, never pooled.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// How long one call may take. The first call to a cold server imports half of it.
const DEADLINE: Duration = Duration::from_secs(30);

/// A call that did not do what it was for.
#[derive(Debug, thiserror::Error)]
pub enum RestError {
    /// No connection, or one that broke or stayed silent.
    #[error("{method} {path}: {why}")]
    Unreachable {
        /// HTTP method.
        method: Method,
        /// Path and query.
        path: String,
        /// What happened.
        why: String,
    },
    /// An answer that is not success.
    #[error("{method} {path}: HTTP {status}: {body}")]
    Refused {
        /// HTTP method.
        method: Method,
        /// Path and query.
        path: String,
        /// HTTP status.
        status: u16,
        /// The first of what it said.
        body: String,
    },
}

/// A server's REST side.
#[derive(Debug, Clone)]
pub struct Rest {
    /// Where it listens.
    pub addr: SocketAddr,
    /// The session API key.
    pub key: String,
}

impl Rest {
    /// One call; the answer as JSON, `null` for an empty one.
    pub async fn call(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, RestError> {
        let broken =
            |why: String| RestError::Unreachable { method: method.clone(), path: path.to_owned(), why };
        let answered = timeout(DEADLINE, self.exchange(&method, path, body)).await;
        let (status, bytes) = match answered {
            Ok(Ok(answer)) => answer,
            Ok(Err(why)) => return Err(broken(why)),
            Err(_) => return Err(broken(format!("no answer within {} s", DEADLINE.as_secs()))),
        };
        let text = String::from_utf8_lossy(&bytes);
        if !(200..300).contains(&status) {
            let body = text.chars().take(600).collect();
            return Err(RestError::Refused { method, path: path.to_owned(), status, body });
        }
        if text.trim().is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_str(&text).map_err(|error| broken(format!("an answer that is no JSON: {error}")))
    }

    /// One call without a deadline: the status, whatever it is, and the body as it came. The error is why there was no
    /// answer.
    pub async fn exchange(
        &self,
        method: &Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<(u16, Bytes), String> {
        let io = TcpStream::connect(self.addr).await.map_err(|e| e.to_string())?;
        exchange(io, &self.addr.to_string(), &self.key, method, path, body).await
    }

    /// Whether it answers `GET /health` with success.
    pub async fn healthy(&self) -> bool {
        self.call(Method::GET, "/health", None).await.is_ok()
    }

    /// Opens a conversation whose agent asks the model at `model`, and returns its id.
    pub async fn create(&self, model: &str, model_name: &str, folder: &str) -> Result<String, RestError> {
        let llm = json!({
            "usage_id": "agent", "model": model_name, "api_key": "sk-rig", "base_url": model,
            "stream": true, "num_retries": 0,
        });
        let body = json!({
            "agent": {"kind": "Agent", "llm": llm, "tools": [], "include_default_tools": []},
            "workspace": {"kind": "LocalWorkspace", "working_dir": folder},
            "stuck_detection": false, "max_iterations": 5, "autotitle": false,
        });
        let made = self.call(Method::POST, "/api/conversations", Some(&body)).await?;
        made["id"].as_str().map(str::to_owned).ok_or_else(|| RestError::Unreachable {
            method: Method::POST,
            path: "/api/conversations".to_owned(),
            why: format!("an answer without an id: {made}"),
        })
    }

    /// Says something in a conversation and starts a turn.
    pub async fn say(&self, conversation: &str, text: &str) -> Result<(), RestError> {
        let body = json!({"role": "user", "content": [{"type": "text", "text": text}], "run": true});
        let path = format!("/api/conversations/{conversation}/events");
        self.call(Method::POST, &path, Some(&body)).await.map(|_| ())
    }

    /// The conversation as the server shows it.
    pub async fn conversation(&self, id: &str) -> Result<Value, RestError> {
        self.call(Method::GET, &format!("/api/conversations/{id}"), None).await
    }

    /// Every event in its log, in order.
    pub async fn events(&self, id: &str) -> Result<Vec<Value>, RestError> {
        let (mut all, mut page) = (Vec::new(), None::<String>);
        loop {
            let next = page.as_deref().map(|p| format!("&page_id={p}")).unwrap_or_default();
            let path = format!("/api/conversations/{id}/events/search?limit=100{next}");
            let found = self.call(Method::GET, &path, None).await?;
            all.extend(found["items"].as_array().cloned().unwrap_or_default());
            page = found["next_page_id"].as_str().map(str::to_owned);
            if page.is_none() {
                return Ok(all);
            }
        }
    }
}

/// The same as [`Rest::exchange`] over a connection that is there already, to a server that is called `authority`.
pub async fn exchange<Io>(
    io: Io,
    authority: &str,
    key: &str,
    method: &Method,
    path: &str,
    body: Option<&Value>,
) -> Result<(u16, Bytes), String>
where
    Io: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(io)).await.map_err(|e| e.to_string())?;
    tokio::spawn(connection);
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("host", authority)
        .header("content-type", "application/json")
        .header("x-session-api-key", key);
    let body = body.map(Value::to_string).unwrap_or_default();
    let request = request.body(Full::new(Bytes::from(body))).map_err(|e| e.to_string())?;
    let response = sender.send_request(request).await.map_err(|e| e.to_string())?;
    let status = response.status().as_u16();
    let bytes = response.into_body().collect().await.map_err(|e| e.to_string())?.to_bytes();
    Ok((status, bytes))
}

/// The word for where a conversation stands: `execution_status`, or `agent_status` of servers that say it so.
pub fn status(conversation: &Value) -> &str {
    let word = |key: &str| conversation.get(key).and_then(Value::as_str);
    word("execution_status").or_else(|| word("agent_status")).unwrap_or("unknown")
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
    use tokio::net::TcpListener;

    use super::*;

    const REFUSAL: &str = "HTTP/1.1 404 Not Found\r\ncontent-length: 4\r\n\r\nnone";

    /// Reads a request that ends in `}` and answers it.
    async fn answer(mut io: impl AsyncRead + AsyncWrite + Unpin, reply: &str) -> String {
        let mut heard = Vec::new();
        while !heard.ends_with(b"}") {
            assert!(io.read_buf(&mut heard).await.unwrap() > 0, "it hung up");
        }
        io.write_all(reply.as_bytes()).await.unwrap();
        String::from_utf8(heard).unwrap()
    }

    #[tokio::test]
    async fn an_exchange_takes_any_connection_and_any_status() {
        let (ours, theirs) = duplex(4096);
        let body = json!({"a": 1});
        let asked = exchange(ours, "a.host:7", "k", &Method::PATCH, "/x?y=z", Some(&body));
        let (answered, heard) = tokio::join!(asked, answer(theirs, REFUSAL));
        assert_eq!(answered.unwrap(), (404, Bytes::from("none")));
        assert!(heard.starts_with("PATCH /x?y=z HTTP/1.1\r\n") && heard.ends_with(r#"{"a":1}"#), "{heard}");
        for header in ["host: a.host:7", "x-session-api-key: k", "content-type: application/json"] {
            assert!(heard.contains(&format!("{header}\r\n")), "{heard}");
        }
        let (ours, theirs) = duplex(4096);
        drop(theirs);
        assert!(exchange(ours, "a.host:7", "k", &Method::GET, "/", None).await.is_err());
    }

    #[tokio::test]
    async fn a_call_wants_success_and_json_and_says_what_came_instead() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let rest = Rest { addr: listener.local_addr().unwrap(), key: "k".to_owned() };
        for (reply, said) in [
            (REFUSAL, "POST /x: HTTP 404: none"),
            ("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nno", "POST /x: an answer that is no JSON"),
            ("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n[]", ""),
        ] {
            let body = json!({});
            let answering = async { answer(listener.accept().await.unwrap().0, reply).await };
            let (called, heard) = tokio::join!(rest.call(Method::POST, "/x", Some(&body)), answering);
            assert!(heard.contains(&format!("host: {}\r\n", rest.addr)), "{heard}");
            match called {
                Ok(value) => assert_eq!((value, said), (json!([]), "")),
                Err(error) => assert!(!said.is_empty() && error.to_string().starts_with(said), "{error}"),
            }
        }
    }
}

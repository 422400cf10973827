//! A client of the Chrome `DevTools` Protocol: one WebSocket for the browser and, as flat sessions, for all its pages.

#[cfg(test)]
pub(super) mod fake;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Map, Value, json};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

/// How long a command of the browser itself may take. Loading a page is not one: navigation answers once it has begun.
const PATIENCE: Duration = Duration::from_secs(20);

/// Bytes of one message. A frame of the page's own socket comes inside one, escaped, so this is far above 64 MiB.
const LIMIT: usize = 512 * 1024 * 1024;

/// Commands that wait for the socket.
const WAITING: usize = 64;

/// The debugging connection, or one command on it, failed.
#[derive(Debug, thiserror::Error)]
pub enum CdpError {
    /// No connection.
    #[error("cannot reach the debugging port {addr} of Chromium: {why}")]
    Unreachable {
        /// Where.
        addr: SocketAddr,
        /// Why.
        why: String,
    },
    /// The connection broke: Chromium ended, most likely.
    #[error("the connection to Chromium ended before `{method}` was answered: {why}")]
    Gone {
        /// The command that had no answer.
        method: &'static str,
        /// Why.
        why: String,
    },
    /// Chromium refused the command.
    #[error("Chromium refused `{method}`: {message}")]
    Refused {
        /// The command.
        method: &'static str,
        /// What it said.
        message: String,
    },
    /// No answer in time.
    #[error("Chromium did not answer `{method}` within {after:?}")]
    Silent {
        /// The command.
        method: &'static str,
        /// How long was waited.
        after: Duration,
    },
    /// An answer without the field that it must have.
    #[error("Chromium's answer to `{method}` has no `{field}`")]
    Incomplete {
        /// The command.
        method: &'static str,
        /// The field.
        field: &'static str,
    },
}

/// Who hears the events of one session.
pub(super) trait Listener: Send + Sync {
    /// One event. The answer is a command to send on the same session; nobody waits for what becomes of it.
    fn event(&self, method: &str, params: &Value) -> Option<(&'static str, Value)>;
}

type Listeners = Arc<Mutex<HashMap<String, Arc<dyn Listener>>>>;
type Waiting = HashMap<u64, (&'static str, oneshot::Sender<Result<Value, CdpError>>)>;

/// The client's handle. The socket lives in a task of its own, which ends with the last handle or with Chromium.
pub(super) struct Cdp {
    orders: mpsc::Sender<Order>,
    listeners: Listeners,
    why: Arc<OnceLock<String>>,
    /// How long a command may take.
    pub(super) patience: Duration,
}

struct Order {
    session: Option<String>,
    method: &'static str,
    params: Value,
    answer: oneshot::Sender<Result<Value, CdpError>>,
}

impl Cdp {
    /// Connects to the browser's own endpoint; `path` is the second line of `DevToolsActivePort`.
    pub(super) async fn connect(addr: SocketAddr, path: &str) -> Result<Cdp, CdpError> {
        let failed = |why: String| CdpError::Unreachable { addr, why };
        let open = async {
            let io = TcpStream::connect(addr).await.map_err(|e| failed(e.to_string()))?;
            // Commands are small and each waits for its answer.
            io.set_nodelay(true).map_err(|e| failed(e.to_string()))?;
            let request = format!("ws://{addr}{path}").into_client_request();
            let request = request.map_err(|e| failed(e.to_string()))?;
            let config = WebSocketConfig::default().max_message_size(Some(LIMIT)).max_frame_size(Some(LIMIT));
            let opened = client_async_with_config(request, io, Some(config)).await;
            opened.map(|(socket, _)| socket).map_err(|e| failed(e.to_string()))
        };
        let socket = timeout(PATIENCE, open).await;
        let socket = socket.map_err(|_| failed(format!("no answer within {PATIENCE:?}")))??;
        let (orders, taken) = mpsc::channel(WAITING);
        let cdp = Cdp { orders, listeners: Listeners::default(), why: Arc::default(), patience: PATIENCE };
        tokio::spawn(run(socket, taken, cdp.listeners.clone(), cdp.why.clone()));
        Ok(cdp)
    }

    /// Sends a command, to the browser or to the page of `session`, and waits for its answer.
    pub(super) async fn call(
        &self,
        session: Option<&str>,
        method: &'static str,
        params: Value,
        limit: Duration,
    ) -> Result<Value, CdpError> {
        let (answer, answered) = oneshot::channel();
        let order = Order { session: session.map(str::to_owned), method, params, answer };
        let asked = async {
            if self.orders.send(order).await.is_err() {
                return Err(self.gone(method));
            }
            answered.await.unwrap_or_else(|_| Err(self.gone(method)))
        };
        timeout(limit, asked).await.unwrap_or(Err(CdpError::Silent { method, after: limit }))
    }

    /// [`Cdp::call`], and one text of the answer.
    pub(super) async fn ask(
        &self,
        method: &'static str,
        params: Value,
        field: &'static str,
    ) -> Result<String, CdpError> {
        let answer = self.call(None, method, params, self.patience).await?;
        let text = answer[field].as_str().map(str::to_owned);
        text.ok_or(CdpError::Incomplete { method, field })
    }

    /// Sends a command to the browser without waiting, for destructors. A full queue is a browser that is hung anyway.
    pub(super) fn tell(&self, method: &'static str, params: Value) {
        let (answer, _) = oneshot::channel();
        let _ = self.orders.try_send(Order { session: None, method, params, answer });
    }

    /// From now on `listener` hears the events of that session.
    pub(super) fn listen(&self, session: &str, listener: Arc<dyn Listener>) {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner).insert(session.to_owned(), listener);
    }

    /// Nobody hears that session's events any more.
    pub(super) fn forget(&self, session: &str) {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner).remove(session);
    }

    fn gone(&self, method: &'static str) -> CdpError {
        let why = self.why.get().cloned().unwrap_or_else(|| "it was closed".to_owned());
        CdpError::Gone { method, why }
    }
}

/// Carries commands out and answers and events in, until either end is gone.
async fn run(
    mut socket: WebSocketStream<TcpStream>,
    mut orders: mpsc::Receiver<Order>,
    listeners: Listeners,
    why: Arc<OnceLock<String>>,
) {
    let mut waiting = Waiting::new();
    let mut last = 0;
    let end = loop {
        let sent = tokio::select! {
            biased;
            order = orders.recv() => match order {
                None => break "it was closed".to_owned(),
                Some(order) => {
                    // Who gave up waiting for a hung page will never be answered.
                    waiting.retain(|_, (_, answer)| !answer.is_closed());
                    last += 1;
                    let text = command(last, order.session.as_deref(), order.method, order.params);
                    waiting.insert(last, (order.method, order.answer));
                    socket.send(Message::text(text)).await
                }
            },
            message = socket.next() => match message {
                None => break "Chromium closed it".to_owned(),
                Some(Err(error)) => break error.to_string(),
                Some(Ok(Message::Text(text))) => match take(&text, &mut waiting, &listeners) {
                    Some((session, method, params)) => {
                        last += 1;
                        socket.send(Message::text(command(last, Some(&session), method, params))).await
                    }
                    None => Ok(()),
                },
                // Pings are answered by the library; nothing else carries anything.
                Some(Ok(_)) => Ok(()),
            },
        };
        if let Err(error) = sent {
            break error.to_string();
        }
    };
    let _ = why.set(end);
    // Dropping what waits tells everybody who waits.
}

fn command(id: u64, session: Option<&str>, method: &str, params: Value) -> String {
    let mut order = Map::new();
    order.insert("id".into(), id.into());
    if let Some(session) = session {
        order.insert("sessionId".into(), session.into());
    }
    order.insert("method".into(), method.into());
    order.insert("params".into(), params);
    Value::Object(order).to_string()
}

/// One message of Chromium: the answer to a command, or an event. Returns what a listener wants to be sent.
fn take(text: &str, waiting: &mut Waiting, listeners: &Listeners) -> Option<(String, &'static str, Value)> {
    let Ok(mut message) = serde_json::from_str::<Value>(text) else { return None };
    if let Some(id) = message["id"].as_u64() {
        // Nobody waits for the answer to what a listener sent.
        let (method, answer) = waiting.remove(&id)?;
        let result = match message["error"]["message"].as_str() {
            Some(said) => Err(CdpError::Refused { method, message: said.to_owned() }),
            None => Ok(message.get_mut("result").map_or_else(|| json!({}), Value::take)),
        };
        // Who asked may have given up.
        let _ = answer.send(result);
        return None;
    }
    let (session, method) = (message["sessionId"].as_str()?, message["method"].as_str()?);
    let listener = listeners.lock().unwrap_or_else(PoisonError::into_inner).get(session).cloned()?;
    let (reply, params) = listener.event(method, &message["params"])?;
    Some((session.to_owned(), reply, params))
}

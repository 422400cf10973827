//! A debugging port without a browser, for tests.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_tungstenite::accept_async;
use tokio_tungstenite::tungstenite::Message;

/// A fake browser and all commands that it got.
pub(in crate::live::browser) struct Fake {
    pub(in crate::live::browser) addr: SocketAddr,
    commands: Arc<Mutex<Vec<Value>>>,
}

impl Fake {
    /// `react` gets each command and says what is sent back; `{"close": true}` ends the connection.
    pub(in crate::live::browser) async fn start(
        mut react: impl FnMut(&Value) -> Vec<Value> + Send + 'static,
    ) -> Fake {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let fake = Fake { addr: listener.local_addr().unwrap(), commands: Arc::default() };
        let commands = fake.commands.clone();
        tokio::spawn(async move {
            let mut socket = accept_async(listener.accept().await.unwrap().0).await.unwrap();
            while let Some(Ok(Message::Text(text))) = socket.next().await {
                let command: Value = serde_json::from_str(&text).unwrap();
                let answers = react(&command);
                commands.lock().unwrap().push(command);
                for answer in answers {
                    if answer["close"] == true {
                        return;
                    }
                    socket.send(Message::text(answer.to_string())).await.unwrap();
                }
            }
        });
        fake
    }

    /// How often a method was called so far.
    pub(in crate::live::browser) fn count(&self, method: &str) -> usize {
        self.commands.lock().unwrap().iter().filter(|c| c["method"] == method).count()
    }

    /// The first call of a method.
    pub(in crate::live::browser) fn first(&self, method: &str) -> Option<Value> {
        self.commands.lock().unwrap().iter().find(|c| c["method"] == method).cloned()
    }
}

/// The answer to a command.
pub(in crate::live::browser) fn answer(command: &Value, result: &Value) -> Value {
    json!({"id": command["id"], "result": result})
}

/// An event of a session.
pub(in crate::live::browser) fn event(session: &str, method: &str, params: &Value) -> Value {
    json!({"sessionId": session, "method": method, "params": params})
}

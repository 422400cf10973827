//! The frames that are encoded and decoded, and a client that reads them.

use skewlab::agent_server::client::{Client, Incoming};
use skewlab::agent_server::profile::Catalogue;
use skewlab::probe::ClientTrace;
use skewlab::wire::event::Message;
use skewlab::wire::session::SessionDelta;
use skewlab::wire::{Event, EventBody, SessionFrame, Source};

/// What [`delta`] is on the legacy socket from 1.31.2 to 1.58.2.
pub(crate) const DELTA: &str = r#"{"id":"00000000-0000-4000-8000-000000000001","timestamp":"2026-11-30T07:45:00.123456","source":"agent","content":"Hel","kind":"StreamingDeltaEvent"}"#;

/// What opens the item of [`session_delta`] on the session socket.
const ITEM_STARTED: &str =
    r#"{"type":"item_started","item_id":"00000000-0000-4000-8000-000000000011","attempt":1}"#;

fn agent(body: EventBody, parent_id: Option<String>) -> Event {
    Event {
        id: "00000000-0000-4000-8000-000000000001".into(),
        timestamp: "2026-11-30T07:45:00.123456".into(),
        source: Source::Agent,
        parent_id,
        body,
    }
}

/// A token of the model, as the legacy socket and the webhooks carry it.
pub(crate) fn delta() -> Event {
    agent(EventBody::StreamingDelta { content: Some("Hel".into()), reasoning_content: None }, None)
}

/// A reply of about a hundred tokens, which follows another event.
pub(crate) fn message() -> Event {
    let message = Message {
        role: "assistant".into(),
        text: "Hello, how are you? ".repeat(20),
        reasoning_content: None,
        llm_response_id: Some("chatcmpl-00000000".into()),
    };
    agent(EventBody::Message(message), Some("00000000-0000-4000-8000-000000000002".into()))
}

/// The same token on the session socket (1.47.0 on).
pub(crate) fn session_delta() -> SessionFrame {
    SessionFrame::Delta(SessionDelta {
        item_id: "00000000-0000-4000-8000-000000000011".into(),
        attempt: 1,
        order: 0,
        reasoning: false,
        content: "Hel".into(),
        chunk: Some(("chatcmpl-00000000".into(), 0)),
    })
}

/// A client that has just connected, and what it noted.
pub(crate) struct Reader {
    client: Client,
    trace: ClientTrace,
}

impl Reader {
    /// The client called `name`; one on the session socket has seen the item of [`session_delta`] open.
    pub(crate) fn new(catalogue: &Catalogue, name: &str) -> Reader {
        let choice = catalogue.client(name).expect("an embedded profile resolves");
        let client = Client::new(&choice.profile, None).expect("an embedded profile has a client");
        let mut reader = Reader { client, trace: ClientTrace::default() };
        if on_session_socket(name) {
            reader.client.receive(Incoming::Text(ITEM_STARTED), &mut reader.trace);
        }
        reader
    }

    /// From the text of one frame to the application, the animation frame that draws it included.
    pub(crate) fn read(mut self, frame: &str) -> Reader {
        self.client.receive(Incoming::Text(frame), &mut self.trace);
        self.client.tick(&mut self.trace);
        self
    }

    /// The text that the application got.
    pub(crate) fn got(&self) -> String {
        self.trace.delivered.iter().map(|p| p.text.as_str()).collect()
    }
}

/// Whether the client called `name` reads session frames.
pub(crate) fn on_session_socket(name: &str) -> bool {
    name == "browser-session"
}

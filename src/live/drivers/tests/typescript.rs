//! The TypeScript driver.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::driven::{Driven, available, brief};
use crate::live::drivers::unpack;

/// A package that takes its socket as the released one does, and a socket that says three things when it is opened.
const PACKAGE: [(&str, &str); 4] = [
    (
        "node_modules/@openhands/typescript-client/package.json",
        r#"{"name":"@openhands/typescript-client","version":"9.9.9","type":"module"}"#,
    ),
    (
        "node_modules/@openhands/typescript-client/dist/index.js",
        r"
let Socket;
try { Socket = require('ws'); } catch { Socket = undefined; }
export class RemoteWorkspace { constructor(options) { Object.assign(this, options); } }
export class RemoteConversation {
  constructor(agent, workspace, options) { Object.assign(this, { workspace, options, id: 'c', kept: [] }); }
  get state() {
    return {
      events: { getEvents: async () => this.kept },
      refresh: async () => ({ execution_status: 'finished' }),
      getExecutionStatus: async () => 'finished',
    };
  }
  async start() {}
  async startWebSocketClient() {
    if (!Socket) return this.options.onError(new Error('no WebSocket'));
    const socket = new Socket(`${this.workspace.host}/sockets`);
    socket.onmessage = ({ data }) => {
      try {
        const event = JSON.parse(data);
        this.kept.push(event);
        this.options.callback(event);
      } catch (error) {
        this.options.onError(error);
      }
    };
  }
  async stopWebSocketClient() {}
  async sendMessage() { console.warn('about to send'); }
  async run() {}
  async close() {}
}
",
    ),
    ("node_modules/ws/package.json", r#"{"name":"ws","version":"8.0.0"}"#),
    (
        "node_modules/ws/index.js",
        r#"
module.exports = class {
  constructor() {
    setImmediate(() => {
      this.onmessage({ data: '{"kind":"StreamingDeltaEvent","content":["a"],"id":1}' });
      this.onmessage({ data: '{' });
      this.onmessage({ data: '{"kind":"ConversationStateUpdateEvent","key":"execution_status","value":"running"}' });
    });
  }
};
"#,
    ),
];

const ATTEND: &str =
    r#"{"do":"attend","cell":"c1","url":"http://here","key":"k","workdir":"/","llm":"http://m","model":"m"}"#;

fn driver(dir: &Path, shim: &str) -> Driven {
    for (name, text) in PACKAGE {
        let path = dir.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let client = unpack(&dir.join("drivers")).unwrap().typescript_client;
    let mut driver = Driven::start(Command::new("node").arg(client).arg(dir).arg(shim));
    let hello = driver.next().unwrap();
    assert_eq!(brief(&hello, &["ev", "version", "shim"]), format!("hello 9.9.9 {shim}"));
    driver
}

#[test]
fn with_the_shim_whatever_is_json_reaches_the_application() {
    if !available("node") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut driver = driver(dir.path(), "require");
    driver.tell(ATTEND);
    let reports = driver.until("ready");
    let told: Vec<String> =
        reports.iter().map(|r| brief(r, &["ev", "kind", "content", "shown", "socket"])).collect();
    assert_eq!(
        told,
        [
            r#"callback StreamingDeltaEvent ["a"] a null"#,
            "error null null null null",
            "callback ConversationStateUpdateEvent null null null",
            "ready null null null open",
        ]
    );
    driver.tell(r#"{"do":"say","cell":"c1","text":"go"}"#);
    let turn: Vec<String> =
        driver.until("ran").iter().map(|r| brief(r, &["ev", "level", "status"])).collect();
    assert_eq!(turn, ["log WARNING null", "ran null finished"]);
    driver.tell(r#"{"do":"leave","cell":"c1"}"#);
    let left = driver.next().unwrap();
    let kinds = r#"{"StreamingDeltaEvent":1,"ConversationStateUpdateEvent":1}"#;
    assert_eq!(brief(&left, &["ev", "unfinished", "events"]), format!("left null {kinds}"));
    driver.tell(r#"{"do":"check","cell":"k","name":"n1","raw":"{\"kind\":\"StreamingDeltaEvent\",\"content\":\"\\ud800\"}"}"#);
    assert_eq!(brief(&driver.next().unwrap(), &["name", "outcome", "content"]), "n1 accepted \u{fffd}");
    driver.tell(r#"{"do":"check","cell":"k","name":"n2","raw":"{"}"#);
    assert_eq!(brief(&driver.next().unwrap(), &["name", "outcome", "type"]), "n2 rejected SyntaxError");
    assert_eq!(driver.quit(), (vec![], Some(0)));
}

#[test]
fn without_the_shim_it_says_that_no_socket_opened() {
    if !available("node") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut driver = driver(dir.path(), "none");
    driver.tell(ATTEND);
    let told: Vec<String> =
        driver.until("ready").iter().map(|r| brief(r, &["ev", "error", "socket"])).collect();
    assert_eq!(told, ["error no WebSocket null", "ready null error"]);
    driver.tell(r#"{"do":"check","cell":"k","name":"n","raw":"{}"}"#);
    assert_eq!(brief(&driver.next().unwrap(), &["ev", "cell"]), "refused k");
    let (rest, code) = driver.quit();
    assert_eq!((brief(&rest[0], &["ev", "cell"]), code), ("left c1".to_owned(), Some(0)));
}

//! A client with a minimum asks a server for its version, and dials none that is too old or does not say.

use std::net::SocketAddr;
use std::time::Duration;

use skewlab::agent_server::client::Client;
use skewlab::agent_server::link::{self, Attended, Onlooker, Phase, Target};
use skewlab::agent_server::profile::{Catalogue, ClientChoice};
use skewlab::agent_server::server::Dialer;
use skewlab::record::{CellResult, Signal, Verdict};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::runs::{Folder, plan, run};

/// What an onlooker was told first.
#[derive(Default)]
struct Told {
    refused: Option<String>,
    dialled: bool,
}

impl Onlooker for Told {
    fn connected(&mut self, io: skewlab::agent_server::server::Io) -> skewlab::agent_server::server::Io {
        self.dialled = true;
        io
    }

    fn refused(&mut self, _status: u16, why: &str) {
        self.refused = Some(why.to_owned());
    }
}

fn choice(name: &str) -> ClientChoice {
    Catalogue::embedded().unwrap().client(name).unwrap()
}

/// Lets a client attend a server that is nothing but an address.
async fn attended(client: &str, addr: SocketAddr) -> (Attended, Told) {
    let choice = choice(client);
    let target = Target { dialer: Dialer::Tcp(addr), conversation: "c".to_owned(), key: None };
    let (phase, mut phases) = watch::channel(Phase::Connecting);
    let (stop, stopped) = watch::channel(false);
    let mut told = Told::default();
    let traits = &choice.profile.traits;
    let client = Client::new(&choice.profile, None).unwrap();
    // It would try again for ever.
    let failed = async {
        let failed = phases.wait_for(|phase| *phase == Phase::Failed).await.is_ok();
        assert!(failed && stop.send(true).is_ok());
    };
    let attend = link::attend_before(&target, traits, client, &phase, stopped, &mut told);
    let (attended, ()) = tokio::join!(attend, failed);
    (attended, told)
}

/// A server that gives one answer to whatever it is asked; none for an empty one.
async fn answering(answer: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let mut silent = Vec::new();
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut asked = [0; 4096];
            let _ = stream.read(&mut asked).await;
            if answer.is_empty() {
                silent.push(stream);
            } else {
                let _ = stream.write_all(answer.as_bytes()).await;
            }
        }
    });
    addr
}

async fn declined(answer: &'static str, client: &str) -> String {
    let (attended, told) = attended(client, answering(answer).await).await;
    assert!(attended.peers.is_empty() && !told.dialled, "no socket is opened");
    let why = told.refused.unwrap();
    assert_eq!(attended.trace.signal, Signal::Surfaced);
    assert_eq!(attended.trace.surfaced, [format!("backend disconnected: {why}")]);
    why
}

const NOT_FOUND: &str = "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n";
const NO_JSON: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi";
const SDK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 24\r\n\r\n{\"sdk_version\":\"1.30.0\"}";

#[tokio::test]
async fn a_server_that_does_not_say_what_it_is_is_not_dialled() {
    assert_eq!(declined(NOT_FOUND, "browser-1.20.0").await, "/server_info: HTTP 404");
    assert_eq!(declined(NO_JSON, "browser-1.20.0").await, "it says no version, and 1.28.0 is the least");
    assert_eq!(declined(SDK, "browser-1.4.0").await, "it says no version, and 1.28.0 is the least");
    // From 1.6.1 on the second field will do, and what is not there is the socket.
    let (_, told) = attended("browser-1.6.1", answering(SDK).await).await;
    assert!(told.dialled, "{:?}", told.refused);
    // A client without a minimum does not ask.
    let (_, told) = attended("browser-1.0.0-alpha.10", answering(NOT_FOUND).await).await;
    assert!(told.dialled && told.refused.as_deref() == Some("HTTP 404"), "{:?}", told.refused);
}

#[tokio::test]
async fn a_server_that_is_not_there_or_silent_is_given_up() {
    let gone = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let (_, told) = attended("browser-1.20.0", gone).await;
    assert!(told.refused.unwrap().starts_with("/server_info: cannot reach the server"));
    let began = std::time::Instant::now();
    assert_eq!(declined("", "browser-1.20.0").await, "/server_info: no answer within 5 s");
    assert!(began.elapsed() >= Duration::from_secs(5));
}

/// One cell of a client on a server, both perhaps of the folder.
fn one(folder: &Folder, server: &str, client: &str) -> CellResult {
    let text = format!("servers = [\"{server}\"]\nclients = [\"{client}\"]\n");
    let file = folder.scenario("one", &text);
    let run = run(&plan(&[&file], &[], &[], &folder.catalogue()), 1, 1);
    assert_eq!(run.cells.len(), 1);
    run.cells[0].clone()
}

#[test]
fn a_minimum_that_is_too_high_loses_the_stream_as_loudly_as_the_client_says() {
    let folder = Folder::new();
    folder.profile("clients", "same", "browser-1.20.0", "[connect]\nmin_server = '1.58.2'");
    folder.profile("clients", "higher", "browser-1.20.0", "[connect]\nmin_server = '1.58.3'");
    let quiet = "[connect]\nmin_server = '1.58.3'\n[failure]\nold_server = { signal = 'none' }";
    folder.profile("clients", "quiet", "browser-1.20.0", quiet);
    let of = |client: &str| one(&folder, "1.58.2", client);
    let (same, higher, quiet) = (of("same"), of("higher"), of("quiet"));
    assert_eq!((same.verdict, same.signal), (Verdict::Delivered, Signal::None));
    assert_eq!((higher.verdict, higher.signal), (Verdict::LoudLoss, Signal::Surfaced));
    assert_eq!(higher.surfaced, ["backend disconnected: 1.58.2 is older than 1.58.3"]);
    assert_eq!((quiet.verdict, quiet.signal), (Verdict::SilentLoss, Signal::None));
    for cell in [&higher, &quiet] {
        assert_eq!((cell.delivered.chars, cell.durables.due), (0, 0), "{}", cell.id);
        assert_eq!(cell.reason.as_ref().unwrap().as_str(), "not_subscribed", "{}", cell.id);
    }
}

#[test]
fn a_profile_whose_name_is_no_release_says_the_one_that_it_is_built_on() {
    let folder = Folder::new();
    folder.profile("servers", "mine", "1.58.2", "");
    folder.profile("servers", "ours", "mine", "");
    folder.profile("servers", "old", "1.22.0", "");
    for (server, verdict) in
        [("mine", Verdict::Delivered), ("ours", Verdict::Delivered), ("old", Verdict::LoudLoss)]
    {
        let cell = one(&folder, server, "browser-1.20.0");
        assert_eq!(cell.verdict, verdict, "{server}: {:?}", cell.surfaced);
    }
}

//! The site against a server of the tests' own, spoken to in plain bytes.

use std::time::Duration;

use http_body_util::BodyExt;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use super::*;
use crate::live::browser::prepare::prepare;

/// What the server got: the number of the connection, the request line, and headers or body of interest.
type Heard = Arc<Mutex<Vec<(usize, String)>>>;

/// A server that says what it got, upgrades `/sockets/ok`, refuses `/sockets/no` and knows no profiles.
async fn server() -> (SocketAddr, Heard) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let heard = Heard::default();
    let note = heard.clone();
    tokio::spawn(async move {
        for connection in 0.. {
            let (io, _) = listener.accept().await.unwrap();
            let note = note.clone();
            let service = service_fn(move |request| {
                let note = note.clone();
                async move { Ok::<_, Infallible>(react(request, connection, &note).await) }
            });
            let http = hyper::server::conn::http1::Builder::new();
            tokio::spawn(http.serve_connection(TokioIo::new(io), service).with_upgrades());
        }
    });
    (addr, heard)
}

async fn react(mut request: Request<Incoming>, connection: usize, note: &Heard) -> Response<Full<Bytes>> {
    let header = |name: &str| request.headers().get(name).map_or("-", |v| v.to_str().unwrap()).to_owned();
    let line = format!(
        "{} {} host={} key={}",
        request.method(),
        request.uri(),
        header("host"),
        header("x-session-api-key")
    );
    let (path, upgrade) = (request.uri().path().to_owned(), header("upgrade"));
    let status = match path.as_str() {
        "/sockets/ok" if upgrade == "websocket" => 101,
        "/sockets/no" => 403,
        "/api/settings" => 422,
        p if p.starts_with("/api/profiles") => 404,
        _ => 200,
    };
    let mut body = Bytes::new();
    if status == 101 {
        let upgraded = hyper::upgrade::on(&mut request);
        tokio::spawn(async move {
            let mut io = TokioIo::new(upgraded.await.unwrap());
            io.write_all(b"first").await.unwrap();
            let mut buffer = [0; 64];
            while let Ok(n @ 1..) = io.read(&mut buffer).await {
                io.write_all(&buffer[..n].to_ascii_uppercase()).await.unwrap();
            }
        });
    } else {
        body = request.into_body().collect().await.unwrap().to_bytes();
    }
    note.lock().unwrap().push((connection, format!("{line} body={}", String::from_utf8_lossy(&body))));
    let reply = Response::builder().status(status).header("x-own", "1");
    let reply = if status == 101 {
        reply.header("connection", "upgrade").header("upgrade", "websocket")
    } else {
        reply
    };
    reply.body(Full::new(Bytes::from(if status == 101 { String::new() } else { line }))).unwrap()
}

fn build() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("build");
    std::fs::create_dir_all(root.join("assets")).unwrap();
    std::fs::write(root.join("index.html"), "<html><head><title>t</title></head><body>page</body></html>")
        .unwrap();
    std::fs::write(root.join("assets/a b.js"), "let a;").unwrap();
    std::fs::write(dir.path().join("secret.txt"), "secret").unwrap();
    std::os::unix::fs::symlink(dir.path().join("secret.txt"), root.join("link.txt")).unwrap();
    dir
}

async fn site(upstream: SocketAddr) -> (Site, TempDir) {
    let dir = build();
    (Site::start(dir.path().join("build"), upstream, "k</script>").await.unwrap(), dir)
}

async fn connect(site: &Site) -> TcpStream {
    TcpStream::connect(site.addr).await.unwrap()
}

/// Sends a request as it is typed and reads to the end of the connection.
async fn get(site: &Site, head: &str) -> String {
    let mut io = connect(site).await;
    io.write_all(format!("{head} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").as_bytes())
        .await
        .unwrap();
    let mut text = String::new();
    io.read_to_string(&mut text).await.unwrap();
    text
}

/// Reads until `end` was seen.
async fn read_until(io: &mut TcpStream, end: &str) -> String {
    let mut text = String::new();
    let mut buffer = [0; 1024];
    while !text.contains(end) {
        let n = timeout(Duration::from_secs(10), io.read(&mut buffer)).await.unwrap().unwrap();
        assert!(n > 0, "the connection ended after {text:?}");
        text.push_str(std::str::from_utf8(&buffer[..n]).unwrap());
    }
    text
}

#[tokio::test]
async fn unknown_paths_are_the_page_and_missing_files_are_missing() {
    let (site, _dir) = site("127.0.0.1:9".parse().unwrap()).await;
    for path in ["/", "/index.html", "/conversations/1", "/assets"] {
        let page = get(&site, &format!("GET {path}")).await;
        assert!(
            page.starts_with("HTTP/1.1 200") && page.contains("content-type: text/html"),
            "{path}: {page}"
        );
        assert!(
            page.contains(r"k\u003c/script\u003e") && page.contains("</script></head>"),
            "{path}: {page}"
        );
    }
    let script = get(&site, "GET /assets/a%20b.js?v=1").await;
    assert!(script.contains("text/javascript") && script.ends_with("let a;"), "{script}");
    assert!(get(&site, "GET /assets/none.js").await.starts_with("HTTP/1.1 404"));
    assert!(get(&site, "POST /conversations").await.starts_with("HTTP/1.1 405"));
    let counted: Vec<_> = site.requests().into_keys().collect();
    assert_eq!(counted, ["GET /assets/none.js 404", "POST /conversations 405"]);
}

#[tokio::test]
async fn nothing_outside_of_the_build_is_served() {
    let (site, _dir) = site("127.0.0.1:9".parse().unwrap()).await;
    for path in [
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/assets/..%2f..%2fsecret.txt",
        "/link.txt",
        "//../secret.txt",
    ] {
        let text = get(&site, &format!("GET {path}")).await;
        assert!(text.starts_with("HTTP/1.1 4") && !text.ends_with("secret"), "{path}: {text}");
    }
}

#[tokio::test]
async fn a_folder_without_a_build_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let upstream = "127.0.0.1:9".parse().unwrap();
    let start = |path: PathBuf| Site::start(path, upstream, "k");
    let error = start(dir.path().join("none")).await.unwrap_err().to_string();
    assert!(error.contains("none"), "{error}");
    let error = start(dir.path().to_owned()).await.unwrap_err().to_string();
    assert!(error.contains("index.html") && error.contains("expected the build of a front end"), "{error}");
    std::fs::write(dir.path().join("index.html"), "<body>").unwrap();
    let error = start(dir.path().to_owned()).await.unwrap_err().to_string();
    assert!(error.contains("</head>"), "{error}");
}

#[tokio::test]
async fn requests_of_one_connection_reach_the_server_on_one_each() {
    let (upstream, heard) = server().await;
    let (site, _dir) = site(upstream).await;
    let mut io = connect(&site).await;
    let id = "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9";
    for body in ["one", "two"] {
        let request = format!(
            "POST /api/conversations/{id}/events?x=1 HTTP/1.1\r\nhost: site\r\nx-session-api-key: k\r\ncontent-length: 3\r\n\r\n"
        );
        io.write_all(format!("{request}{body}").as_bytes()).await.unwrap();
        let reply = read_until(&mut io, "key=k").await;
        assert!(reply.starts_with("HTTP/1.1 200") && reply.contains("x-own: 1"), "{reply}");
    }
    let line =
        |body: &str| format!("POST /api/conversations/{id}/events?x=1 host={upstream} key=k body={body}");
    assert_eq!(*heard.lock().unwrap(), [(0, line("one")), (1, line("two"))]);
    assert_eq!(
        site.requests().into_iter().collect::<Vec<_>>(),
        [("POST /api/conversations/{id}/events 200".to_owned(), 2)]
    );
}

const UPGRADE_OK: &str = "GET /sockets/ok HTTP/1.1\r\nhost: site\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-key: x\r\n\r\n";

#[tokio::test]
async fn a_socket_is_tunnelled_until_the_site_is_dropped() {
    let (upstream, _) = server().await;
    let (site, _dir) = site(upstream).await;
    let mut io = connect(&site).await;
    io.write_all(UPGRADE_OK.as_bytes()).await.unwrap();
    let head = read_until(&mut io, "first").await.to_ascii_lowercase();
    assert!(head.starts_with("http/1.1 101") && head.contains("upgrade: websocket"), "{head}");
    io.write_all(b"hello").await.unwrap();
    assert_eq!(read_until(&mut io, "HELLO").await, "HELLO");
    assert_eq!(site.requests()["GET /sockets/ok 101"], 1);
    drop(site);
    let end = timeout(Duration::from_secs(10), io.read(&mut [0; 8])).await.unwrap();
    assert!(matches!(end, Ok(0) | Err(_)), "{end:?}");
}

#[tokio::test]
async fn a_refused_socket_is_refused_with_the_servers_words() {
    let (upstream, _) = server().await;
    let (site, _dir) = site(upstream).await;
    let mut io = connect(&site).await;
    io.write_all(UPGRADE_OK.replace("/ok", "/no").as_bytes()).await.unwrap();
    let reply = read_until(&mut io, "GET /sockets/no").await;
    assert!(reply.starts_with("HTTP/1.1 403") && !reply.to_ascii_lowercase().contains("upgrade:"), "{reply}");
}

#[tokio::test]
async fn the_server_behind_it_can_be_another_one() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let dead = listener.local_addr().unwrap();
    drop(listener);
    let (site, _dir) = site(dead).await;
    let reply = get(&site, "GET /server_info").await;
    assert!(reply.starts_with("HTTP/1.1 502") && reply.contains(&dead.to_string()), "{reply}");
    site.point_to(server().await.0);
    assert!(get(&site, "GET /server_info").await.starts_with("HTTP/1.1 200"));
}

#[tokio::test]
async fn preparing_a_server_forgives_what_it_does_not_have_and_nothing_else() {
    let (upstream, heard) = server().await;
    let error = prepare(upstream, "k", "http://127.0.0.1:1/v1", "openai/fake").await.unwrap_err().to_string();
    assert!(error.starts_with(&format!("PATCH /api/settings on {upstream}: HTTP 422: PATCH")), "{error}");
    let heard = heard.lock().unwrap();
    assert_eq!(heard.len(), 3, "the two before it were 404: {heard:?}");
    assert!(heard[0].1.contains("key=k") && heard[0].1.contains(r#""model":"openai/fake""#), "{heard:?}");
}

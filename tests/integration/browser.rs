//! A small page in a real Chromium, where there is one. Elsewhere the test says that it was skipped.

use std::path::{Path, PathBuf};
use std::time::Duration;

use skewlab::live::browser::{Chromium, Site, Way};

/// What a front end has of what the driver needs: bubbles, an input that sends with Enter, a socket, an alert that is
/// gone at once. It counts how often its storage was used.
const PAGE: &str = r#"<!DOCTYPE html><html><head><title>t</title></head><body>
<div data-testid="chat-input" contenteditable="true" style="width:300px;height:50px"></div><div id="log"></div><script>
  const bubble = (text) => { const b = document.createElement('div'); b.dataset.testid = 'agent-message';
    b.textContent = text; document.getElementById('log').append(b); return b; };
  const input = document.querySelector('[data-testid=chat-input]');
  const soon = (ms) => new Promise((done) => setTimeout(done, ms));
  input.addEventListener('keydown', async (e) => {
    if (e.key !== 'Enter') return;
    e.preventDefault();
    const said = input.textContent; input.textContent = '';
    const visits = Number(localStorage.getItem('visits') ?? 0) + 1; localStorage.setItem('visits', visits);
    const b = bubble('visit ' + visits); await soon(30);
    b.textContent += ' \u{1F600}'; await soon(30);
    b.textContent += said; await soon(30);
    bubble('<img src=x onerror="document.title=1">');
    const alert = document.createElement('p'); alert.role = 'alert'; alert.textContent = 'gone soon';
    document.body.append(alert); await soon(30); alert.remove();
    console.error('the end', 42);
  });
  new WebSocket(location.origin.replace('http', 'ws') + '/sockets/events/7');
</script></body></html>"#;

/// A Chromium on this machine.
fn chromium() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome"];
    std::env::split_paths(&path).flat_map(|dir| names.map(|name| dir.join(name))).find(|file| file.is_file())
}

#[tokio::test]
async fn what_a_page_shows_is_recorded_as_it_changes() {
    let Some(program) = chromium() else {
        eprintln!("SKIPPED: there is no Chromium on PATH, so nothing was tested");
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let build = dir.path().join("build");
    std::fs::create_dir(&build).unwrap();
    std::fs::write(build.join("index.html"), PAGE).unwrap();
    // Nobody listens on port 9, so the page's socket is refused by the site.
    let site = Site::start(build, "127.0.0.1:9".parse().unwrap(), "k").await.unwrap();
    let warden = Path::new(env!("CARGO_BIN_EXE_skewlab"));
    let (profile, log) = (dir.path().join("profile"), dir.path().join("chromium.log"));
    let chromium = Chromium::launch(&program, warden, profile.clone(), log).await.unwrap();
    assert!(chromium.version().contains("Chrom"), "{}", chromium.version());
    assert!(chromium.memory_bytes().unwrap() > 20_000_000);
    // Two pages one after the other, which must not know of each other.
    for _ in 0..2 {
        let page = chromium.open(&site.conversation("7")).await.unwrap();
        let error = page.ready(Duration::from_secs(3)).await.unwrap_err().to_string();
        assert!(error.contains("its socket was not opened") && !error.contains("chat input"), "{error}");
        assert!(error.contains("socket /sockets/events/7 was refused with HTTP 502"), "{error}");
        page.say("two words").await.unwrap();
        let seen = loop {
            let seen = page.history().await.unwrap();
            if page.console().iter().any(|line| line.text == "the end 42") {
                break seen;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        };
        let shown: Vec<Vec<&str>> = seen.iter().map(|s| s.bubbles.iter().map(|b| &**b).collect()).collect();
        let (a, b, c) = ("visit 1", "visit 1 \u{1F600}", "visit 1 \u{1F600}two words");
        assert_eq!(shown, [vec![a], vec![b], vec![c], vec![c, r#"<img src=x onerror="document.title=1">"#]]);
        assert!(seen.windows(2).all(|pair| pair[0].at < pair[1].at), "{seen:?}");
        let alerts = page.alerts().await.unwrap();
        assert!(matches!(&alerts[..], [one] if one.error && one.text == "gone soon"), "{alerts:?}");
        let sockets = page.sockets();
        assert_eq!((sockets.len(), sockets[0].status), (1, Some(502)), "{sockets:?}");
        assert_eq!(sockets[0].closed.as_ref().unwrap().code, Some(1006), "{sockets:?}");
        assert!(page.frames().unwrap().iter().all(|frame| frame.way == Way::Sent));
        page.close().await.unwrap();
    }
    let group = chromium.group();
    chromium.stop().await;
    assert!(!profile.exists());
    let alive = std::fs::read_dir("/proc").unwrap().flatten().filter(|entry| {
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let rest = stat.rsplit(')').next().unwrap_or_default();
        let fields: Vec<&str> = rest.split_whitespace().collect();
        fields.len() > 2 && fields[0] != "Z" && fields[2] == group.to_string()
    });
    assert_eq!(alive.count(), 0);
}

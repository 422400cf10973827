//! The HTML report in a real Chromium, where there is one. Elsewhere the tests say that they were skipped.

use skewlab::record::Document;

use crate::devtools::{Browser, chromium};
use crate::html::{HOSTILE, all_hostile, page, small};

/// How many elements a page has that could run or fetch something and are none of ours.
const FOREIGN: &str = "document.querySelectorAll('img, iframe, object, embed, svg[onload], [src]').length \
     + Array.from(document.querySelectorAll('*')).filter((e) => e.getAttributeNames().some((n) => n.startsWith('on'))).length";

/// The page of some results, made on a thread of its own: a run brings its own runtime, and a test here is in one already.
fn made(of: fn() -> Vec<Document>) -> String {
    std::thread::spawn(move || page(&of())).join().unwrap()
}

#[tokio::test]
async fn hostile_text_is_shown_in_a_browser_and_never_run() {
    let Some(program) = chromium() else {
        eprintln!("SKIPPED: there is no Chromium on PATH, so nothing was tested");
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let url = |name: &str| format!("file://{}", dir.path().join(name).display());
    std::fs::write(dir.path().join("control.html"), format!("<title>control</title><body>{HOSTILE}"))
        .unwrap();
    let page = made(all_hostile);
    let title = page.split_once("<title>").unwrap().1.split_once("</title>").unwrap().0;
    assert!(title.starts_with("skewlab: ") && title.ends_with(" results"), "{title}");
    std::fs::write(dir.path().join("page.html"), &page).unwrap();
    let mut browser = Browser::start(&program, dir.path()).await;
    // Where it is not escaped it does what it is made for, so that the rest can fail.
    browser.open(&url("control.html")).await;
    browser.until("document.title === 'owned'").await;
    browser.events.clear();

    browser.open(&url("page.html")).await;
    assert_eq!(browser.value("document.title").await, title);
    assert_eq!(browser.value(FOREIGN).await, 0);
    // Every detail of every kind of cell is made once.
    let opened = browser
        .value(
            "(() => { const dialog = document.getElementById('detail'); let n = 0; let shown = 0;
              for (const link of document.querySelectorAll('table.heat a[id]')) {
                link.click(); n += 1;
                if (dialog.querySelector('.frames mark')?.closest('pre').textContent.includes('<img src=x onerror=')) shown += 1;
                if (dialog.querySelector('img, svg') || !dialog.textContent.includes('</script><img')) return -1;
                dialog.close();
              }
              return shown > 0 ? n : -2; })()",
        )
        .await;
    assert!(opened.as_i64().is_some_and(|n| n > 10), "{opened}");
    assert_eq!(browser.value(FOREIGN).await, 0);
    // A failed load and a handler need a turn of the loop.
    browser.value("new Promise((done) => setTimeout(done, 200))").await;
    assert_eq!(browser.value("document.title").await, title);
    let (asked, failures) = browser.told();
    assert_eq!(failures, Vec::<String>::new());
    let elsewhere =
        |url: &&String| !url.starts_with("file:") && !url.starts_with("data:") && *url != "about:blank";
    assert_eq!(asked.iter().find(elsewhere), None);
    assert_eq!(asked.iter().filter(|url| url.starts_with("file:")).count(), 1, "{asked:?}");
    browser.stop().await;
}

#[tokio::test]
async fn cells_are_filtered_walked_and_opened_by_keyboard() {
    let Some(program) = chromium() else {
        eprintln!("SKIPPED: there is no Chromium on PATH, so nothing was tested");
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("page.html");
    std::fs::write(&file, made(|| vec![Document::Run(Box::new(small()))])).unwrap();
    let url = format!("file://{}", file.display());
    let mut browser = Browser::start(&program, dir.path()).await;
    browser.open(&url).await;

    // One cell can be reached by Tab; arrows go on from there.
    assert_eq!(browser.value("document.querySelectorAll('table.heat a[tabindex=\"0\"]').length").await, 1);
    let focused = "document.activeElement.getAttribute('aria-label')";
    browser.value("document.querySelector('table.heat a[tabindex=\"0\"]').focus()").await;
    let first = browser.value(focused).await;
    assert!(first.as_str().unwrap().starts_with("python-1.30.0 on 1.43.1: durable loss"), "{first}");
    browser.press("ArrowRight", 39).await;
    assert!(browser.value(focused).await.as_str().unwrap().starts_with("python-1.30.0 on 1.58.2+step7:"));
    browser.press("ArrowRight", 39).await;
    browser.press("ArrowDown", 40).await;
    let lost = "python-1.58.2 on 1.58.2+step7: silent loss, unexpected, unproven";
    assert_eq!(browser.value(focused).await, lost);
    browser.press("Enter", 13).await;
    browser.until("document.getElementById('detail').open").await;
    assert_eq!(
        browser.value("document.activeElement.textContent").await,
        "release-skew/1.58.2+step7/python-1.58.2/chat/none"
    );
    let marked = browser.value("document.querySelector('#detail .frames mark').textContent").await;
    assert_eq!(marked, "StreamingDeltaEvent");
    assert!(browser.value("location.hash").await.as_str().unwrap().contains("cell=release-skew"));
    browser.press("Escape", 27).await;
    browser.until("!document.getElementById('detail').open").await;
    assert_eq!(browser.value(focused).await, lost);

    // Filters leave the cells that match, say how many, and go into the address.
    let choose = |name: &str, value: &str| {
        format!(
            "(() => {{ const e = document.querySelector('.filters [name={name}]'); e.value = '{value}'; \
             e.dispatchEvent(new Event('input', {{ bubbles: true }})); }})()"
        )
    };
    let count = "document.getElementById('count').textContent";
    let shown = "Array.from(document.querySelectorAll('table.heat a')).filter((a) => a.checkVisibility({ visibilityProperty: true })).length";
    browser.value(&choose("verdict", "!")).await;
    assert_eq!(browser.value(count).await, "1 of 7 cells");
    // A client that was asked for by two names stands in two rows.
    assert_eq!(browser.value(shown).await, 2);
    browser.value(&choose("verdict", "")).await;
    browser.value(&choose("server", "1.43.1")).await;
    assert_eq!(browser.value(count).await, "4 of 7 cells");
    browser.value(&choose("text", "BROWSER-1.14 delivered")).await;
    assert_eq!(browser.value(count).await, "1 of 7 cells");
    let hash = browser.value("location.hash").await;
    assert_eq!(hash, "#server=1.43.1&text=BROWSER-1.14+delivered");

    // The address brings it all back, a cell too; the theme is the reader's to choose.
    browser
        .open(&format!("{url}#client=python%40same&cell=release-skew%2F1.43.1%2Fpython-1.30.0%2Fchat%2Fnone"))
        .await;
    browser.until("document.getElementById('detail').open").await;
    let text = browser.value("document.getElementById('detail-title').textContent").await;
    assert_eq!(text, "release-skew/1.43.1/python-1.30.0/chat/none");
    browser.value("document.getElementById('detail').close()").await;
    let before = browser.value("getComputedStyle(document.body).backgroundColor").await;
    browser.value("document.getElementById('theme').click()").await;
    assert_ne!(browser.value("getComputedStyle(document.body).backgroundColor").await, before);
    let (_, failures) = browser.told();
    assert_eq!(failures, Vec::<String>::new());
    browser.stop().await;
}

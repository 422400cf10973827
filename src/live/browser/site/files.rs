//! The files of a build. A path that names none is a page of the front end's own router, so it gets `index.html`.

use std::path::{Component, Path, PathBuf};

use bytes::Bytes;
use hyper::StatusCode;

use super::{Reply, SiteError, bootstrap, own, plain};

/// The page that all unknown paths get.
const INDEX: &str = "index.html";

const HTML: &str = "text/html; charset=utf-8";

/// Types by ending. A browser refuses a script or a style sheet without the right one.
const TYPES: [(&str, &str); 19] = [
    ("html", HTML),
    ("js", "text/javascript; charset=utf-8"),
    ("mjs", "text/javascript; charset=utf-8"),
    ("css", "text/css; charset=utf-8"),
    ("json", "application/json"),
    ("map", "application/json"),
    ("webmanifest", "application/manifest+json"),
    ("svg", "image/svg+xml"),
    ("png", "image/png"),
    ("jpg", "image/jpeg"),
    ("webp", "image/webp"),
    ("ico", "image/x-icon"),
    ("woff", "font/woff"),
    ("woff2", "font/woff2"),
    ("ttf", "font/ttf"),
    ("wasm", "application/wasm"),
    ("wav", "audio/wav"),
    ("xml", "application/xml"),
    ("txt", "text/plain; charset=utf-8"),
];

/// A build on disk and its first page in memory, script included.
#[derive(Debug)]
pub(super) struct Files {
    root: PathBuf,
    index: Bytes,
}

impl Files {
    pub(super) fn open(build: &Path, script: &str) -> Result<Files, SiteError> {
        let wrong = |path: &Path, why: String| SiteError::Build { path: path.to_owned(), why };
        let root = build.canonicalize().map_err(|e| wrong(build, e.to_string()))?;
        let path = root.join(INDEX);
        let page = std::fs::read_to_string(&path)
            .map_err(|e| wrong(&path, format!("{e}; expected the build of a front end")))?;
        let index = bootstrap::inject(&page, script)
            .ok_or_else(|| wrong(&path, "no `</head>` to put the session key before".to_owned()))?;
        Ok(Files { root, index: Bytes::from(index) })
    }

    /// The answer to a GET. `path` is as the browser sent it, still percent-encoded.
    pub(super) async fn answer(&self, path: &str) -> Reply {
        let Some(relative) = relative(path) else {
            return plain(StatusCode::BAD_REQUEST, "this path leaves the build".to_owned());
        };
        let kind = kind_of(&relative);
        let file = self.root.join(&relative);
        let root = self.root.clone();
        // A link inside of the build may lead out of it.
        let read = move || {
            let file = file.canonicalize().ok().filter(|f| f.starts_with(&root) && f.is_file())?;
            std::fs::read(file).ok()
        };
        let index = relative.as_os_str().is_empty() || relative == Path::new(INDEX);
        let found = if index { None } else { tokio::task::spawn_blocking(read).await.ok().flatten() };
        match (found, kind) {
            (Some(body), kind) => {
                own(StatusCode::OK, kind.unwrap_or("application/octet-stream"), body.into())
            }
            // A missing script must not become a page: its error would be about the first `<`.
            (None, Some(kind)) if kind != HTML => {
                plain(StatusCode::NOT_FOUND, "not in this build".to_owned())
            }
            _ => own(StatusCode::OK, HTML, self.index.clone()),
        }
    }
}

/// The path below the build; `None` for one that is no clean relative path.
fn relative(path: &str) -> Option<PathBuf> {
    let decoded = decoded(path)?;
    if decoded.contains(['\0', '\\']) {
        return None;
    }
    let path = PathBuf::from(decoded.trim_start_matches('/'));
    path.components().all(|part| matches!(part, Component::Normal(_))).then_some(path)
}

/// Percent-decoded once; `None` when it is malformed or no UTF-8.
fn decoded(path: &str) -> Option<String> {
    let mut bytes = path.bytes();
    let mut out = Vec::with_capacity(path.len());
    while let Some(byte) = bytes.next() {
        let mut digit = || char::from(bytes.next()?).to_digit(16);
        let byte = if byte == b'%' { u8::try_from(digit()? * 16 + digit()?).ok()? } else { byte };
        out.push(byte);
    }
    String::from_utf8(out).ok()
}

fn kind_of(path: &Path) -> Option<&'static str> {
    let ending = path.extension()?.to_str()?.to_ascii_lowercase();
    TYPES.iter().find(|(known, _)| *known == ending).map(|(_, kind)| *kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_path_leads_out() {
        for path in
            ["/../x", "/a/../../x", "/%2e%2e/x", "/a/%2E%2e%2fx", "/..%5cx", "/%00", "/%zz", "/%f", "/%ff"]
        {
            assert_eq!(relative(path), None, "{path}");
        }
        // Decoded once, not twice.
        assert_eq!(relative("/%252e%252e/x").unwrap(), Path::new("%2e%2e/x"));
        assert_eq!(relative("//etc/passwd").unwrap(), Path::new("etc/passwd"));
        assert_eq!(relative("/a%20b.js").unwrap(), Path::new("a b.js"));
        assert_eq!(relative("/").unwrap(), Path::new(""));
    }
}

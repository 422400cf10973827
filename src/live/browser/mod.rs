//! The browser party: a published front end in a real headless Chromium, driven over one CDP socket.
//!
//! Three things work together. A [`Site`] is one loopback origin: it serves a front end's build and passes everything
//! that belongs to the server on to it. A [`Chromium`] is one browser under the warden; every [`Page`] in it has a
//! context of its own, so that cells share no storage and can run one after the other on a warm browser. An observer in
//! the page records what the person sees, and the CDP events what the sockets carried.
//!
//! The CDP client is our own, over the WebSocket library that is here anyway. `chromiumoxide` would bring about 185
//! crates and a second WebSocket library for the dozen commands that are needed.
//!
//! Text that comes out of a page is data. It is never evaluated and never becomes markup.

mod cdp;
mod chromium;
mod error;
mod memory;
mod page;
mod prepare;
mod site;

pub use cdp::CdpError;
pub use chromium::Chromium;
pub use error::BrowserError;
pub use page::{Alert, Closed, Console, Frame, Page, Seen, Socket, Way};
pub use prepare::{Prepared, prepare};
pub use site::{Site, SiteError};

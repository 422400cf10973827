//! Opening connections at a pace.

use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use mio::net::TcpStream;
use rustix::io::Errno;
use socket2::{Domain, Protocol, Type};

use super::refused::Refused;
use super::report::ConnectReport;
use super::spec::{Pace, SocketSpec};

/// Connections from one source address to one server. Linux has 28,232 ports to give by default, and closed connections
/// keep theirs for a minute.
const PER_SOURCE: usize = 20_000;

/// Receive buffer of a client that holds back, bytes; the kernel doubles it.
const SMALL_BUFFER: usize = 4096;

/// Connections that are begun in one go, so that sockets that are open are read meanwhile.
const AT_ONCE: usize = 32;

/// Connections under way.
#[derive(Debug)]
pub(super) struct Dial {
    specs: VecDeque<SocketSpec>,
    pace: Pace,
    under_way: usize,
    /// Deadline and socket of those under way, and of some that are done.
    deadlines: VecDeque<(Instant, usize)>,
    started: Instant,
    next: Instant,
    report: ConnectReport,
    reply: Sender<ConnectReport>,
}

impl Dial {
    pub(super) fn new(specs: Vec<SocketSpec>, pace: Pace, reply: Sender<ConnectReport>) -> Dial {
        let now = Instant::now();
        Dial {
            specs: specs.into(),
            pace,
            under_way: 0,
            deadlines: VecDeque::new(),
            started: now,
            next: now,
            report: ConnectReport::default(),
            reply,
        }
    }

    /// The specifications whose turn it is.
    pub(super) fn due(&mut self, now: Instant) -> Vec<SocketSpec> {
        let mut due = Vec::new();
        while due.len() < AT_ONCE && self.under_way + due.len() < self.pace.in_flight.max(1) {
            if self.pace.per_second.is_some() && now < self.next {
                break;
            }
            let Some(spec) = self.specs.pop_front() else { break };
            if let Some(rate) = self.pace.per_second {
                self.next += Duration::try_from_secs_f64(1.0 / rate).unwrap_or(Duration::from_secs(1));
            }
            due.push(spec);
        }
        due
    }

    /// A connection is under way as that socket.
    pub(super) fn begun(&mut self, now: Instant, socket: usize) {
        self.under_way += 1;
        self.deadlines.push_back((now + self.pace.patience, socket));
    }

    /// One under way got ready.
    pub(super) fn ready(&mut self) {
        self.under_way -= 1;
        self.report.ready += 1;
    }

    /// One under way failed.
    pub(super) fn failed(&mut self, why: Refused) {
        self.under_way -= 1;
        self.refused(why);
    }

    /// One could not be begun.
    pub(super) fn refused(&mut self, why: Refused) {
        *self.report.refused.entry(why).or_default() += 1;
    }

    /// The next socket whose time is over, ready or not.
    pub(super) fn expired(&mut self, now: Instant) -> Option<usize> {
        let (deadline, _) = self.deadlines.front()?;
        if *deadline > now {
            return None;
        }
        self.deadlines.pop_front().map(|(_, socket)| socket)
    }

    /// What a socket that is out of time is refused with.
    pub(super) fn timed_out(&self, stage: &'static str) -> Refused {
        Refused::TimedOut { stage, seconds: self.pace.patience.as_secs() }
    }

    pub(super) fn is_done(&self) -> bool {
        self.specs.is_empty() && self.under_way == 0
    }

    /// How long nothing here needs the thread.
    pub(super) fn rests(&self, now: Instant) -> Option<Duration> {
        let deadline = self.deadlines.front().map(|(at, _)| at.saturating_duration_since(now));
        let may_begin = !self.specs.is_empty() && self.under_way < self.pace.in_flight.max(1);
        let next = may_begin.then(|| match self.pace.per_second {
            Some(_) => self.next.saturating_duration_since(now),
            None => Duration::ZERO,
        });
        [deadline, next].into_iter().flatten().min()
    }

    /// Tells how it went; what was not tried is counted as such.
    pub(super) fn tell(mut self) {
        let left = self.specs.len() + self.under_way;
        if left > 0 {
            *self.report.refused.entry(Refused::Stopped).or_default() += left as u64;
        }
        self.report.took = self.started.elapsed();
        // Who asked may have gone.
        let _ = self.reply.send(self.report);
    }
}

/// The source address of the `nth` connection to a server; nothing where the system may choose.
fn source(nth: usize, to: SocketAddr, per_source: usize) -> Option<SocketAddr> {
    let turn = nth / per_source.max(1);
    match to.ip() {
        IpAddr::V4(ip) if ip.is_loopback() && turn > 0 => {
            let last = u8::try_from(1 + turn % 254).unwrap_or(1);
            Some((Ipv4Addr::new(127, 0, 0, last), 0).into())
        }
        _ => None,
    }
}

/// Begins the `nth` connection to that server, without waiting for it.
pub(super) fn open(spec: &SocketSpec, nth: usize) -> io::Result<TcpStream> {
    let socket = socket2::Socket::new(Domain::for_address(spec.addr), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_nonblocking(true)?;
    socket.set_tcp_nodelay(true)?;
    if spec.conduct.holds_back() {
        socket.set_recv_buffer_size(SMALL_BUFFER)?;
    }
    if let Some(source) = source(nth, spec.addr, PER_SOURCE) {
        socket.bind(&source.into())?;
    }
    match socket.connect(&spec.addr.into()) {
        Err(error) if Errno::from_io_error(&error) != Some(Errno::INPROGRESS) => Err(error),
        _ => Ok(TcpStream::from_std(socket.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::swarm::spec::Conduct;

    fn specs(count: usize) -> Vec<SocketSpec> {
        let addr = (Ipv4Addr::LOCALHOST, 1).into();
        let conduct = Conduct::Healthy;
        let spec = SocketSpec { addr, path_and_query: "/".into(), auth_frame: None, group: 0, conduct };
        vec![spec; count]
    }

    #[test]
    fn source_addresses_change_before_ports_run_out() {
        let to = |text: &str| text.parse::<SocketAddr>().unwrap();
        let at = |nth: usize| source(nth, to("127.0.0.1:9"), 20_000).map(|a| a.ip().to_string());
        assert_eq!((at(0), at(19_999)), (None, None));
        assert_eq!(at(20_000).as_deref(), Some("127.0.0.2"));
        assert_eq!(at(65_000).as_deref(), Some("127.0.0.4"));
        assert_eq!(source(65_000, to("192.0.2.1:9"), 20_000), None);
        assert_eq!(source(65_000, to("[::1]:9"), 20_000), None);
    }

    #[test]
    fn no_more_are_under_way_than_the_pace_allows() {
        let (reply, told) = std::sync::mpsc::channel();
        let mut dial = Dial::new(specs(7), Pace { in_flight: 3, ..Pace::default() }, reply);
        let now = Instant::now();
        let due = dial.due(now).len();
        assert_eq!(due, 3);
        (0..due).for_each(|n| dial.begun(now, n));
        assert_eq!(dial.due(now).len(), 0);
        assert!(dial.rests(now) > Some(Duration::from_secs(9)), "until the first is out of time");
        dial.ready();
        dial.failed(Refused::Nobody);
        assert_eq!(dial.rests(now), Some(Duration::ZERO));
        assert_eq!(dial.due(now).len(), 2);
        assert_eq!(dial.expired(now), None);
        let late = now + Duration::from_secs(11);
        assert_eq!((dial.expired(late), dial.expired(late)), (Some(0), Some(1)));
        assert!(!dial.is_done());
        dial.tell();
        let report = told.recv().unwrap();
        // Two of seven were handed out here without being begun.
        assert_eq!(
            (report.ready, report.refused[&Refused::Nobody], report.refused[&Refused::Stopped]),
            (1, 1, 3)
        );
    }

    #[test]
    fn a_rate_spreads_the_beginnings() {
        let (reply, _told) = std::sync::mpsc::channel();
        let pace = Pace { per_second: Some(100.0), ..Pace::default() };
        let mut dial = Dial::new(specs(7), pace, reply);
        let now = Instant::now();
        assert!(dial.due(now).len() <= 1);
        assert!(dial.rests(now).is_some_and(|wait| wait <= Duration::from_millis(10)));
        assert_eq!(dial.due(now + Duration::from_millis(25)).len(), 2);
    }
}

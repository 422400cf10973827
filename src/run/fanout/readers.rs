//! TEMPORARY
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use futures_util::StreamExt;
use super::error::FanOutError;
use super::generator::Schedule;
use super::lane::{Lane, Party};
use crate::record::bench::Quantiles;

pub(super) struct Memory { pub(super) server: Option<f64>, pub(super) client: f64 }
pub(super) struct GroupSeen { pub(super) deltas: u64, pub(super) missing: u64, pub(super) duplicated: u64, pub(super) reordered: u64, pub(super) first_delta: Quantiles, pub(super) frame_gap: Quantiles, pub(super) token_gap: Quantiles, pub(super) delay: Quantiles }
pub(super) struct ReadersSeen { pub(super) cpu: Duration, pub(super) failed: BTreeMap<String, u64> }
pub(super) struct Readers { rt: tokio::runtime::Runtime, got: Vec<Arc<AtomicU64>>, have: Vec<u32>, base: Vec<u64> }
impl Readers {
    pub(super) fn start(groups: usize) -> Result<Readers, FanOutError> {
        let rt = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        Ok(Readers { rt, got: (0..groups).map(|_| Arc::default()).collect(), have: vec![0; groups], base: vec![0; groups] })
    }
    pub(super) fn connect(&mut self, lane: &Lane, n: u32, _: &AtomicBool) -> Result<Option<Memory>, FanOutError> {
        let (url, raw) = match &lane.party { Party::Server(h) => (format!("ws://{}/sockets/events/{}", h.addr, h.conversation), None), Party::Raw(w) => (format!("ws://{}/", w.addr), Some(w.accept((n - self.have[lane.group]) as usize))) };
        let addr = match &lane.party { Party::Server(h) => h.addr, Party::Raw(w) => w.addr };
        for _ in self.have[lane.group]..n {
            let got = self.got[lane.group].clone();
            let url = url.clone();
            let ws = self.rt.block_on(async move {
                let s = tokio::net::TcpStream::connect(addr).await.unwrap();
                let cfg = tokio_tungstenite::tungstenite::protocol::WebSocketConfig::default().read_buffer_size(8192);
                let (mut ws, _) = tokio_tungstenite::client_async_with_config(url, s, Some(cfg)).await.unwrap();
                ws.next().await;
                ws
            });
            self.rt.spawn(async move { let mut ws = ws; while let Some(Ok(m)) = ws.next().await { if m.to_text().is_ok_and(|t| t.contains("StreamingDelta")) { got.fetch_add(1, Ordering::Relaxed); } } });
        }
        self.have[lane.group] = n;
        if let Some(raw) = raw { raw.recv().unwrap().unwrap(); }
        Ok(None)
    }
    pub(super) fn begin(&mut self, group: usize, _s: Schedule, _f: u64, _b: u32) { self.base[group] = self.got[group].load(Ordering::Relaxed); }
    pub(super) fn drain(&mut self, group: usize, due: u64, _: &AtomicBool) { let t = Instant::now(); while self.got[group].load(Ordering::Relaxed) - self.base[group] < due && t.elapsed() < Duration::from_secs(5) { std::thread::sleep(Duration::from_millis(1)); } }
    pub(super) fn forget(&mut self, group: usize) -> Result<(), FanOutError> { self.got[group].store(0, Ordering::Relaxed); Ok(()) }
    pub(super) fn take(&mut self, group: usize) -> Result<GroupSeen, FanOutError> { let q = Quantiles::default(); Ok(GroupSeen { deltas: self.got[group].swap(0, Ordering::Relaxed), missing: 0, duplicated: 0, reordered: 0, first_delta: q, frame_gap: q, token_gap: q, delay: q }) }
    pub(super) fn stop(self) -> Result<ReadersSeen, FanOutError> { self.rt.shutdown_background(); Ok(ReadersSeen { cpu: Duration::ZERO, failed: BTreeMap::new() }) }
}

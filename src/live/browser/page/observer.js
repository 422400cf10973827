// Runs in every new document before the page's own scripts. Records what the person sees, as it changes:
// the text of each agent bubble, and the text of every alert. Bubbles are kept as changes (common start + rest),
// because a reply of thousands of tokens would otherwise be kept thousands of times.
(() => {
  if (window !== window.top) return;
  const MOST_CHANGES = 50000, MOST_UNITS = 64e6, MOST_ALERTS = 200, ALERT_UNITS = 2000;
  const ALERTS = '[role="alert"],[role="alertdialog"],[role="status"],[data-testid="error-message-banner"],' +
    '[data-testid="chat-message-error"],[data-testid="conversation-status-error"],' +
    // Why a backend in the list of them is disconnected, which stands in the place of the page (seen in 1.4.0 to 1.20.0).
    '[data-testid^="manage-backends-status-detail"]';
  // A toast of failure has the role of one of success. Its icon tells them apart (seen in 1.0.0-alpha.10 to 1.20.0).
  const FAILURE = '.lucide-circle-x,[style*="--oh-status-error"]';
  const BUBBLE = 'agent-message', EVERYTHING = `[data-testid="${BUBBLE}"],${ALERTS}`;
  const now = () => (performance.timeOrigin + performance.now()) / 1000;
  const tell = (what) => globalThis.__skewlab_tell?.(JSON.stringify(what));

  const changes = [], alerts = [], known = new Set();
  let last = [], units = 0, cut = false;

  const alertOf = (node) => {
    const text = node.textContent.trim().slice(0, ALERT_UNITS).toWellFormed();
    const role = node.getAttribute('role'), mark = node.dataset.testid || role;
    const key = mark + '\n' + text;
    // Whether it can be seen costs a layout, so it is asked once for each text.
    if (!text || known.has(key) || alerts.length >= MOST_ALERTS || !node.checkVisibility()) return;
    known.add(key);
    const error = role !== 'status' || node.querySelector(FAILURE) !== null;
    alerts.push([now(), mark, error, text]);
  };

  const look = () => {
    const bubbles = [];
    for (const node of document.querySelectorAll(EVERYTHING)) {
      // textContent and not innerText: the latter costs a layout each time.
      if (node.dataset.testid === BUBBLE) bubbles.push(node.textContent.toWellFormed());
      else alertOf(node);
    }
    const parts = [];
    bubbles.forEach((text, i) => {
      const old = last[i] ?? '';
      if (text === old && i < last.length) return;
      let keep = 0;
      if (text.startsWith(old)) keep = old.length;
      else while (keep < text.length && keep < old.length && text[keep] === old[keep]) keep++;
      // Never between the halves of one character.
      if (keep > 0 && (text.charCodeAt(keep - 1) & 0xfc00) === 0xd800) keep--;
      units += text.length;
      parts.push([i, keep, text.slice(keep)]);
    });
    if (!parts.length && bubbles.length === last.length) return;
    if (changes.length >= MOST_CHANGES || units > MOST_UNITS) { cut = true; return; }
    last = bubbles;
    changes.push([now(), bubbles.length, parts]);
  };

  const read = () => { look(); return { changes, alerts, cut }; };
  Object.defineProperty(window, '__skewlab', { value: { read: () => JSON.stringify(read()) } });
  new MutationObserver(look).observe(document, { subtree: true, childList: true, characterData: true });
  // A document that is left takes its record with it, unless it is handed over.
  addEventListener('pagehide', () => tell({ left: read() }));

  // CDP does not say with which code a socket was closed. The page's own sockets do, to whoever listens first.
  window.WebSocket = new Proxy(WebSocket, {
    construct(target, args, newTarget) {
      const socket = Reflect.construct(target, args, newTarget);
      socket.addEventListener('close', (e) =>
        tell({ closed: { url: socket.url, code: e.code, reason: e.reason.toWellFormed() } }));
      return socket;
    },
  });
})();

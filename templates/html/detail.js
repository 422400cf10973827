// The detail of a cell, made when it is asked for.
const chars = ([frames, count]) => `${count} (${frames})`;

const waterfall = (hops) => {
  const seen = hops.filter((hop) => !hop[5]);
  const unit = seen.some((hop) => hop[1][1] > 0 || hop[2][1] > 0) ? 1 : 0;
  const whole = Math.max(1, ...seen.map((hop) => Math.max(hop[1][unit], hop[2][unit])));
  const rows = hops.map(([name, came, went, dropped, added, unseen]) => {
    if (unseen) return [name, '', 'unseen', 'unseen', '', 'a hop inside a released package'];
    const reasons = (dropped ?? []).map((drop) => el('div', {}, `${drop[0]}${drop[3] ? ' (by design)' : ''}`));
    reasons.push(...(added ?? []).map((more) => el('div', {}, `added: ${more[0]}, ${more[2]} (${more[1]})`)));
    const lost = (dropped ?? []).map((drop) => [drop[3] ? 'meant' : 'drop', drop[1 + unit] / whole]);
    const amounts = (dropped ?? []).map((drop) => el('div', {}, chars([drop[1], drop[2]])));
    return [name, track([['out', went[unit] / whole], ...lost]), chars(came), chars(went), amounts, reasons];
  });
  const heads = ['hop', { text: '', class: 'flow' }, { text: 'in', n: true }, { text: 'out', n: true },
    { text: 'dropped', n: true }, 'reason'];
  const made = table(heads, rows);
  made.classList.add('fall');
  return made;
};

const spread = (name, [count, min, p50, p90, p99, max, buckets]) => {
  const most = Math.max(1, ...buckets.map((bucket) => bucket[1]));
  const label = (exponent) => `${exponent ? micros(2 ** exponent) : '0'} – ${micros(2 ** (exponent + 1))}`;
  const rows = buckets.map(([exponent, n]) => [label(exponent), track([['out', n / most]]), n]);
  const heads = ['from – to', { text: '', class: 'flow' }, { text: 'times', n: true }];
  const bars = table(heads, rows);
  bars.classList.add('fall', 'bars');
  const told = `${count} times: min ${micros(min)}, p50 ${micros(p50)}, p90 ${micros(p90)}, p99 ${micros(p99)}, max ${micros(max)}`;
  return el('div', {}, el('h4', {}, name), el('p', { class: 'fine' }, told), bars);
};

const frameText = (title, frame) => {
  const text = frame.parts.map((part, at) => (at % 2 ? el('mark', {}, part) : part));
  const cut = frame.cut ? el('p', { class: 'fine' }, `${frame.cut} more bytes were left away`) : '';
  return el('div', {}, el('h4', {}, `${title}: ${frame.from}`), el('pre', {}, text), cut);
};

const firstFrame = (frame) => {
  const why = frame.reason ? ` (${frame.reason})` : '';
  const shown = [];
  if (frame.before) shown.push(frameText('As it would have been taken', frame.before));
  if (frame.after) shown.push(frameText('As it was sent', frame.after));
  return [
    el('h3', {}, 'First frame that cost text'),
    el('p', { class: 'fine' }, `Delta frame ${frame.number} on its socket, lost at ${frame.hop}${why}.`
      + (frame.after ? '' : ' Its text was lost before it reached the socket, so that none was sent.')
      + (frame.before && frame.after ? ' What differs is marked.' : '')),
    shown.length ? el('div', { class: 'frames' }, shown) : '',
  ];
};

const finding = ([word, scope, hop, reason, signal, amount, note], first, cell) => {
  const at = hop ? ` at ${hop}` : '';
  const parts = [scope, `${amount[1]} characters in ${amount[0]} frames`, `noticeable: ${signal}`].filter(Boolean).join(', ');
  return el('div', { class: 'found' }, badge(word, first ? cell : undefined), ' ',
    el('b', {}, `${verdict(word).words}${at}${reason ? ` (${reason})` : ''}`), ` ${parts}. ${note}`);
};

const pairs = (title, rows) => (rows && rows.length
  ? [el('h3', {}, title), el('dl', { class: 'pairs' }, rows.map(([what, value]) =>
    el('div', {}, el('dt', {}, what), el('dd', {}, value))))]
  : []);

const holds = (word) => el('span', { class: word === 'broken' ? 'broken' : '' }, word === 'broken' ? '✗ broken' : word);

const body = (cell) => {
  const known = verdict(cell.verdict);
  const findings = of(cell, 'findings') ?? [];
  const reproduce = data.runs[cell.run].reproduce[cell.scenario];
  const classes = Object.entries(of(cell, 'classes') ?? {});
  const budgets = of(cell, 'budgets');
  const figures = of(cell, 'figures');
  const times = of(cell, 'times');
  const frame = of(cell, 'frame');
  const named = (of(cell, 'parties') ?? []).map(([what, name, profile]) =>
    [what, profile && profile !== name ? `${name} (profile ${profile})` : name]);
  return [
    el('h2', { id: 'detail-title', tabindex: '-1' }, cell.id),
    el('p', {}, badge(cell.verdict, cell), ' ', el('b', {}, known.words), `, ${cell.outcome}`,
      cell.expected === cell.verdict ? '' : `; the scenario expects ${verdict(cell.expected).words}`,
      cell.unproven ? '; unproven' : '; proven'),
    cell.note ? el('p', { class: 'note-box bad' }, cell.note) : '',
    el('p', { class: 'fine' }, `${known.meaning} ${known.next}`),
    reproduce ? copyable(el('pre', { class: 'code' }, `${reproduce}${quoted(cell.id)}${data.runs[cell.run].seed ?? ''}`)) : '',
    el('h3', {}, 'Findings, worst first'),
    findings.map((found, at) => finding(found, at === 0, cell)),
    frame ? firstFrame(frame) : [],
    of(cell, 'hops') ? [el('h3', {}, 'Hop by hop: characters (frames)'), waterfall(of(cell, 'hops'))] : [],
    classes.map(([name, hops]) => el('details', {}, el('summary', {}, `${name} alone`), waterfall(hops))),
    of(cell, 'surfaced') ? [el('h3', {}, 'What surfaced'), of(cell, 'surfaced').map((text) => el('pre', { class: 'raw' }, text))] : [],
    of(cell, 'log') ? [el('h3', {}, 'Log lines of the client'), table(['message', { text: 'lines', n: true }], of(cell, 'log'))] : [],
    times ? [el('h3', {}, 'In time, by the clock of the cell'), el('div', { class: 'spreads' },
      spread('Delay from the model to the application', times.delay), spread('Gap between two pieces', times.gap))] : [],
    budgets ? [el('h3', {}, 'Budgets'), table(['budget', 'limit', { text: 'measured', n: true }, 'kept', 'in words'],
      budgets.map((row) => [row[0], row[1], row[2], holds(row[3]), row[4]]))] : [],
    figures ? [el('h3', {}, 'Figures'), table(['what', { text: 'counted', n: true }, 'the scenario says', ''],
      figures.map((row) => [row[0], row[1], row[2], holds(row[3])]))] : [],
    pairs('Durable events', of(cell, 'durables')),
    pairs('What waited for this subscriber', of(cell, 'waiting')),
    pairs('Beside the sockets', of(cell, 'effects')),
    of(cell, 'oracle') ? [el('h3', {}, 'What it could have told for itself'), el('p', {}, of(cell, 'oracle'))] : [],
    pairs('The cell', [...named, ['due, delivered', `${chars(cell.due)}, ${chars(cell.delivered)}`],
      ['hash', cell.hash], ['wall time', cell.micros === undefined ? '-' : micros(cell.micros)],
      ...(cell.subscribers ? [['copies of the client', `${cell.subscribers}; the one that fared worst is shown`]] : [])]),
  ];
};

const detail = {
  list: [],
  open(number, list) {
    const dialog = document.getElementById('detail');
    const cell = cells[number];
    if (list) detail.list = list;
    else if (!detail.list.includes(number)) detail.list = cells.map((_, at) => at).filter((at) => kept[at] || at === number);
    const at = detail.list.indexOf(number);
    const step = (text, to) => {
      const button = el('button', { type: 'button', disabled: to === undefined }, text);
      button.addEventListener('click', () => detail.open(to));
      return button;
    };
    const close = el('button', { type: 'button' }, 'Close');
    close.addEventListener('click', () => dialog.close());
    const bar = el('div', { class: 'bar' }, el('span', {}, `Cell ${at + 1} of ${detail.list.length}`),
      step('← Previous', detail.list[at - 1]), step('Next →', detail.list[at + 1]), el('span', { class: 'grow' }), close);
    dialog.replaceChildren(bar, ...body(cell).flat(Infinity).filter((part) => part !== ''));
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
    document.getElementById('detail-title').focus();
    address(number);
  },
};

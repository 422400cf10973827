// Everything that comes from the data becomes a text node or the value of an attribute, never markup.
const el = (tag, attributes, ...children) => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    node.setAttribute(name, value === true ? '' : String(value));
  }
  const kept = children.flat(Infinity).filter((child) => child !== undefined && child !== null && child !== '');
  node.append(...kept.map((child) => (child instanceof Node ? child : String(child))));
  return node;
};
const all = (selector, root) => Array.from((root ?? document).querySelectorAll(selector));
const data = JSON.parse(document.getElementById('data').textContent);
const cells = data.cells;

// What a cell says under a name that lies in the pool.
const of = (cell, name) => (cell[name] === undefined ? undefined : data.pool[cell[name]]);
const verdict = (word) => data.verdicts[word];
const star = (cell) => ({ 'as expected': '', 'known failure': '~' })[cell.outcome] ?? '*';
const badge = (word, cell) => {
  const known = verdict(word);
  const solid = cell && cell.outcome !== 'as expected' ? ' solid' : '';
  return el('span', { class: `v ${known.class}${solid}` }, known.mark + (cell ? star(cell) : ''));
};

const micros = (us) => {
  if (us < 1000) return `${us} µs`;
  if (us < 1e6) return `${(us / 1000).toFixed(us < 1e4 ? 2 : 1).replace(/\.?0+$/, '')} ms`;
  return `${(us / 1e6).toFixed(2).replace(/\.?0+$/, '')} s`;
};
const quoted = (word) => `'${word.replaceAll("'", "'\\''")}'`;

const table = (heads, rows) =>
  el('table', {},
    el('thead', {}, el('tr', {}, heads.map((head) => el('th', { scope: 'col', class: head.n && 'n' }, head.text ?? head)))),
    el('tbody', {}, rows.map((row) => el('tr', {}, row.map((value, at) => {
      const numeric = heads[at] && heads[at].n;
      const kind = heads[at] && heads[at].class;
      if (at === 0) return el('th', { scope: 'row' }, value);
      return el('td', { class: numeric ? 'n' : kind }, value);
    })))));

// A bar in parts, each a share of the whole with a class of its own.
const track = (parts) => {
  const bar = el('div', { class: 'track', 'aria-hidden': 'true' });
  for (const [name, share] of parts) {
    if (!(share > 0)) continue;
    const part = el('div', { class: name });
    part.style.width = `${Math.min(share, 1) * 100}%`;
    bar.append(part);
  }
  return bar;
};

const copyable = (pre) => {
  if (!navigator.clipboard || pre.classList.contains('can-copy')) return pre;
  const text = pre.textContent;
  const button = el('button', { type: 'button' }, 'Copy');
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = 'Copied';
    } catch {
      button.textContent = 'No';
    }
    setTimeout(() => { button.textContent = 'Copy'; }, 1200);
  });
  pre.classList.add('can-copy');
  pre.append(button);
  return pre;
};
